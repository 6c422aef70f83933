#include "formats/onnx/infer/infer.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <type_traits>

#include "base/files/bytes.h"
#include "base/numbered.h"
#include "base/split.h"
#include "formats/onnx/infer/rule.h"

namespace loom::onnx {
namespace {

constexpr std::string_view kOperators[] = {
#define LOOM_OPERATOR(op, ...) op,
#include "formats/onnx/operators.def"
};
#define LOOM_OPERATOR(op, ...) \
  static_assert(stands_once(kOperators, op), "operators.def: " op " stands twice");
#include "formats/onnx/operators.def"

constexpr int kDeepest = 32;  // If, loops and functions in each other
constexpr std::int64_t kMaxSteps = 4096;
constexpr std::uint64_t kSlowness = 64;  // of an exact cosine or exponential, in copied elements

const RuleRow* find_rule(std::string_view domain, std::string_view op) {
  const std::string full = domain.empty() ? std::string(op) : message(domain, ".", op);
#define LOOM_SHAPE_FILE(file) file##_rules(),
  for (const auto rows : {LOOM_SHAPE_FILES(LOOM_SHAPE_FILE)})
    for (const RuleRow& row : rows)
      if (full == row.op) return &row;
#undef LOOM_SHAPE_FILE
  return nullptr;
}

// All are in the list, or a hint of the first opsets.
Status check_attributes(const Node& node, std::string_view known) {
  const std::vector<std::string_view> list = split(known);
  for (const Attribute& a : node.attributes)
    if (a.name != "consumed_inputs" && std::find(list.begin(), list.end(), a.name) == list.end())
      return not_supported("there is no rule for its attribute ", quoted(a.name));
  return {};
}

bool folds(Type type) {
  return (is_integer(type) && type != Type::u64) || type == Type::boolean || type == Type::f32 ||
         type == Type::f64 || type == Type::f16 || type == Type::bf16;
}

// Names to values; those of the graph around show through.
struct Names {
  const Names* outer = nullptr;
  std::map<std::string_view, int> ids;

  int find(std::string_view name) const {
    for (const Names* n = this; n; n = n->outer) {
      if (const auto at = n->ids.find(name); at != n->ids.end()) return at->second;
    }
    return -1;
  }
};

using Opsets = std::vector<std::pair<std::string, std::int64_t>>;

class Inferrer {
 public:
  Inferrer(const Model& model, const InferOptions& options) : model_(model), options_(options) {
    for (const Function& f : model.functions)
      functions_.emplace(NameOf{f.domain, f.name, f.overload}, Called{&f, weight(f.nodes)});
  }

  Result<Plan> run(const std::vector<Binding>& bindings) {
    Names names;
    LOOM_TRY(initializers(model_.graph, names));
    LOOM_TRY(inputs(bindings, names));
    LOOM_TRY(nodes(model_.graph.nodes, names, model_.opsets, 0));
    for (const ValueInfo& output : model_.graph.outputs)
      plan_.outputs.push_back(names.find(output.name));
    prune();
    return std::move(plan_);
  }

 private:
  int add(Value value) {
    plan_.values.push_back(std::move(value));
    loaded_.emplace_back();
    return static_cast<int>(plan_.values.size()) - 1;
  }

  static Value of_tensor(std::string name, const Tensor& tensor) {
    return {std::move(name), tensor.type, tensor.dims, &tensor, nullptr};
  }

  Status initializers(const Graph& graph, Names& names) {
    LOOM_TRY(visit(graph.initializers.size()));
    for (const Tensor& t : graph.initializers) {
      names.ids[t.name] = add(of_tensor(t.name, t));
      LOOM_TRY(check_dims(t.dims).at("initializer " + quoted(t.name)));
    }
    return {};
  }

