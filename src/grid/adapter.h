// A low-rank adapter (LoRA; Hu et al., arXiv 2106.09685): beside a weight W [out, in] stand A
// [rank, in] and B [out, rank], and the product is y = W x + b + (alpha / rank) * B (A x). It
// belongs to no topology: sessions run a network with one adapter or with none. Plain data; not
// thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "grid/network.h"
#include "numeric/weight_store.h"

namespace loom {

// A weight that an adapter can stand beside, and what files call it.
struct AdapterPlace {
  std::string path, role;
  std::string module;  // "model.layers.0.self_attn.q_proj"; without another name "0.0.1.0.q"
};
// All of them in the order of the grid, named by path and role.
std::vector<AdapterPlace> adapter_places(Network& network);

struct AdapterSpec {
  std::int64_t rank = 0;  // 0: no adapter
  double alpha = 16;
  // Roles ("q"), last parts of module names ("q_proj"), or one weight ("0.0.1.0/0/1:q"); empty: all
  // weights but those of the last cell.
  std::vector<std::string> targets;
};

class Adapter {
 public:
  struct Target {
    std::string path, role, module;
    std::shared_ptr<WeightStore> a,
        b;             // [rank, in], [out, rank]: f32, or f64 where the cell computes in f64
    double scale = 1;  // alpha / rank
  };
  std::int64_t rank = 8;
  double alpha = 16;
  std::vector<Target> targets;  // in the order of the grid

  // A normal with the deviation 1/sqrt(in), each element by (seed, path, role, index) alone; B
  // zero: the network computes what it did. Errors: a target that names no place, an output of
  // nothing to adapt.
  static Result<Adapter> create(Network& network, std::span<const AdapterPlace> places,
                                const AdapterSpec& spec, std::uint64_t seed);

  const Target* find(std::string_view path, std::string_view role) const;
  // A or B: the role is that of the weight with ":lora_A" or ":lora_B". Null where there is none.
  WeightStore* store(std::string_view path, std::string_view role) const;
  std::int64_t parameter_count() const;

  // That every target is a weight of this network with these sizes, and A and B are of the float
  // type that its cell computes in.
  Status fit(Network& network);
  // Adds scale * B A to the weights: in f32 (f64 where the cell computes in f64), each element a
  // sum in the order of the rank, encoded again where the weight is packed. Errors: fit's; a weight
  // that is tied to another. On an error the network is as it was.
  Status merge(Network& network);
};

// SHA-256 over the topology and all values as the network sees them, in hex.
Result<std::string> digest(Network& network);

}  // namespace loom
