#include "onnx/import.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "base/escape.h"
#include "base/files/bytes.h"
#include "base/message.h"
#include "base/threads/locks.h"
#include "base/threads/thread_pool.h"
#include "exec/session.h"
#include "numeric/codec.h"
#include "onnx/graph.h"
#include "onnx/opened.h"

namespace loom::onnx {
namespace {

// Types whose values are computed with, in f32.
bool carried(Type t) {
  return t == Type::f32 || t == Type::f64 || t == Type::f16 || t == Type::boolean ||
         (is_integer(t) && t != Type::undefined);
}

// Types whose values, which f32 holds, are cast, scaled and moved: sums and products would be
// rounded at each step.
bool moved(Type t) { return t == Type::bf16 || is_small(t); }

// Whether all that take it take its type alone.
bool only_a_type(const Plan& plan, int id) {
  bool taken = false;
  for (const int out : plan.outputs)
    if (out == id) return false;
  for (const Step& s : plan.steps)
    for (std::size_t i = 0; i < s.inputs.size(); ++i)
      if (s.inputs[i] == id) {
        const Operator* op = find_operator(*s.node);
        if (!op || !op->is(kLikeSecond) || i != 1) return false;
        taken = true;
      }
  return taken;
}

// Integers and the like that rules read as settings: none may be given.
bool is_setting(const Operator& op, std::size_t i) {
  return op.is(kFirstIsSetting) || (i > 0 && op.is(kSettings)) || (i == 1 && op.is(kLikeSecond));
}

bool casts(const Node& node) {
  const Operator* op = find_operator(node);
  return op && op->is(kCasts);
}
// Whether a cast from another type made the value: what its type does not hold is infinite then.
bool made_by_cast(const Plan& plan, int id) {
  for (const Step& s : plan.steps)
    if (std::find(s.outputs.begin(), s.outputs.end(), id) != s.outputs.end())
      return casts(*s.node) && plan.values[static_cast<std::size_t>(s.inputs[0])].type !=
                                   plan.values[static_cast<std::size_t>(id)].type;
  return false;
}

Status check_types(const StepCall& call) {
  const Operator& op = *call.op;
  for (std::size_t i = 0; i < call.inputs(); ++i) {
    if (!call.has(i) || (i == 1 && op.is(kLikeSecond))) continue;  // a type
    const Value& v = call.value(i);
    const bool held = carried(v.type) || (moved(v.type) && op.is(kMoves));
    if (!held && (!v.constant() || v.type == Type::string))
      return StepCall::refuse("values of " + std::string(name(v.type)) + " are not mapped");
    if (elements(v.dims) == 0 && !v.constant() && !may_be_empty(op.traits, i))
      return StepCall::refuse("a value of shape " + text_of(v.dims) + " holds nothing");
    if (!v.constant() && elements(v.dims) > INT32_MAX)
      return StepCall::refuse("a value of shape " + text_of(v.dims) +
                              " holds more than 2^31-1 numbers");
  }
  for (std::size_t i = 0; i < call.step.outputs.size(); ++i)
    if (call.wants(i)) {
      const Type type = call.result(i).type;
      if (!carried(type) && !(moved(type) && op.is(kMoves)))
        return StepCall::refuse("values of " + std::string(name(type)) + " are not mapped");
      if (elements(call.result(i).dims) > INT32_MAX)
        return StepCall::refuse("a result of shape " + text_of(call.result(i).dims) +
                                " holds more than 2^31-1 numbers");
    }
  return {};
}

Status apply(StepCall& call) {
  if (!call.op) return StepCall::refuse("the operator is not mapped");
  const Operator& op = *call.op;
  for (std::size_t k = 1; k < call.step.outputs.size(); ++k)
    if (call.wants(k) && !op.is(kMoreOutputs))
      return StepCall::refuse("its further outputs are not mapped");
  if (call.step.outputs.empty() || (call.step.outputs[0] < 0 && !op.is(kFirstOptional)))
    return StepCall::refuse("its first output is left out");
  LOOM_TRY(check_types(call));
  // Large integers are fine as ends, axes and shapes, which rules read as integers, not as values.
  for (std::size_t i = 0; i < call.inputs(); ++i)
    if (call.has(i) && call.in(i).rounded && !(i > 0 && op.is(kIntegerSettings)))
      return StepCall::refuse("its constant input '" + call.value(i).name +
                              "' holds integers beyond 2^24");
  // Where nothing comes out nothing is to be done.
  bool something = false;
  for (std::size_t k = 0; k < call.step.outputs.size(); ++k)
    something |= call.wants(k) && elements(call.result(k).dims) > 0;
  for (std::size_t i = 0; something && i < call.inputs(); ++i)
    if (call.has(i) && call.value(i).constant() && elements(call.value(i).dims) == 0 &&
        !may_be_empty(op.traits, i) && !is_setting(op, i))
      return StepCall::refuse("its constant input '" + call.value(i).name + "' of shape " +
                              text_of(call.value(i).dims) + " holds nothing");
  if (something) {
    LOOM_TRY(op.rule(call));
    LOOM_TRY(call.graph.fault());
    for (std::size_t k = 0; k < call.step.outputs.size(); ++k) {
      if (!call.wants(k) || elements(call.result(k).dims) == 0) continue;
      if (!call.graph.holds(call.refs[static_cast<std::size_t>(call.step.outputs[k])]))
        return Status(Code::invalid_argument, "does not make its output " + std::to_string(k) +
                                                  " of shape " + text_of(call.result(k).dims));
    }
    return {};
  }
  for (std::size_t k = 0; k < call.step.outputs.size(); ++k)
    if (call.wants(k)) call.set({}, k);
  return {};
}

}  // namespace

const Operator* find_operator(const Node& node) {
  const bool own = node.domain.empty() || node.domain == "ai.onnx";
  const std::string name = own ? node.op : node.domain + "." + node.op;
#define LOOM_MAP_FILE(file) file##_mappings(),
  for (const auto rows : {LOOM_MAP_FILES(LOOM_MAP_FILE)})
    for (const Operator& op : rows)
      if (name == op.name) return &op;
#undef LOOM_MAP_FILE
  return nullptr;
}

std::pair<double, double> range_of(Type t) {
  if (t == Type::boolean) return {0, 1};
  const auto dtype = dtype_of(t);
  const double top = __builtin_ldexp(1.0, static_cast<int>(bits(t)));
  const bool is_signed = !dtype || info(*dtype).is_signed;
  return is_signed ? std::pair{-top / 2, top / 2 - 1} : std::pair{0.0, top - 1};
}

std::int64_t Port::count() const { return elements(dims); }

namespace {

// The inputs that get their shapes here: without a binding or an initializer, of a known rank.
std::vector<const ValueInfo*> unbound(const Model& model, const std::vector<Binding>& bindings) {
  std::set<std::string_view> held;
  for (const Tensor& t : model.graph.initializers) held.insert(t.name);
  for (const Binding& b : bindings) held.insert(b.name);
  std::vector<const ValueInfo*> list;
  for (const ValueInfo& in : model.graph.inputs)
    if (!held.contains(in.name) && in.has_shape) list.push_back(&in);
  return list;
}

using Sizes = std::map<std::string, std::int64_t>;

// Adds the sizes that `stated` has of open dimensions of these inputs; `key` has them in options.
Status add_sizes(const std::vector<const ValueInfo*>& inputs, const Json& stated,
                 const std::string& key, Sizes* sizes) {
  const auto wrong = [&](const std::string& what) {
    return Status(Code::invalid_argument, message(key, ": ", what));
  };
  if (!stated.is_object()) return wrong("expected an object of sizes by the names of dimensions");
  std::string all;
  std::set<std::string> names;
  for (const ValueInfo* in : inputs)
    for (std::size_t axis = 0; axis < in->dims.size(); ++axis)
      if (in->dims[axis].value < 0 && names.insert(dim_name(*in, axis)).second)
        all += (all.empty() ? "" : ", ") + dim_name(*in, axis);
  for (const auto& [name, size] : stated.as_object()) {
    if (!names.contains(name))
      return wrong(message("the graph has no open dimension ", quoted(name), ": open are ",
                           all.empty() ? "none" : all));
    if (!size.is_integer() || size.as_integer() < 0 || size.as_integer() > INT32_MAX)
      return wrong(message("the size of ", quoted(name), " must be a number from 0 to 2^31-1"));
    if (!sizes->emplace(name, size.as_integer()).second)
      return wrong(message(quoted(name), " has a size by dims"));
  }
  return {};
}

constexpr std::int64_t kMaxLength = 65536;  // each takes an inference

// Open dimensions of the inputs that are not bound, and their sizes.
class OpenInputs {
 public:
  OpenInputs(const Model& model, const std::vector<Binding>& given)
      : model_(model), given_(given), inputs_(unbound(model, given)) {}

