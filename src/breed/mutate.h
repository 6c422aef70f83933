// Mutation of networks: topologies change, layers that stay keep their weights, and every child
// runs forward and backward.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/fields/fields.h"
#include "base/json/json.h"
#include "evolve/genome.h"
#include "grid/network.h"

namespace loom::breed {

struct MutationRates {
  double weights = 0.8, weight_share = 0.5, weight_scale = 0.1;
  double insert = 0.05, remove = 0.03, width = 0.05, activation = 0.05, retype = 0.03;
  double add_link = 0.03, drop_link = 0.02, toggle = 0.01, dtype = 0, duplicate = 0.02;
  std::vector<std::string> dtypes = {"f32", "bf16", "i8", "i4"}, types;
  std::int64_t max_layers = 64, max_width = 1024, max_parameters = std::int64_t{1} << 24;
};

template <class V>
void fields(V& v, MutationRates& r) {
  const auto share = [&v](std::string_view key, double& value, FieldText doc) {
    v(key, value, {.doc = doc, .min = 0, .max = 1});
  };
  const auto count = [&v](std::string_view key, std::int64_t& value, FieldText doc) {
    v(key, value, {.doc = doc, .min = 1, .max = 1 << 30});
  };
  share("weights", r.weights, "probability that weights move");
  share("weight_share", r.weight_share, "of them, the share of layers whose weights move");
  share("weight_scale", r.weight_scale,
        "a weight moves by +- this times the root mean square of its parameter");
  share("insert", r.insert, "probability of a new layer");
  share("remove", r.remove, "probability that a layer is removed");
  share("width", r.width, "probability that a layer becomes wider or narrower");
  share("activation", r.activation, "probability that an activation changes");
  share("retype", r.retype, "probability that a layer becomes one of another type");
  share("add_link", r.add_link, "probability of a new link: a skip, or a layer that is shared");
  share("drop_link", r.drop_link, "probability that a link goes");
  share("toggle", r.toggle, "probability that a layer is switched off or on");
  share("dtype", r.dtype, "probability that a cell takes another of `dtypes`");
  share("duplicate", r.duplicate, "probability that a layer is doubled");
  v("dtypes", r.dtypes, {.doc = "weight formats that cells may have"});
  v("types", r.types, {.doc = "layer types that may come in; none: all"});
  count("max_layers", r.max_layers, "layers of a child, nested ones too");
  count("max_width", r.max_width, "values that a new or changed layer returns");
  count("max_parameters", r.max_parameters, "values of all parameters");
}

// Checks formats and names of types.
Status check_rates(const MutationRates& rates);
// Errors: invalid_argument, by the key.
Result<MutationRates> mutation_rates(const Json& json);

struct Mutation {
  std::string kind;  // "insert", "weights", ...
  std::string at;    // path in the network before it
  std::string what;  // "dense", "16 -> 24", "relu -> tanh"
  std::int64_t redraws = 0;
  bool stitched = false;  // a learned matrix mends the width behind it
};

struct MutationReport {
  std::vector<Mutation> done;
  std::vector<std::string> failed;  // kinds that were drawn and found no place in 8 draws
  bool fell_back = false;           // nothing else was done: weights were moved
};

// A mutated copy; the parent is not changed. The child takes and gives what the parent does, and
// its programs run: a few rows went forward and backward with finite results. Layers that were not
// touched keep their weights to the bit. Errors: what check_runs() says of a parent that does not
// run itself.
Result<Network> mutate(Network& parent, const MutationRates& rates, std::uint64_t seed,
                       MutationReport* report = nullptr);
// The same with numbers of a given stream.
Result<Network> mutate(Network& parent, const MutationRates& rates, evolve::Draws& draws,
                       MutationReport* report);
Json to_json(const MutationReport& report);

}  // namespace loom::breed
