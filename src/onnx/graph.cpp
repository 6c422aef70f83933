#include "onnx/graph.h"

#include <algorithm>

#include "ops/graph/kinds.h"

namespace loom::onnx {
namespace {

Json list_of(const Dims& dims) { return Json(Json::Array(dims.begin(), dims.end())); }
Json typed(std::string_view type) {
  Json cell = Json::object();
  cell.set("type", type);
  return cell;
}
}  // namespace

std::string text_of(const Dims& dims) {
  std::string text = "[";
  for (const std::int64_t d : dims) text += (text.size() > 1 ? ", " : "") + std::to_string(d);
  return text + "]";
}

Ref GraphBuilder::reshape(Ref x, Dims dims) {
  x.dims = std::move(dims);
  return x;
}
Ref GraphBuilder::number(double value) { return {-1, 0, {}, {static_cast<float>(value)}}; }
Ref GraphBuilder::constant(Dims dims, std::vector<float> values) {
  return {-1, 0, std::move(dims), std::move(values)};
}

Dims GraphBuilder::spread(const Dims& a, const Dims& b) {
  Dims out(std::max(a.size(), b.size()), 1);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1,
                       y = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (x != y && x != 1 && y != 1)
      fault_ =
          Status(Code::invalid_argument, text_of(a) + " and " + text_of(b) + " do not go together");
    out[out.size() - 1 - i] = std::max(x, y);
  }
  return out;
}
GraphBuilder::GraphBuilder(std::int64_t input_width, std::uint64_t file_bytes)
    : input_width_(input_width),
      widths_{input_width},
      file_bytes_(file_bytes) {}  // cell 0 is empty: the input

// False, and a fault, where a network takes no more.
bool GraphBuilder::takes(const Dims& out) {
  std::int64_t count = 1;
  for (const std::int64_t d : out) count = count > INT32_MAX ? count : count * d;
  if (count > INT32_MAX)
    fault_ = Status(Code::unsupported,
                    "a value of " + text_of(out) + " on the way holds more than 2^31-1 numbers");
  else if (static_cast<std::int64_t>(widths_.size()) >= kMaxCells)
    fault_ = Status(Code::unsupported, "takes more than 2^20 cells");
  else return true;
  return false;
}

Ref GraphBuilder::add(Json config, const std::vector<Ref>& in, Dims out) {
  if (!takes(out)) return {0, 0, std::move(out), {}};
  Json links = Json::array();
  for (const Ref& r : in) {
    if (elements(r.dims) == 0) continue;  // outputs of the graph that hold nothing
    const Ref w = whole(r);
    Json link = Json::object();
    link.set("read", list_of({0, 0, 0, w.cell}));
    links.push(std::move(link));
  }
  const int at = static_cast<int>(widths_.size());
  Json cell = Json::object();
  cell.set("at", list_of({0, 0, 0, at}));
  for (const auto& [key, value] : config.as_object()) cell.set(key, value);
  cell.set("links", std::move(links));
  cells_.push(std::move(cell));
  widths_.push_back(elements(out));
  return {at, 0, std::move(out), {}};
}

namespace {

bool finite(const std::vector<float>& values) {
  return std::all_of(values.begin(), values.end(), [](float v) { return v - v == 0; });
}

}  // namespace

// Parameters are finite: an infinity is the logarithm of 0, which a comparison makes, so that no
// gradient comes by. A NaN is the sum of both.
Ref GraphBuilder::infinities(const Ref& x) {
  Ref whole = x, low = x, high = x;
  bool any_low = false, any_high = false;
  for (std::size_t i = 0; i < x.data.size(); ++i) {
    const float v = x.data[i];
    const bool is = !(v - v == 0), down = is && !(v > 0), up = is && !(v < 0);
    whole.data[i] = is ? 0 : v;
    low.data[i] = down ? 1.0f : 0.0f;
    high.data[i] = up ? 1.0f : 0.0f;
    any_low |= down;
    any_high |= up;
  }
  Ref y = value(whole);
  if (any_low) y = binary(y, unary(unary(value(low), "not"), "log"), "add");
  if (any_high) y = binary(y, unary(unary(value(high), "not"), "log"), "sub");
  return y;
}
Ref GraphBuilder::value(const Ref& x) {
  if (!x.constant()) return x;
  if (!finite(x.data)) return infinities(x);
  if (zero_ < 0) {
    Json cell = typed("pick");
    cell.set("runs", list_of({-1, 0, 1}));
    zero_ = add(std::move(cell), {{0, 0, {widths_[0]}, {}}}, {1}).cell;
  }
  Json cell = typed("binary");
  cell.set("op", "add");
  Json shapes = Json::array();
  shapes.push(list_of({1}));
  cell.set("shapes", std::move(shapes));
  cell.set("constant", list_of({elements(x.dims)}));
  Ref made = add(std::move(cell), {{zero_, 0, {1}, {}}}, x.dims);
  fill(made, "", "value", x.data);
  return made;
}