  // What becomes the batch gets a line in `report`.
  Status state(const OpenDims& open, std::vector<std::string>* report) {
    LOOM_TRY(add_sizes(inputs_, open.dims, "dims", &sizes_));
    LOOM_TRY(add_sizes(inputs_, open.max, "max", &sizes_));
    if (const auto& max = open.max.as_object(); !max.empty()) {
      name_ = max.begin()->first;
      if (max.size() > 1 || sizes_[name_] < 2 || sizes_[name_] > kMaxLength)
        return Status(Code::invalid_argument,
                      "max: expected one dimension, of 2 to 65,536: fix others by dims");
    }
    for (const ValueInfo* in : inputs_) {
      std::size_t open_ones = 0;
      for (std::size_t axis = 0; axis < in->dims.size(); ++axis) open_ones += is_open(*in, axis);
      if (open_ones != 1 || !is_open(*in, 0)) continue;
      const std::string name = dim_name(*in, 0);
      sizes_[name] = 1;
      report->push_back(message("input ", quoted(in->name), ": its open dimension ", quoted(name),
                                " is the batch: rows of the network"));
    }
    return {};
  }
  // With bindings of all inputs of which the sizes are known.
  Result<Plan> plan() const {
    std::vector<Binding> bindings = given_;
    for (const ValueInfo* in : inputs_) {
      Binding b{in->name, {}, nullptr};
      for (std::size_t axis = 0; axis < in->dims.size() && !is_open(*in, axis); ++axis)
        b.dims.push_back(in->dims[axis].value < 0 ? sizes_.at(dim_name(*in, axis))
                                                  : in->dims[axis].value);
      if (b.dims.size() == in->dims.size()) bindings.push_back(std::move(b));
    }
    return infer(model_, bindings);
  }
  // The dimension with a maximum, as `plan` has it, after a look at every length.
  Result<Opened> opened(const Plan& plan) {
    if (name_.empty()) return Opened();
    const std::int64_t max = sizes_[name_];
    Opened made(name_, max);
    for (std::int64_t n = max - 1; n > 0; --n) {
      sizes_[name_] = n;
      const auto at = this->plan();
      if (!at.ok()) return at.status().at(message(name_, " = ", n));
      LOOM_TRY(made.compare(plan, *at, n));
    }
    return made;
  }

