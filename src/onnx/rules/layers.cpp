// Products, normalizations, and sums and products along an axis.
#include <algorithm>

#include "onnx/rules/layers.h"

namespace loom::onnx {
namespace {

Json reshape_to(const Dims& dims) {
  Json cell = typed("reshape");
  cell.set("dims", list_of(dims));
  return cell;
}
Json sequential(std::initializer_list<Json> layers) {
  Json cell = typed("sequential"), list = Json::array();
  for (const Json& l : layers) list.push(l);
  cell.set("layers", std::move(list));
  return cell;
}

}  // namespace

Json list_of(const Dims& dims) { return Json(Json::Array(dims.begin(), dims.end())); }
Json typed(std::string_view type) {
  Json cell = Json::object();
  cell.set("type", type);
  return cell;
}

Dims with_last(std::size_t rank, std::size_t last) {
  Dims order;
  for (std::size_t d = 0; d < rank; ++d)
    if (d != last) order.push_back(static_cast<std::int64_t>(d));
  order.push_back(static_cast<std::int64_t>(last));
  return order;
}
Dims order_back(const Dims& order) {
  Dims back(order.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    back[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(i);
  return back;
}
Dims permuted(const Dims& dims, const Dims& order) {
  Dims out;
  for (const std::int64_t d : order) out.push_back(dims[static_cast<std::size_t>(d)]);
  return out;
}

Each each(StepCall& c, const Ref& x, const Dims& item, Json layer, const Dims& out) {
  const std::int64_t count = elements(x.dims) / elements(item);
  if (count == 1)
    return {c.graph.add(sequential({reshape_to(item), std::move(layer)}), {x}, out), "/1"};
  Json parts = typed("time_distributed"), list = Json::array();
  list.push(std::move(layer));
  parts.set("count", count);
  parts.set("layers", std::move(list));
  // `time_distributed` hands on dimensions only of its first; the item is arranged inside.
  Json inner = sequential({reshape_to(item), parts.find("layers")->as_array()[0]});
  Json one = Json::array();
  one.push(std::move(inner));
  parts.set("layers", std::move(one));
  return {c.graph.add(std::move(parts), {x}, out), "/0/1"};
}

Ref known_product(StepCall& c, const Ref& x, std::int64_t k, std::int64_t n,
                  std::vector<float> weight_nk, std::vector<float> bias, const Dims& out) {
  Json dense = typed("dense");
  dense.set("out", n);
  dense.set("bias", !bias.empty());
  const Each e = each(c, x, {k}, std::move(dense), out);
  c.graph.fill(e.y, e.child, "weight", std::move(weight_nk));
  if (!bias.empty()) c.graph.fill(e.y, e.child, "bias", std::move(bias));
  return e.y;
}

namespace {

std::vector<float> transposed(const std::vector<float>& m, std::int64_t rows, std::int64_t cols) {
  std::vector<float> t(m.size());
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t k = 0; k < cols; ++k)
      t[static_cast<std::size_t>(k * rows + r)] = m[static_cast<std::size_t>(r * cols + k)];
  return t;
}
Status matmul(StepCall& c) {
  Dims a = c.dims(0), b = c.dims(1);
  if (is_integer(c.value(0).type)) return StepCall::refuse("of integers it is not mapped");
  if (c.value(1).constant() && b.size() == 2 && !c.value(0).constant()) {
    LOOM_ASSIGN(const std::vector<float> w, c.floats(1));
    c.set(known_product(c, c.in(0), b[0], b[1], transposed(w, b[0], b[1]), {}, c.result().dims));
    return {};
  }
  if (a.size() == 1) a.insert(a.begin(), 1);
  if (b.size() == 1) b.push_back(1);
  Dims out(std::max(a.size(), b.size()), 1);
  c.set(c.graph.matmul(GraphBuilder::reshape(c.graph.value(c.in(0)), a),
                       GraphBuilder::reshape(c.graph.value(c.in(1)), b), c.result().dims));
  return {};
}

Status gemm(StepCall& c) {
  LOOM_ASSIGN(const float alpha, c.node().get_float("alpha", 1));
  LOOM_ASSIGN(const float beta, c.node().get_float("beta", 1));
  LOOM_ASSIGN(const std::int64_t ta, c.node().get_int("transA", 0));
  LOOM_ASSIGN(const std::int64_t tb, c.node().get_int("transB", 0));
  if (is_integer(c.value(0).type)) return StepCall::refuse("of integers it is not mapped");
  Ref a = c.graph.value(c.in(0));
  if (ta) a = c.graph.permute(a, {1, 0});
  const std::int64_t m = c.result().dims[0], n = c.result().dims[1], k = a.dims[1];
  const bool bias_row = c.has(2) && c.value(2).constant() && elements(c.dims(2)) == n &&
                        (c.dims(2).empty() || c.dims(2).back() == n);
  Ref y;
  bool biased = false;
  if (c.value(1).constant()) {
    LOOM_ASSIGN(std::vector<float> w, c.floats(1));
    if (!tb) w = transposed(w, k, n);
    for (float& v : w) v *= alpha;
    std::vector<float> bias;
    if (bias_row) {
      LOOM_ASSIGN(bias, c.floats(2));
      for (float& v : bias) v *= beta;
      biased = true;
    }
    y = known_product(c, a, k, n, std::move(w), std::move(bias), {m, n});
  } else {
    Ref b = c.graph.value(c.in(1));
    if (tb) b = c.graph.permute(b, {1, 0});
    y = c.graph.matmul(a, b, {m, n});
    if (alpha != 1) y = c.graph.binary(y, GraphBuilder::number(alpha), "mul");
  }
  if (c.has(2) && !biased) {
    Ref add = c.in(2);
    if (beta != 1) add = c.graph.binary(add, GraphBuilder::number(beta), "mul");
    y = c.graph.binary(y, add, "add");
  }
  c.set(std::move(y));
  return {};
}

// x / (bias + alpha / size * the squares of neighboring channels) ^ beta
Status lrn(StepCall& c) {
  LOOM_ASSIGN(const float alpha, c.node().get_float("alpha", 1e-4f));
  LOOM_ASSIGN(const float beta, c.node().get_float("beta", 0.75f));
  LOOM_ASSIGN(const float bias, c.node().get_float("bias", 1));
  LOOM_ASSIGN(const std::int64_t size, c.node().get_int("size", 1));
  const Dims& dims = c.dims();
  if (dims.size() < 2 || size < 1 || dims[1] > 4096)
    return StepCall::refuse("over " + std::to_string(size) + " channels of " + text_of(dims) +
                            " it is not mapped");
  const std::int64_t n = dims[1], space = elements(dims) / (dims[0] * n);
  LOOM_TRY(c.graph.makes(n * n));
  std::vector<float> near(static_cast<std::size_t>(n * n), 0.0f);
  for (std::int64_t to = 0; to < n; ++to)
    for (std::int64_t from = std::max<std::int64_t>(0, to - (size - 1) / 2);
         from <= std::min(n - 1, to + size / 2); ++from)
      near[static_cast<std::size_t>(to * n + from)] = alpha / static_cast<float>(size);
  const Ref x = c.graph.value(c.in());
  const Ref squares = c.graph.permute(
      GraphBuilder::reshape(c.graph.unary(x, "square"), {dims[0], n, space}), {0, 2, 1});
  const Ref sums = c.graph.permute(
      known_product(c, squares, n, n, std::move(near),
                    std::vector<float>(static_cast<std::size_t>(n), bias), squares.dims),
      {0, 2, 1});
  Ref power = sums;
  if (beta == 0.75f) {
    const Ref root = c.graph.unary(sums, "sqrt");
    power = c.graph.binary(root, c.graph.unary(root, "sqrt"), "mul");
  } else if (beta == 0.5f) {
    power = c.graph.unary(sums, "sqrt");
  } else if (beta != 1) {
    power = c.graph.binary(sums, GraphBuilder::number(beta), "pow");
  }
  c.set(c.graph.binary(x, GraphBuilder::reshape(power, dims), "div"));
  return {};
}
Status global_pool(StepCall& c) {
  Dims axes;
  for (std::size_t d = 2; d < c.dims().size(); ++d) axes.push_back(static_cast<std::int64_t>(d));
  c.set(c.graph.reduce(c.graph.value(c.in()), c.op->cell, axes, true));
  return {};
}

// A vector of channels as [C, 1, ...], to meet [N, C, ...].
Ref per_channel(Ref v, std::size_t rank) {
  Dims dims(std::max<std::size_t>(rank, 2) - 1, 1);  // a vector is one channel
  dims[0] = elements(v.dims);
  return GraphBuilder::reshape(std::move(v), std::move(dims));
}
Status batch_norm(StepCall& c) {
  LOOM_ASSIGN(const std::int64_t training, c.node().get_int("training_mode", 0));
  LOOM_ASSIGN(const std::int64_t spatial, c.node().get_int("spatial", 1));
  if (training || c.wants(1) || c.wants(2) || c.wants(3) || c.wants(4) || !spatial)
    return StepCall::refuse("in training mode, or not per channel, it is not mapped");
  LOOM_ASSIGN(const float eps, c.node().get_float("epsilon", 1e-5f));
  const std::size_t rank = c.dims().size();
  if (c.value(1).constant() && c.value(2).constant() && c.value(3).constant() &&
      c.value(4).constant()) {
    LOOM_ASSIGN(std::vector<float> gain, c.floats(1));
    LOOM_ASSIGN(std::vector<float> bias, c.floats(2));
    LOOM_ASSIGN(const std::vector<float> mean, c.floats(3));
    LOOM_ASSIGN(const std::vector<float> variance, c.floats(4));
    for (std::size_t i = 0; i < gain.size(); ++i) {
      const double g =
          static_cast<double>(gain[i]) / __builtin_sqrt(static_cast<double>(variance[i]) + eps);
      bias[i] = static_cast<float>(bias[i] - mean[i] * g);
      gain[i] = static_cast<float>(g);
    }
    const Dims channels = {static_cast<std::int64_t>(gain.size())};
    const Ref g = per_channel({-1, 0, channels, std::move(gain)}, rank),
              b = per_channel({-1, 0, channels, std::move(bias)}, rank);
    Ref y = scaled(c, c.in(), &g, &b);
    c.set(std::move(y));
    return {};
  }
  const Ref centered = c.graph.binary(c.in(), per_channel(c.in(3), rank), "sub");
  const Ref shifted = c.graph.binary(c.in(4), GraphBuilder::number(eps), "add");
  const Ref unit =
      c.graph.binary(centered, per_channel(c.graph.unary(shifted, "sqrt"), rank), "div");
  const Ref g = per_channel(c.in(1), rank), b = per_channel(c.in(2), rank);
  Ref y = scaled(c, unit, &g, &b);
  c.set(std::move(y));
  return {};
}
Status instance_norm(StepCall& c) {
  LOOM_ASSIGN(const float eps, c.node().get_float("epsilon", 1e-5f));
  Dims axes;
  for (std::size_t d = 2; d < c.dims().size(); ++d) axes.push_back(static_cast<std::int64_t>(d));
  const Ref unit = c.graph.normalized(c.graph.value(c.in()), axes, eps);
  const Ref g = per_channel(c.in(1), c.dims().size()), b = per_channel(c.in(2), c.dims().size());
  Ref y = scaled(c, unit, &g, &b);
  c.set(std::move(y));
  return {};
}
Status group_norm(StepCall& c) {
  LOOM_ASSIGN(const float eps, c.node().get_float("epsilon", 1e-5f));
  LOOM_ASSIGN(const std::int64_t groups, c.node().get_int("num_groups", 1));
  const Dims& dims = c.dims();
  Ref x = GraphBuilder::reshape(c.graph.value(c.in()),
                                {dims[0], groups, elements(dims) / (dims[0] * groups)});
  Ref unit = c.graph.normalized(x, {2}, eps);
  Ref g = c.in(1), b = c.in(2);
  if (elements(g.dims) == groups && groups != dims[1]) {  // opset 18: per group
    g = GraphBuilder::reshape(g, {groups, 1});
    b = GraphBuilder::reshape(b, {groups, 1});
  } else {
    unit = GraphBuilder::reshape(unit, dims);
    g = per_channel(g, dims.size());
    b = per_channel(b, dims.size());
  }
  Ref y = scaled(c, unit, &g, &b);
  c.set(std::move(y));
  return {};
}
Status layer_norm(StepCall& c) {
  LOOM_ASSIGN(const float eps, c.node().get_float("epsilon", 1e-5f));
  LOOM_ASSIGN(std::int64_t axis, c.node().get_int("axis", -1));
  const auto rank = static_cast<std::int64_t>(c.dims().size());
  Dims axes;
  for (std::int64_t d = axis < 0 ? axis + rank : axis; d < rank; ++d) axes.push_back(d);
  const Ref x = c.graph.value(c.in());
  Ref unit;
  if (c.node().op == "RMSNormalization") {
    const Ref shifted =
        c.graph.binary(c.graph.reduce(c.graph.unary(x, "square"), "mean", axes, true),
                       GraphBuilder::number(eps), "add");
    unit = c.graph.binary(x, c.graph.unary(shifted, "sqrt"), "div");
  } else {
    unit = c.graph.normalized(x, axes, eps);
    const Ref mean = c.graph.reduce(x, "mean", axes, true);
    if (c.wants(1)) c.set(mean, 1);
    if (c.wants(2)) {
      const Ref centered = c.graph.binary(x, mean, "sub");
      const Ref shifted =
          c.graph.binary(c.graph.reduce(c.graph.unary(centered, "square"), "mean", axes, true),
                         GraphBuilder::number(eps), "add");
      c.set(c.graph.unary(c.graph.unary(shifted, "sqrt"), "reciprocal"), 2);
    }
  }
  Ref y = scaled(c, unit, c.has(1) ? &c.in(1) : nullptr, c.has(2) ? &c.in(2) : nullptr);
  c.set(std::move(y));
  return {};
}
// Along an axis, by its L1 or L2 norm; a norm of 0 gives 0.
Status lp_norm(StepCall& c) {
  LOOM_ASSIGN(std::int64_t axis, c.node().get_int("axis", -1));
  LOOM_ASSIGN(const std::int64_t p, c.node().get_int("p", 2));
  if (axis < 0) axis += static_cast<std::int64_t>(c.dims().size());
  const Ref x = c.graph.value(c.in());
  const Ref norm = c.graph.binary(c.graph.reduce(x, p == 1 ? "l1" : "l2", {axis}, true),
                                  GraphBuilder::number(0x1p-39), "max");
  Ref y = c.graph.binary(x, norm, "div");
  c.set(std::move(y));
  return {};
}
// The sums of all values up to each: a product with a triangle of ones.
Status cum_sum(StepCall& c) {
  LOOM_ASSIGN(const auto list, c.ints(1));
  LOOM_ASSIGN(const std::int64_t exclusive, c.node().get_int("exclusive", 0));
  LOOM_ASSIGN(const std::int64_t reverse, c.node().get_int("reverse", 0));
  if (is_integer(c.value(0).type) && !c.final())
    return StepCall::refuse("integers that are computed and used further are not mapped");
  const Dims& dims = c.dims();
  const auto rank = static_cast<std::int64_t>(dims.size());
  if (list.size() != 1 || rank == 0) return StepCall::refuse("its axis is one number");
  const std::int64_t axis = list[0] < 0 ? list[0] + rank : list[0];
  if (axis < 0 || axis >= rank)
    return Status(Code::invalid_argument, "its axis is outside of the input");
  const std::int64_t n = dims[static_cast<std::size_t>(axis)];
  if (n > 4096) return StepCall::refuse("along more than 4096 values it is not mapped");
  LOOM_TRY(c.graph.makes(n * n));
  const Dims order = with_last(dims.size(), static_cast<std::size_t>(axis));
  std::vector<float> ones(static_cast<std::size_t>(n * n), 0.0f);  // [to][from]
  for (std::int64_t to = 0; to < n; ++to)
    for (std::int64_t from = 0; from < n; ++from) {
      const std::int64_t gap = reverse ? from - to : to - from;
      if (gap > 0 || (gap == 0 && !exclusive)) ones[static_cast<std::size_t>(to * n + from)] = 1;
    }
  Ref x = c.graph.value(c.in());
  if (rank > 1) x = c.graph.permute(x, order);
  Ref y = known_product(c, x, n, n, std::move(ones), {}, x.dims);
  if (rank > 1) y = c.graph.permute(y, order_back(order));
  c.set(std::move(y));
  return {};
}
// The products of all values up to each, one after another.
Status cum_prod(StepCall& c) {
  LOOM_ASSIGN(const auto list, c.ints(1));
  LOOM_ASSIGN(const std::int64_t exclusive, c.node().get_int("exclusive", 0));
  LOOM_ASSIGN(const std::int64_t reverse, c.node().get_int("reverse", 0));
  if (is_integer(c.value(0).type) && !c.final())
    return StepCall::refuse("integers that are computed and used further are not mapped");
  const Dims& dims = c.dims();
  const auto rank = static_cast<std::int64_t>(dims.size());
  if (list.size() != 1 || rank == 0 || list[0] < -rank || list[0] >= rank)
    return Status(Code::invalid_argument, "its axis is outside of the input");
  const auto axis = static_cast<std::size_t>(axis_of(list[0], dims));
  const std::int64_t n = dims[axis];
  if (n > 256) return StepCall::refuse("along more than 256 values it is not mapped");
  Dims order = {static_cast<std::int64_t>(axis)};
  for (std::int64_t d = 0; d < rank; ++d)
    if (d != static_cast<std::int64_t>(axis)) order.push_back(d);
  const Dims back = order_back(order);
  Ref x = c.graph.value(c.in());
  if (rank > 1) x = c.graph.permute(x, order);
  const Dims transposed = x.dims, row(transposed.begin() + 1, transposed.end());
  LOOM_TRY(c.graph.makes(elements(row)));
  std::vector<Ref> rows(static_cast<std::size_t>(n));
  Ref so_far = GraphBuilder::constant(
      row, std::vector<float>(static_cast<std::size_t>(elements(row)), 1.0f));
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t at = reverse ? n - 1 - i : i;
    const Ref next = c.graph.binary(so_far, part_of(x, at, row), "mul");
    rows[static_cast<std::size_t>(at)] = exclusive ? so_far : next;
    so_far = next;
  }
  const Ref y = c.graph.add(Json::object(), rows, transposed);
  c.set(rank > 1 ? c.graph.permute(y, back) : y);
  return {};
}
Status mean_variance_norm(StepCall& c) {
  LOOM_ASSIGN(const Dims axes, c.node().get_ints("axes", {0, 2, 3}));
  const Ref x = c.graph.value(c.in());
  const Ref centered = c.graph.binary(x, c.graph.reduce(x, "mean", axes, true), "sub");
  const Ref deviation =
      c.graph.unary(c.graph.reduce(c.graph.unary(centered, "square"), "mean", axes, true), "sqrt");
  const Ref floor = c.graph.binary(deviation, GraphBuilder::number(1e-9), "add");
  Ref y = c.graph.binary(centered, floor, "div");
  c.set(std::move(y));
  return {};
}

}  // namespace

std::span<const Operator> layers_mappings() {
  static constexpr Operator kRows[] = {
#define LOOM_MAP_layers(op, map, cell, traits) {op, map, cell, traits},
#include "formats/onnx/operators.def"
  };
  return kRows;
}

}  // namespace loom::onnx
