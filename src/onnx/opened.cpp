#include "onnx/opened.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>

#include "base/escape.h"
#include "base/message.h"

namespace loom::onnx {
namespace {

constexpr double kLow = -std::numeric_limits<double>::infinity();
// What operators read over axes, and what hides the padding there. Axes: by the attribute `axis`,
// all from it on (tail), `axes` (reduce; mean), all behind the channels (space), or by name.
struct Reads {
  const char* op;
  const char* how;
  double fill;
};
constexpr Reads kReads[] = {{"Softmax", "softmax", kLow},
                            {"LogSoftmax", "softmax", kLow},
                            {"Hardmax", "softmax", kLow},
                            {"ArgMax", "axis", kLow},
                            {"ArgMin", "axis", -kLow},
                            {"ReduceSum", "reduce", 0},
                            {"ReduceL1", "reduce", 0},
                            {"ReduceL2", "reduce", 0},
                            {"ReduceSumSquare", "reduce", 0},
                            {"ReduceLogSum", "reduce", 0},
                            {"ReduceProd", "reduce", 1},
                            {"ReduceMax", "reduce", kLow},
                            {"ReduceLogSumExp", "reduce", kLow},
                            {"ReduceMin", "reduce", -kLow},
                            {"ReduceMean", "mean", 0},
                            {"GlobalAveragePool", "global", 0},
                            {"GlobalMaxPool", "space", kLow},
                            {"MaxPool", "space", kLow},
                            {"Conv", "space", 0},
                            {"LayerNormalization", "tail", 0},
                            {"RMSNormalization", "tail", 0},
                            {"SimplifiedLayerNormalization", "tail", 0},
                            {"com.microsoft.SkipLayerNormalization", "tail", 0},
                            {"com.microsoft.SkipSimplifiedLayerNormalization", "tail", 0},
                            {"Gemm", "gemm", 0},
                            {"MatMul", "matmul", 0},
                            {"LSTM", "steps", 0},
                            {"GRU", "steps", 0},
                            {"RNN", "steps", 0},
                            {"CumSum", "sums", 0},
                            {"Gather", "gather", 0},
                            {"Slice", "slice", 0}};

const Reads* reads_of(const Operator& op) {
  for (const Reads& r : kReads)
    if (std::strcmp(r.op, op.name) == 0) return &r;
  return nullptr;
}

// How many numbers lie between open axes: a reshape that keeps them moves no number across one.
Dims between(const Dims& dims, const std::vector<bool>& open) {
  Dims products{1};
  for (std::size_t d = 0; d < dims.size(); ++d) {
    if (open[d]) products.push_back(1);
    else products.back() *= dims[d];
  }
  return products;
}

// Whether the elements of `part` are the first of each axis of those of `all`.
bool begins_with(const Value& all, const Value& part) {
  if (all.tensor || part.tensor) return all.tensor == part.tensor;
  const auto steps = steps_of(all.dims);
  for (std::size_t i = 0; i < part.cells->size(); ++i) {
    std::int64_t rest = static_cast<std::int64_t>(i), place = 0;
    for (std::size_t d = part.dims.size(); d-- > 0; rest /= part.dims[d])
      place += rest % part.dims[d] * steps[d];
    if (std::memcmp(&(*part.cells)[i], &(*all.cells)[static_cast<std::size_t>(place)],
                    sizeof(Cell)) != 0)
      return false;
  }
  return true;
}

}  // namespace

Status Opened::refuse(const std::string& what) const {
  return Status(Code::unsupported, message(what, ": fix ", quoted(name_),
                                           " by dims (--dim), its maximum does not go here"));
}

Status Opened::shape_fits(const Value& all, const Value& at, int id, std::int64_t n) const {
  bool fits = all.dims.size() == at.dims.size() && all.constant() == at.constant();
  for (std::size_t d = 0; fits && d < all.dims.size(); ++d)
    fits = open_[static_cast<std::size_t>(id)][d] ? all.dims[d] == max_ && at.dims[d] == n
                                                  : all.dims[d] == at.dims[d];
  return fits ? Status()
              : refuse(message("the value ", quoted(all.name), " is ", text_of(all.dims), " at ",
                               max_, " and ", text_of(at.dims), " at ", n, ", expected ", max_,
                               " and ", n, " or the same"));
}

// Of an input of a step: constants have the same numbers at every length, as far as they go.
Status Opened::values_fit(const Step& step, std::size_t i, const Plan& plan, const Plan& at,
                          std::int64_t n) const {
  const Operator* op = find_operator(*step.node);
  const Value &all = *plan.at(step.inputs[i]), &part = *at.at(step.inputs[i]);
  if (!op || !all.constant()) return {};
  const bool slice = std::strcmp(op->name, "Slice") == 0;
  // Sizes, which the shapes tell of.
  if ((op->is(kSizes) && (i > 0 || op->is(kFirstIsSetting))) || (slice && i == 2)) return {};
  if (!begins_with(all, part))
    return refuse(message("its constant input ", quoted(all.name), " is another at ", n));
  if (std::strcmp(op->name, "Gather") != 0 || i != 1) return {};
  LOOM_ASSIGN(std::int64_t axis, step.node->get_int("axis", 0));
  const Value& x = *at.at(step.inputs[0]);
  axis = axis_of(axis, x.dims);
  if (!open_[static_cast<std::size_t>(step.inputs[0])][static_cast<std::size_t>(axis)]) return {};
  LOOM_ASSIGN(const auto places, constant_i64(part));
  if (places == Dims{-1}) return {};  // the last
  for (const std::int64_t place : places)
    if (place < 0 || place >= n)
      return refuse(message("takes place ", place, ", which a length of ", n, " does not have"));
  return {};
}

Status Opened::compare(const Plan& plan, const Plan& at, std::int64_t n) {
  const auto same = [](const Step& a, const Step& b) {
    return a.node->op == b.node->op && a.inputs == b.inputs && a.outputs == b.outputs;
  };
  if (at.values.size() != plan.values.size() ||
      !std::equal(plan.steps.begin(), plan.steps.end(), at.steps.begin(), at.steps.end(), same))
    return refuse(message("the graph takes other steps at ", n));
  for (std::size_t id = open_.size(); id < plan.values.size(); ++id) {
    const Dims &all = plan.values[id].dims, &less = at.values[id].dims;
    open_.emplace_back(all.size());
    for (std::size_t d = 0; d < all.size() && d < less.size(); ++d)
      open_.back()[d] = all[d] != less[d];
  }
  for (std::size_t k = 0; k < plan.steps.size(); ++k) {
    const Step& step = plan.steps[k];
    const auto where = [&](const Status& s) { return s.at(describe(*step.node, step.index)); };
    for (const auto* list : {&step.inputs, &step.outputs})
      for (const int id : *list)
        if (id >= 0)
          if (const Status s = shape_fits(*plan.at(id), *at.at(id), id, n); !s.ok())
            return where(s);
    for (std::size_t i = 0; i < step.inputs.size(); ++i)
      if (step.inputs[i] >= 0)
        if (const Status s = values_fit(step, i, plan, at, n); !s.ok()) return where(s);
  }
  for (const int id : plan.outputs)
    if (id >= 0) {
      const Value &all = *plan.at(id), &part = *at.at(id);
      LOOM_TRY(shape_fits(all, part, id, n));
      if (all.constant() && !begins_with(all, part))
        return refuse(message("the output ", quoted(all.name), " is another at ", n));
    }
  return {};
}

void Opened::place(GraphBuilder& graph, const Ref& length) {
  length_ = length;
  Ref places = GraphBuilder::constant({max_}, {});
  for (std::int64_t t = 0; t < max_; ++t) places.data.push_back(static_cast<float>(t));
  seen_ = graph.binary(length, places, "greater");
  for (float& t : places.data) ++t;
  const Ref last = graph.binary(length, places, "equal");  // at the last place
  unknown_ = graph.binary(GraphBuilder::number(0), graph.reduce(last, "max", {0}, true), "div");
}

Opened::Axes Opened::axes(int id, std::size_t first) const {
  Axes list;
  const auto& open = open_[static_cast<std::size_t>(id)];
  for (std::size_t d = first; d < open.size(); ++d)
    if (open[d]) list.push_back(d);
  return list;
}
bool Opened::open(const StepCall& c, std::size_t i, std::int64_t axis) const {
  const auto& open = open_[static_cast<std::size_t>(c.step.inputs[i])];
  const auto d = static_cast<std::size_t>(axis_of(axis, c.dims(i)));
  return d < open.size() && open[d];  // the rule refuses an axis that is none
}
Ref Opened::along(const Ref& places, std::size_t rank, std::size_t axis) const {
  Dims dims(rank, 1);
  dims[axis] = max_;
  return GraphBuilder::reshape(places, std::move(dims));
}
Ref Opened::hidden(GraphBuilder& graph, const Ref& x, const Axes& axes, double fill) const {
  Ref y = x;
  for (const std::size_t axis : axes)
    y = graph.select(along(seen_, x.dims.size(), axis), y, GraphBuilder::number(fill));
  return y;
}
void Opened::hide(StepCall& c, std::size_t i, const Axes& axes, double fill) {
  const int id = c.step.inputs[i];
  if (axes.empty() || c.value(i).constant()) return;
  Ref& ref = c.refs[static_cast<std::size_t>(id)];
  kept_.emplace_back(id, ref);
  ref = hidden(c.graph, ref, axes, fill);
}

// The open axes that a step reads over, of its first input.
Result<Opened::Axes> Opened::read(const StepCall& c, std::string_view how) const {
  const Dims& dims = c.dims();
  const int id = c.step.inputs[0];
  const bool old = how == "softmax" && c.step.opset < 13;
  LOOM_ASSIGN(std::int64_t axis, c.node().get_int("axis", how == "axis" ? 0 : old ? 1 : -1));
  const auto first = static_cast<std::size_t>(axis_of(axis, dims));
  if (how == "tail" || old) return axes(id, first);
  if (how == "space" || how == "global") return axes(id, 2);
  if (how == "axis" || how == "softmax") return open(c, 0, axis) ? Axes{first} : Axes{};
  LOOM_ASSIGN(const Dims over, c.ints_or(1, "axes"));
  LOOM_ASSIGN(const std::int64_t nothing, c.node().get_int("noop_with_empty_axes", 0));
  if (over.empty()) return nothing ? Axes{} : axes(id);
  Axes list;
  for (const std::int64_t d : over)
    if (open(c, 0, d)) list.push_back(static_cast<std::size_t>(axis_of(d, dims)));
  return list;
}

// Places that every length has are taken by the rule; the last one is found here.
Result<bool> Opened::gather(StepCall& c) const {
  LOOM_ASSIGN(const std::int64_t axis, c.node().get_int("axis", 0));
  if (!open(c, 0, axis)) return false;
  if (!c.value(1).constant()) return refuse("takes places of an open dimension that are computed");
  LOOM_ASSIGN(const Dims places, c.ints(1));
  if (places != Dims{-1}) return false;
  Ref last = GraphBuilder::constant({max_}, {});
  for (std::int64_t t = 1; t <= max_; ++t) last.data.push_back(static_cast<float>(t));
  const Ref x = c.graph.value(c.in());
  const std::int64_t at = axis_of(axis, x.dims);
  const Ref hit =
      along(c.graph.binary(length_, last, "equal"), x.dims.size(), static_cast<std::size_t>(at));
  c.set(c.graph.reduce(c.graph.select(hit, x, GraphBuilder::number(0)), "sum", {at}, false));
  return true;
}

// Whether a Slice takes the first ones, or those of other axes alone.
Result<bool> Opened::slices_from_start(const StepCall& c) const {
  LOOM_ASSIGN(const Dims starts, c.ints_or(1, "starts"));
  Dims over(starts.size());
  std::iota(over.begin(), over.end(), 0);
  LOOM_ASSIGN(over, c.ints_or(3, "axes", over));
  LOOM_ASSIGN(const Dims strides, c.ints_or(4, "steps", Dims(starts.size(), 1)));
  const auto& out = open_[static_cast<std::size_t>(c.step.outputs[0])];
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const auto d = static_cast<std::size_t>(axis_of(over[i], c.dims()));
    if ((open(c, 0, over[i]) || out[d]) && (starts[i] < 0 || strides[i] < 0)) return false;
  }
  return true;
}