  Status inputs(const std::vector<Binding>& bindings, Names& names) {
    std::map<std::string_view, const Binding*> bound_to;
    for (const ValueInfo& input : model_.graph.inputs) bound_to[input.name] = nullptr;
    for (const Binding& b : bindings) {
      const auto at = bound_to.find(b.name);
      if (at == bound_to.end()) return wrong("the model has no input ", quoted(b.name));
      if (!at->second) at->second = &b;
    }
    for (const ValueInfo& input : model_.graph.inputs) {
      const Binding* bound = bound_to[input.name];
      if (!bound && names.ids.contains(input.name)) continue;  // its initializer
      LOOM_ASSIGN(Value value, input_value(input, bound));
      LOOM_TRY(check_dims(value.dims).at("input " + quoted(input.name)));
      names.ids[input.name] = add(std::move(value));
      plan_.inputs.push_back(names.ids[input.name]);
    }
    return {};
  }

  static Result<Value> input_value(const ValueInfo& input, const Binding* bound) {
    const auto where = message("input ", quoted(input.name), " ", type_text(input));
    if (input.kind != Kind::tensor) return not_supported(where, ": is no tensor");
    if (!bound) {
      Value value{input.name, input.type, {}, nullptr, nullptr};
      for (const Dim& d : input.dims) value.dims.push_back(d.value);
      if (!input.has_shape) return wrong(where, ": state its dimensions");
      // The last, since the first may be the batch.
      for (std::size_t axis = input.dims.size(); axis-- > 0;)
        if (const std::string name = dim_name(input, axis); input.dims[axis].value < 0)
          return wrong(where, ": its dimension ", quoted(name),
                       " is open: state its size in dims, as {", quoted(name, '"'),
                       ": 128}, or --dim ", quoted(name + "=128"));
      return value;
    }
    if (bound->value && (bound->value->type != input.type || bound->value->dims != bound->dims)) {
      return wrong(where, ": the value given is ", name(bound->value->type), bound->value->dims);
    }
    bool fits = !input.has_shape || input.dims.size() == bound->dims.size();
    for (std::size_t i = 0; fits && input.has_shape && i < input.dims.size(); ++i) {
      fits = input.dims[i].value < 0 || input.dims[i].value == bound->dims[i];
    }
    if (!fits) return wrong(where, ": does not take the shape ", bound->dims);
    return Value{input.name, input.type, bound->dims, bound->value, nullptr};
  }

  static Status check_dims(const Dims& dims) {
    if (dims.size() > 64) return wrong("has ", dims.size(), " dimensions, the limit is 64");
    Dims filled;  // strides grow even where another dimension is 0
    for (const std::int64_t d : dims) {
      if (d < 0 || d > kMaxDim) return wrong("shape ", dims, ": dimensions are 0 to ", kMaxDim);
      if (d > 0) filled.push_back(d);
    }
    const auto count = element_count(filled);
    return count && *count <= (std::uint64_t{1} << 48)
               ? Status()
               : wrong("shape ", dims, " has more than 2^48 elements");
  }

  // Whether the file justifies folding that makes or reads this number of elements more.
  bool spend(std::uint64_t elements) {
    spent_ += elements;
    return spent_ <= options_.fold_budget;
  }
  Status visit(std::size_t nodes = 1) {
    visited_ += nodes;
    return visited_ > options_.max_nodes ? not_supported("takes more than ", options_.max_nodes,
                                                         " nodes, which its file does not justify")
                                         : Status();
  }
  // What copying nodes takes.
  static std::size_t weight(const std::vector<Node>& nodes) {
    std::size_t sum = 0;
    for (const Node& n : nodes) {
      sum += 1 + n.inputs.size() + n.outputs.size();
      for (const Attribute& a : n.attributes) {
        sum += 1 + a.s.size() / 16 + a.floats.size() + a.ints.size() + a.strings.size() +
               a.tensors.size();
        for (const Graph& g : a.graphs)
          sum += weight(g.nodes) + g.initializers.size() + g.inputs.size() + g.outputs.size() +
                 g.values.size();
      }
    }
    return sum;
  }
  Status nodes(const std::vector<Node>& list, Names& names, const Opsets& opsets, int depth) {
    if (depth > kDeepest)
      return not_supported("functions and branches lie more than ", kDeepest, " deep");
    for (std::size_t i = 0; i < list.size(); ++i) {
      LOOM_TRY(visit());
      Status status = node(list[i], i, names, opsets, depth);
      if (status.ok()) continue;
      if (located_) return status;
      located_ = true;
      return status.at(describe(list[i], i));
    }
    return {};
  }

