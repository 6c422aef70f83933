#include "onnx/export/graph.h"

#include <algorithm>

namespace loom::onnx {
namespace {

Attribute written(const Attr& from) {
  Attribute a;
  a.name = from.name;
  a.type = from.type;
  a.f = static_cast<float>(from.f);
  a.i = from.i;
  if (from.type == AttributeType::s) a.s = from.s;
  if (from.type == AttributeType::ints) a.ints.assign(from.list, from.list + from.count);
  if (from.type == AttributeType::strings) a.strings.assign(from.count, std::string(from.s));
  return a;
}

// How NumPy spreads two shapes; they fit, as planning has found.
Dims spread(const Dims& a, const Dims& b) {
  const Dims& longer = a.size() >= b.size() ? a : b;
  const Dims& other = a.size() >= b.size() ? b : a;
  Dims out = longer;
  const std::size_t more = longer.size() - other.size();
  for (std::size_t i = 0; i < other.size(); ++i)
    out[more + i] = std::max(longer[more + i], other[i]);
  return out;
}

// Of an activation: the operator that is it.
struct ActivationOp {
  std::string_view kind, op;
};
constexpr ActivationOp kActivations[] = {{"relu", "Relu"},       {"tanh", "Tanh"},
                                         {"sigmoid", "Sigmoid"}, {"softplus", "Softplus"},
                                         {"mish", "Mish"},       {"leaky_relu", "LeakyRelu"},
                                         {"gelu_erf", "Gelu"},   {"gelu_tanh", "Gelu"}};

}  // namespace

Edge::Edge() = default;
Edge::Edge(const Edge&) = default;
Edge::Edge(Edge&&) noexcept = default;
Edge& Edge::operator=(const Edge&) = default;
Edge& Edge::operator=(Edge&&) noexcept = default;
Edge::~Edge() = default;

Attr attr(std::string_view name, std::int64_t value) {
  Attr a{name, AttributeType::i};
  a.i = value;
  return a;
}
Attr attr(std::string_view name, double value) {
  Attr a{name, AttributeType::f};
  a.f = value;
  return a;
}
Attr attr(std::string_view name, std::string_view value) {
  Attr a{name, AttributeType::s};
  a.s = value;
  return a;
}
Attr attr(std::string_view name, const Dims& values) {
  Attr a{name, AttributeType::ints};
  for (const std::int64_t v : values) a.list[a.count++] = v;
  return a;
}
Attr attr(std::string_view name, std::string_view value, std::int64_t times) {
  Attr a{name, AttributeType::strings};
  a.s = value;
  a.count = static_cast<std::size_t>(times);
  return a;
}

Dims dims_of(const Shape& shape) {
  return shape.dims.empty() && shape.ids == 0 ? Dims{shape.width} : shape.dims;
}

GraphWriter::GraphWriter(const ExportOptions& settings, int lead_dims)
    : lead(lead_dims), options(settings) {}

std::string GraphWriter::unique(const std::string& name) {
  const int n = names_[name]++;
  return n == 0 ? name : unique(name + "_" + std::to_string(n));
}

Edges GraphWriter::add_all(std::string_view op, const Inputs& in, Edges out,
                           const Attributes& attributes) {
  Node node;
  const std::size_t dot = op.rfind('.');
  node.op = op.substr(dot + 1);
  if (dot != std::string_view::npos) node.domain = op.substr(0, dot);
  node.name = unique(scope + "/" + node.op);
  bool fixed = true;
  for (std::size_t i = 0; i < in.count; ++i) {
    node.inputs.push_back(in[i].name);
    fixed = fixed && (in[i].fixed || in[i].name.empty());
  }
  for (Edge& e : out) {
    if (e.name == "-") {
      node.outputs.emplace_back();
      continue;
    }
    e.name = node.outputs.empty() ? node.name : unique(node.name + ".more");
    e.fixed = fixed;
    node.outputs.push_back(e.name);
  }
  for (const Attr& a : attributes) node.attributes.push_back(written(a));
  model.graph.nodes.push_back(std::move(node));
  return out;
}

Edge GraphWriter::make(std::string_view op, const Inputs& in, Edge out,
                       const Attributes& attributes) {
  Edges one(1);
  one[0] = std::move(out);
  return std::move(add_all(op, in, std::move(one), attributes)[0]);
}

Edge GraphWriter::add(std::string_view op, const Inputs& in, Dims out,
                      const Attributes& attributes) {
  Edge y;
  y.type = in[0].type;
  y.dims = std::move(out);
  return make(op, in, std::move(y), attributes);
}

Edge GraphWriter::constant(Type type, Dims dims, const std::vector<double>& values) {
  std::string key(name(type));
  for (const std::int64_t d : dims) key += "," + std::to_string(d);
  key.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double));
  Edge& e = constants_[key];
  if (!e.name.empty()) return e;
  e.name = unique("constant");
  e.type = type;
  e.dims = dims;
  e.fixed = true;
  auto tensor = make_tensor(e.name, type, std::move(dims), values);
  if (tensor.ok()) initializer(std::move(*tensor));  // of a type and shape that fit
  return e;
}

