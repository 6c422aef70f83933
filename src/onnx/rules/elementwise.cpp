// Operators on single values, pairs and triples of them, and reductions.
#include <algorithm>
#include <cmath>

#include "onnx/rules/layers.h"

namespace loom::onnx {
namespace {

Status set_result(StepCall& c, Ref r) {
  c.set(std::move(r));
  return {};
}

// How large computed integers are at most, as the result of sums or products.
double max_of(const StepCall& c, std::string_view kind) {
  if (!is_integer(c.result().type) || (kind != "add" && kind != "sub" && kind != "mul")) return 0;
  double max = kind == "mul" ? 1 : 0;
  for (std::size_t i = 0; i < c.inputs(); ++i) {
    const Ref& x = c.in(i);
    double own = x.constant() ? 1 : x.max;
    for (const float v : x.data) own = std::max(own, std::fabs(static_cast<double>(v)));
    if (own == 0) return 0;
    max = kind == "mul" ? max * own : max + own;
  }
  return max;
}
// Integers run in f32: results that go on could be rounded or wrap around unseen, unless they are
// known to stay below 2^24.
Status whole_result(StepCall& c, double max = 0) {
  if (!is_integer(c.result().type) || c.final() || (max > 0 && max < kMaxWhole)) return {};
  for (std::size_t i = 0; i < c.inputs(); ++i)  // known before the run they are folded
    if (c.has(i)) (void)c.need_constant(i);
  return StepCall::refuse("integers that are computed and used further are not mapped");
}

// The attributes that functions of cells take, and the defaults that ONNX gives them.
struct UnarySettings {
  std::string_view cell, a, b;  // names of attributes
  float a_default, b_default;
};
constexpr UnarySettings kUnarySettings[] = {
    {"elu", "alpha", "", 1, 0},
    {"selu", "alpha", "gamma", 1.67326319217681884765625f, 1.05070102214813232421875f},
    {"celu", "alpha", "", 1, 0},
    {"hard_sigmoid", "alpha", "beta", 0.2f, 0.5f},
    {"thresholded_relu", "alpha", "", 1, 0},
    {"leaky_relu", "alpha", "", 0.01f, 0},
    {"shrink", "lambd", "bias", 0.5f, 0},
    {"swish", "alpha", "", 1, 0}};

Status unary(StepCall& c) {
  const std::string_view cell = c.op->cell;
  for (const std::string_view cut : {"floor", "ceil", "round", "sign"})
    if (cell == cut) LOOM_TRY(exact_types(c));
  if (cell == "neg" || cell == "abs") LOOM_TRY(whole_result(c));
  double a = 0, b = 0;
  for (const UnarySettings& row : kUnarySettings) {
    if (row.cell != cell) continue;
    LOOM_ASSIGN(a, c.node().get_float(row.a, row.a_default));
    if (!row.b.empty()) {
      LOOM_ASSIGN(b, c.node().get_float(row.b, row.b_default));
    }
  }
  c.set(c.graph.unary(c.in(), cell, a, b));
  return {};
}

Status activation(StepCall& c) { return set_result(c, c.graph.activation(c.in(), c.op->cell)); }
Status gelu(StepCall& c) {
  LOOM_ASSIGN(const std::string how, c.node().get_string("approximate", "none"));
  const bool rough = std::string_view(how) == std::string_view("tanh");
  if (!rough && std::string_view(how) != std::string_view("none"))
    return StepCall::refuse("approximate '" + how + "' is not mapped");
  c.set(c.graph.activation(c.in(), rough ? "gelu_tanh" : "gelu_erf"));
  return {};
}
Status swiglu(StepCall& c) {
  LOOM_ASSIGN(const float alpha, c.node().get_float("alpha", 1));
  return set_result(c, c.graph.binary(c.graph.unary(c.in(), "swish", alpha), c.in(1), "mul"));
}
Status is_inf(StepCall& c) {
  LOOM_ASSIGN(const std::int64_t negative, c.node().get_int("detect_negative", 1));
  LOOM_ASSIGN(const std::int64_t positive, c.node().get_int("detect_positive", 1));
  c.set(c.graph.unary(c.in(), "is_inf", negative != 0, positive != 0));
  return {};
}
Status clip(StepCall& c) {
  // Bounds that are values meet by max and min, as the operator defines it.
  if (c.step.opset >= 11) {
    Ref x = c.in();
    if (c.has(1)) x = c.graph.binary(x, c.in(1), "max");
    if (c.has(2)) x = c.graph.binary(x, c.in(2), "min");
    c.set(std::move(x));
    return {};
  }
  LOOM_ASSIGN(const float low, c.node().get_float("min", -3.402823466e38f));
  LOOM_ASSIGN(const float high, c.node().get_float("max", 3.402823466e38f));
  c.set(c.graph.unary(c.in(), "clip", low, high));
  return {};
}

// The second operand of old opsets: `axis` says which dimension of the first its first one meets.
Result<Ref> second(StepCall& c) {
  Ref b = c.in(1);
  if (c.step.opset >= 7) return b;
  if (c.node().op == "PRelu") {
    // A slope per channel; one for all.
    if (elements(b.dims) == 1) return b;
    if (c.dims().size() < 2 || elements(b.dims) != c.dims()[1])
      return StepCall::refuse("expects one slope or one per channel");
    Dims channels(c.dims().size() - 1, 1);
    channels[0] = c.dims()[1];
    return GraphBuilder::reshape(std::move(b), std::move(channels));
  }
  LOOM_ASSIGN(const std::int64_t broadcast, c.node().get_int("broadcast", 0));
  if (!broadcast) return b;
  LOOM_ASSIGN(std::int64_t axis,
              c.node().get_int("axis", static_cast<std::int64_t>(c.dims().size()) -
                                           static_cast<std::int64_t>(b.dims.size())));
  if (c.node().find("axis")) axis = axis_of(axis, c.dims());
  Dims dims = b.dims;
  const std::int64_t behind =
      static_cast<std::int64_t>(c.dims().size()) - axis - static_cast<std::int64_t>(dims.size());
  for (std::int64_t i = 0; i < behind; ++i) dims.push_back(1);
  return GraphBuilder::reshape(std::move(b), std::move(dims));
}

Status pairs(StepCall& c) {
  const std::string_view kind = c.op->cell;
  const bool of_integers = is_integer(c.value(0).type);
  if (of_integers && kind == "pow") {
    for (std::size_t i = 0; i < c.inputs(); ++i) LOOM_TRY(c.need_constant(i));  // then it is folded
    return StepCall::refuse("on these integers it is not mapped");
  }
  if (of_integers && kind == "div" && c.step.opset >= 7) {
    // Toward zero. Quotients of integers below 2^24 round to no whole number they do not reach.
    const Ref quotient = c.graph.binary(c.in(0), c.in(1), "div");
    c.set(c.graph.unary(quotient, "trunc"));
    return {};
  }
  const bool compares = kind.starts_with("less") || kind.starts_with("greater") || kind == "equal";
  const bool is_sum =
      !compares && kind != "max" && kind != "min" && kind != "and" && kind != "or" && kind != "xor";
  if (compares) LOOM_TRY(exact_types(c));
  const double max = max_of(c, kind);
  if (is_sum) LOOM_TRY(whole_result(c, max));
  if (c.inputs() == 1) {
    c.set(c.in());
    return {};
  }
  LOOM_ASSIGN(const Ref b, second(c));
  Ref y = c.graph.binary(c.in(), b, kind);
  for (std::size_t i = 2; i < c.inputs(); ++i) y = c.graph.binary(y, c.in(i), kind);
  if (c.node().op == "Mean") {
    const auto count = static_cast<double>(c.inputs());
    y = c.graph.binary(y, GraphBuilder::number(count), "div");
  }
  y.max = max;
  c.set(std::move(y));
  return {};
}

Status where(StepCall& c) {
  c.set(c.graph.select(c.in(0), c.in(1), c.in(2)));
  return {};
}

// Of integers, which f32 has exactly: what is left of the dividend; with fmod it has its sign, else
// that of the divisor.
Status mod(StepCall& c) {
  if (!is_integer(c.value(0).type)) {  // known before the run they are folded
    for (const std::size_t i : {0, 1}) (void)c.need_constant(i);
    return StepCall::refuse(
        "of real numbers that depend on data it is not mapped: a last digit would decide");
  }
  LOOM_ASSIGN(const std::int64_t fmod, c.node().get_int("fmod", 0));
  const Ref quotient = c.graph.binary(c.in(0), c.in(1), "div");
  const Ref whole =
      c.graph.binary(c.graph.unary(quotient, fmod ? "trunc" : "floor"), c.in(1), "mul");
  Ref y = c.graph.binary(c.in(0), whole, "sub");
  c.set(std::move(y));
  return {};
}

// Axes from an attribute or an input, counted from 0. `all`: none are given, so all are meant.
Result<Dims> axes_of(StepCall& c, bool* none) {
  const std::int64_t rank = static_cast<std::int64_t>(c.dims().size());
  Dims axes;
  *none = true;
  if (c.has(1)) {
    LOOM_ASSIGN(axes, c.ints(1));
    *none = axes.empty();
  } else if (c.node().find("axes")) {
    LOOM_ASSIGN(axes, c.node().get_ints("axes", {}));
    *none = axes.empty();
  }
  for (std::int64_t& a : axes)
    if (a < 0) a += rank;
  std::sort(axes.begin(), axes.end());
  return axes;
}

Status reduce(StepCall& c) {
  const std::string_view kind = c.op->cell;
  if (is_integer(c.value(0).type) && kind != "sum" && kind != "max" && kind != "min")
    return StepCall::refuse("on integers it is not mapped");
  if (elements(c.dims()) == 0) {
    constexpr float kInfinity = __builtin_inff();
    const bool logs = kind == "log_sum" || kind == "log_sum_exp" || kind == "max";
    if (kind == "mean" || (is_integer(c.value(0).type) && (kind == "max" || kind == "min")))
      return StepCall::refuse("of nothing it is not mapped");
    LOOM_TRY(c.graph.makes(elements(c.result().dims)));
    const bool of_bools = c.value(0).type == Type::boolean;
    const float one = kind == "prod"  ? 1
                      : of_bools      ? kind == "min"
                      : logs          ? -kInfinity
                      : kind == "min" ? kInfinity
                                      : 0;
    c.set(GraphBuilder::constant(
        {}, std::vector<float>(static_cast<std::size_t>(elements(c.result().dims)), one)));
    return {};
  }
  if (kind == "sum") LOOM_TRY(whole_result(c));
  bool none = false;
  LOOM_ASSIGN(const Dims axes, axes_of(c, &none));
  LOOM_ASSIGN(const std::int64_t nothing, c.node().get_int("noop_with_empty_axes", 0));
  if (none && nothing != 0) {
    // Over single values: the operator's function of each remains.
    if (kind == "l1") c.set(c.graph.unary(c.in(), "abs"));
    else if (kind == "l2") c.set(c.graph.unary(c.in(), "abs"));
    else if (kind == "sum_square") c.set(c.graph.unary(c.in(), "square"));
    else if (kind == "log_sum") c.set(c.graph.unary(c.in(), "log"));
    else c.set(c.in());
    return {};
  }
  c.set(c.graph.reduce(c.graph.value(c.in()), kind, axes, true));
  return {};
}
Status arg(StepCall& c) {
  LOOM_TRY(exact_types(c));
  LOOM_ASSIGN(std::int64_t axis, c.node().get_int("axis", 0));
  LOOM_ASSIGN(const std::int64_t last, c.node().get_int("select_last_index", 0));
  const std::int64_t rank = static_cast<std::int64_t>(c.dims().size());
  if (axis < 0) axis += rank;
  const std::string_view kind = c.op->cell;
  const Dims& dims = c.dims();
  const std::int64_t n = dims[static_cast<std::size_t>(axis)];
  if (!last) {
    Ref y = c.graph.reduce(c.graph.value(c.in()), kind, {axis}, true);
    y.max = static_cast<double>(n);
    c.set(std::move(y));
    return {};
  }
  // The last one is the first from the other end.
  LOOM_TRY(c.lists(elements(dims)));
  std::int64_t inner = 1;
  for (std::size_t d = static_cast<std::size_t>(axis) + 1; d < dims.size(); ++d) inner *= dims[d];
  std::vector<std::int64_t> places;
  for (std::int64_t i = 0; i < elements(dims); ++i)
    places.push_back(i / (inner * n) * inner * n + (n - 1 - i / inner % n) * inner + i % inner);
  const Ref transposed = c.graph.index_select(c.graph.value(c.in()), places, dims);
  Ref y = c.graph.binary(GraphBuilder::number(static_cast<double>(n - 1)),
                         c.graph.reduce(transposed, kind, {axis}, true), "sub");
  y.max = static_cast<double>(n);
  c.set(std::move(y));
  return {};
}

// x less its maximum along the axes; its exponentials and their sum.
Status softmax(StepCall& c) {
  LOOM_ASSIGN(std::int64_t axis, c.node().get_int("axis", c.step.opset >= 13 ? -1 : 1));
  Ref x = c.graph.value(c.in());
  const Dims dims = x.dims;
  const std::int64_t rank = static_cast<std::int64_t>(dims.size());
  if (axis < 0) axis += rank;
  Dims axes = {axis};
  if (c.step.opset < 13) {  // all from the axis on
    axes.clear();
    for (std::int64_t d = axis; d < rank; ++d) axes.push_back(d);
    if (axes.empty()) {
      x = GraphBuilder::reshape(std::move(x), {elements(dims), 1});
      axes = {1};
    }
  }
  const std::string& op = c.node().op;
  if (op == "Hardmax") {
    if (axes.size() != 1)
      return StepCall::refuse("of several dimensions (opsets before 13) it is not mapped");
    const std::int64_t n = x.dims[static_cast<std::size_t>(axes[0])];
    LOOM_TRY(c.graph.makes(n));
    Dims counted(x.dims.size(), 1);
    counted[static_cast<std::size_t>(axes[0])] = n;
    Ref numbers{-1, 0, counted, {}};
    for (std::int64_t i = 0; i < n; ++i) numbers.data.push_back(static_cast<float>(i));
    return set_result(c, c.graph.binary(c.graph.reduce(x, "argmax", axes, true), numbers, "equal"));
  }
  const Ref shifted = c.graph.binary(x, c.graph.reduce(x, "max", axes, true), "sub");
  if (op == "LogSoftmax")
    return set_result(
        c, c.graph.binary(shifted, c.graph.reduce(shifted, "log_sum_exp", axes, true), "sub"));
  const Ref powers = c.graph.unary(shifted, "exp");
  return set_result(c, c.graph.binary(powers, c.graph.reduce(powers, "sum", axes, true), "div"));
}

}  // namespace

std::span<const Operator> elementwise_mappings() {
  static constexpr Operator kRows[] = {
#define LOOM_MAP_elementwise(op, map, cell, traits) {op, map, cell, traits},
#include "formats/onnx/operators.def"
  };
  return kRows;
}

}  // namespace loom::onnx
