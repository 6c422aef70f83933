// What the calls of graph.def take.
#pragma once

#include <array>
#include <cstdint>

#include "ops/graph/kinds.h"

namespace loom {

using Sizes = std::array<std::int64_t, 5>;

// Products of matrices that are values: y = a b for outer x inner matrices a row.
struct MatmulShape {
  std::int64_t outer = 1, inner = 1, m = 1, n = 1, k = 1;
  std::array<std::int64_t, 4> a{}, b{};  // steps: outer, inner, m, k of a; outer, inner, k, n of b
};

}  // namespace loom