 private:
  bool is_open(const ValueInfo& in, std::size_t axis) const {
    return in.dims[axis].value < 0 && !sizes_.contains(dim_name(in, axis));
  }
  const Model& model_;
  const std::vector<Binding>& given_;
  std::vector<const ValueInfo*> inputs_;
  Sizes sizes_;
  std::string name_;  // of the dimension with a maximum
};

// A graph on the way to its network.
class GraphImport {
 public:
  GraphImport(const Model& model, const Plan& plan, std::vector<std::string>* wanted,
              std::vector<std::string> report, Opened opened)
      : model_(model),
        plan_(plan),
        wanted_(wanted),
        refs_(plan.values.size()),
        sources_(plan.values.size()),
        report_(std::move(report)),
        opened_(std::move(opened)) {}

  Result<ImportedGraph> run() {
    LOOM_TRY(list_inputs());
    GraphBuilder graph(std::max<std::int64_t>(width_, 1), model_.bytes);
    place_inputs();
    if (opened_.any()) opened_.place(graph, {0, width_ - 1, {1}, {}});
    LOOM_TRY(apply_steps(graph));
    LOOM_TRY(list_outputs(graph));
    std::vector<std::int64_t> firsts;
    auto network = graph.finish(results_, &firsts);
    if (!network.ok()) return network.status().at(model_.file);
    for (std::size_t i = 0; i < outputs_.size(); ++i) outputs_[i].first = firsts[i];
    return ImportedGraph{std::move(*network), std::move(inputs_), std::move(outputs_),
                         std::move(report_)};
  }

