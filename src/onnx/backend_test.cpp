// The backend cases of ONNX: what runs gives the stored answers, what does not is refused by name.
// The list of passing cases is committed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <limits>
#include <map>
#include <set>

#include "onnx/graph.h"
#include "onnx/import.h"
#include "support/onnx_cases.h"
#include "support/places.h"

namespace loom::onnx {
namespace {

// NumPy's allclose with the tolerances of ONNX's own runner.
bool close(double got, double want) {
  if (std::isnan(want) || std::isnan(got)) return std::isnan(want) && std::isnan(got);
  if (std::isinf(want) || std::isinf(got)) return got == want;
  return std::fabs(got - want) <= 1e-7 + 1e-3 * std::fabs(want);
}

// The stored inputs of a case.
Result<std::vector<Runner::Input>> inputs_of(const test::OnnxCase& c, const Model& model) {
  std::vector<std::string> names;
  std::set<std::string> initialized;
  for (const Tensor& t : model.graph.initializers) initialized.insert(t.name);
  for (const ValueInfo& v : model.graph.inputs)
    if (!initialized.contains(v.name)) names.push_back(v.name);
  std::vector<Runner::Input> inputs;
  for (std::size_t i = 0; i < c.inputs.size(); ++i) {
    LOOM_ASSIGN(const auto source, open_source(c.inputs[i]));
    auto tensor = read_tensor(source);
    LOOM_TRY(tensor.status().at("input"));
    if (i < names.size()) inputs.push_back({names[i], std::move(*tensor)});
  }
  return inputs;
}

// "" where the case passes; "refused: ..." or "WRONG: ...".
std::string run_case(const test::OnnxCase& c) {
  auto model = open_model(c.model);
  if (!model.ok()) return "refused: " + model.status().message();
  const auto inputs = inputs_of(c, *model);
  if (!inputs.ok()) return "refused: " + inputs.status().message();
  Runner runner(std::move(*model));
  const auto outputs = runner.run(*inputs);
  if (!outputs.ok()) return "refused: " + outputs.status().message();
  if (c.outputs.empty()) return "";
  for (std::size_t i = 0; i < c.outputs.size(); ++i) {
    auto source = open_source(c.outputs[i]);
    auto want = source.ok() ? read_tensor(*source) : Result<Tensor>(source.status());
    if (!want.ok()) return "refused: output: " + want.status().message();
    if (i >= outputs->size()) return "WRONG: output " + std::to_string(i) + " is missing";
    const Runner::Output& got = (*outputs)[i];
    if (got.dims != want->dims || got.type != want->type)
      return "WRONG: output " + got.name + " has another shape or type";
    const auto values = read_f64(*want);
    if (!values.ok()) return "refused: output: " + values.status().message();
    for (std::size_t k = 0; k < values->size(); ++k)
      if (!close(got.values[k], (*values)[k]))
        return "WRONG: output " + got.name + "[" + std::to_string(k) + "] is " +
               std::to_string(got.values[k]) + ", not " + std::to_string((*values)[k]);
  }
  return "";
}

// tests/golden/onnx/cases.txt: every case with "passed", or the operator that is refused.
// LOOM_ONNX_LIST=FILE writes the list as it is now.
TEST(OnnxBackend, CasesPassOrAreRefusedByName) {
  const auto cases = test::onnx_cases();
  if (cases.empty())
    GTEST_SKIP() << "test material is absent: onnx_backend_tests (expected in ../shared/data)";
  std::ifstream golden(loom::test::source_dir() + "/tests/golden/onnx/cases.txt");
  std::map<std::string, std::string> expected;
  for (std::string name, rest; golden >> name && std::getline(golden, rest);)
    expected[name] = rest.substr(1);
  const char* list = std::getenv("LOOM_ONNX_LIST");
  std::ofstream out;
  if (list) out.open(list);
  int passed = 0, refused = 0;
  for (const test::OnnxCase& c : cases) {
    std::string result = run_case(c);
    // Files lie elsewhere on other machines.
    const std::string folder = c.model.substr(0, c.model.rfind('/') + 1);
    for (std::size_t at; (at = result.find(folder)) != std::string::npos;)
      result.erase(at, folder.size());
    EXPECT_FALSE(result.starts_with("WRONG")) << c.name << ": " << result;
    const std::string line = result.empty() ? "passed" : result;
    if (list) out << c.name << " " << line << "\n";
    else EXPECT_EQ(line, expected[c.name]) << c.name;
    ++(result.empty() ? passed : refused);
  }
  std::printf("[ONNX] %d cases passed, %d refused by name\n", passed, refused);
  EXPECT_GE(passed, 700);
}

// The same values in other dimensions: without a first or last one of 1, in one dimension, with one
// more.
std::vector<Dims> other_dims(const Dims& dims) {
  std::vector<Dims> list = {{elements(dims)}};
  if (!dims.empty() && dims.front() == 1) list.push_back(Dims(dims.begin() + 1, dims.end()));
  if (!dims.empty() && dims.back() == 1) list.push_back(Dims(dims.begin(), dims.end() - 1));
  if (elements(dims) == 1) list.push_back({});
  Dims more = dims;
  more.insert(more.begin(), 1);
  list.push_back(std::move(more));
  std::erase(list, dims);
  return list;
}

// A case with one thing of one node, the shape of one input or the opset changed, as it is run.
class ChangedCase {
 public:
  ChangedCase(std::string name, const Model& model, std::vector<Runner::Input> inputs)
      : name_(std::move(name)), model_(model), changed_(model), inputs_(std::move(inputs)) {}