  Status node(const Node& n, std::size_t index, Names& names, const Opsets& opsets, int depth) {
    if (const auto at = functions_.find(NameOf{n.domain, n.op, n.overload});
        at != functions_.end()) {
      copied_ += at->second.weight;
      if (copied_ > options_.max_copied)
        return not_supported("calls functions that together are larger than its file justifies");
      return call_function(*at->second.function, n, names, depth);
    }
    Step step{&n, index, 0, {}, {}};
    for (const auto& [domain, version] : opsets) {
      if (domain == n.domain) step.opset = version;
    }
    for (const std::string& input : n.inputs)
      step.inputs.push_back(input.empty() ? -1 : names.find(input));
    if (n.domain.empty()) {
      if (n.op == "If") return branch(n, step, names, opsets, depth);
      if (n.op == "Constant") return constant(n, names);
      if (n.op == "Loop") return loop(n, step, names, opsets, depth);
      if (n.op == "Scan") return scan(n, step, names, opsets, depth);
    }
    LOOM_ASSIGN(const int same, alias(n, step));
    if (same >= 0) {
      names.ids[n.outputs[0]] = same;
      return {};
    }
    const RuleRow* row = find_rule(n.domain, n.op);
    if (!row) return not_supported("there is no rule for this operator");
    if (n.outputs.empty()) return wrong("has no outputs");
    LOOM_TRY(check_attributes(n, row->attributes));
    return apply(*row, std::move(step), names);
  }

  // Gives the node's outputs types and shapes by its rule. The node goes away where its outputs can
  // be computed here, and is a step of the plan else.
  Status apply(const RuleRow& row, Step step, Names& names) {
    const Node& n = *step.node;
    Call call{n, step.opset, {}, {}, std::vector<Value>(n.outputs.size())};
    LOOM_ASSIGN(bool constant, collect_inputs(row, step, call));
    LOOM_TRY(row.rule(call));
    LOOM_ASSIGN(const bool can_fold, check_outputs(call));
    // A shape does not depend on the elements of what has it.
    if ((row.traits & kOfShape) != 0) constant = true;
    bool folded = false;
    if (constant && can_fold && spend_outputs(row, call)) {
      LOOM_ASSIGN(folded, row.fold(call));
    }
    for (std::size_t i = 0; i < call.out.size(); ++i) {
      if (n.outputs[i].empty()) {
        step.outputs.push_back(-1);
        continue;
      }
      call.out[i].name = n.outputs[i];
      if (!folded) call.out[i].cells = nullptr;
      step.outputs.push_back(names.ids[n.outputs[i]] = add(std::move(call.out[i])));
    }
    if (!folded) plan_.steps.push_back(std::move(step));
    return {};
  }

  // The inputs, with the elements of constants; whether all that a fold reads is known.
  Result<bool> collect_inputs(const RuleRow& row, const Step& step, Call& call) {
    bool constant = row.fold != nullptr;
    for (const int id : step.inputs) {
      call.in.push_back(plan_.at(id));
      LOOM_ASSIGN(const Cells* cells, cells_of(id));
      call.cells.push_back(cells);
      // What it is like need not be known.
      const bool a_type = (row.traits & kLikeSecond) != 0 && call.in.size() == 2;
      constant &= id < 0 || cells != nullptr || a_type;
    }
    if (constant && (row.traits & kReadsAll) != 0 && !call.cells.empty() && call.cells[0] &&
        !spend(call.cells[0]->size())) {
      constant = false;
      call.cells[0] = nullptr;
    }
    return constant;
  }