// All columns of a cell.
Ref GraphBuilder::whole(const Ref& x) {
  Ref v = value(x);
  const std::int64_t count = elements(v.dims);
  if (v.first == 0 && widths_[static_cast<std::size_t>(v.cell)] == count) return v;
  if (!takes(v.dims)) return v;
  Json cell = typed("pick");
  cell.set("runs", list_of({v.first, count > 1 ? 1 : 0, count}));
  Json links = Json::array();
  Json link = Json::object();
  link.set("read", list_of({0, 0, 0, v.cell}));
  links.push(std::move(link));
  const int at = static_cast<int>(widths_.size());
  Json placed = Json::object();
  placed.set("at", list_of({0, 0, 0, at}));
  for (const auto& [key, value] : cell.as_object()) placed.set(key, value);
  placed.set("links", std::move(links));
  cells_.push(std::move(placed));
  widths_.push_back(count);
  return {at, 0, v.dims, {}};
}

// Settings are finite as well.
bool GraphBuilder::settled(double v) {
  if (v - v == 0) return true;
  fault_ =
      Status(Code::unsupported, "with a setting that is infinite or no number it is not mapped");
  return false;
}
Ref GraphBuilder::unary(const Ref& x, std::string_view op, double a, double b) {
  if (!settled(a) || !settled(b)) return x;
  Json cell = typed("unary");
  cell.set("op", op);
  cell.set("a", a);
  cell.set("b", b);
  return add(std::move(cell), {x}, x.dims);
}
Ref GraphBuilder::activation(const Ref& x, std::string_view kind) {
  Json cell = typed("activation");
  cell.set("activation", kind);
  return add(std::move(cell), {x}, x.dims);
}
Ref GraphBuilder::binary(const Ref& a_in, const Ref& b_in, std::string_view op) {
  const Ref a = a_in.constant() && (b_in.constant() || !finite(a_in.data)) ? value(a_in) : a_in;
  const Ref b = b_in.constant() && !finite(b_in.data) ? value(b_in) : b_in;
  Json cell = typed("binary"), shapes = Json::array();
  cell.set("op", op);
  if (!a.constant()) shapes.push(list_of(a.dims));
  if (!b.constant()) shapes.push(list_of(b.dims));
  cell.set("shapes", std::move(shapes));
  if (a.constant() || b.constant()) {
    // A scalar's shape is empty, which a setting cannot be.
    Dims dims = a.constant() ? a.dims : b.dims;
    if (dims.empty()) dims = {1};
    cell.set("constant", list_of(dims));
    if (a.constant()) cell.set("constant_first", true);
  }
  std::vector<Ref> in;
  if (!a.constant()) in.push_back(a);
  if (!b.constant()) in.push_back(b);
  Ref y = add(std::move(cell), in, spread(a.dims, b.dims));
  if (a.constant()) fill(y, "", "value", a.data);
  if (b.constant()) fill(y, "", "value", b.data);
  return y;
}
Ref GraphBuilder::reduce(const Ref& x, std::string_view op, const Dims& axes, bool keep) {
  Json cell = typed("reduce");
  cell.set("op", op);
  cell.set("dims", list_of(x.dims.empty() ? Dims{1} : x.dims));
  if (!axes.empty()) cell.set("axes", list_of(axes));
  cell.set("keep", keep);
  Dims out;
  for (std::size_t d = 0; d < x.dims.size(); ++d) {
    const bool gone = axes.empty() || std::find(axes.begin(), axes.end(),
                                                static_cast<std::int64_t>(d)) != axes.end();
    if (!gone) out.push_back(x.dims[d]);
    else if (keep) out.push_back(1);
  }
  return add(std::move(cell), {x}, std::move(out));
}
Ref GraphBuilder::permute(const Ref& x, const Dims& order) {
  Json cell = typed("permute");
  cell.set("dims", list_of(x.dims));
  cell.set("order", list_of(order));
  Dims out;
  for (const std::int64_t d : order) out.push_back(x.dims[static_cast<std::size_t>(d)]);
  return add(std::move(cell), {x}, std::move(out));
}
Ref GraphBuilder::index_select(const Ref& x, std::span<const std::int64_t> places, Dims dims,
                               double fill) {
  if (std::find(places.begin(), places.end(), -1) == places.end() || !settled(fill)) fill = 0;
  Json cell = typed("pick"), runs = Json::array();
  for (const double v : GatherIndices::runs(places)) runs.push(Json(static_cast<std::int64_t>(v)));
  cell.set("runs", std::move(runs));
  if (fill != 0) cell.set("fill", fill);
  return add(std::move(cell), {x}, std::move(dims));
}

