// The activations by number, for host and kernels. No standard library here.
#pragma once

namespace loom {

enum class Activation : int {
#define LOOM_ACTIVATION(id, name) name = id,
#include "ops/elementwise/activations.def"
#undef LOOM_ACTIVATION
};
inline constexpr int kActivationCount = 0
#define LOOM_ACTIVATION(...) +1
#include "ops/elementwise/activations.def"
#undef LOOM_ACTIVATION
    ;
// Slope of leaky_relu below 0.
inline constexpr float kLeakySlope = 0.01f;

}  // namespace loom