  // Whether the types and sizes of all outputs are such as are folded; an error where a shape is
  // none, or where the rule does not know an output.
  Result<bool> check_outputs(const Call& call) const {
    bool small = true, typed = true;
    for (std::size_t i = 0; i < call.out.size(); ++i) {
      const std::string& name = call.node.outputs[i];
      if (name.empty()) continue;
      if (call.out[i].type == Type::undefined)
        return not_supported("there is no rule for output ", i, " ", quoted(name));
      LOOM_TRY(check_dims(call.out[i].dims).at("output " + quoted(name)));
      small &= static_cast<std::uint64_t>(product(call.out[i].dims)) <= options_.fold_limit;
      typed &= folds(call.out[i].type);
    }
    return small && typed;
  }

  // Whether the file justifies computing the outputs.
  bool spend_outputs(const RuleRow& row, const Call& call) {
    const std::uint64_t each = (row.traits & kSlow) != 0 ? kSlowness : 1;
    bool justified = true;
    for (const Value& out : call.out)
      justified = spend(each * static_cast<std::uint64_t>(product(out.dims)) + 1);
    return justified;
  }

  // The input that the only used output is another name of, or -1.
  Result<int> alias(const Node& n, const Step& step) {
    if (!n.domain.empty() || step.inputs.empty() || step.inputs[0] < 0) return -1;
    if (n.outputs.empty() || n.outputs[0].empty() ||
        (n.outputs.size() > 1 && !n.outputs[1].empty()))
      return -1;
    if (n.op == "Identity") return step.inputs[0];
    if (n.op != "Dropout") return -1;
    if (step.inputs.size() < 3 || step.inputs[2] < 0) return step.inputs[0];
    LOOM_ASSIGN(const Cells* training, cells_of(step.inputs[2]));
    return training && training->size() == 1 && (*training)[0].i == 0 ? step.inputs[0] : -1;
  }

  Status constant(const Node& n, Names& names) {
    if (n.outputs.size() != 1 || n.attributes.size() != 1)
      return wrong("expects 1 attribute and 1 output");
    const Attribute& a = n.attributes[0];
    Value value{n.outputs[0], Type::undefined, {}, nullptr, nullptr};
    Cells cells;
    switch (a.type) {
      case AttributeType::tensor: value = of_tensor(n.outputs[0], a.tensors.front()); break;
      case AttributeType::i:
        value.type = Type::i64;
        cells = {Cell{.i = a.i}};
        break;
      case AttributeType::f:
        value.type = Type::f32;
        cells = {Cell{.r = a.f}};
        break;
      case AttributeType::ints:
        value.type = Type::i64;
        for (const std::int64_t i : a.ints) cells.push_back(Cell{.i = i});
        break;
      case AttributeType::floats:
        value.type = Type::f32;
        for (const float f : a.floats) cells.push_back(Cell{.r = f});
        break;
      default:
        return not_supported("attribute ", quoted(a.name), " is ", name(a.type),
                             ", expected a tensor or numbers");
    }
    if (!value.tensor) {
      if (a.type == AttributeType::ints || a.type == AttributeType::floats)
        value.dims = {static_cast<std::int64_t>(cells.size())};
      value.cells = std::make_shared<const Cells>(std::move(cells));
    }
    LOOM_TRY(check_dims(value.dims));
    names.ids[n.outputs[0]] = add(std::move(value));
    return {};
  }

  Status branch(const Node& n, const Step& step, Names& names, const Opsets& opsets, int depth) {
    LOOM_ASSIGN(const Graph* yes, n.get_graph("then_branch"));
    LOOM_ASSIGN(const Graph* no, n.get_graph("else_branch"));
    if (!yes || !no || step.inputs.size() != 1 || step.inputs[0] < 0)
      return wrong("expects a condition, then_branch and else_branch");
    LOOM_ASSIGN(const Cells* condition, cells_of(step.inputs[0]));
    if (!condition || condition->size() != 1 || plan_.at(step.inputs[0])->type != Type::boolean) {
      return not_supported("its condition ", quoted(n.inputs[0]),
                           " depends on data: only one branch can be taken");
    }
    const Graph& graph = (*condition)[0].i ? *yes : *no;
    Names inner{&names, {}};
    LOOM_TRY(initializers(graph, inner));
    LOOM_TRY(nodes(graph.nodes, inner, opsets, depth + 1));
    if (graph.outputs.size() != n.outputs.size())
      return wrong("has ", n.outputs.size(), " outputs, its branch ", graph.outputs.size());
    for (std::size_t i = 0; i < n.outputs.size(); ++i)
      names.ids[n.outputs[i]] = inner.find(graph.outputs[i].name);
    return {};
  }

