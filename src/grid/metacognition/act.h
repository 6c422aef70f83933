// What a rule of a metacognition does to the layer that it wraps (layers/metacognition/rules.h).
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json/json.h"
#include "grid/network.h"
#include "layers/metacognition/rules.h"

namespace loom {

// Weights as they were before acts changed them in place.
class SavedWeights {
 public:
  void save(Node& node);
  void restore();

 private:
  std::vector<std::pair<std::shared_ptr<WeightStore>, WeightStore>> stores_;
};

// {"dtype": "f32"} and {"dtype": "i4"}; for a trace.
struct ActChange {
  Json before, after;
};

// Does what a rule of the metacognition at `path` asks for, and plans the network. `saved`: null: a
// rehearsal, which changes no value of a weight. On an error the network may be changed in part:
// run it within Network::change, and restore `saved`.
Result<ActChange> act(Network& network, std::string_view path, const Rule& rule,
                      SavedWeights* saved);

// All metacognitions with rules that a network executes in a cell or inside of one, those inside of
// another before it.
struct RuledLayer {
  std::string path;
  const MetacognitionConfig* config;
};
std::vector<RuledLayer> ruled_layers(const Network& network);

// The path of the first layer whose weights are frozen; empty: there is none.
std::string frozen_layer(const Network& network);

// For what does not evaluate rules: an error that names the first layer that has some.
Status refuse_rules(const Network& network, std::string_view what);

// What a rule puts into the network, as JSON of a layer: without a dtype it has that of `layer`.
Json layer_of(const Rule& rule, const Node& layer);
// The format of the first matrix in a layer; without one its declared one.
WeightFormat format_in(const Node& node);

}  // namespace loom
