// idx arrays, the format of MNIST (Y. LeCun's page of the data set): zero, zero, type, dimensions,
// sizes as big-endian u32, elements big-endian in C order.
#pragma once

#include "formats/tensor_file.h"

namespace loom {

bool is_idx(std::span<const std::byte> first_bytes);

// The array as a tensor without a name. Types: u8, i8, i16, i32, f32, f64; those of several bytes
// are copied, turned to little-endian. Errors: corrupt, truncated, unsupported for another type.
Result<TensorInfo> open_idx(SourcePtr source);

// An idx or .npy file, also inside of .gz, by its first bytes. `limit`: of the bytes that a .gz may
// hold.
Result<TensorInfo> open_array(SourcePtr source, std::uint64_t limit = std::uint64_t{1} << 34);

}  // namespace loom