 private:
  // The inputs that are values, one after another in the network's row.
  Status list_inputs() {
    for (const int id : plan_.inputs) {
      const Value& v = plan_.values[static_cast<std::size_t>(id)];
      if (v.constant()) continue;
      sources_[static_cast<std::size_t>(id)] = {v.name};
      // One that gives only its type is no value.
      if (only_a_type(plan_, id)) continue;
      if (!carried(v.type) && !moved(v.type))
        return Status(Code::unsupported, model_.file + ": the input '" + v.name + "' of " +
                                             std::string(name(v.type)) + text_of(v.dims) +
                                             " is not mapped");
      inputs_.push_back({v.name, v.type, v.dims, width_});
      width_ += elements(v.dims);
      if (width_ > INT32_MAX)
        return Status(Code::unsupported,
                      model_.file + ": the inputs hold more than 2^31-1 values together");
    }
    if (!opened_.any()) return {};
    for (const Port& p : inputs_)
      if (p.name == "lengths")
        return Status(Code::unsupported, model_.file + ": max: 'lengths' is an input of the graph");
    inputs_.push_back({"lengths", Type::i64, {1}, width_++});
    return {};
  }

  void place_inputs() {
    for (std::size_t i = 0, k = 0; i < plan_.inputs.size(); ++i) {
      const auto id = static_cast<std::size_t>(plan_.inputs[i]);
      if (plan_.values[id].constant() || only_a_type(plan_, plan_.inputs[i])) continue;
      if (elements(plan_.values[id].dims) == 0) refs_[id].dims = plan_.values[id].dims;
      else refs_[id] = {0, inputs_[k].first, plan_.values[id].dims, {}};
      ++k;
    }
  }

  Status make_constant(int id) {
    const Value& v = plan_.values[static_cast<std::size_t>(id)];
    Ref& r = refs_[static_cast<std::size_t>(id)];
    if (!v.constant() || !r.data.empty() || v.type == Type::string) return {};
    LOOM_ASSIGN(r.data, constant_f32(v));
    if (is_integer(v.type))
      r.rounded = std::any_of(r.data.begin(), r.data.end(),
                              [](float x) { return !(x < kMaxWhole && x > -kMaxWhole); });
    r.dims = v.dims;
    r.cell = -1;
    return {};
  }

  std::vector<bool> used_values() const {
    std::vector<bool> used(plan_.values.size(), false);
    for (const Step& step : plan_.steps)
      for (const int id : step.inputs)
        if (id >= 0) used[static_cast<std::size_t>(id)] = true;
    for (const int id : plan_.outputs)
      if (id >= 0) used[static_cast<std::size_t>(id)] = true;
    return used;
  }

  Status apply_steps(GraphBuilder& graph) {
    const std::vector<bool> used = used_values();
    for (const Step& step : plan_.steps) {
      const std::string where = describe(*step.node, step.index);
      for (const int id : step.inputs)
        if (id >= 0) LOOM_TRY(make_constant(id).at(where));
      StepCall call{graph, plan_, step, refs_, sources_, wanted_, used, find_operator(*step.node)};
      const Status status = opened_.any() ? apply_opened(call) : apply(call);
      if (!status.ok()) return status.at(model_.file + ": " + where);
      for (const int out : step.outputs) {
        if (out < 0 || !used[static_cast<std::size_t>(out)]) continue;
        add_sources(step, out);
        const Ref& r = refs_[static_cast<std::size_t>(out)];
        report_.push_back(where + ": cell " + std::to_string(r.cell) + ", " + text_of(r.dims));
      }
    }
    return {};
  }

  Status apply_opened(StepCall& call) {
    LOOM_ASSIGN(const bool done, opened_.before(call));
    if (!done) LOOM_TRY(apply(call));
    return opened_.after(call);
  }

