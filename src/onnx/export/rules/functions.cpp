// Functions of single values, of pairs and of whole rows.
#include <algorithm>
#include <limits>

#include "onnx/export/graph.h"

namespace loom::onnx {
namespace {

// A function of single values: the operator, and how it takes a and b.
struct UnaryOp {
  std::string_view name, op, a, b;  // attributes
};
constexpr UnaryOp kUnary[] = {{"abs", "Abs", "", ""},
                              {"neg", "Neg", "", ""},
                              {"sqrt", "Sqrt", "", ""},
                              {"reciprocal", "Reciprocal", "", ""},
                              {"exp", "Exp", "", ""},
                              {"log", "Log", "", ""},
                              {"floor", "Floor", "", ""},
                              {"ceil", "Ceil", "", ""},
                              {"round", "Round", "", ""},
                              {"sign", "Sign", "", ""},
                              {"erf", "Erf", "", ""},
                              {"elu", "Elu", "alpha", ""},
                              {"selu", "Selu", "alpha", "gamma"},
                              {"celu", "Celu", "alpha", ""},
                              {"hard_sigmoid", "HardSigmoid", "alpha", "beta"},
                              {"hard_swish", "HardSwish", "", ""},
                              {"softsign", "Softsign", "", ""},
                              {"thresholded_relu", "ThresholdedRelu", "alpha", ""},
                              {"leaky_relu", "LeakyRelu", "alpha", ""},
                              {"shrink", "Shrink", "lambd", "bias"},
                              {"sin", "Sin", "", ""},
                              {"cos", "Cos", "", ""}};

// Of pairs; `logic`: results are truths, of numbers or of truths.
struct BinaryOp {
  std::string_view name, op;
  bool result, operands;
};
constexpr BinaryOp kBinary[] = {{"add", "Add", false, false},
                                {"sub", "Sub", false, false},
                                {"mul", "Mul", false, false},
                                {"div", "Div", false, false},
                                {"pow", "Pow", false, false},
                                {"max", "Max", false, false},
                                {"min", "Min", false, false},
                                {"prelu", "PRelu", false, false},
                                {"less", "Less", true, false},
                                {"less_equal", "LessOrEqual", true, false},
                                {"greater", "Greater", true, false},
                                {"greater_equal", "GreaterOrEqual", true, false},
                                {"equal", "Equal", true, false},
                                {"and", "And", true, true},
                                {"or", "Or", true, true},
                                {"xor", "Xor", true, true}};
constexpr std::pair<std::string_view, std::string_view> kReduce[] = {
    {"sum", "ReduceSum"},        {"mean", "ReduceMean"},
    {"max", "ReduceMax"},        {"min", "ReduceMin"},
    {"prod", "ReduceProd"},      {"l1", "ReduceL1"},
    {"l2", "ReduceL2"},          {"sum_square", "ReduceSumSquare"},
    {"log_sum", "ReduceLogSum"}, {"log_sum_exp", "ReduceLogSumExp"}};

// A node with truths as its result.
Edge truth(GraphWriter& g, std::string_view op, const Inputs& in, Dims dims,
           const Attributes& attributes = {}) {
  Edge y;
  y.type = Type::boolean;
  y.dims = std::move(dims);
  return g.make(op, in, y, attributes);
}
// Any number but 0 is true.
Edge is_true(GraphWriter& g, const Edge& x) { return g.cast(x, Type::boolean); }

// Lists of shapes, where the layer says them.
std::vector<Dims> shapes_of(const LayerVisit& v) {
  std::vector<Dims> all;
  const Json* j = v.config.find("shapes");
  if (!j || !j->is_array()) return all;
  for (const Json& shape : j->as_array()) {
    Dims& dims = all.emplace_back();
    for (const Json& d : shape.as_array()) dims.push_back(d.as_integer());
  }
  return all;
}

// The operands, in their shapes: they arrive as such, or side by side in one row.
Edges operands(const LayerVisit& v, const Edge& x) {
  const std::vector<Dims> shapes = shapes_of(v);
  if (shapes.empty()) return x.parts;
  GraphWriter& g = v.g;
  Edges all;
  std::int64_t column = 0;
  const Edge row = g.flat(x);
  for (const Dims& dims : shapes) {
    all.push_back(g.shaped(g.slice(row, 0, column, elements(dims)), dims));
    column += elements(dims);
  }
  return all;
}

// Two of a row, one below the other: the dimensions of rows are not spread.
void align(GraphWriter& g, Edges& list) {
  std::size_t rank = 0;
  for (const Edge& e : list) rank = std::max(rank, e.dims.size());
  for (Edge& e : list) {
    Dims dims(rank - e.dims.size(), 1);
    dims.insert(dims.end(), e.dims.begin(), e.dims.end());
    e = g.shaped(e, dims);
  }
}

// Functions with parameters, of doubles: attributes and the constants of ONNX's own definitions are
// f32, and some have no type for doubles. No name: it is none of them.
Edge of_doubles(GraphWriter& g, std::string_view op, const Edge& x, double a, double b) {
  const auto above = [&](double edge, const Edge& yes, const Edge& no) {
    return g.make("Where", {truth(g, "Greater", {x, g.number(edge)}, x.dims), yes, no}, x);
  };
  const auto clipped = [&](double factor, double more) {
    const Edge y = g.pair("Add", g.scale(x, factor), g.number(more));
    return g.add("Clip", {y, g.number(0), g.number(1)}, x.dims);
  };
  if (op == "elu" || op == "selu" || op == "celu") {
    const Edge power = g.add("Exp", {op == "celu" ? g.pair("Div", x, g.number(a)) : x}, x.dims);
    const Edge below = g.scale(g.pair("Sub", power, g.number(1)), a);
    return g.scale(above(0, x, below), op == "selu" ? b : 1);
  }
  if (op == "leaky_relu") return above(0, x, g.scale(x, a));
  if (op == "thresholded_relu") return above(a, x, g.scale(x, 0));
  if (op == "hard_sigmoid") return clipped(a, b);
  if (op == "hard_swish") return g.pair("Mul", x, clipped(1.0 / 6, 0.5));
  if (op != "shrink") return {};
  const Edge inside = above(-a, g.scale(x, 0), g.pair("Add", x, g.number(b)));
  return above(a, g.pair("Sub", x, g.number(b)), inside);
}

}  // namespace

Result<Edge> export_activation(LayerVisit& v, const Edge& x) {
  return v.g.activation(x, v.text("activation", "relu"));
}

Result<Edge> export_unary(LayerVisit& v, const Edge& x) {
  GraphWriter& g = v.g;
  const std::string op = v.text("op");
  const double a = v.number("a"), b = v.number("b");
  if (g.real == Type::f64) {
    const Edge y = of_doubles(g, op, x, a, b);
    if (!y.name.empty()) return y;
  }
  for (const UnaryOp& u : kUnary) {
    if (u.name != op) continue;
    Attributes attributes;
    if (!u.a.empty()) attributes.push_back(attr(u.a, a));
    if (!u.b.empty()) attributes.push_back(attr(u.b, b));
    return g.add(u.op, {x}, x.dims, attributes);
  }
  if (op == "clip") return g.add("Clip", {x, g.number(a), g.number(b)}, x.dims);
  if (op == "not") return g.cast(truth(g, "Equal", {x, g.number(0)}, x.dims), g.real);
  if (op == "is_nan") return g.cast(truth(g, "IsNaN", {x}, x.dims), g.real);
  if (op == "is_inf")
    return g.cast(truth(g, "IsInf", {x}, x.dims,
                        {attr("detect_negative", std::int64_t{a != 0}),
                         attr("detect_positive", std::int64_t{b != 0})}),
                  g.real);
  if (op == "square") return g.pair("Mul", x, x);
  if (op == "swish") {
    const Edge scaled = g.scale(x, a);
    return g.pair("Mul", x, g.add("Sigmoid", {scaled}, x.dims));
  }
  if (op == "trunc") {
    const Edge size = g.add("Floor", {g.add("Abs", {x}, x.dims)}, x.dims);
    return g.pair("Mul", size, g.add("Sign", {x}, x.dims));
  }
  const Type small = op == "fp8e4m3" ? Type::f8_e4m3fn : Type::f8_e5m2;
  Edge y = x;
  y.type = small;
  y = g.make("Cast", {x}, y,
             {attr("to", static_cast<std::int64_t>(small)),
              attr("saturate", std::int64_t{small == Type::f8_e4m3fn})});
  return g.cast(y, g.real);
}

Result<Edge> export_binary(LayerVisit& v, const Edge& x) {
  GraphWriter& g = v.g;
  Edges list = operands(v, x);
  if (v.node.find("value")) {
    const std::vector<Dims> shapes = shapes_of(v);
    if (list.empty()) list = {x};
    LOOM_ASSIGN(const Edge value, v.weight("value", v.list("constant")));
    // A scalar is []: its parameter has one value.
    const Edge learned = v.list("constant").empty() ? g.shaped(value, {}) : value;
    list.insert(v.flag("constant_first") ? list.begin() : list.end(), learned);
    // A learned operand of more dimensions than the row would be spread over rows.
    const std::size_t other = v.flag("constant_first") ? 1 : 0;
    if (list[other].dims.size() < learned.dims.size()) {
      Dims dims(learned.dims.size() - list[other].dims.size(), 1);
      dims.insert(dims.end(), list[other].dims.begin(), list[other].dims.end());
      list[other] = g.shaped(list[other], dims);
    }
  }
  const std::string op = v.text("op");
  const BinaryOp* b = kBinary;
  while (b->name != op) ++b;
  if (b->name == "prelu") {  // ONNX spreads the slope alone
    align(g, list);
    const Edge slope = g.pair("Mul", list[0], list[1]);
    const Edge above = truth(g, "Greater", {list[0], g.number(0)}, list[0].dims);
    return g.make("Where", {above, list[0], slope}, slope);
  }
  if (b->operands)
    for (Edge& e : list) e = is_true(g, e);
  if (!b->result) return g.pair(b->op, list[0], list[1]);
  Edge y = g.pair(b->op, list[0], list[1]);
  y.type = Type::boolean;
  return g.cast(y, g.real);
}

Result<Edge> export_select(LayerVisit& v, const Edge& x) {
  GraphWriter& g = v.g;
  Edges list = operands(v, x);
  align(g, list);
  Dims dims = list[0].dims;
  for (const Edge& e : list)
    for (std::size_t i = 0; i < dims.size(); ++i) dims[i] = std::max(dims[i], e.dims[i]);
  Edge y = list[1];
  y.dims = dims;
  return g.make("Where", {is_true(g, list[0]), list[1], list[2]}, y);
}

Result<Edge> export_reduce(LayerVisit& v, const Edge& row) {
  GraphWriter& g = v.g;
  const Dims dims = v.list("dims");
  Edge x = dims.empty() ? row : g.shaped(row, dims);
  Dims axes = v.list("axes");
  if (axes.empty())
    for (std::size_t i = 0; i < x.dims.size(); ++i) axes.push_back(static_cast<std::int64_t>(i));
  std::sort(axes.begin(), axes.end());
  const std::string op = v.text("op");
  for (const auto& [kind, name] : kReduce)
    if (kind == op) return g.reduced(name, x, axes, v.flag("keepdims", true));
  // The place of the largest among all that are reduced: those go behind the others.
  Dims order;
  std::int64_t count = 1;
  for (std::size_t i = 0; i < x.dims.size(); ++i)
    if (!std::binary_search(axes.begin(), axes.end(), static_cast<std::int64_t>(i)))
      order.push_back(static_cast<std::int64_t>(i));
  Dims kept;
  for (const std::int64_t i : order) kept.push_back(x.dims[static_cast<std::size_t>(i)]);
  for (const std::int64_t a : axes) {
    order.push_back(a);
    count *= x.dims[static_cast<std::size_t>(a)];
  }
  x = g.transposed(x, order);
  Dims flat = kept;
  flat.push_back(count);
  x = g.shaped(x, flat);
  Edge y = x;
  y.dims = kept;
  y.type = Type::i64;
  y = g.make(op == "argmax" ? "ArgMax" : "ArgMin", {x}, y,
             {attr("axis", std::int64_t{-1}), attr("keepdims", std::int64_t{0})});
  return g.cast(y, g.real);
}

Result<Edge> export_permute(LayerVisit& v, const Edge& x) {
  const Dims dims = v.list("dims");
  return v.g.transposed(dims.empty() ? x : v.g.shaped(x, dims), v.list("order"));
}

// Neighbors are a slice; others are gathered, where no place is from behind the row.
Result<Edge> export_index_select(LayerVisit& v, const Edge& row) {
  GraphWriter& g = v.g;
  const Dims runs = v.list("runs"), dims = v.list("dims");
  Edge x = g.shaped(row, {elements(row.dims)});
  if (runs.size() == 3 && runs[0] >= 0 && (runs[1] == 1 || runs[2] == 1))
    return g.slice(x, 0, runs[0], runs[2]);
  const std::int64_t width = x.dims[0];
  std::vector<double> places;
  bool fills = false;
  for (std::size_t i = 0; i + 2 < runs.size(); i += 3)
    for (std::int64_t k = 0; k < runs[i + 2]; ++k) {
      const std::int64_t place = runs[i] + k * runs[i + 1];
      fills = fills || place < 0;
      places.push_back(static_cast<double>(place < 0 ? width : place));
    }
  if (fills) {
    Dims pads(2 * static_cast<std::size_t>(g.axis(1, false)), 0);
    pads.back() = 1;
    x = g.add("Pad", {x, g.index(pads), g.number(v.number("fill"))}, {width + 1});
  }
  const auto count = static_cast<std::int64_t>(places.size());
  return g.add("Gather", {x, g.constant(Type::i64, {count}, places)}, {count},
               {attr("axis", g.axis(0, false))});
}

Result<Edge> export_batched_matmul(LayerVisit& v, const Edge& x) {
  Edges list = operands(v, x);
  align(v.g, list);
  Dims dims = list[0].dims;
  for (std::size_t i = 0; i + 2 < dims.size(); ++i) dims[i] = std::max(dims[i], list[1].dims[i]);
  dims.back() = list[1].dims.back();
  return v.g.add("MatMul", list, dims);
}

// Of the steps within a row's length; without any 0.
Result<Edge> export_pool_steps(LayerVisit& v, const Edge& row) {
  GraphWriter& g = v.g;
  const std::string op = v.text("op", "mean");
  const Edge& x = row.parts.empty() ? row : row.parts[0];
  const std::int64_t steps = x.dims[0], features = x.dims[1];
  const Edge* lengths = v.taken(row, "lengths");
  if (!lengths) {
    if (op == "last") return g.shaped(g.slice(x, 0, steps - 1, 1), {features});
    return g.reduced(op == "mean"  ? "ReduceMean"
                     : op == "max" ? "ReduceMax"
                                   : "ReduceSum",
                     x, {0}, false);
  }
  Edge seen = g.seen_steps(*lengths, steps);
  const Edge count = g.shaped(g.cast(*lengths, g.real), {1});
  if (op == "last") {
    std::vector<double> numbers;
    for (std::int64_t i = 1; i <= steps; ++i) numbers.push_back(static_cast<double>(i));
    seen = g.cast(truth(g, "Equal", {count, g.numbers({steps}, numbers)}, {steps}), g.real);
  }
  const Edge column = g.shaped(seen, {steps, 1});
  if (op == "max") {
    const Edge low = g.number(-static_cast<double>(std::numeric_limits<float>::max()));
    Edge y = x;
    y = g.make("Where", {is_true(g, column), x, low}, y);
    const Edge any = truth(g, "Greater", {count, g.number(0)}, {1});
    const Edge best = g.reduced("ReduceMax", y, {0}, false);
    return g.make("Where", {any, best, g.number(0)}, best);
  }
  const Edge sum = g.reduced("ReduceSum", g.pair("Mul", x, column), {0}, false);
  return op == "mean" ? g.pair("Div", sum, g.pair("Max", count, g.number(1))) : sum;
}

}  // namespace loom::onnx
