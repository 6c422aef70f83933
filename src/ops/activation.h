// The activations. Ids are saved in files: append only.
#pragma once

#include <string_view>

#include "base/status.h"

namespace loom {

enum class Activation : int { linear = 0, relu, relu2, leaky_relu, silu, gelu_tanh, gelu_erf, tanh, sigmoid, softplus, mish };
inline constexpr int kActivationCount = 11;
// Slope of leaky_relu below 0.
inline constexpr float kLeakySlope = 0.01f;

std::string_view name(Activation activation);
// Canonical names and the usual synonyms ("gelu" = gelu_erf, "gelu_new" and "gelu_pytorch_tanh" = gelu_tanh, "swish" = silu).
Result<Activation> parse_activation(std::string_view text);

}  // namespace loom
