// NumPy .npy arrays (versions 1 to 3, little-endian, C order), as NumPy's format documentation lays
// them out. What Loom exchanges with Python: logits out, reference values in.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "formats/tensor_file.h"

namespace loom {

// The array as a tensor without a name; read_f32 and read_f64 decode it. Types: b1, i1 to i8, u1 to
// u8, f2, f4, f8. Errors: unsupported names an object array (a pickle), big-endian data, Fortran
// order, another type; corrupt; truncated.
Result<TensorInfo> open_npy(SourcePtr source);
// The bytes that a file takes by its header, from its beginning: kNpyStart bytes of it hold any
// header.
inline constexpr std::uint64_t kNpyStart = (1 << 20) + 12;
Result<std::uint64_t> npy_size(const ByteSource& start);

// Atomic; the same bytes that numpy.save writes for a C-order '<f4' array. The shape must hold
// values.size() elements.
Status write_npy(const std::string& path, std::span<const std::int64_t> shape,
                 std::span<const float> values);

}  // namespace loom