  // The inputs of the graph that an output of a step follows from.
  void add_sources(const Step& step, int out) {
    auto& all = sources_[static_cast<std::size_t>(out)];
    for (const int in : step.inputs)
      if (in >= 0)
        all.insert(all.end(), sources_[static_cast<std::size_t>(in)].begin(),
                   sources_[static_cast<std::size_t>(in)].end());
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
  }

  Status list_outputs(GraphBuilder& graph) {
    for (std::size_t i = 0; i < plan_.outputs.size(); ++i) {
      const int id = plan_.outputs[i];
      // A branch or function may have made it under another.
      const std::string& own = model_.graph.outputs[i].name;
      if (id < 0)
        return Status(Code::invalid_argument,
                      model_.file + ": the output '" + own +
                          "' is made of an input that its function was called without");
      const Value& v = plan_.values[static_cast<std::size_t>(id)];
      if (!carried(v.type) && !moved(v.type))
        return Status(Code::unsupported, model_.file + ": the output '" + own + "' of " +
                                             std::string(name(v.type)) + " is not mapped");
      LOOM_TRY(make_constant(id).at(own));
      const Ref& result = refs_[static_cast<std::size_t>(id)];
      results_.push_back(opened_.any() ? opened_.output(graph, id, result) : result);
      if (results_.back().rounded)
        return Status(Code::unsupported,
                      model_.file + ": the output '" + own + "' holds integers beyond 2^24");
      outputs_.push_back({own, v.type, v.dims, 0, made_by_cast(plan_, id)});
    }
    if (std::all_of(results_.begin(), results_.end(),
                    [](const Ref& r) { return elements(r.dims) == 0; }))
      return Status(Code::unsupported, model_.file + ": no output of the graph holds anything");
    return {};
  }

  const Model& model_;
  const Plan& plan_;
  std::vector<std::string>* wanted_;
  std::int64_t width_ = 0;  // of all inputs
  std::vector<Port> inputs_, outputs_;
  std::vector<Ref> refs_;  // of the plan's values
  std::vector<std::vector<std::string>> sources_;
  std::vector<Ref> results_;
  std::vector<std::string> report_;
  Opened opened_;
};

}  // namespace

Result<ImportedGraph> import_graph(const Model& model, const std::vector<Binding>& given,
                                   std::vector<std::string>* wanted, const OpenDims& open) {
  std::vector<std::string> report;
  OpenInputs inputs(model, given);
  if (const Status s = inputs.state(open, &report); !s.ok()) return s.at(model.file);
  LOOM_ASSIGN(const Plan plan, inputs.plan());
  auto opened = inputs.opened(plan);
  if (!opened.ok()) return opened.status().at(model.file);
  return GraphImport(model, plan, wanted, std::move(report), std::move(*opened)).run();
}

Result<Tensor> make_tensor(std::string name, Type type, Dims dims, std::span<const double> values) {
  const std::string what = "tensor '" + name + "'";
  std::int64_t count = 1;
  for (const std::int64_t d : dims) {
    if (d < 0 || (d > 0 && count > (std::int64_t{1} << 40) / d))
      return Status(Code::invalid_argument,
                    what + ": the shape " + text_of(dims) + " is out of range");
    count *= d;
  }
  if (count != static_cast<std::int64_t>(values.size()))
    return Status(Code::invalid_argument, what + ": " + text_of(dims) + " takes " +
                                              std::to_string(count) + " values, got " +
                                              std::to_string(values.size()));
  if (!carried(type) && !moved(type))
    return Status(Code::unsupported,
                  what + ": values of " + std::string(loom::onnx::name(type)) + " cannot be given");
  const std::size_t width = bits(type) / 8;  // 0 below a byte
  auto bytes = std::make_shared<std::vector<std::byte>>((values.size() * bits(type) + 7) / 8);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double v = values[i];
    std::byte* to = bytes->data() + i * width;
    if (type == Type::f64) store_le<double>(to, v);
    else if (type == Type::f32) store_le<float>(to, static_cast<float>(v));
    else if (type == Type::f16 || type == Type::bf16)
      store_le<std::uint16_t>(
          to, static_cast<std::uint16_t>(encode_small_float(v, type == Type::f16 ? kF16 : kBf16)));
    else if (is_small(type)) {
      const auto code = small_code(type, v);
      if (!code)
        return Status(Code::out_of_range, what + ": " + std::to_string(v) + " is no " +
                                              std::string(loom::onnx::name(type)));
      const std::size_t bit = i * bits(type);
      (*bytes)[bit / 8] |= static_cast<std::byte>(*code << bit % 8);
    } else {
      const auto [low, high] = range_of(type);
      if (!(v >= low && v <= high && v >= -9007199254740992.0 && v <= 9007199254740992.0) ||
          static_cast<double>(static_cast<std::int64_t>(v)) != v)
        return Status(Code::out_of_range, what + ": " + std::to_string(v) + " is no " +
                                              std::string(loom::onnx::name(type)));
      const auto whole = static_cast<std::uint64_t>(static_cast<std::int64_t>(v));
      for (std::size_t b = 0; b < width; ++b) to[b] = static_cast<std::byte>(whole >> (8 * b));
    }
  }
  Tensor t;
  t.name = std::move(name);
  t.type = type;
  t.dims = std::move(dims);
  t.size = bytes->size();
  t.source = source_from_view(*bytes, what, bytes);
  return t;
}

