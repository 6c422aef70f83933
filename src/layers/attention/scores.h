// Attention in a row by ops that exist: the scores of all pairs of queries and keys, what is seen
// of them, and their softmax. For masks and dropout, which the fused attention has not.
#pragma once

#include "layers/takes.h"

namespace loom {

// Which operands "takes" may name behind those of an attention, and the errors of a row that has
// others: `lengths` of the keys, or a `mask` of them.
inline constexpr std::string_view kKeyOperands = "lengths, mask";
Status check_keys(const Names& takes, const Shape& in, std::size_t first, std::int64_t keys);

struct Scores {
  std::int64_t queries, keys, heads, kv_heads, head_dim;
  bool causal = false;
  std::int64_t window = 0;  // 0: all
  double dropout = 0;       // while learning
  bool alibi = false;       // of queries and keys that are the same steps

  std::int64_t inner() const { return heads * head_dim; }
  std::int64_t kv_inner() const { return kv_heads * head_dim; }
  double scale() const { return 1 / __builtin_sqrt(static_cast<double>(head_dim)); }
  Status check() const;
  // q, scaled, is [R, queries x inner], k and v are [R, keys x kv_inner]; `row` has the operands
  // that are taken behind the first ones. Gives [R, queries x inner].
  View forward(LayerContext& v, View q, View k, View value, const Names& takes, View row,
               std::size_t first) const;
  // From the gradient of that, those of the three, by head: to_steps gives them the order of q, k
  // and v.
  AttentionGradients backward(LayerContext& v, View g) const;
  View to_steps(ProgramBuilder& e, View x, std::int64_t steps, std::int64_t own_heads) const;

 private:
  using Steps = std::array<std::int64_t, 4>;  // of batched_matmul
  std::int64_t group() const { return heads / kv_heads; }
  MatmulShape product(std::int64_t m, std::int64_t n, std::int64_t k, Steps a, Steps b) const;
  Steps laid(std::int64_t matrix, std::int64_t row, bool transposed, bool of_keys = false) const;
  Steps of_queries() const { return laid(head_dim, inner(), false); }
  Steps of_keys(bool transposed) const { return laid(head_dim, kv_inner(), transposed, true); }
  Steps of_heads() const { return laid(queries * head_dim, head_dim, false); }
  Steps of_scores(bool transposed) const { return laid(queries * keys, keys, transposed); }
  View score_gaps(ProgramBuilder& e, View shares, View gaps) const;
  View gradient_of_keys(ProgramBuilder& e, View scores, View of_queries, bool by_head) const;
  View to_heads(ProgramBuilder& e, View x) const;
  View seen_of(LayerContext& v, ValueType type, const Names& takes, View row,
               std::size_t first) const;
  View over(ProgramBuilder& e, View scores, View seen_keys, Binary kind) const;
  View seen_pairs(ProgramBuilder& e, ValueType type) const;
  View nearer(ProgramBuilder& e, View scores) const;
  View dropped(LayerContext& v, View x) const;
};

}  // namespace loom
