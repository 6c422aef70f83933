// Distributions over groups of columns: what the op `softmax` makes. No standard library here:
// kernels include it.
#pragma once

namespace loom {

enum class SoftmaxKind : unsigned char {
#define LOOM_SOFTMAX_KIND(id, name) name = id,
#include "ops/softmax/kinds.def"
#undef LOOM_SOFTMAX_KIND
};
inline constexpr int kSoftmaxKindCount = 0
#define LOOM_SOFTMAX_KIND(...) +1
#include "ops/softmax/kinds.def"
#undef LOOM_SOFTMAX_KIND
    ;

}  // namespace loom
