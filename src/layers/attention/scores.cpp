#include "layers/attention/scores.h"

#include <algorithm>

#include "base/message.h"
#include "layers/pull.h"

namespace loom {
namespace {

Status bad(std::string what) { return Status(Code::invalid_argument, std::move(what)); }

}  // namespace

Status check_keys(const Names& takes, const Shape& in, std::size_t first, std::int64_t keys) {
  LOOM_TRY(check_lengths(in, place_of(takes, "lengths", first), keys));
  const std::size_t i = place_of(takes, "mask", first);
  if (i == 0 || (in.parts[i].dims.size() <= 1 && in.parts[i].width == keys)) return {};
  return bad(message("the mask has a value for each of the ", keys, " steps attended to, got ",
                     in.parts[i].to_string()));
}

Status Scores::check() const {
  if (inner() > INT32_MAX / std::max(queries, keys) || queries > INT32_MAX / keys / heads)
    return bad("holds more than 2^31-1 values of heads and steps");
  return {};
}

// A matrix per head, m x k by k x n: heads of one group share what is of keys.
MatmulShape Scores::product(std::int64_t m, std::int64_t n, std::int64_t k, Steps a,
                            Steps b) const {
  return {kv_heads, group(), m, n, k, a, b};
}
// Where the matrices lie: [steps, heads, head_dim], [heads, steps, head_dim] or [heads, queries,
// keys]; `turned`: transposed.
Scores::Steps Scores::laid(std::int64_t matrix, std::int64_t row, bool transposed,
                           bool of_keys) const {
  const std::int64_t of_group = of_keys ? matrix : group() * matrix,
                     in_group = of_keys || group() == 1 ? 0 : matrix;
  return transposed ? Steps{of_group, in_group, 1, row} : Steps{of_group, in_group, row, 1};
}
View Scores::to_steps(ProgramBuilder& e, View x, std::int64_t steps, std::int64_t own_heads) const {
  return e.transpose(x, {1, 1, own_heads, steps, head_dim}, {0, 1, 3, 2, 4}, x.cols);
}
View Scores::to_heads(ProgramBuilder& e, View x) const {
  return e.transpose(x, {1, 1, queries, heads, head_dim}, {0, 1, 3, 2, 4}, x.cols);
}
// A value of every key, or of every pair, meets the scores, or shares, of all heads and queries.
View Scores::over(ProgramBuilder& e, View scores, View seen_keys, Binary kind) const {
  const std::int64_t of_query = seen_keys.cols == keys ? 0 : keys;
  return e.binary(scores, seen_keys, kind, {1, 1, heads, queries, keys},
                  {0, 0, queries * keys, keys, 1}, {0, 0, 0, of_query, 1}, e.rows(scores));
}
// Of queries and keys that are the same steps: 1 where neither causality nor the window hides one.
View Scores::seen_pairs(ProgramBuilder& e, ValueType type) const {
  const View steps = step_numbers(e, type, keys);
  const auto compared = [&](View query, Binary kind) {
    return e.binary(query, steps, kind, {1, 1, 1, queries, keys}, {0, 0, 0, 1, 0}, {0, 0, 0, 0, 1},
                    {});
  };
  View seen;
  if (causal) seen = compared(steps, Binary::greater_equal);
  if (window > 0) {
    const View width = e.temp(type, {}, 1);
    e.fill(width, static_cast<double>(window));
    const View behind =
        e.binary(steps, width, Binary::sub, {1, 1, 1, 1, keys}, {0, 0, 0, 0, 1}, {}, {});
    const View near = compared(behind, Binary::less);
    seen = seen.valid() ? e.mul(seen, near) : near;
  }
  return seen;
}
// ALiBi: less a head's slope times the distance of query and key.
View Scores::nearer(ProgramBuilder& e, View scores) const {
  const View steps = step_numbers(e, e.type(scores), keys);
  const View distance = e.unary(e.binary(steps, steps, Binary::sub, {1, 1, 1, queries, keys},
                                         {0, 0, 0, 1, 0}, {0, 0, 0, 0, 1}, {}),
                                Unary::abs);
  const View falls =
      e.binary(e.alibi_slopes(heads, e.type(scores)), distance, Binary::mul,
               {1, 1, heads, queries, keys}, {0, 0, 1, 0, 0}, {0, 0, 0, keys, 1}, {});
  return e.binary(scores, falls, Binary::sub, {1, 1, 1, 1, scores.cols}, {0, 0, 0, 0, 1},
                  {0, 0, 0, 0, 1}, e.rows(scores));
}
// 1 for what is seen, else 0: of keys [R, keys], or of pairs [R, or 1, queries x keys]; invalid:
// all.
View Scores::seen_of(LayerContext& v, ValueType type, const Names& takes, View row,
                     std::size_t first) const {
  ProgramBuilder& e = v.emit;
  View seen;
  if (const std::size_t i = place_of(takes, "mask", first))
    seen = e.unary(operand(v.in(), row, i), Unary::logical_not);
  if (const std::size_t i = place_of(takes, "lengths", first)) {
    const View within = seen_steps(e, operand(v.in(), row, i), keys);
    seen = seen.valid() ? e.mul(seen, within) : within;
  }
  const View pairs = seen_pairs(e, type);
  if (!seen.valid() || !pairs.valid()) return pairs.valid() ? pairs : seen;
  return e.binary(pairs, seen, Binary::mul, {1, 1, 1, queries, keys}, {0, 0, 0, keys, 1},
                  {0, 0, 0, 0, 1}, e.rows(seen));
}
View Scores::dropped(LayerContext& v, View x) const {
  return v.learning && dropout > 0 ? v.emit.dropout(x, v.noise("mask"), dropout) : x;
}

View Scores::forward(LayerContext& v, View q, View k, View value, const Names& takes, View row,
                     std::size_t first) const {
  ProgramBuilder& e = v.emit;
  View scores =
      e.batched_matmul(q, k, product(queries, keys, head_dim, of_queries(), of_keys(true)));
  if (alibi) scores = nearer(e, scores);
  const View seen_keys = seen_of(v, e.type(q), takes, row, first);
  if (seen_keys.valid()) {
    // Without the score, which is what nobody may see.
    const View low = e.scale(e.unary(seen_keys, Unary::logical_not), far_below(e.type(q)));
    scores = over(e, over(e, scores, seen_keys, Binary::mul), low, Binary::add);
  }
  const View shares = e.softmax(scores, SoftmaxKind::softmax, keys, 2);
  const View seen =
      dropped(v, seen_keys.valid() ? over(e, shares, seen_keys, Binary::mul) : shares);
  const View by_head = e.batched_matmul(
      seen, value, product(queries, head_dim, keys, of_scores(false), of_keys(false)));
  v.save("seen_keys", seen_keys);
  v.save("row_q", q);
  v.save("row_k", k);
  v.save("row_v", value);
  v.save("shares", shares);
  v.save("seen", seen);
  return to_steps(e, by_head, queries, heads);
}

AttentionGradients Scores::backward(LayerContext& v, View g) const {
  ProgramBuilder& e = v.emit;
  const View g_head = to_heads(e, g), seen_keys = v.saved("seen_keys");
  const MatmulShape by_keys = product(queries, keys, head_dim, of_heads(), of_keys(true));
  View g_shares = dropped(v, e.batched_matmul(g_head, v.saved("row_v"), by_keys));
  if (seen_keys.valid()) g_shares = over(e, g_shares, seen_keys, Binary::mul);
  const View g_scores =
      v.pulls.on ? score_gaps(e, v.saved("shares"), g_shares)
                 : e.softmax_back(v.saved("shares"), g_shares, SoftmaxKind::softmax, keys, 2);
  const View gq =
      e.batched_matmul(g_scores, v.saved("row_k"),
                       product(queries, head_dim, keys, of_scores(false), of_keys(false)));
  const View gk = gradient_of_keys(e, g_scores, v.saved("row_q"), false);
  View gv = gradient_of_keys(e, v.saved("seen"), g_head, true);
  if (!v.pulls.on) return {gq, gk, gv};
  const View ones = e.like(g_head, g_head.cols);
  e.fill(ones, 1);
  const View sums = gradient_of_keys(e, v.saved("seen"), ones, true);
  return {gq, gk, combined(e, gv, pull_share(e, sums), Binary::mul)};
}

// Of a score: what is above the mean of its query's gaps, by the shares; of those that have one.
View Scores::score_gaps(ProgramBuilder& e, View shares, View gaps) const {
  const View mean = e.reduce(e.mul(shares, gaps), Reduce::sum, keys);
  const View above = e.binary(gaps, mean, Binary::sub, {1, 1, 1, heads * queries, keys},
                              {0, 0, 0, keys, 1}, {0, 0, 0, 1, 0}, e.rows(gaps));
  return e.mul(above, combined(e, shares, filled_row(e, e.type(shares), 1, 0), Binary::greater));
}

// Sums over the queries of a group's heads, which lie one behind the other by head.
View Scores::gradient_of_keys(ProgramBuilder& e, View scores, View of_query, bool by_head) const {
  if (group() == 1)
    return e.batched_matmul(
        scores, of_query,
        product(keys, head_dim, queries, of_scores(true), by_head ? of_heads() : of_queries()));
  if (!by_head) of_query = to_heads(e, of_query);
  const std::int64_t all = group() * queries;
  return e.batched_matmul(scores, of_query,
                          {kv_heads,
                           1,
                           keys,
                           head_dim,
                           all,
                           {all * keys, 0, 1, keys},
                           {all * head_dim, 0, head_dim, 1}});
}

}  // namespace loom