  int ran = 0, refused = 0;

  void change_opsets() {
    for (std::size_t i = 0; i < changed_.opsets.size(); ++i) {
      if (!changed_.opsets[i].first.empty()) continue;
      for (const std::int64_t v : {1, 6, 9, 10, 12, 17, 22}) {
        changed_.opsets[i].second = v;
        try_it("opset " + std::to_string(v));
      }
      changed_.opsets[i] = model_.opsets[i];
    }
  }

  // Shapes of inputs that the run brings, and of initializers.
  void change_shapes() {
    for (ValueInfo& info : changed_.graph.inputs) {
      const ValueInfo as_it_was = info;
      const auto given = std::find_if(inputs_.begin(), inputs_.end(), [&](const Runner::Input& in) {
        return in.name == info.name;
      });
      if (given == inputs_.end()) continue;
      const Dims dims = given->tensor.dims;
      for (const Dims& other : other_dims(dims)) {
        given->tensor.dims = other;
        info.dims.assign(other.size(), Dim{});
        for (std::size_t d = 0; d < other.size(); ++d) info.dims[d].value = other[d];
        try_it("input " + info.name + " of " + text_of(other));
      }
      given->tensor.dims = dims;
      info = as_it_was;
    }
    for (Tensor& t : changed_.graph.initializers) {
      const Dims dims = t.dims;
      for (const Dims& other : other_dims(dims)) {
        t.dims = other;
        try_it("initializer " + t.name + " of " + text_of(other));
      }
      t.dims = dims;
    }
  }

  void change_node(std::size_t n) {
    change_node_inputs(n);
    change_node_outputs(n);
    for (std::size_t i = 0; i < model_.graph.nodes[n].attributes.size(); ++i)
      change_attribute(n, i);
  }

 private:
  void try_it(const std::string& how) {
    SCOPED_TRACE(name_ + ", " + how);
    const auto outputs = Runner(changed_).run(inputs_);
    ++(outputs.ok() ? ran : refused);
    const Code code = outputs.status().code();
    EXPECT_TRUE(outputs.ok() || code == Code::unsupported || code == Code::invalid_argument ||
                code == Code::out_of_range)
        << outputs.status().to_string();
  }
  // With node n as it is now, which then is as it was.
  void run(std::size_t n, const std::string& how) {
    try_it("node " + std::to_string(n) + ", " + how);
    changed_.graph.nodes[n] = model_.graph.nodes[n];
  }

  void change_node_inputs(std::size_t n) {
    const Node& as_it_was = model_.graph.nodes[n];
    Node& node = changed_.graph.nodes[n];
    for (std::size_t i = 0; i < as_it_was.inputs.size(); ++i) {
      const std::string which = "input " + std::to_string(i);
      node.inputs[i].clear();
      run(n, which + " left out");
      node.inputs.resize(i);
      run(n, which + " and all after it left out");
      for (std::size_t k = 0; k < as_it_was.inputs.size(); ++k) {
        if (k == i) continue;
        node.inputs[i] = as_it_was.inputs[k];
        run(n, which + " is also input " + std::to_string(k));
      }
      node.inputs.push_back(as_it_was.inputs[i]);
      run(n, which + " once more behind all");
    }
  }

