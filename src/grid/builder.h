// The JSON that the builder of the Go engine reads, as a topology. Internal to the module.
#pragma once

#include <string>
#include <vector>

#include "base/json/json.h"
#include "base/status.h"

namespace loom {

// By its keys: a list `layers` in place of `format` and `cells`.
bool is_builder_json(const Json& json);

// A topology of version 3 with the meaning that the builder gave its JSON: a layer that took a
// tensor as one row has a `flatten` before it, one that counted it by its own sizes a `reshape`.
// Refused by name: keys, types, activations and dtypes that are not known, where the builder took
// Dense, linear and f32 in silence; sizes that do not agree; what the JSON does not say in full.
Result<Json> topology_of_builder(const Json& json);

// A layer of a network that was saved, and where its parameters are in the topology.
struct SavedLayer {
  std::string path;   // "0.0.0.1/0"
  std::string type;   // as topologies call it
  std::string dtype;  // of the layer as saved, as topologies call it
  const Json* json;   // in the JSON that was given
};
// The same of a network that was saved: every layer without layers in it, in order. Integers become
// values of f32, which is what that engine computes with.
Result<Json> topology_of_saved(const Json& json, std::vector<SavedLayer>& layers);

}  // namespace loom
