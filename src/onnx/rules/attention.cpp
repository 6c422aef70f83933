// Attention as ONNX and com.microsoft have it, with what stands around it in exported transformers:
// embeddings, normalized sums, rotations.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/math/exact_math.h"
#include "onnx/graph.h"

namespace loom::onnx {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kLowest = std::numeric_limits<float>::lowest();

// [batch, length, heads * width] as [batch, heads, length, width], and back.
Ref heads_of(StepCall& c, const Ref& x, std::int64_t heads) {
  const Dims& d = x.dims;
  return c.graph.permute(GraphBuilder::reshape(x, {d[0], d[1], heads, d[2] / heads}), {0, 2, 1, 3});
}
Ref joined_heads(StepCall& c, const Ref& x) {
  const Dims d = x.dims;
  return GraphBuilder::reshape(c.graph.permute(x, {0, 2, 1, 3}), {d[0], d[2], d[1] * d[3]});
}
// q [batch, heads, length, width] times the keys' transposed [batch, kv_heads, total, width]:
// neighbors among the heads share a key.
Ref scores_of(StepCall& c, const Ref& q, const Ref& k) {
  const Dims a = q.dims, b = k.dims;
  const std::int64_t rows = a[1] / b[1] * a[2];
  const Ref y = c.graph.matmul(GraphBuilder::reshape(q, {a[0], b[1], rows, a[3]}),
                               c.graph.permute(k, {0, 1, 3, 2}), {a[0], b[1], rows, b[2]});
  return GraphBuilder::reshape(y, {a[0], a[1], a[2], b[2]});
}
Ref weighted(StepCall& c, const Ref& p, const Ref& v) {
  const Dims a = p.dims, b = v.dims;
  const std::int64_t rows = a[1] / b[1] * a[2];
  const Ref y = c.graph.matmul(GraphBuilder::reshape(p, {a[0], b[1], rows, a[3]}), v,
                               {a[0], b[1], rows, b[3]});
  return GraphBuilder::reshape(y, {a[0], a[1], a[2], b[3]});
}

// The masks of Attention as what is added to the scores; none where nothing is masked.
struct Bias {
  Ref value;
  bool any = false, may_mask_all = false;
  void add(StepCall& c, const Ref& more) {
    value = any ? c.graph.binary(value, more, "add") : more;
    any = true;
  }
};
// How far a query sees to each side, -1 without limit.
struct Reach {
  std::int64_t left, right;
};

// The mask that is given, spread over the scores.
Result<Ref> given_mask(StepCall& c, const Dims& scores) {
  const std::int64_t total = scores[3];
  Ref mask = c.in(3);
  if (mask.dims.empty() || mask.dims.size() > 4)
    return StepCall::refuse("its mask has " + std::to_string(mask.dims.size()) + " dimensions");
  if (c.value(3).type == Type::boolean)
    mask = c.graph.select(mask, GraphBuilder::number(0), GraphBuilder::number(-kInfinity));
  const std::int64_t given = mask.dims.back();
  if (given < total && given > 1) {  // what it leaves out is masked
    Dims rest = mask.dims;
    rest.back() = total - given;
    LOOM_TRY(c.graph.makes(elements(rest)));
    mask = c.graph.concat(
        {mask, GraphBuilder::constant(
                   rest, std::vector<float>(static_cast<std::size_t>(elements(rest)), -kInfinity))},
        static_cast<std::int64_t>(rest.size()) - 1);
  } else if (given != total && given != 1) {
    return Status(Code::invalid_argument,
                  "its mask " + text_of(mask.dims) + " goes beyond the scores " + text_of(scores));
  }
  for (std::size_t d = 0; d + 1 < mask.dims.size(); ++d)
    if (const std::int64_t n = mask.dims[d]; n != 1 && n != scores[4 - mask.dims.size() + d])
      return Status(Code::invalid_argument, "its mask " + text_of(mask.dims) +
                                                " does not go with the scores " + text_of(scores));
  return mask;
}

// Keys from a sequence's own length on are padding; the queries are its last ones. Without a past
// the windows go by the same lengths.
Result<Ref> padding_mask(StepCall& c, const Dims& scores, const Reach& reach, std::int64_t past) {
  const std::int64_t length = scores[2], total = scores[3];
  if (c.dims(6) != Dims{scores[0]})
    return Status(Code::invalid_argument, "nonpad_kv_seqlen " + text_of(c.dims(6)) + " for " +
                                              std::to_string(scores[0]) + " sequences");
  const Ref lengths = GraphBuilder::reshape(c.graph.value(c.in(6)), {scores[0], 1, 1, 1});
  Ref columns = GraphBuilder::constant({total}, {}),
      gaps = GraphBuilder::constant({length, total}, {});
  for (std::int64_t i = 0; i < total; ++i) columns.data.push_back(static_cast<float>(i));
  for (std::int64_t r = 0; r < length; ++r)
    for (std::int64_t i = 0; i < total; ++i)
      gaps.data.push_back(static_cast<float>(i - r + length));
  Ref hidden = c.graph.binary(columns, lengths, "greater_equal");
  const auto hide = [&](std::int64_t at, const char* beyond) {
    const Ref ends = c.graph.binary(lengths, GraphBuilder::number(static_cast<double>(at)), "add");
    hidden = c.graph.binary(hidden, c.graph.binary(gaps, ends, beyond), "or");
  };
  if (past == 0 && reach.right >= 0) hide(reach.right, "greater");
  if (past == 0 && reach.left >= 0) hide(-reach.left, "less");
  return c.graph.select(hidden, GraphBuilder::number(-kInfinity), GraphBuilder::number(0));
}

Ref window_mask(const Dims& scores, const Reach& reach, std::int64_t past) {
  const std::int64_t length = scores[2], total = scores[3];
  Ref outside = GraphBuilder::constant({length, total}, {});
  for (std::int64_t r = 0; r < length; ++r)
    for (std::int64_t i = 0; i < total; ++i) {
      const std::int64_t gap = i - r - past;
      outside.data.push_back((reach.right >= 0 && gap > reach.right) ||
                                     (reach.left >= 0 && gap < -reach.left)
                                 ? -kInfinity
                                 : 0.0f);
    }
  return outside;
}

Result<Bias> bias_of(StepCall& c, const Dims& scores, std::int64_t past) {
  LOOM_ASSIGN(const std::int64_t causal, c.node().get_int("is_causal", 0));
  Reach reach;
  LOOM_ASSIGN(reach.left, c.node().get_int("left_window_size", -1));
  LOOM_ASSIGN(reach.right, c.node().get_int("right_window_size", -1));
  if (reach.left < -1 || reach.right < -1)
    return Status(Code::invalid_argument, "a window of " + std::to_string(reach.left) +
                                              " to the left and " + std::to_string(reach.right) +
                                              " to the right; -1 is without limit");
  if (causal) reach.right = 0;
  LOOM_TRY(c.graph.makes(scores[2] * scores[3]));
  Bias bias;
  if (c.has(3)) {
    LOOM_ASSIGN(const Ref mask, given_mask(c, scores));
    bias.add(c, mask);
    bias.may_mask_all = true;
  }
  if (c.has(6)) {
    LOOM_ASSIGN(const Ref mask, padding_mask(c, scores, reach, past));
    bias.add(c, mask);
    bias.may_mask_all = true;
  }
  if ((reach.left >= 0 || reach.right >= 0) && !(c.has(6) && past == 0)) {
    bias.add(c, window_mask(scores, reach, past));
    bias.may_mask_all |= reach.left >= 0;
  }
  return bias;
}

Status attention(StepCall& c) {
  LOOM_ASSIGN(const std::int64_t mode, c.node().get_int("qk_matmul_output_mode", 0));
  LOOM_ASSIGN(const float cap, c.node().get_float("softcap", 0));
  LOOM_ASSIGN(const std::int64_t q_heads, c.node().get_int("q_num_heads", 0));
  LOOM_ASSIGN(const std::int64_t kv_heads, c.node().get_int("kv_num_heads", 0));
  if (mode < 0 || mode > 3)
    return StepCall::refuse("qk_matmul_output_mode " + std::to_string(mode) + " is not mapped");
  if (c.has(4) != c.has(5)) return StepCall::refuse("past_key and past_value come together");
  Ref q = c.graph.value(c.in(0)), k = c.graph.value(c.in(1)), v = c.graph.value(c.in(2));
  const bool flat = q.dims.size() == 3;
  if (flat) {
    q = heads_of(c, q, q_heads);
    k = heads_of(c, k, kv_heads);
    v = heads_of(c, v, kv_heads);
  }
  std::int64_t past = 0;
  if (c.has(4)) {
    const Dims &pk = c.dims(4), &pv = c.dims(5);
    if (pk.size() != 4 || pk != Dims{k.dims[0], k.dims[1], pk[2], k.dims[3]} ||
        pv != Dims{v.dims[0], v.dims[1], pk[2], v.dims[3]})
      return Status(Code::invalid_argument, "past_key " + text_of(pk) + " and past_value " +
                                                text_of(pv) + " do not go with K " +
                                                text_of(k.dims) + " and V " + text_of(v.dims));
    past = pk[2];
    k = c.graph.concat({c.in(4), k}, 2);
    v = c.graph.concat({c.in(5), v}, 2);
  }
  if (q.dims[3] != k.dims[3] || k.dims[2] != v.dims[2] || k.dims[1] != v.dims[1] ||
      q.dims[0] != k.dims[0] || v.dims[0] != k.dims[0] || q.dims[1] % k.dims[1] != 0)
    return Status(Code::invalid_argument, "Q " + text_of(q.dims) + ", K " + text_of(k.dims) +
                                              ", V " + text_of(v.dims) + " do not go together");
  if (c.wants(1)) c.set(k, 1);
  if (c.wants(2)) c.set(v, 2);
  LOOM_ASSIGN(const float scale,
              c.node().get_float(
                  "scale", static_cast<float>(1 / exact::sqrt(static_cast<double>(q.dims[3])))));
  q = c.graph.binary(q, GraphBuilder::number(scale), "mul");
  Ref s = scores_of(c, q, k);
  if (mode == 0 && c.wants(3)) c.set(s, 3);
  if (cap != 0) {
    s = c.graph.binary(s, GraphBuilder::number(cap), "div");
    s = c.graph.binary(c.graph.activation(s, "tanh"), GraphBuilder::number(cap), "mul");
  }
  if (mode == 1 && c.wants(3)) c.set(s, 3);
  LOOM_ASSIGN(const Bias bias, bias_of(c, s.dims, past));
  if (bias.any) s = c.graph.binary(s, bias.value, "add");
  if (mode == 2 && c.wants(3)) c.set(s, 3);
  Ref p = c.graph.softmax(s);
  if (bias.may_mask_all) {  // rows that see nothing are 0, whatever the scores were
    const Ref b = c.graph.value(bias.value);
    const Ref blind = c.graph.binary(
        c.graph.reduce(b, "max", {static_cast<std::int64_t>(b.dims.size()) - 1}, true),
        GraphBuilder::number(-kInfinity), "equal");
    p = c.graph.select(blind, GraphBuilder::number(0), p);
  }
  if (mode == 3 && c.wants(3)) c.set(p, 3);
  const Ref y = weighted(c, p, v);
  if (c.wants(0)) c.set(flat ? joined_heads(c, y) : y);
  return {};
}

// The settings and sizes of com.microsoft.Attention.
struct Packed {
  std::int64_t heads, causal;
  float filter;  // what masks a key
  std::int64_t batch, length, width, hidden, head;
};

// Queries, keys and values by one product: [3, batch, heads, length, head].
Result<Ref> packed_product(StepCall& c, const Packed& n) {
  const std::int64_t hidden = n.hidden;
  LOOM_ASSIGN(const std::vector<float> packed, c.floats(1));
  std::vector<float> weight(packed.size()), bias;
  for (std::int64_t r = 0; r < n.width; ++r)
    for (std::int64_t i = 0; i < 3 * hidden; ++i)
      weight[static_cast<std::size_t>(i * n.width + r)] =
          packed[static_cast<std::size_t>(r * 3 * hidden + i)];
  if (c.has(2)) {
    LOOM_ASSIGN(bias, c.floats(2));
  }
  const Ref all = known_product(c, c.graph.value(c.in()), n.width, 3 * hidden, std::move(weight),
                                std::move(bias), {n.batch, n.length, 3, n.heads, n.head});
  return c.graph.permute(all, {2, 0, 3, 1, 4});
}

// Puts the past [2, batch, heads, past, head] before keys and values; returns its length.
Result<std::int64_t> prepend_past(StepCall& c, const Packed& n, Ref& k, Ref& v) {
  if (!c.has(4)) return 0;
  const Dims& d = c.dims(4);
  if (d[0] != 2 || d[1] != n.batch || d[2] != n.heads || d[4] != n.head)
    return Status(Code::invalid_argument, "past " + text_of(d) + " does not go with " +
                                              std::to_string(n.heads) + " heads of " +
                                              std::to_string(n.head));
  const std::int64_t past = d[3];
  if (past > 0) {
    const Ref before = c.graph.value(c.in(4));
    k = c.graph.concat({part_of(before, 0, {n.batch, n.heads, past, n.head}), k}, 2);
    v = c.graph.concat({part_of(before, 1, {n.batch, n.heads, past, n.head}), v}, 2);
  }
  return past;
}

// The scores with what the mask and causality add to them.
Result<Ref> packed_mask(StepCall& c, const Packed& n, std::int64_t past, const Ref& scores) {
  const std::int64_t total = past + n.length;
  Ref later = GraphBuilder::constant({n.length, total}, {});
  for (std::int64_t r = 0; r < n.length; ++r)
    for (std::int64_t i = 0; i < total; ++i)
      later.data.push_back(n.causal && i > r + past ? kLowest : 0.0f);
  if (!c.has(3)) return n.causal ? c.graph.binary(scores, later, "add") : scores;
  // 0 masks a key of all queries, or of each.
  const Dims& d = c.dims(3);
  Ref mask = c.in(3);
  if (d == Dims{n.batch, total})
    mask = GraphBuilder::reshape(c.graph.value(mask), {n.batch, 1, 1, total});
  else if (d == Dims{n.batch, n.length, total})
    mask = GraphBuilder::reshape(c.graph.value(mask), {n.batch, 1, n.length, total});
  else return StepCall::refuse("a mask of shape " + text_of(d) + " is not mapped");
  const Ref seen = c.graph.binary(mask, GraphBuilder::number(0), "greater");
  const Ref hidden_keys = c.graph.binary(
      c.graph.select(seen, GraphBuilder::number(0), GraphBuilder::number(n.filter)), later, "min");
  return c.graph.binary(scores, hidden_keys, "add");
}

// com.microsoft.Attention: one packed product for queries, keys and values; a past and present of
// both [2, batch, heads, length, width].
Status packed_attention(StepCall& c) {
  Packed n{};
  LOOM_ASSIGN(n.heads, c.node().get_int("num_heads", 0));
  LOOM_ASSIGN(n.causal, c.node().get_int("unidirectional", 0));
  LOOM_ASSIGN(n.filter, c.node().get_float("mask_filter_value", -10000));
  LOOM_ASSIGN(const Dims sizes, c.node().get_ints("qkv_hidden_sizes", {}));
  for (const char* key : {"do_rotary", "past_present_share_buffer"}) {
    LOOM_ASSIGN(const std::int64_t set, c.node().get_int(key, 0));
    if (set != 0) return StepCall::refuse("\"" + std::string(key) + "\" is not mapped");
  }
  if (c.has(6)) return StepCall::refuse("past_sequence_length is not mapped");
  if (!sizes.empty() && (sizes[0] != sizes[1] || sizes[1] != sizes[2]))
    return StepCall::refuse("queries, keys and values of different sizes are not mapped");
  n.batch = c.dims()[0];
  n.length = c.dims()[1];
  n.width = c.dims()[2];
  n.hidden = c.dims(1)[1] / 3;
  n.head = n.hidden / n.heads;
  LOOM_ASSIGN(const Ref all, packed_product(c, n));
  const Dims own = {n.batch, n.heads, n.length, n.head};
  Ref q = part_of(all, 0, own), k = part_of(all, 1, own), v = part_of(all, 2, own);
  LOOM_ASSIGN(const std::int64_t past, prepend_past(c, n, k, v));
  const std::int64_t total = past + n.length;
  LOOM_TRY(c.graph.makes(n.length * total));
  if (c.wants(1))
    c.set(c.graph.add(Json::object(), {k, v}, {2, n.batch, n.heads, total, n.head}), 1);
  LOOM_ASSIGN(float scale, c.node().get_float("scale", 0));
  if (scale == 0) scale = static_cast<float>(1 / exact::sqrt(static_cast<double>(n.head)));
  q = c.graph.binary(q, GraphBuilder::number(scale), "mul");
  Ref s = scores_of(c, q, k);
  if (c.has(5)) s = c.graph.binary(s, c.in(5), "add");
  LOOM_ASSIGN(s, packed_mask(c, n, past, s));
  const Ref p = c.graph.softmax(s);
  if (c.wants(0)) c.set(joined_heads(c, weighted(c, p, v)));
  return {};
}

Status embed_layer_norm(StepCall& c) {
  LOOM_ASSIGN(const float eps, c.node().get_float("epsilon", 1e-12f));
  if (!c.has(3) || !c.has(5) || !c.has(6))
    return StepCall::refuse("without positions, gamma or beta it is not mapped");
  if (c.has(1) != c.has(4)) return StepCall::refuse("segments and their table come together");
  const Dims out = c.result().dims;
  if ((c.has(1) && c.dims(1) != c.dims(0)) ||
      (c.has(8) && c.dims(8) != c.dims(0) && c.dims(8) != Dims{1, out[1]}))
    return StepCall::refuse("segments or positions of another shape than its ids are not mapped");
  for (const std::size_t table : {std::size_t{3}, std::size_t{4}})
    if (c.has(table) && (c.dims(table).size() != 2 || c.dims(table)[1] != out[2]))
      return Status(Code::invalid_argument, "a table of shape " + text_of(c.dims(table)) +
                                                " for rows of " + std::to_string(out[2]));
  const std::int64_t batch = out[0], length = out[1], width = out[2];
  const auto rows = [&](const Ref& ids, std::size_t table) -> Result<Ref> {
    LOOM_ASSIGN(const std::vector<float> values, c.floats(table));
    return rows_by_id(c, ids, values, c.dims(table)[0], width,
                      ids.dims.size() > 1 ? Dims{ids.dims[0], length, width} : Dims{length, width});
  };
  LOOM_ASSIGN(Ref sum, rows(c.in(0), 2));
  if (c.has(8)) {
    LOOM_ASSIGN(const Ref positions, rows(c.in(8), 3));
    sum = c.graph.binary(sum, positions, "add");
  } else {
    LOOM_ASSIGN(std::vector<float> table, c.floats(3));
    if (c.dims(3)[0] < length)
      return Status(Code::invalid_argument, "has " + std::to_string(c.dims(3)[0]) +
                                                " positions for " + std::to_string(length) +
                                                " tokens");
    LOOM_TRY(c.graph.makes(length * width));
    table.resize(static_cast<std::size_t>(length * width));
    sum = c.graph.binary(sum, GraphBuilder::constant({length, width}, std::move(table)), "add");
  }
  if (c.has(1)) {
    LOOM_ASSIGN(const Ref segments, rows(c.in(1), 4));
    sum = c.graph.binary(sum, segments, "add");
  }
  if (c.wants(1)) {
    // How many tokens of each sequence count.
    LOOM_TRY(c.graph.makes(batch));
    if (c.has(7)) c.set(c.graph.reduce(c.graph.value(c.in(7)), "sum", {1}, false), 1);
    else
      c.set(GraphBuilder::constant({}, std::vector<float>(static_cast<std::size_t>(batch), 0.0f)),
            1);
  }
  if (c.wants(2)) c.set(sum, 2);
  const Ref unit = c.graph.normalized(sum, {2}, eps);
  Ref y = scaled(c, unit, &c.in(5), &c.in(6));
  if (c.wants(0)) c.set(std::move(y));
  return {};
}

// x / sqrt(mean of squares + eps) over the last dimension.
Ref rms(StepCall& c, const Ref& x, double eps) {
  const Ref shifted =
      c.graph.binary(c.graph.reduce(c.graph.unary(x, "square"), "mean",
                                    {static_cast<std::int64_t>(x.dims.size()) - 1}, true),
                     GraphBuilder::number(eps), "add");
  return c.graph.binary(x, c.graph.unary(shifted, "sqrt"), "div");
}
// The sum of input, skip and a bias, normalized and scaled; "Simplified": by the mean of squares,
// without beta.
Status skip_layer_norm(StepCall& c) {
  LOOM_ASSIGN(const float eps, c.node().get_float("epsilon", 1e-12f));
  const bool simplified = c.node().op == "SkipSimplifiedLayerNormalization";
  const std::size_t bias_at = simplified ? 3 : 4;
  if (c.wants(1) || c.wants(2)) return StepCall::refuse("its mean and deviation are not mapped");
  if (!c.has(1) || !c.has(2))
    return Status(Code::invalid_argument, "expects input, skip and gamma");
  Ref sum = c.graph.binary(c.in(0), c.in(1), "add");
  if (c.has(bias_at)) sum = c.graph.binary(sum, c.in(bias_at), "add");
  if (c.wants(3)) c.set(sum, 3);
  if (!c.wants(0)) return {};
  const Ref unit =
      simplified ? rms(c, sum, eps)
                 : c.graph.normalized(sum, {static_cast<std::int64_t>(sum.dims.size()) - 1}, eps);
  Ref y = scaled(c, unit, &c.in(2), !simplified && c.has(3) ? &c.in(3) : nullptr);
  c.set(std::move(y));
  return {};
}
Status simplified_layer_norm(StepCall& c) {
  LOOM_ASSIGN(const float eps, c.node().get_float("epsilon", 1e-5f));
  LOOM_ASSIGN(const std::int64_t axis, c.node().get_int("axis", -1));
  if (!c.has(1)) return Status(Code::invalid_argument, "expects a scale");
  if (axis_of(axis, c.dims()) + 1 != static_cast<std::int64_t>(c.dims().size()))
    return StepCall::refuse("over more than the last dimension it is not mapped");
  const Ref unit = rms(c, c.graph.value(c.in()), eps);
  Ref y = scaled(c, unit, &c.in(1), nullptr);
  c.set(std::move(y));
  return {};
}
Status gelu_of_sum(StepCall& c) {
  Ref x = c.in();
  if (c.has(1)) x = c.graph.binary(x, c.in(1), "add");
  c.set(c.graph.activation(c.graph.value(x), c.op->cell));
  return {};
}
Status quick_gelu(StepCall& c) {
  LOOM_ASSIGN(const float alpha, c.node().get_float("alpha", 1.702f));
  c.set(c.graph.unary(c.in(), "swish", alpha));
  return {};
}

// What a rotation turns: x [batch, length, heads, width], the first `rotated` values of each head.
struct Rotation {
  Ref x;
  std::int64_t rotated;
  bool flat;  // the input is [batch, length, heads * width], not [batch, heads, length, width]
  std::int64_t half() const { return rotated / 2; }
};

Result<Rotation> rotation_of(StepCall& c) {
  Rotation r{};
  LOOM_ASSIGN(r.rotated, c.node().get_int("rotary_embedding_dim", 0));
  LOOM_ASSIGN(const std::int64_t num_heads, c.node().get_int("num_heads", 0));
  const Ref x = c.graph.value(c.in());
  r.flat = x.dims.size() == 3;
  if ((!r.flat && x.dims.size() != 4) || !c.has(1) || !c.has(2))
    return Status(Code::invalid_argument, "expects rows of 3 or 4 dimensions, cosines and sines");
  if (r.flat && (num_heads < 1 || x.dims[2] % num_heads != 0))
    return Status(Code::invalid_argument,
                  "num_heads " + std::to_string(num_heads) + " does not divide " + text_of(x.dims));
  r.x = r.flat ? GraphBuilder::reshape(x, {x.dims[0], x.dims[1], num_heads, x.dims[2] / num_heads})
               : c.graph.permute(x, {0, 2, 1, 3});
  const Dims& d = r.x.dims;
  if (r.rotated == 0) r.rotated = d[3];
  LOOM_TRY(c.lists(elements(d)));
  if (r.rotated < 2 || r.rotated % 2 != 0 || r.rotated > d[3])
    return Status(Code::invalid_argument, "rotary_embedding_dim " + std::to_string(r.rotated) +
                                              " of " + std::to_string(d[3]));
  return r;
}

// [.., half] of each position from the table of input i, to meet [batch, length, heads, half].
Result<Ref> angles(StepCall& c, std::size_t i, const Rotation& r) {
  const Dims &d = r.x.dims, &own = c.dims(i);
  const std::int64_t half = r.half();
  if (own.size() < 2 || own.back() != half)
    return StepCall::refuse("tables of shape " + text_of(own) + " are not mapped for " +
                            std::to_string(r.rotated) + " values");
  if (!c.has(3)) {
    if (own != Dims{d[0], d[1], half})
      return StepCall::refuse("tables of shape " + text_of(own) +
                              " without positions are not mapped");
    return GraphBuilder::reshape(c.graph.value(c.in(i)), {own[0], own[1], 1, half});
  }
  if (own.size() != 2 || c.dims(3) != Dims{d[0], d[1]})
    return StepCall::refuse("tables of shape " + text_of(own) + " for positions " +
                            text_of(c.dims(3)) + " are not mapped");
  if (c.value(i).constant() && !c.value(3).constant()) {
    LOOM_ASSIGN(const std::vector<float> table, c.floats(i));
    return rows_by_id(c, c.in(3), table, own[0], half, {d[0], d[1], 1, half});
  }
  LOOM_ASSIGN(const auto ids, c.ints(3));
  std::vector<std::int64_t> places;
  for (const std::int64_t id : ids) {
    if (id < 0 || id >= own[0])
      return Status(Code::invalid_argument,
                    "a position is outside of the table of " + std::to_string(own[0]));
    for (std::int64_t k = 0; k < half; ++k) places.push_back(id * half + k);
  }
  return c.graph.index_select(c.graph.value(c.in(i)), places, {d[0], d[1], 1, half});
}

// Of each head `count` values, from `first` on, `step` apart.
Ref values_of_heads(StepCall& c, const Ref& x, std::int64_t first, std::int64_t step,
                    std::int64_t count) {
  const Dims& d = x.dims;
  std::vector<std::int64_t> places;
  for (std::int64_t r = 0; r < d[0] * d[1] * d[2]; ++r)
    for (std::int64_t i = 0; i < count; ++i) places.push_back(r * d[3] + first + i * step);
  return c.graph.index_select(x, places, {d[0], d[1], d[2], count});
}

// Pairs of values turned by the angles of their position, whose cosines and sines are given.
Status rotary(StepCall& c) {
  LOOM_ASSIGN(const std::int64_t interleaved, c.node().get_int("interleaved", 0));
  LOOM_ASSIGN(const Rotation r, rotation_of(c));
  const Dims& d = r.x.dims;
  const std::int64_t half = r.half();
  LOOM_ASSIGN(const Ref cosine, angles(c, 1, r));
  LOOM_ASSIGN(const Ref sine, angles(c, 2, r));
  // First and second values of the pairs.
  const std::int64_t step = interleaved ? 2 : 1;
  const Ref a = values_of_heads(c, r.x, 0, step, half),
            b = values_of_heads(c, r.x, interleaved ? 1 : half, step, half);
  const Ref ca = c.graph.binary(cosine, a, "mul");
  const Ref sb = c.graph.binary(sine, b, "mul");
  const Ref sa = c.graph.binary(sine, a, "mul");
  const Ref cb = c.graph.binary(cosine, b, "mul");
  Ref first = c.graph.binary(ca, sb, "sub");
  Ref second = c.graph.binary(sa, cb, "add");
  Ref y;
  if (interleaved) {
    first.dims.push_back(1);
    second.dims.push_back(1);
    y = GraphBuilder::reshape(c.graph.concat({first, second}, 4), {d[0], d[1], d[2], r.rotated});
  } else {
    y = c.graph.concat({first, second}, 3);
  }
  if (const std::int64_t rest = d[3] - r.rotated; rest > 0)
    y = c.graph.concat({y, values_of_heads(c, r.x, r.rotated, 1, rest)}, 3);
  c.set(r.flat ? y : c.graph.permute(y, {0, 2, 1, 3}));
  return {};
}

}  // namespace