// The last import, and a session that runs it: for these shapes and known values.
struct Runner::Ready {
  locks::mutex mutex;
  bool left = false;  // held by a thread of the process that was forked
  std::string key;
  std::set<std::string> known;
  std::optional<ImportedGraph> graph;
  ThreadPool pool{1};
  std::optional<Session> session;
};

Runner::Runner(Model model, const std::atomic<bool>* cancel)
    : model_(std::move(model)), cancel_(cancel), ready_(std::make_unique<Ready>()) {}
Runner::Runner(Runner&&) noexcept = default;
Runner::~Runner() = default;
void Runner::forked() { ready_->left |= locks::held_by_the_parent(ready_->mutex); }

namespace {

// Names and shapes of the inputs, and the elements of those that are known.
Result<std::string> key_of(const std::vector<Runner::Input>& inputs,
                           const std::set<std::string>& known) {
  std::string key;
  for (const Runner::Input& in : inputs) {
    key += in.name + text_of(in.tensor.dims) + ";";
    if (!known.contains(in.name)) continue;
    LOOM_ASSIGN(const std::vector<double> values, read_f64(in.tensor));
    key.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double));
  }
  return key;
}

// The values of input `p`, as f32 holds them.
Result<std::vector<float>> input_values(const Port& p, const Tensor& t, const std::string& file) {
  LOOM_ASSIGN(std::vector<float> values, read_f32(t));
  if (is_integer(p.type) || p.type == Type::f64) {
    LOOM_ASSIGN(const std::vector<double> exact, read_f64(t));
    for (std::size_t i = 0; i < exact.size(); ++i) {
      const double v = exact[i];
      const bool lost = p.type == Type::f64 ? v - v == 0 && !(values[i] - values[i] == 0)
                                            : !(v < kMaxWhole && v > -kMaxWhole);
      if (lost)
        return Status(Code::out_of_range,
                      file + ": the input '" + p.name + "' holds " + std::to_string(v) +
                          ", which f32 does not hold (integers below 2^24 are exact)");
    }
  }
  if (static_cast<std::int64_t>(values.size()) != p.count())
    return Status(Code::invalid_argument,
                  file + ": the input '" + p.name + "' takes " + text_of(p.dims));
  return values;
}

// The values of output `p` from the network's, as its type holds them.
Result<Runner::Output> output_values(const Port& p, std::span<const float> y,
                                     const std::string& file) {
  Runner::Output o{p.name, p.type, p.dims, {}};
  for (std::int64_t i = 0; i < p.count(); ++i) {
    const double v = y[static_cast<std::size_t>(p.first + i)];
    if (is_integer(p.type)) {
      const auto [low, high] = range_of(p.type);
      if (!(v >= low && v <= high && v > -kMaxWhole && v < kMaxWhole))
        return Status(Code::out_of_range,
                      file + ": the output '" + p.name + "' would hold " + std::to_string(v) +
                          ", which " + std::string(name(p.type)) + " or f32 does not hold exactly");
    }
    // Doubles run in f32; f16 ends at 65504.
    const bool lost = !p.cast && ((p.type == Type::f64 && !(v - v == 0)) ||
                                  (p.type == Type::f16 && (v > 65504 || v < -65504)));
    if (lost)
      return Status(Code::out_of_range, file + ": the output '" + p.name + "' would hold " +
                                            std::to_string(v) + ", which f32 or " +
                                            std::string(name(p.type)) + " does not hold");
    const SmallFloat* form = p.type == Type::f16 ? &kF16 : p.type == Type::bf16 ? &kBf16 : nullptr;
    o.values.push_back(form ? decode_small_float(encode_small_float(v, *form), *form) : v);
  }
  return o;
}

}  // namespace