Ref GraphBuilder::select(const Ref& condition, const Ref& a, const Ref& b) {
  Json cell = typed("select"), shapes = Json::array();
  const std::vector<Ref> in = {value(condition), value(a), value(b)};
  for (const Ref& r : in) shapes.push(list_of(r.dims));
  cell.set("shapes", std::move(shapes));
  return add(std::move(cell), in, spread(spread(condition.dims, a.dims), b.dims));
}
Ref GraphBuilder::concat(const std::vector<Ref>& all, std::int64_t axis) {
  std::vector<Ref> parts;
  for (const Ref& r : all)
    if (elements(r.dims) > 0) parts.push_back(value(r));
  if (parts.size() == 1) return parts[0];
  Dims out = parts[0].dims;
  const auto a = static_cast<std::size_t>(axis);
  for (std::size_t i = 1; i < parts.size(); ++i) {
    Dims same = parts[i].dims;
    if (same.size() == out.size()) same[a] = out[a];
    if (same != out) {
      fault_ = Status(Code::invalid_argument,
                      text_of(parts[i].dims) + " does not follow " + text_of(parts[0].dims));
      return parts[0];
    }
    out[a] += parts[i].dims[a];
  }
  std::int64_t outer = 1, first = 0;
  for (std::size_t d = 0; d < a; ++d) outer *= out[d];
  if (const Status few = outer > 1 ? lists(elements(out)) : Status(); !few.ok()) {
    fault_ = few;
    return parts[0];
  }
  const Ref joined = add(Json::object(), parts, out);
  if (outer == 1) return joined;
  std::vector<std::int64_t> firsts, places;
  for (const Ref& p : parts) {
    firsts.push_back(first);
    first += elements(p.dims);
  }
  for (std::int64_t o = 0; o < outer; ++o)
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const std::int64_t run = elements(parts[i].dims) / outer;
      for (std::int64_t k = 0; k < run; ++k) places.push_back(firsts[i] + o * run + k);
    }
  return index_select(joined, places, out);
}
Ref GraphBuilder::matmul(const Ref& a, const Ref& b, Dims out) {
  Json cell = typed("batched_matmul"), shapes = Json::array();
  const Ref x = value(a), y = value(b);
  shapes.push(list_of(x.dims));
  shapes.push(list_of(y.dims));
  cell.set("shapes", std::move(shapes));
  return add(std::move(cell), {x, y}, std::move(out));
}
Ref GraphBuilder::softmax(const Ref& x) {
  const Dims last = {static_cast<std::int64_t>(x.dims.size()) - 1};
  // The maximum is finite and the sum no zero, so that rows of -inf give 0 / 2^-126.
  const Ref top = binary(reduce(x, "max", last, true), number(-3.402823466e38), "max");
  const Ref shifted = binary(x, top, "sub");
  const Ref powers = unary(shifted, "exp");
  const Ref sum = binary(reduce(powers, "sum", last, true), number(0x1p-126), "max");
  return binary(powers, sum, "div");
}
Ref GraphBuilder::normalized(const Ref& x, const Dims& axes, double eps) {
  const Ref centered = binary(x, reduce(x, "mean", axes, true), "sub");
  const Ref shifted =
      binary(reduce(unary(centered, "square"), "mean", axes, true), number(eps), "add");
  return binary(centered, unary(shifted, "sqrt"), "div");
}

std::vector<std::int64_t> steps_of(const Dims& dims) {
  std::vector<std::int64_t> steps(dims.size(), 1);
  for (std::size_t d = dims.size(); d-- > 1;) steps[d - 1] = steps[d] * dims[d];
  return steps;
}
Ref part_of(const Ref& x, std::int64_t index, Dims dims) {
  Ref r = x;
  r.first += index * elements(dims);
  r.dims = std::move(dims);
  return r;
}
Ref scaled(StepCall& c, Ref x, const Ref* gain, const Ref* bias) {
  if (gain) x = c.graph.binary(x, *gain, "mul");
  if (bias) x = c.graph.binary(x, *bias, "add");
  return x;
}