Ref one_hot(StepCall& c, const Ref& index, std::int64_t n, std::int64_t axis, bool wraps) {
  Dims dims = index.dims, numbered(index.dims.size() + 1, 1);
  dims.insert(dims.begin() + axis, 1);
  numbered[static_cast<std::size_t>(axis)] = n;
  Ref up = GraphBuilder::constant(numbered, {}), down = up;
  for (std::int64_t i = 0; i < n; ++i) {
    up.data.push_back(static_cast<float>(i));
    down.data.push_back(static_cast<float>(i - n));
  }
  const Ref x = GraphBuilder::reshape(c.graph.value(index), dims);
  const Ref hit = c.graph.binary(x, up, "equal");
  if (!wraps) return hit;
  const Ref behind = c.graph.binary(x, down, "equal");
  return c.graph.binary(hit, behind, "max");
}
Ref poison(StepCall& c, const Ref& hits, std::int64_t axis, bool keep) {
  return c.graph.binary(GraphBuilder::number(0), c.graph.reduce(hits, "max", {axis}, keep), "div");
}

Result<Ref> rows_by_id(StepCall& c, const Ref& ids, std::span<const float> table, std::int64_t n,
                       std::int64_t width, const Dims& out) {
  const std::int64_t count = elements(ids.dims);
  if (n < 1 || width < 1 || count * width != elements(out))
    return Status(Code::invalid_argument, "takes rows " + text_of(out) + " of a table of " +
                                              std::to_string(n) + " for " + std::to_string(count) +
                                              " ids");
  if (count * n > (std::int64_t{1} << 28))
    return StepCall::refuse("takes rows of a table of " + std::to_string(n) + " for " +
                            std::to_string(count) + " ids at once");
  std::vector<float> weight(table.size());
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t k = 0; k < width; ++k)
      weight[static_cast<std::size_t>(k * n + i)] = table[static_cast<std::size_t>(i * width + k)];
  if (!std::all_of(weight.begin(), weight.end(), [](float v) { return v - v == 0; }))
    return StepCall::refuse("its table holds infinities or NaNs");
  Dims flat = {count};
  const Ref hits = one_hot(c, GraphBuilder::reshape(ids, flat), n, 1, true);
  const Ref wrong = poison(c, hits, 1, true);
  Ref y = c.graph.binary(known_product(c, hits, n, width, std::move(weight), {}, {count, width}),
                         wrong, "add");
  return GraphBuilder::reshape(std::move(y), out);
}

std::span<const Operator> attention_mappings() {
  static constexpr Operator kRows[] = {
#define LOOM_MAP_attention(op, map, cell, traits) {op, map, cell, traits},
#include "formats/onnx/operators.def"
  };
  return kRows;
}

}  // namespace loom::onnx