Edge GraphWriter::index(const Dims& values) {
  return constant(Type::i64, {static_cast<std::int64_t>(values.size())},
                  {values.begin(), values.end()});
}

Edge GraphWriter::shaped(const Edge& x, const Dims& dims) {
  if (x.dims == dims) return x;
  Dims to(x.fixed ? 0 : static_cast<std::size_t>(lead), 0);  // 0: as it is
  to.insert(to.end(), dims.begin(), dims.end());
  return add("Reshape", {x, index(to)}, dims);
}

Edge GraphWriter::cast(const Edge& x, Type type) {
  if (x.type == type) return x;
  Edge y = x;
  y.type = type;
  return make("Cast", {x}, std::move(y), {attr("to", static_cast<std::int64_t>(type))});
}

Edge GraphWriter::joined(const Edges& list, std::int64_t of_row) {
  if (list.size() == 1) return list[0];
  Dims dims = list[0].dims;
  for (std::size_t i = 1; i < list.size(); ++i)
    dims[static_cast<std::size_t>(of_row)] += list[i].dims[static_cast<std::size_t>(of_row)];
  return add("Concat", list, std::move(dims), {attr("axis", axis(of_row, list[0].fixed))});
}

Edge GraphWriter::flat(const Edge& x) {
  if (x.parts.empty()) return shaped(x, {elements(x.dims)});
  Edges list;
  for (const Edge& part : x.parts) list.push_back(flat(cast(part, real)));
  return joined(list, 0);
}

Edge GraphWriter::slice(const Edge& x, std::int64_t of_row, std::int64_t first,
                        std::int64_t count) {
  const std::int64_t size = x.dims[static_cast<std::size_t>(of_row)];
  if (first == 0 && count == size) return x;
  Dims dims = x.dims;
  dims[static_cast<std::size_t>(of_row)] = count;
  return add("Slice", {x, index({first}), index({first + count}), index({axis(of_row, x.fixed)})},
             std::move(dims));
}

Edge GraphWriter::transposed(const Edge& x, const Dims& order) {
  Dims perm, dims;
  for (std::int64_t i = 0; i < axis(0, x.fixed); ++i) perm.push_back(i);
  for (const std::int64_t d : order) {
    perm.push_back(axis(d, x.fixed));
    dims.push_back(x.dims[static_cast<std::size_t>(d)]);
  }
  return std::is_sorted(order.begin(), order.end())
             ? x
             : add("Transpose", {x}, std::move(dims), {attr("perm", perm)});
}