  // Outputs that are taken must stay: of the others one is left out, or one is added.
  void change_node_outputs(std::size_t n) {
    const Node& as_it_was = model_.graph.nodes[n];
    Node& node = changed_.graph.nodes[n];
    std::vector<ValueInfo>& outputs = changed_.graph.outputs;
    for (std::size_t i = 0; i < as_it_was.outputs.size(); ++i) {
      std::erase_if(outputs, [&](const ValueInfo& v) { return v.name == as_it_was.outputs[i]; });
      node.outputs[i].clear();
      run(n, "output " + std::to_string(i) + " left out");
      outputs = model_.graph.outputs;
    }
    node.outputs.clear();
    outputs.clear();
    run(n, "all outputs left out");
    outputs = model_.graph.outputs;
    node.outputs.push_back("one more");
    outputs.emplace_back().name = "one more";
    run(n, "one more output");
    outputs = model_.graph.outputs;
  }

  void change_attribute(std::size_t n, std::size_t i) {
    const Attribute& as_it_was = model_.graph.nodes[n].attributes[i];
    std::vector<Attribute>& attributes = changed_.graph.nodes[n].attributes;
    const std::string which = "attribute " + as_it_was.name;
    attributes.erase(attributes.begin() + static_cast<std::ptrdiff_t>(i));
    run(n, which + " left out");
    if (as_it_was.type == AttributeType::i) {
      for (const std::int64_t v : {std::int64_t{-100}, std::int64_t{-1}, std::int64_t{0},
                                   std::int64_t{3}, std::int64_t{1} << 40}) {
        attributes[i].i = v;
        run(n, which + " = " + std::to_string(v));
      }
    }
    if (as_it_was.type == AttributeType::f) {
      for (const float v : {-1.0f, 0.0f, 1e38f, std::numeric_limits<float>::infinity(),
                            std::numeric_limits<float>::quiet_NaN()}) {
        attributes[i].f = v;
        run(n, which + " = " + std::to_string(v));
      }
    }
    if (as_it_was.type == AttributeType::s) {
      for (const char* v : {"", "sum", "NOTSET", "...", "ab->ab"}) {
        attributes[i].s = v;
        run(n, which + " = '" + v + "'");
      }
    }
    if (as_it_was.type != AttributeType::ints || as_it_was.ints.empty()) return;
    attributes[i].ints.clear();
    run(n, which + " empty");
    attributes[i].ints.pop_back();
    run(n, which + " shorter");
    attributes[i].ints.push_back(1);
    run(n, which + " longer");
    for (const std::int64_t v :
         {std::int64_t{-100}, std::int64_t{0}, std::int64_t{9}, std::int64_t{1} << 40}) {
      attributes[i].ints.back() = v;
      run(n, which + " ends in " + std::to_string(v));
    }
  }

  std::string name_;
  const Model& model_;
  Model changed_;
  std::vector<Runner::Input> inputs_;
};

// Every case runs or is refused, whatever changes. With sanitizers this shows that no rule reads
// what is not there.
TEST(OnnxBackend, ChangedNodesRunOrAreRefused) {
  const auto cases = test::onnx_cases();
  if (cases.empty())
    GTEST_SKIP() << "test material is absent: onnx_backend_tests (expected in ../shared/data)";
  int ran = 0, refused = 0;
  for (const test::OnnxCase& c : cases) {
    const auto model = open_model(c.model);
    if (!model.ok() || model->graph.nodes.size() > 8) continue;
    auto inputs = inputs_of(c, *model);
    if (!inputs.ok()) continue;
    ChangedCase changed(c.name, *model, *inputs);
    changed.change_opsets();
    changed.change_shapes();
    for (std::size_t n = 0; n < model->graph.nodes.size(); ++n) changed.change_node(n);
    ran += changed.ran;
    refused += changed.refused;
  }
  std::printf("[ONNX] changed nodes: %d ran, %d were refused\n", ran, refused);
  EXPECT_GT(ran, 1000);
  EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace loom::onnx
