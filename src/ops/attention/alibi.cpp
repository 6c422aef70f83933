#include "ops/attention/alibi.h"

#include <bit>

namespace loom {
namespace {

// 2^(-8 n / heads), heads a power of two: whole powers of two times a root's power below one.
double slope(std::int64_t n, std::int64_t heads) {
  if (heads <= 8) return __builtin_ldexp(1.0, static_cast<int>(-8 / heads * n));
  const std::int64_t part = heads / 8;
  double root = 0.5, below = 1;
  for (std::int64_t i = 1; i < part; i *= 2) root = __builtin_sqrt(root);
  for (std::int64_t left = n % part; left > 0; left >>= 1, root *= root)
    if (left & 1) below *= root;
  return __builtin_ldexp(below, static_cast<int>(-(n / part)));
}

}  // namespace

std::vector<double> alibi_slopes(std::int64_t heads) {
  const auto power = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(heads)));
  std::vector<double> slopes;
  for (std::int64_t h = 0; h < power; ++h) slopes.push_back(slope(h + 1, power));
  for (std::int64_t h = power; h < heads; ++h)
    slopes.push_back(slope(2 * (h - power) + 1, 2 * power));
  return slopes;
}

}  // namespace loom
