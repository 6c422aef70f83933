// Distributions over groups of columns: what the op `softmax` makes. Kernels number them alike.
#pragma once

#include <cstdint>

namespace loom {

enum class Simplex : std::uint8_t {
  softmax, log_softmax,
  sparsemax,  // Martins and Astudillo, arXiv 1602.02068
  entmax15,   // Peters, Niculae and Martins, arXiv 1905.05702, alpha 1.5
  entmax,     // the same with any alpha above 1
  hardmax,    // 1 at the first of the largest; it has no gradient
  count_,
};

}  // namespace loom
