// Stored elements to float or double, whole blocks at a time. Internal to this module; the block layouts are ggml's, described in
// docs/reference/formats.md, decoded by numeric/gguf/gguf_blocks.h and checked against tests/parity/gguf_blocks.py.
#pragma once

#include <cstddef>

#include "formats/tensor_file.h"

namespace loom {

// Writes blocks * info(type).block values. T is float or double.
template <class T>
void decode_blocks(StorageType type, const std::byte* from, std::size_t blocks, T* out);

}  // namespace loom