  // A graph that is run once more: what its inputs are, and its outputs in `out`.
  Status iterate(const Graph& body, const std::vector<int>& inputs, Names& names,
                 const Opsets& opsets, int depth, std::vector<int>* out) {
    LOOM_TRY(visit());
    Names inner{&names, {}};
    LOOM_TRY(initializers(body, inner));
    for (std::size_t i = 0; i < inputs.size(); ++i) inner.ids[body.inputs[i].name] = inputs[i];
    LOOM_TRY(nodes(body.nodes, inner, opsets, depth + 1));
    out->clear();
    for (const ValueInfo& output : body.outputs) {
      out->push_back(inner.find(output.name));
      if (out->back() < 0) return wrong("its body makes no ", quoted(output.name));
    }
    return {};
  }
  int number(Type type, Dims dims, std::int64_t i) {
    Value value{"", type, std::move(dims), nullptr,
                std::make_shared<const Cells>(Cells{Cell{.i = i}})};
    return add(std::move(value));
  }
  // The result of an operator that the graph does not have, of opset 13.
  Result<int> apply(std::string_view op, const std::vector<int>& inputs, std::int64_t axis,
                    int depth) {
    Node n;
    n.name = "of a loop";
    n.op = op;
    n.outputs = {"y"};
    if (op != "Unsqueeze") {
      Attribute& a = n.attributes.emplace_back();
      a.name = "axis";
      a.type = AttributeType::i;
      a.i = axis;
    }
    Names own;
    auto body = std::make_unique<std::vector<Node>>();
    body->push_back(std::move(n));
    Node& kept = body->front();
    for (std::size_t i = 0; i < inputs.size(); ++i) kept.inputs.push_back("x" + std::to_string(i));
    for (std::size_t i = 0; i < inputs.size(); ++i)
      own.ids[kept.inputs[i]] = inputs[i];  // the names stay where they are now
    plan_.bodies.push_back(std::move(body));
    LOOM_TRY(visit());
    LOOM_TRY(node(kept, 0, own, {{"", 13}}, depth + 1));
    return own.find("y");
  }
  // What each step gave, one behind the other along a new axis.
  Result<int> stacked(const std::vector<int>& values, std::int64_t axis, bool reversed, int depth) {
    if (values.empty()) return not_supported("over no steps");
    std::vector<int> parts;
    for (const int id : values) {
      LOOM_ASSIGN(const int part, apply("Unsqueeze", {id, number(Type::i64, {1}, axis)}, 0, depth));
      parts.push_back(part);
    }
    if (reversed) std::reverse(parts.begin(), parts.end());
    return apply("Concat", parts, axis, depth);
  }

