// Distributions over groups of columns: what the op `softmax` makes. No standard library here:
// kernels include it.
#pragma once

namespace loom {

enum class Simplex : unsigned char {
#define LOOM_SIMPLEX(id, name) name = id,
#include "ops/softmax/kinds.def"
#undef LOOM_SIMPLEX
};
inline constexpr int kSimplexCount = 0
#define LOOM_SIMPLEX(...) +1
#include "ops/softmax/kinds.def"
#undef LOOM_SIMPLEX
    ;

}  // namespace loom
