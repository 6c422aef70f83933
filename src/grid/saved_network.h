// Networks that the Go engine saved as JSON, with their weights.
#pragma once

#include "grid/network.h"

namespace loom {

// The network with the values that were saved: raw f32, or as the layer's dtype says ("native":
// f64, f32, f16, bf16, and signed and small unsigned integers times "scale", which become f32).
// Refused by name: dtypes whose codes that engine writes in a form that is not theirs, or has lost
// the sign of; weights that are missing, of another number, or not finite.
Result<Network> network_of_saved(const Json& json, std::int64_t max_values = Network::kMaxValues);

}  // namespace loom
