// Values of an f32 matrix in 16 bits, where these hold each of them: not rounded, not flushed, with
// the signs of zeros. They lie in the panels of f16 or bf16 (packed_matrix.h).
#pragma once

#include <optional>
#include <span>

#include "numeric/packed/packed_matrix.h"

namespace loom {

// What read() gives, which workers call at the same time, for the 16 rows of a panel at most.
// Nothing where neither f16 nor bf16 holds all values, and where one is not finite.
Result<std::optional<PackedMatrix>> pack_exactly(std::int64_t rows, std::int64_t cols,
                                                 const PackedMatrix::ReadRows& read,
                                                 ThreadPool* pool);
// Whole rows from `first` on.
void unpack_exactly(const PackedMatrix& matrix, std::int64_t first, std::span<float> out);

}  // namespace loom
