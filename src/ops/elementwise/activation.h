// The activations and their names.
#pragma once

#include <string_view>

#include "base/status.h"
#include "ops/elementwise/activation_ids.h"

namespace loom {

std::string_view name(Activation activation);
// Canonical names and the usual synonyms ("gelu" = gelu_erf, "gelu_new" and "gelu_pytorch_tanh" =
// gelu_tanh, "swish" = silu).
Result<Activation> parse_activation(std::string_view text);

}  // namespace loom