  // As many steps as are known before the run, one behind the other.
  Status loop(const Node& n, const Step& step, Names& names, const Opsets& opsets, int depth) {
    LOOM_TRY(check_attributes(n, "body"));
    LOOM_ASSIGN(const Graph* body, n.get_graph("body"));
    if (!body || step.inputs.size() < 2)
      return wrong("expects a body, a number of steps and a condition");
    const std::size_t states = step.inputs.size() - 2;
    if (body->inputs.size() != states + 2 || body->outputs.size() < states + 1 ||
        n.outputs.size() > body->outputs.size() - 1) {
      return wrong("its body takes ", body->inputs.size(), " values and gives ",
                   body->outputs.size(), " for ", states, " that are carried");
    }
    std::int64_t max = INT64_MAX;
    if (step.inputs[0] >= 0) {
      LOOM_ASSIGN(const Cells* count, cells_of(step.inputs[0]));
      if (!count || count->size() != 1 || is_float(plan_.at(step.inputs[0])->type))
        return not_supported("its number of steps ", quoted(n.inputs[0]), " depends on data");
      max = (*count)[0].i;
    }
    const bool has_condition = step.inputs[1] >= 0;
    int condition = has_condition ? step.inputs[1] : number(Type::boolean, {}, 1);
    std::vector<int> state(step.inputs.begin() + 2, step.inputs.end()), out;
    std::vector<std::vector<int>> given(body->outputs.size() - 1 - states);
    for (std::int64_t t = 0; t < max; ++t) {
      LOOM_ASSIGN(const Cells* goes_on, cells_of(condition));
      if (!goes_on || goes_on->size() != 1)
        return not_supported("whether it goes on after ", t, " steps depends on data");
      if ((*goes_on)[0].i == 0) {
        if (!has_condition)
          return not_supported("without a condition at the start it ends after ", t, " of ", max,
                               " steps: runtimes do so, the specification does not");
        break;
      }
      if (t >= kMaxSteps) return not_supported("takes more than ", kMaxSteps, " steps");
      std::vector<int> inputs{number(Type::i64, {}, t), condition};
      inputs.insert(inputs.end(), state.begin(), state.end());
      LOOM_TRY(iterate(*body, inputs, names, opsets, depth, &out));
      condition = out[0];
      state.assign(out.begin() + 1, out.begin() + 1 + static_cast<std::ptrdiff_t>(states));
      for (std::size_t k = 0; k < given.size(); ++k) given[k].push_back(out[1 + states + k]);
    }
    return results(n, state, given, {}, {}, names, depth);
  }

  Status scan(const Node& n, const Step& step, Names& names, const Opsets& opsets, int depth) {
    LOOM_TRY(check_attributes(n,
                              "body num_scan_inputs scan_input_axes scan_input_directions "
                              "scan_output_axes scan_output_directions"));
    if (step.opset < 9) return not_supported("of opset ", step.opset, ", with a batch");
    LOOM_ASSIGN(const Graph* body, n.get_graph("body"));
    LOOM_ASSIGN(const std::int64_t scanned, n.get_int("num_scan_inputs", 0));
    if (!body || scanned < 1 || scanned > static_cast<std::int64_t>(step.inputs.size()))
      return wrong("expects a body and num_scan_inputs, of ", step.inputs.size(), " inputs");
    const std::size_t many = static_cast<std::size_t>(scanned), states = step.inputs.size() - many;
    if (body->inputs.size() != step.inputs.size() || body->outputs.size() < states ||
        n.outputs.size() > body->outputs.size()) {
      return wrong("its body takes ", body->inputs.size(), " values and gives ",
                   body->outputs.size());
    }
    const std::size_t outputs = body->outputs.size() - states;
    LOOM_ASSIGN(const Dims axes, n.get_ints("scan_input_axes", Dims(many, 0)));
    LOOM_ASSIGN(const Dims directions, n.get_ints("scan_input_directions", Dims(many, 0)));
    LOOM_ASSIGN(const Dims out_axes, n.get_ints("scan_output_axes", Dims(outputs, 0)));
    LOOM_ASSIGN(const Dims out_directions, n.get_ints("scan_output_directions", Dims(outputs, 0)));
    if (axes.size() != many || directions.size() != many || out_axes.size() != outputs ||
        out_directions.size() != outputs)
      return wrong("axes and directions for ", many, " inputs and ", outputs, " outputs");
    std::int64_t steps = -1;
    for (std::size_t i = 0; i < step.inputs.size(); ++i) {
      if (step.inputs[i] < 0) return wrong("has no input ", i);
      if (i < states) continue;
      const Dims& dims = plan_.at(step.inputs[i])->dims;
      LOOM_ASSIGN(const std::size_t axis, axis_of(axes[i - states], dims.size()));
      if (steps >= 0 && dims[axis] != steps)
        return wrong("input ", i, " has ", dims[axis], " steps, another one ", steps);
      steps = dims[axis];
    }
    if (steps > kMaxSteps) return not_supported("takes ", steps, " steps, at most ", kMaxSteps);
    std::vector<int> state(step.inputs.begin(),
                           step.inputs.begin() + static_cast<std::ptrdiff_t>(states)),
        out;
    std::vector<std::vector<int>> given(outputs);
    for (std::int64_t t = 0; t < steps; ++t) {
      std::vector<int> inputs = state;
      for (std::size_t i = 0; i < many; ++i) {
        LOOM_ASSIGN(const int part,
                    apply("Gather",
                          {step.inputs[states + i],
                           number(Type::i64, {}, directions[i] ? steps - 1 - t : t)},
                          axes[i], depth));
        inputs.push_back(part);
      }
      LOOM_TRY(iterate(*body, inputs, names, opsets, depth, &out));
      state.assign(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(states));
      for (std::size_t k = 0; k < outputs; ++k) given[k].push_back(out[states + k]);
    }
    return results(n, state, given, out_axes, out_directions, names, depth);
  }
  // The outputs of a node of steps: what was carried, and what each step gave; along the first axis
  // in order unless others are said.
  Status results(const Node& n, const std::vector<int>& state,
                 const std::vector<std::vector<int>>& given, const Dims& axes, const Dims& reversed,
                 Names& names, int depth) {
    for (std::size_t i = 0; i < n.outputs.size(); ++i) {
      if (n.outputs[i].empty()) continue;
      int id = -1;
      if (i < state.size()) {
        id = state[i];
      } else {
        const std::size_t k = i - state.size();
        LOOM_ASSIGN(id, stacked(given[k], axes.empty() ? 0 : axes[k],
                                !reversed.empty() && reversed[k] != 0, depth));
      }
      if (id < 0) return wrong("output ", i, " is made of an input that is left out");
      names.ids[n.outputs[i]] = id;
    }
    return {};
  }

