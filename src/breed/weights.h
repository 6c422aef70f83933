// The weights of networks that have parents: copies, never shared. Internal to the module.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "grid/network.h"

namespace loom::breed {

// A layer of a child and that of its parent which it came from.
struct Origin {
  std::string path, from;  // "0.0.1.0/2"
  std::string init;  // where it is new: "identity" or "zero" for its matrices; empty: as planned
};

// An independent network with the same topology and values. Weights that were packed alone have
// masters in it, the decoded values. Errors: as WeightStore::morph.
Result<Network> copy_of(Network& network);

// Gives a child of blank weights those of its parent. Parameters of equal size are copied to the
// bit; of other sizes what both have is copied, new columns are 0 and new rows are drawn. Layers
// without an origin are drawn from the seed.
Status carry_weights(Network& child, Network& parent, const std::vector<Origin>& origins,
                     std::uint64_t seed);

// Random values of a parameter of blank weights, as Network::initialize draws them.
void draw_param(Param& param, const std::string& path, std::uint64_t seed);

// The layer at a path, or null.
Node* layer_at(Network& network, std::string_view path);

// The master in double; what is packed alone is decoded. `set_master`: rounds to the master's type.
Result<std::vector<double>> master_of(WeightStore& store);
void set_master(WeightStore& store, const std::vector<double>& values);

// Whether a parameter learns by its gradient: not the statistics of batch_norm and standardize.
bool learns(const Node& node, const Param& param);

// Bytes of all weights in their formats, without masters that only learning needs.
std::uint64_t format_bytes(Network& network);

}  // namespace loom::breed
