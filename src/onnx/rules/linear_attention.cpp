// Attention whose memory is one matrix for each head, step by step.
#include "base/math/exact_math.h"
#include "onnx/graph.h"

namespace loom::onnx {
namespace {

constexpr std::int64_t kMaxSteps = 512;

// query [N, T, heads * k], key [N, T, H * k], value [N, T, H * v]; past_state [N, H, k, v]; decay
// [N, T, H or H * k]; beta [N, T, H or 1]. At each step
//   state = state * e^decay,   value = beta * (value - key^T state),   state = state + key value^T,
//   output = scale * query^T state
// where `update_rule` says which of the first two there are: gated, delta. The heads of a query
// share one of H in groups.
Status linear_attention(StepCall& c) {
  LOOM_ASSIGN(const std::int64_t heads, c.node().get_int("q_num_heads", 0));
  LOOM_ASSIGN(const std::int64_t own, c.node().get_int("kv_num_heads", 0));
  LOOM_ASSIGN(const std::string rule, c.node().get_string("update_rule", "gated_delta"));
  LOOM_ASSIGN(float scale, c.node().get_float("scale", 0));
  const bool gated = rule.starts_with("gated"), delta = rule.ends_with("delta");
  const std::int64_t n = c.dims()[0], steps = c.dims()[1], k = c.dims()[2] / heads,
                     v = c.dims(2)[2] / own, group = heads / own;
  if (steps > kMaxSteps)
    return StepCall::refuse("over " + std::to_string(steps) + " steps it is not mapped, at most " +
                            std::to_string(kMaxSteps));
  if (scale == 0) scale = static_cast<float>(1 / exact::sqrt(static_cast<double>(k)));
  GraphBuilder& g = c.graph;
  // [N, T, width] with the steps outside, then cut.
  const auto by_step = [&](std::size_t i) { return g.permute(g.value(c.in(i)), {1, 0, 2}); };
  const Ref query = by_step(0), key = by_step(1), value = by_step(2);
  const Ref decay = gated ? by_step(4) : Ref{}, beta = delta ? by_step(5) : Ref{};
  LOOM_TRY(g.makes(c.has(3) ? 0 : n * own * k * v));
  Ref state = c.has(3) ? g.value(c.in(3))
                       : g.value(GraphBuilder::constant(
                             {n, own, k, v},
                             std::vector<float>(static_cast<std::size_t>(n * own * k * v), 0.0f)));
  std::vector<Ref> outputs;
  for (std::int64_t t = 0; t < steps; ++t) {
    Ref written = part_of(value, t, {n, own, 1, v});
    if (gated)
      state = g.binary(state, g.unary(part_of(decay, t, {n, own, c.dims(4)[2] / own, 1}), "exp"),
                       "mul");
    if (delta) {
      const Ref found = g.matmul(part_of(key, t, {n, own, 1, k}), state, {n, own, 1, v});
      written = g.binary(g.binary(written, found, "sub"), part_of(beta, t, {n, c.dims(5)[2], 1, 1}),
                         "mul");
    }
    state = g.binary(state, g.binary(part_of(key, t, {n, own, k, 1}), written, "mul"), "add");
    outputs.push_back(g.matmul(part_of(query, t, {n, own, group, k}), state, {n, own, group, v}));
  }
  if (c.wants(0)) {
    const Ref all = g.permute(g.add(Json::object(), outputs, {steps, n, heads * v}), {1, 0, 2});
    c.set(g.binary(all, GraphBuilder::number(scale), "mul"));
  }
  c.set(state, 1);
  return {};
}

}  // namespace

std::span<const Operator> linear_attention_mappings() {
  static constexpr Operator kRows[] = {
#define LOOM_MAP_linear_attention(op, map, cell, traits) {op, map, cell, traits},
#include "formats/onnx/operators.def"
  };
  return kRows;
}

}  // namespace loom::onnx
