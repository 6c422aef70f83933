#include "formats/onnx/infer/infer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "formats/onnx/test_protobuf.h"
#include "support/onnx_cases.h"

namespace loom::onnx {
namespace {

using namespace loom::test;

// The elements of a stored tensor, comparable with a folded constant: integers as they are, floats
// by their bits.
std::vector<double> numbers(const Tensor& tensor) {
  const auto values = read_f64(tensor);
  return values.ok() ? *values : std::vector<double>();
}
std::vector<double> numbers(const Value& value) {
  if (value.tensor) return numbers(*value.tensor);
  std::vector<double> out;
  for (const Cell& c : *value.cells)
    out.push_back(is_float(value.type) ? c.r : static_cast<double>(c.i));
  return out;
}

bool every_operator_has_a_rule(const Graph& graph) {
  for (const Node& n : graph.nodes) {
    if (!has_rule(n.domain, n.op)) return false;
    for (const Attribute& a : n.attributes)
      for (const Graph& g : a.graphs)
        if (!every_operator_has_a_rule(g)) return false;
  }
  return true;
}

// Every backend case: where inference gives a plan, types and shapes of the outputs are those of
// the stored outputs, and what was folded has the stored values. First with the inputs' shapes
// alone, then with their values.
TEST(Infer, OperatorsStandOnce) {
  const std::string_view names[] = {
#define LOOM_SHAPE_elementwise(op, ...) op,
#define LOOM_SHAPE_layout(op, ...) op,
#define LOOM_SHAPE_makers(op, ...) op,
#define LOOM_SHAPE_window(op, ...) op,
#define LOOM_SHAPE_layers(op, ...) op,
#define LOOM_SHAPE_signal(op, ...) op,
#include "formats/onnx/operators.def"
  };
  EXPECT_EQ(std::size(names), 177u);
  std::set<std::string_view> once;
  for (const std::string_view name : names) {
    EXPECT_TRUE(once.insert(name).second) << name;
    const std::size_t dot = name.rfind('.');
    const bool own = dot == name.npos;
    const std::string_view domain = own ? "" : name.substr(0, dot);
    EXPECT_TRUE(has_rule(domain, own ? name : name.substr(dot + 1))) << name;
  }
}

// The outputs of a plan against those that the case has; returns how many have elements.
static int compare_outputs(const OnnxCase& c, const Model& model, const Plan& plan) {
  int folded = 0;
  for (std::size_t i = 0; i < c.outputs.size(); ++i) {
    if (model.graph.outputs[i].kind != Kind::tensor) continue;
    const auto stored = read_tensor(*open_source(c.outputs[i]));
    EXPECT_TRUE(stored.ok()) << stored.status().to_string();
    if (!stored.ok()) continue;
    const Value& value = *plan.at(plan.outputs[i]);
    EXPECT_EQ(value.type, stored->type) << c.name << " output " << i;
    EXPECT_EQ(value.dims, stored->dims) << c.name << " output " << i;
    if (!value.cells) continue;
    ++folded;
    const std::vector<double> mine = numbers(value), theirs = numbers(*stored);
    EXPECT_EQ(mine.size(), theirs.size()) << c.name;
    // The stored windows have cosines of f32.
    const double max = model.graph.nodes[0].op.ends_with("Window") ? 1e-6 : 0;
    for (std::size_t k = 0; k < std::min(mine.size(), theirs.size()); ++k) {
      EXPECT_TRUE(mine[k] == theirs[k] || (mine[k] != mine[k] && theirs[k] != theirs[k]) ||
                  std::fabs(mine[k] - theirs[k]) <= max)
          << c.name << " [" << k << "] " << mine[k] << " " << theirs[k];
    }
  }
  return folded;
}

TEST(Infer, BackendCasesHaveTheStoredShapes) {
  const std::vector<OnnxCase> cases = onnx_cases();
  if (cases.empty())
    GTEST_SKIP() << "test material is absent: onnx_backend_tests (expected in ../shared/data)";
  int by_shapes = 0, by_values = 0, folded = 0, refused = 0, with_rules = 0;
  std::map<std::string, int> reasons;
  for (const OnnxCase& c : cases) {
    if (c.outputs.empty()) continue;
    const auto model = open_model(c.model);
    ASSERT_TRUE(model.ok()) << model.status().to_string();
    const bool has_rules = every_operator_has_a_rule(model->graph);
    with_rules += has_rules;
    std::vector<Tensor> inputs;
    bool tensors = true;
    for (std::size_t i = 0; i < c.inputs.size() && tensors; ++i) {
      tensors = model->graph.inputs.at(i).kind == Kind::tensor;
      if (!tensors) break;
      const auto tensor = read_tensor(*open_source(c.inputs[i]));
      ASSERT_TRUE(tensor.ok()) << tensor.status().to_string();
      inputs.push_back(*tensor);
    }
    std::vector<Binding> shapes, values;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      shapes.push_back({model->graph.inputs[i].name, inputs[i].dims, nullptr});
      values.push_back({model->graph.inputs[i].name, inputs[i].dims, &inputs[i]});
    }
    bool inferred = false;
    Status last;
    for (const auto* bindings : {&shapes, &values}) {
      const auto plan = infer(*model, *bindings);
      last = plan.status();
      if (!plan.ok()) {
        EXPECT_TRUE(last.code() == Code::unsupported || last.code() == Code::invalid_argument)
            << last.to_string();
        continue;
      }
      if (!inferred) ++(bindings == &shapes ? by_shapes : by_values);
      inferred = true;
      ASSERT_EQ(plan->outputs.size(), model->graph.outputs.size()) << c.name;
      folded += compare_outputs(c, *model, *plan);
    }
    if (inferred) continue;
    ++refused;
    if (!has_rules) continue;
    ++reasons[c.name + last.message().substr(c.model.size())];
  }
  EXPECT_GE(by_shapes, 1083);
  EXPECT_GE(by_shapes + by_values, 1275);
  EXPECT_GE(folded, 344);
  std::printf(
      "[ infer    ] of %d cases whose operators have rules, %d by shapes, %d by values; %d folded "
      "outputs equal the stored; %d cases refused\n",
      with_rules, by_shapes, by_values, folded, refused);
  for (const auto& [reason, count] : reasons) std::printf("[ infer    ]   %s\n", reason.c_str());
}

Model read(const std::string& bytes) {
  auto model = read_model(source_of(bytes));
  EXPECT_TRUE(model.ok()) << model.status().to_string();
  return std::move(*model);
}
Model model_of(const std::vector<std::string>& nodes,
               const std::vector<std::string>& initializers = {},
               const std::string& x = pb_value("x", 1, {-1, 3})) {
  return read(pb_model(pb_graph(nodes, {x}, {pb_value("y", 1, {})}, initializers)));
}
std::string int64s(std::string_view name, const std::vector<std::int64_t>& values,
                   bool scalar = false) {
  std::string raw;
  for (const std::int64_t v : values) raw += le(v);
  return pb_tensor(name, 7, scalar ? Dims{} : Dims{static_cast<std::int64_t>(values.size())},
                   pb_bytes(9, raw));
}

// What exporters write for x.view(x.size(0), -1): shape arithmetic that leaves one Reshape.
TEST(Infer, FoldsShapeArithmetic) {
  const Model model = model_of(
      {pb_node("Shape", {"x"}, {"s"}), pb_node("Gather", {"s", "zero"}, {"n"}),
       pb_node("Unsqueeze", {"n", "axis"}, {"u"}), pb_node("Mul", {"u", "two"}, {"m"}),
       pb_node("Concat", {"m", "rest"}, {"t"}, {pb_attribute("axis", 2, pb_int(3, 0))}),
       pb_node("Identity", {"x"}, {"i"}), pb_node("Reshape", {"i", "t"}, {"y"})},
      {int64s("zero", {0}, true), int64s("axis", {0}), int64s("two", {2}), int64s("rest", {-1})},
      pb_value("x", 1, {-1, 6}));
  const auto plan = infer(model, {{"x", {4, 6}}});
  ASSERT_TRUE(plan.ok()) << plan.status().to_string();
  ASSERT_EQ(plan->steps.size(), 1u);
  const Step& step = plan->steps[0];
  EXPECT_EQ(step.node->op, "Reshape");
  EXPECT_EQ(step.opset, 13);
  EXPECT_EQ(step.inputs[0], plan->inputs.at(0));  // Identity is another name
  EXPECT_EQ(*constant_i64(*plan->at(step.inputs[1])), (Dims{8, -1}));
  EXPECT_EQ(plan->at(plan->outputs.at(0))->dims, (Dims{8, 3}));
}

TEST(Infer, TakesTheBranchOfAConstantCondition) {
  const auto branch = [](std::string_view op) {
    return pb_bytes(6, pb_graph({pb_node(op, {"x"}, {"z"})}, {}, {pb_value("z", 1, {})}));
  };
  const auto model = [&](std::string_view condition) {
    return model_of({pb_node("If", {condition == "c" ? "c" : "d"}, {"y"},
                             {pb_attribute("then_branch", 5, branch("Relu")),
                              pb_attribute("else_branch", 5, branch("Neg"))})},
                    {pb_tensor("c", 9, {}, pb_int(5, 1)), pb_tensor("d", 9, {}, pb_int(5, 0))});
  };
  const Model yes = model("c"), no = model("d");
  EXPECT_EQ(infer(yes, {{"x", {2, 3}}})->steps.at(0).node->op, "Relu");
  EXPECT_EQ(infer(no, {{"x", {2, 3}}})->steps.at(0).node->op, "Neg");
}

TEST(Infer, InlinesFunctions) {
  const std::string function =
      pb_bytes(25, pb_bytes(1, "F") + pb_bytes(4, "a") + pb_bytes(5, "b") + pb_bytes(6, "slope") +
                       pb_bytes(7, pb_node("LeakyRelu", {"a"}, {"t"},
                                           {pb_attribute("alpha", 1, pb_bytes(21, "slope"))})) +
                       pb_bytes(7, pb_node("Elu", {"t"}, {"b"},
                                           {pb_attribute("alpha", 1, pb_bytes(21, "absent"))})) +
                       pb_bytes(9, pb_int(2, 16)) + pb_bytes(10, "local"));
  const std::string call =
      pb_graph({pb_node("F", {"x"}, {"y"}, {pb_attribute("slope", 1, pb_float(2, 0.25f))}) +
                pb_bytes(7, "local")},
               {pb_value("x", 1, {2})}, {pb_value("y", 1, {2})});
  const Model model =
      read(pb_model(call) + pb_bytes(8, pb_bytes(1, "local") + pb_int(2, 1)) + function);
  const auto plan = infer(model, {});
  ASSERT_TRUE(plan.ok()) << plan.status().to_string();
  ASSERT_EQ(plan->steps.size(), 2u);
  EXPECT_EQ(*plan->steps[0].node->get_float("alpha", 0), 0.25f);
  EXPECT_EQ(plan->steps[0].opset, 16);
  EXPECT_EQ(plan->steps[1].node->find("alpha"), nullptr);
}

TEST(Infer, RefusesByNodeAndOperator) {
  const Binding x{"x", {2, 3}};
  const auto error = [&](const std::string& node,
                         const std::vector<std::string>& initializers = {}) {
    static std::vector<std::unique_ptr<Model>> kept;
    kept.push_back(std::make_unique<Model>(model_of({node}, initializers)));
    return infer(*kept.back(), {x});
  };
  LOOM_EXPECT_ERROR(error(pb_node("Frob", {"x"}, {"y"}, {}, "f")), Code::unsupported,
                    "test: node 0 'f' (Frob): there is no rule for this operator");
  LOOM_EXPECT_ERROR(error(pb_node("Reshape", {"x", "s"}, {"y"}), {int64s("s", {4, -1})}),
                    Code::invalid_argument, "shape [2, 3] does not divide");
  LOOM_EXPECT_ERROR(error(pb_node("Reshape", {"x", "s"}, {"y"}), {int64s("s", {7})}),
                    Code::invalid_argument, "shape [2, 3] does not become [7]");
  LOOM_EXPECT_ERROR(error(pb_node("Reshape", {"x", "x"}, {"y"})), Code::invalid_argument,
                    "input 1 (shape) is float, expected integers");
  LOOM_EXPECT_ERROR(error(pb_node("NonZero", {"x"}, {"y"})), Code::unsupported,
                    "node 0 (NonZero): its shape depends on data");
  LOOM_EXPECT_ERROR(error(pb_node("MatMul", {"x", "x"}, {"y"})), Code::invalid_argument,
                    "shapes [2, 3] and [2, 3] do not multiply");
  LOOM_EXPECT_ERROR(error(pb_node("Add", {"x"}, {"y"})), Code::invalid_argument, "has no input 1");
  LOOM_EXPECT_ERROR(
      error(pb_node("Tile", {"x", "r"}, {"y"}), {int64s("r", {2000000000, 2000000000})}),
      Code::invalid_argument, "output 'y': shape");
  LOOM_EXPECT_ERROR(error(pb_node("Relu", {"x"}, {"y", "z"})), Code::unsupported,
                    "there is no rule for output 1 'z'");
  const Model relu = model_of({pb_node("Relu", {"x"}, {"y"})});
  LOOM_EXPECT_ERROR(infer(relu, {}), Code::invalid_argument,
                    "input 'x' float[?, 3]: its dimension 'x:0' is open");
  LOOM_EXPECT_ERROR(infer(relu, {{"x", {2, 4}}}), Code::invalid_argument,
                    "does not take the shape [2, 4]");
  LOOM_EXPECT_ERROR(infer(relu, {{"x", {-2, 3}}}), Code::invalid_argument, "dimensions are 0 to");
  LOOM_EXPECT_ERROR(infer(relu, {x, {"q", {1}}}), Code::invalid_argument,
                    "the model has no input 'q'");
  InferOptions options;
  options.max_nodes = 0;
  LOOM_EXPECT_ERROR(infer(relu, {x}, options), Code::unsupported, "more than 0 nodes");
}

TEST(Infer, RealModels) {
  LOOM_TEST_FILE(silero, "models/silero_vad/silero_vad_op18_ifless.onnx");
  LOOM_TEST_FILE(op15, "models/silero_vad/silero_vad_16k_op15.onnx");
  LOOM_TEST_FILE(gpt2, "models/tiny_random_gpt2/past.onnx");
  const auto print = [](const char* what, const Plan& plan) {
    std::map<std::string, int> ops;
    for (const Step& s : plan.steps) ++ops[s.node->op];
    std::printf("[ infer    ] %s: %zu steps:", what, plan.steps.size());
    for (const auto& [op, n] : ops) std::printf(" %s %d", op.c_str(), n);
    std::printf("\n");
  };
  const auto rate = read_tensor(source_of(int64s("sr", {16000}, true)));
  for (const std::string& path : {silero, op15}) {
    const auto model = open_model(path);
    ASSERT_TRUE(model.ok()) << model.status().to_string();
    const auto plan =
        infer(*model, {{"input", {1, 576}}, {"state", {2, 1, 128}}, {"sr", {}, &*rate}});
    ASSERT_TRUE(plan.ok()) << plan.status().to_string();
    EXPECT_EQ(plan->at(plan->outputs.at(0))->dims, (Dims{1, 1}));
    EXPECT_EQ(plan->at(plan->outputs.at(1))->dims, (Dims{2, 1, 128}));
    print("silero", *plan);
  }
  const auto model = open_model(gpt2);
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  std::vector<Binding> bindings{
      {"input_ids", {1, 5}}, {"position_ids", {1, 5}}, {"attention_mask", {1, 7}}};
  for (int i = 0; i < 5; ++i) bindings.push_back({"past_" + std::to_string(i), {2, 1, 4, 2, 8}});
  const auto plan = infer(*model, bindings);
  ASSERT_TRUE(plan.ok()) << plan.status().to_string();
  EXPECT_EQ(plan->at(plan->outputs.at(0))->dims, (Dims{1, 5, 1000}));
  EXPECT_EQ(plan->at(plan->outputs.at(5))->dims, (Dims{2, 1, 4, 7, 8}));
  print("gpt2", *plan);
}

// The light/ models have random weights of the real sizes and declared shapes for all that is in
// between.
TEST(Infer, LightModelsHaveTheDeclaredShapes) {
  const std::vector<OnnxCase> cases = onnx_cases();
  if (cases.empty())
    GTEST_SKIP() << "test material is absent: onnx_backend_tests (expected in ../shared/data)";
  int models = 0, values = 0;
  for (const OnnxCase& c : cases) {
    if (!c.name.starts_with("light/")) continue;
    const auto model = open_model(c.model);
    ASSERT_TRUE(model.ok()) << model.status().to_string();
    const auto plan = infer(*model, {});
    ASSERT_TRUE(plan.ok()) << plan.status().to_string();
    ++models;
    std::map<std::string, const Value*> by_name;
    for (const Value& v : plan->values) by_name[v.name] = &v;
    for (const auto* list : {&model->graph.values, &model->graph.outputs}) {
      for (const ValueInfo& declared : *list) {
        const auto found = by_name.find(declared.name);
        if (found == by_name.end() || !declared.has_shape) continue;
        ASSERT_EQ(declared.dims.size(), found->second->dims.size())
            << c.name << " " << declared.name;
        for (std::size_t i = 0; i < declared.dims.size(); ++i) {
          if (declared.dims[i].value >= 0) {
            EXPECT_EQ(declared.dims[i].value, found->second->dims[i])
                << c.name << " " << declared.name;
          }
        }
        ++values;
      }
    }
  }
  EXPECT_EQ(models, 9);
  std::printf("[ infer    ] %d light models, %d declared shapes\n", models, values);
}

}  // namespace
}  // namespace loom::onnx