Result<std::vector<Runner::Output>> Runner::run(const std::vector<Input>& inputs) const {
  for (const Input& in : inputs)
    if (std::none_of(model_.graph.inputs.begin(), model_.graph.inputs.end(),
                     [&](const ValueInfo& v) { return v.name == in.name; }))
      return Status(Code::invalid_argument, model_.file + ": has no input '" + in.name + "'");
  if (ready_->left)
    return Status(
        Code::busy,
        model_.file +
            ": the process was forked while another thread ran this graph: load it again");
  const locks::unique_lock lock(ready_->mutex);
  LOOM_ASSIGN(std::string key, key_of(inputs, ready_->known));
  if (!ready_->session || ready_->key != key) LOOM_TRY(prepare(inputs));
  const ImportedGraph& graph = *ready_->graph;
  Session& session = *ready_->session;
  std::vector<float> x(static_cast<std::size_t>(graph.network.input().width), 0.0f);
  for (const Port& p : graph.inputs) {
    const auto in = std::find_if(inputs.begin(), inputs.end(),
                                 [&](const Input& given) { return given.name == p.name; });
    if (in == inputs.end()) return missing(p.name);
    LOOM_ASSIGN(const std::vector<float> values, input_values(p, in->tensor, model_.file));
    std::copy(values.begin(), values.end(), x.begin() + p.first);
  }
  LOOM_TRY(session.run(x, 1).status());
  const std::span<const float> y = session.output(0);
  std::vector<Output> out;
  for (const Port& p : graph.outputs) {
    LOOM_ASSIGN(Output o, output_values(p, y, model_.file));
    out.push_back(std::move(o));
  }
  return out;
}

Status Runner::missing(const std::string& input) const {
  return Status(Code::invalid_argument, model_.file + ": the input '" + input + "' is missing");
}

// Values that must be known are bound, one more set at each try.
Status Runner::prepare(const std::vector<Input>& inputs) const {
  const auto tensor_of = [&](std::string_view name) {
    return std::any_of(inputs.begin(), inputs.end(),
                       [&](const Input& in) { return in.name == name; });
  };
  std::set<std::string> known;
  ready_->session.reset();
  for (;;) {
    std::vector<Binding> bindings;
    for (const Input& in : inputs)
      bindings.push_back({in.name, in.tensor.dims, known.contains(in.name) ? &in.tensor : nullptr});
    for (const ValueInfo* in : unbound(model_, bindings))
      if (std::any_of(in->dims.begin(), in->dims.end(), [](const Dim& d) { return d.value < 0; }))
        return missing(in->name);
    std::vector<std::string> wanted;
    auto imported = import_graph(model_, bindings, &wanted);
    if (!imported.ok()) {
      const std::size_t before = known.size();
      for (const std::string& w : wanted)
        if (tensor_of(w)) known.insert(w);
      if (known.size() == before && known.size() < inputs.size() &&
          imported.status().message().find("depend") != std::string::npos) {
        for (const Input& in : inputs) known.insert(in.name);  // shapes that follow from data
      }
      if (known.size() == before) return imported.status();
      continue;
    }
    ready_->known = std::move(known);
    LOOM_ASSIGN(ready_->key, key_of(inputs, ready_->known));
    ready_->graph.emplace(std::move(*imported));
    LOOM_ASSIGN(Session session, Session::create(ready_->graph->network, ready_->pool,
                                                 {.max_rows = 1, .cancel = cancel_}));
    ready_->session.emplace(std::move(session));
    return {};
  }
}

}  // namespace loom::onnx