// Both operands have zeros where the products of an open axis are added.
void Opened::hide_products(StepCall& c) {
  const std::size_t first = c.dims(0).size(), second = c.dims(1).size();
  if (open(c, 0, -1)) hide(c, 0, {first - 1}, 0);
  if (second > 0 && open(c, 1, second > 1 ? -2 : -1)) hide(c, 1, {second > 1 ? second - 2 : 0}, 0);
}

Result<bool> Opened::before(StepCall& c) {
  bool any = false;
  for (const auto* list : {&c.step.inputs, &c.step.outputs})
    for (const int id : *list) any |= id >= 0 && !axes(id).empty();
  const bool made =
      !c.step.outputs.empty() && (c.step.outputs[0] >= 0 || (c.op && c.op->is(kFirstOptional)));
  if (!any || !made || !c.op || c.op->is(kEach)) return false;  // done, or refused, by the rule
  const auto padded = [&] {
    return refuse(message("its result would depend on the padding of ", quoted(name_)));
  };
  if (c.op->is(kSizes)) {  // reshapes
    const auto &in = open_[static_cast<std::size_t>(c.step.inputs[0])],
               &out = open_[static_cast<std::size_t>(c.step.outputs[0])];
    const bool repeats =
        std::strcmp(c.op->name, "Expand") == 0 || std::strcmp(c.op->name, "Tile") == 0;
    if (!repeats && between(c.dims(), in) != between(c.result().dims, out))
      return refuse("steps of it go behind another axis");
    return false;
  }
  const Reads* reads = reads_of(*c.op);
  if (!reads) return padded();
  const std::string_view how = reads->how;
  if (how == "gather") return gather(c);
  if (how == "slice") {
    LOOM_ASSIGN(const bool from_start, slices_from_start(c));
    return from_start ? Result<bool>(false) : padded();
  }
  if (how == "sums") {
    LOOM_ASSIGN(const std::int64_t back, c.node().get_int("reverse", 0));
    LOOM_ASSIGN(const Dims axis, c.ints(1));
    if (back && (axis.size() != 1 || open(c, 0, axis[0]))) return padded();
    return false;
  }
  if (how == "steps") {
    LOOM_ASSIGN(const std::int64_t layout, c.node().get_int("layout", 0));
    if (open(c, 0, layout ? 1 : 0)) c.length = &length_;
    if (open(c, 0, 2)) return padded();
    return false;
  }
  if (how == "gemm") {
    LOOM_ASSIGN(const std::int64_t across, c.node().get_int("transA", 0));
    if (open(c, 0, across ? 0 : 1)) return padded();
    return false;
  }
  if (how == "matmul") {
    hide_products(c);
    return false;
  }
  LOOM_ASSIGN(const Axes over, read(c, how));
  if (over.empty()) return false;
  if (how == "tail" || c.value(0).constant()) return padded();
  hide(c, 0, over, reads->fill);
  if (how == "mean" || how == "global") {
    const Ref one = c.graph.binary(GraphBuilder::number(static_cast<double>(max_)), length_, "div");
    factor_ = one;
    for (std::size_t i = 1; i < over.size(); ++i) factor_ = c.graph.binary(factor_, one, "mul");
  }
  return false;
}

Status Opened::after(StepCall& c) {
  for (auto& [id, ref] : kept_) c.refs[static_cast<std::size_t>(id)] = std::move(ref);
  kept_.clear();
  if (!factor_.dims.empty())
    c.set(c.graph.binary(c.refs[static_cast<std::size_t>(c.step.outputs[0])], factor_, "mul"));
  factor_ = {};
  return c.graph.fault();
}

Ref Opened::output(GraphBuilder& graph, int id, const Ref& x) const {
  return graph.binary(hidden(graph, x, axes(id), 0), unknown_, "add");
}

}  // namespace loom::onnx