  Status call_function(const Function& f, const Node& n, Names& names, int depth) {
    if (n.inputs.size() > f.inputs.size() || n.outputs.size() > f.outputs.size()) {
      return wrong("the function takes ", f.inputs.size(), " inputs and gives ", f.outputs.size(),
                   " outputs");
    }
    Names inner;
    for (std::size_t i = 0; i < f.inputs.size(); ++i) {
      if (i < n.inputs.size() && !n.inputs[i].empty())
        inner.ids[f.inputs[i]] = names.find(n.inputs[i]);
    }
    auto body = std::make_unique<std::vector<Node>>();
    for (const Node& from : f.nodes) body->push_back(bind(from, f, n));
    const std::vector<Node>& list =
        *plan_.bodies.emplace_back(std::move(body));  // steps point at its nodes
    LOOM_TRY(nodes(list, inner, f.opsets, depth + 1));
    for (std::size_t i = 0; i < n.outputs.size(); ++i) {
      if (!n.outputs[i].empty()) names.ids[n.outputs[i]] = inner.find(f.outputs[i]);
    }
    return {};
  }

  // The node with the call's attributes in place of references, at any depth of graphs.
  static Node bind(Node node, const Function& f, const Node& call) {
    std::vector<Attribute> bound;
    for (Attribute& a : node.attributes) {
      for (Graph& g : a.graphs) {
        for (Node& inner : g.nodes) inner = bind(std::move(inner), f, call);
      }
      if (a.reference.empty()) {
        bound.push_back(std::move(a));
        continue;
      }
      const Attribute* value = call.find(a.reference);
      for (const Attribute& d : f.attributes_with_default) {
        if (!value && d.name == a.reference) value = &d;
      }
      if (!value) continue;  // left out: the operator's own default holds
      bound.push_back(*value);
      bound.back().name = a.name;
    }
    node.attributes = std::move(bound);
    return node;
  }

  // The elements of a constant not over the limit, nullptr for others. Loaded once.
  Result<const Cells*> cells_of(int id) {
    if (id < 0) return static_cast<const Cells*>(nullptr);
    const auto at = static_cast<std::size_t>(id);
    const Value& value = plan_.values[at];
    if (value.cells) return value.cells.get();
    if (!value.tensor || !folds(value.type) ||
        static_cast<std::uint64_t>(product(value.dims)) > options_.fold_limit) {
      return static_cast<const Cells*>(nullptr);
    }
    if (!loaded_[at]) {
      Cells cells;
      if (is_float(value.type)) {
        LOOM_ASSIGN(const std::vector<double> reals, read_f64(*value.tensor));
        for (const double r : reals) cells.push_back(Cell{.r = r});
      } else {
        LOOM_ASSIGN(const std::vector<std::int64_t> integers, read_i64(*value.tensor));
        for (const std::int64_t i : integers) cells.push_back(Cell{.i = i});
      }
      loaded_[at] = std::make_unique<Cells>(std::move(cells));
    }
    return static_cast<const Cells*>(loaded_[at].get());
  }

