// Stored elements to float or double, whole blocks at a time. Internal to this module; the block
// layouts are ggml's, described in docs/reference/formats.md, decoded by numeric/gguf/gguf_blocks.h
// and checked against tests/parity/models/gguf_blocks.py.
#pragma once

#include <cstddef>

#include "formats/tensor_file.h"

namespace loom {

// The value of a code of 16 bits or less, as files have it: integers in two's complement.
float file_value(const DTypeInfo& type, std::uint32_t code);

// Writes blocks * info(type).block values. T is float or double.
template <class T>
void decode_blocks(StorageType type, const std::byte* from, std::size_t blocks, T* out);

}  // namespace loom