Edge GraphWriter::pair(std::string_view op, const Edge& a, const Edge& b) {
  // Of two rows the first dimensions are those of the rows: the others must stand one below the
  // other, too.
  const auto as_long = [&](const Edge& x, const Edge& other) {
    if (x.dims.size() >= other.dims.size() || x.fixed) return x;
    Dims dims(other.dims.size() - x.dims.size(), 1);
    dims.insert(dims.end(), x.dims.begin(), x.dims.end());
    return shaped(x, dims);
  };
  const Edge left = as_long(a, b), right = as_long(b, a);
  return add(op, {left, right}, spread(left.dims, right.dims));
}

Edge GraphWriter::scale(const Edge& x, double factor) {
  return factor == 1 ? x : pair("Mul", x, number(factor));
}

Edge GraphWriter::reduced(std::string_view op, const Edge& x, const Dims& axes, bool keep) {
  Dims all, dims;
  for (const std::int64_t a : axes) all.push_back(axis(a, x.fixed));
  for (std::size_t i = 0; i < x.dims.size(); ++i) {
    const bool goes =
        std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(i)) != axes.end();
    if (!goes) dims.push_back(x.dims[i]);
    else if (keep) dims.push_back(1);
  }
  return add(op, {x, index(all)}, std::move(dims), {attr("keepdims", std::int64_t{keep})});
}

Edge GraphWriter::softmax(const Edge& x, bool log) {
  return add(log ? "LogSoftmax" : "Softmax", {x}, x.dims, {attr("axis", std::int64_t{-1})});
}

Edge GraphWriter::product(const Edge& x, const Edge& weight, const Edge* bias) {
  Dims out = x.dims;
  out.back() = weight.dims[0];
  if (x.dims.size() == 1 && lead == 1) {
    Edges in{x, weight};
    if (bias) in.push_back(*bias);
    return add("Gemm", in, std::move(out), {attr("transB", std::int64_t{1})});
  }
  const Edge y = add("MatMul", {x, transposed(weight, {1, 0})}, std::move(out));
  return bias ? pair("Add", y, *bias) : y;
}

Edge GraphWriter::activation(const Edge& x, std::string_view kind) {
  if (kind == "linear") return x;
  if (kind == "silu") return pair("Mul", x, add("Sigmoid", {x}, x.dims));
  if (kind == "relu2") {
    const Edge y = add("Relu", {x}, x.dims);
    return pair("Mul", y, y);
  }
  if (kind == "gelu_tanh" && real == Type::f64) {  // whose definition has constants of f32
    const Edge cube = pair("Mul", x, pair("Mul", x, x));
    const Edge sum = scale(pair("Add", x, scale(cube, 0.044715)), 0.79788456080286535588);
    const Edge more = pair("Add", add("Tanh", {sum}, x.dims), number(1));
    return pair("Mul", scale(x, 0.5), more);
  }
  for (const ActivationOp& a : kActivations) {
    if (a.kind != kind) continue;
    Attributes attributes;
    if (kind == "leaky_relu") attributes = {attr("alpha", double{kLeakySlope})};
    if (kind == "gelu_tanh") attributes = {attr("approximate", std::string_view("tanh"))};
    return add(a.op, {x}, x.dims, attributes);
  }
  return x;
}

Edge GraphWriter::rms_norm(const Edge& x, const Edge& gain, double eps) {
  const auto last = static_cast<std::int64_t>(x.dims.size()) - 1;
  const Edge square = pair("Mul", x, x), mean = reduced("ReduceMean", square, {last}, true);
  const Edge root = add("Sqrt", {pair("Add", mean, number(eps))}, mean.dims);
  return pair("Mul", pair("Div", x, root), gain);
}

Edge GraphWriter::seen_steps(const Edge& lengths, std::int64_t steps) {
  std::vector<double> numbers_of;
  for (std::int64_t i = 0; i < steps; ++i) numbers_of.push_back(static_cast<double>(i));
  Edge y = shaped(lengths, {1});
  y.type = Type::boolean;
  y.dims = {steps};
  const Edge less =
      make("Less", {constant(lengths.type, {steps}, numbers_of), shaped(lengths, {1})}, y);
  return cast(less, real);
}

}  // namespace loom::onnx
