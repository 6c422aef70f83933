// What the calls of attention.def take.
#pragma once

#include <cstdint>

#include "ops/attention/rope.h"
#include "ops/program.h"

namespace loom {

struct AttentionShape {
  std::int64_t heads = 1, kv_heads = 1, head_dim = 1;
  std::int64_t window = 0;  // a query sees this many positions, its own included; 0: all
  bool causal = true;
  double scale = 1.0;
  View slopes = {};  // of ALiBi (alibi_slopes): a score less a head's slope times the distance
};
struct Attended {
  View y, stats;
};
struct AttentionGradients {
  View q, k, v;
};

}  // namespace loom