Result<Network> GraphBuilder::finish(const std::vector<Ref>& outputs,
                                     std::vector<std::int64_t>* firsts) {
  std::int64_t width = 0;
  std::vector<Ref> held;
  for (const Ref& r : outputs) {
    firsts->push_back(width);
    width += elements(r.dims);
    if (elements(r.dims) > 0) held.push_back(r);
  }
  add(Json::object(), held, {width});
  LOOM_TRY(fault());
  Json t = Json::object(), in = Json::object();
  t.set("format", "loom-topology");
  t.set("version", 1);
  t.set("layers_per_cell", static_cast<std::int64_t>(widths_.size()));
  in.set("width", input_width_);
  t.set("input", std::move(in));
  t.set("cells", cells_);
  LOOM_ASSIGN(Network network, Network::from_json(t));
  for (const ParamFill& f : fills_) {
    const std::string path = "0.0.0." + std::to_string(f.cell) + f.child;
    WeightStore* store = network.find(path, f.role);
    if (!store || store->mutable_master().size() != f.values.size())
      return Status(Code::internal, "onnx: parameter " + path + ":" + f.role + " does not take " +
                                        std::to_string(f.values.size()) + " values");
    std::copy(f.values.begin(), f.values.end(), store->mutable_master().begin());
    store->touch();
  }
  return network;
}

Status GraphBuilder::makes(std::int64_t count) {
  made_ += count;
  if (made_ > kMaxMade)
    return StepCall::refuse("makes " + std::to_string(count) +
                            " parameters, with those before more than 2^29");
  return justified(made_, kMadePerByte, "makes", count);
}
Status GraphBuilder::lists(std::int64_t count) {
  if (count > kMaxListed)
    return StepCall::refuse("lists " + std::to_string(count) + " values, the limit is 2^26");
  listed_ += count;
  return justified(listed_, kListedPerByte, "lists", count);
}
Status GraphBuilder::justified(std::int64_t all, std::uint64_t per_byte, std::string_view what,
                               std::int64_t count) const {
  const std::uint64_t max =
      kAlwaysJustified + per_byte * std::min(file_bytes_, std::uint64_t{1} << 40);
  if (file_bytes_ == 0 || static_cast<std::uint64_t>(all) <= max) return {};
  return StepCall::refuse(std::string(what) + " " + std::to_string(count) +
                          " values, with those before more than the " + std::to_string(max) +
                          " that a file of " + std::to_string(file_bytes_) + " bytes justifies");
}
bool GraphBuilder::holds(const Ref& x) const {
  const std::int64_t count = elements(x.dims);
  if (x.constant()) return static_cast<std::int64_t>(x.data.size()) == count;
  return x.first >= 0 && x.first + count <= widths_[static_cast<std::size_t>(x.cell)];
}

const Value& StepCall::value(std::size_t i) const {
  static const Value kNone;
  if (has(i)) return plan.values[static_cast<std::size_t>(step.inputs[i])];
  graph.note(Status(Code::invalid_argument, "has no input " + std::to_string(i)));
  return kNone;
}
const Ref& StepCall::in(std::size_t i) const {
  static const Ref kNone = GraphBuilder::number(0);
  if (has(i)) return refs[static_cast<std::size_t>(step.inputs[i])];
  graph.note(Status(Code::invalid_argument, "has no input " + std::to_string(i)));
  return kNone;
}
void StepCall::set(Ref r, std::size_t i) {
  if (i >= step.outputs.size() || step.outputs[i] < 0) return;
  r.dims = result(i).dims;
  refs[static_cast<std::size_t>(step.outputs[i])] = std::move(r);
}
bool StepCall::final() const {
  for (const Step& s : plan.steps)
    for (const int id : s.inputs)
      if (id == step.outputs[0]) return false;
  return true;
}
Status StepCall::need_constant(std::size_t i) const {
  if (!has(i)) return Status(Code::invalid_argument, "has no input " + std::to_string(i));
  const auto id = static_cast<std::size_t>(step.inputs[i]);
  if (plan.values[id].constant()) return {};
  if (wanted) wanted->insert(wanted->end(), sources[id].begin(), sources[id].end());
  return refuse("its input '" + plan.values[id].name + "' must be known before the run");
}
Result<std::vector<float>> StepCall::floats(std::size_t i) const {
  LOOM_TRY(need_constant(i));
  return constant_f32(value(i));
}
Result<std::vector<std::int64_t>> StepCall::ints(std::size_t i) const {
  LOOM_TRY(need_constant(i));
  return constant_i64(value(i));
}

Result<std::vector<std::int64_t>> StepCall::ints_or(std::size_t i, std::string_view attribute,
                                                    Dims fallback) const {
  if (has(i)) return ints(i);
  return node().get_ints(attribute, std::move(fallback));
}

}  // namespace loom::onnx