  // Drops the steps that lead to no output.
  void prune() {
    std::vector<bool> used(plan_.values.size());
    for (const int id : plan_.outputs) {
      if (id >= 0) used[static_cast<std::size_t>(id)] = true;
    }
    std::vector<Step> kept;
    for (std::size_t i = plan_.steps.size(); i-- > 0;) {
      Step& step = plan_.steps[i];
      const auto is_used = [&](int id) { return id >= 0 && used[static_cast<std::size_t>(id)]; };
      if (std::none_of(step.outputs.begin(), step.outputs.end(), is_used)) continue;
      for (const int id : step.inputs) {
        if (id >= 0) used[static_cast<std::size_t>(id)] = true;
      }
      kept.push_back(std::move(step));
    }
    std::reverse(kept.begin(), kept.end());
    plan_.steps = std::move(kept);
  }

  const Model& model_;
  const InferOptions& options_;
  Plan plan_;
  std::vector<std::unique_ptr<Cells>> loaded_;  // of values that are tensors, by id
  using NameOf =
      std::tuple<std::string_view, std::string_view, std::string_view>;  // domain, name, overload
  struct Called {
    const Function* function;
    std::size_t weight;
  };
  std::map<NameOf, Called> functions_;
  std::size_t visited_ = 0, copied_ = 0;
  std::uint64_t spent_ = 0;
  bool located_ = false;
};

}  // namespace

bool has_rule(std::string_view domain, std::string_view op) {
  if (domain.empty())
    for (const std::string_view own : {"If", "Loop", "Scan", "Constant"})
      if (op == own) return true;
  return find_rule(domain, op) != nullptr;
}

InferOptions justified_options(const Model& model) {
  InferOptions options;
  if (model.bytes == 0) return options;
  // What lies in the file itself takes some bytes each; the rest is for loops of a few hundred
  // steps and the like. ONNX's own tests fold 25 million weights of a ResNet-50 that
  // ConstantOfShape makes, in a file of some KB.
  const auto min = [&](auto& limit, std::uint64_t base, std::uint64_t per_byte) {
    const std::uint64_t justified = base + per_byte * std::min(model.bytes, std::uint64_t{1} << 40);
    if (justified < limit) limit = static_cast<std::remove_reference_t<decltype(limit)>>(justified);
  };
  min(options.fold_budget, std::uint64_t{1} << 22, std::uint64_t{1} << 14);
  min(options.max_nodes, std::uint64_t{1} << 16, 4);
  min(options.max_copied, std::uint64_t{1} << 19, 8);
  return options;
}

Result<Plan> infer(const Model& model, const std::vector<Binding>& bindings,
                   const InferOptions& options) {
  Result<Plan> plan = Inferrer(model, options).run(bindings);
  return plan.ok() ? std::move(plan) : plan.status().at(model.file);
}

Result<std::vector<std::int64_t>> constant_i64(const Value& value) {
  if (value.tensor) return read_i64(*value.tensor);
  if (!value.cells || is_float(value.type))
    return wrong("value ", quoted(value.name), " is no constant of integers");
  std::vector<std::int64_t> out;
  for (const Cell& c : *value.cells) out.push_back(c.i);
  return out;
}

Result<std::vector<float>> constant_f32(const Value& value) {
  if (value.tensor) return read_f32(*value.tensor);
  if (!value.cells) return wrong("value ", quoted(value.name), " is no constant");
  std::vector<float> out;
  for (const Cell& c : *value.cells)
    out.push_back(is_float(value.type) ? static_cast<float>(c.r) : static_cast<float>(c.i));
  return out;
}

}  // namespace loom::onnx
