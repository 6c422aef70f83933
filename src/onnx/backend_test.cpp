// The backend cases of ONNX: what runs gives the stored answers, what does not is refused by name. The list of passing cases is committed.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <set>

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

// "" where the case passes; "refused: ..." or "WRONG: ...".
std::string run_case(const test::OnnxCase& c) {
  auto model = open_model(c.model);
  if (!model.ok()) return "refused: " + model.status().message();
  std::vector<std::string> names;
  std::set<std::string> initialized;
  for (const Tensor& t : model->graph.initializers) initialized.insert(t.name);
  for (const ValueInfo& v : model->graph.inputs)
    if (!initialized.contains(v.name)) names.push_back(v.name);
  std::vector<Runner::Input> inputs;
  for (std::size_t i = 0; i < c.inputs.size(); ++i) {
    auto source = open_source(c.inputs[i]);
    if (!source.ok()) return "refused: " + source.status().message();
    auto tensor = read_tensor(*source);
    if (!tensor.ok()) return "refused: input: " + tensor.status().message();
    if (i < names.size()) inputs.push_back({names[i], std::move(*tensor)});
  }
  Runner runner(std::move(*model));
  const auto outputs = runner.run(inputs);
  if (!outputs.ok()) return "refused: " + outputs.status().message();
  if (c.outputs.empty()) return "";
  for (std::size_t i = 0; i < c.outputs.size(); ++i) {
    auto source = open_source(c.outputs[i]);
    auto want = source.ok() ? read_tensor(*source) : Result<Tensor>(source.status());
    if (!want.ok()) return "refused: output: " + want.status().message();
    if (i >= outputs->size()) return "WRONG: output " + std::to_string(i) + " is missing";
    const Runner::Output& got = (*outputs)[i];
    if (got.dims != want->dims || got.type != want->type) return "WRONG: output " + got.name + " has another shape or type";
    const auto values = read_f64(*want);
    if (!values.ok()) return "refused: output: " + values.status().message();
    for (std::size_t k = 0; k < values->size(); ++k)
      if (!close(got.values[k], (*values)[k])) return "WRONG: output " + got.name + "[" + std::to_string(k) + "] is " + std::to_string(got.values[k]) + ", not " + std::to_string((*values)[k]);
  }
  return "";
}

// tests/golden/onnx_cases.txt: every case with "passed", or the operator that is refused. LOOM_ONNX_LIST=FILE writes the list as it is now.
TEST(OnnxBackend, CasesPassOrAreRefusedByName) {
  const auto cases = test::onnx_cases();
  if (cases.empty()) GTEST_SKIP() << "needs the test data beside the project";
  std::ifstream golden(loom::test::source_dir() + "/tests/golden/onnx_cases.txt");
  std::map<std::string, std::string> expected;
  for (std::string name, rest; golden >> name && std::getline(golden, rest);) expected[name] = rest.substr(1);
  const char* list = std::getenv("LOOM_ONNX_LIST");
  std::ofstream out;
  if (list) out.open(list);
  int passed = 0, refused = 0;
  for (const test::OnnxCase& c : cases) {
    std::string result = run_case(c);
    // Files lie elsewhere on other machines.
    const std::string folder = c.model.substr(0, c.model.rfind('/') + 1);
    for (std::size_t at; (at = result.find(folder)) != std::string::npos;) result.erase(at, folder.size());
    EXPECT_FALSE(result.starts_with("WRONG")) << c.name << ": " << result;
    const std::string line = result.empty() ? "passed" : result;
    if (list) out << c.name << " " << line << "\n";
    else EXPECT_EQ(line, expected[c.name]) << c.name;
    ++(result.empty() ? passed : refused);
  }
  std::printf("[ONNX] %d cases passed, %d refused by name\n", passed, refused);
  EXPECT_GE(passed, 700);
}

}  // namespace
}  // namespace loom::onnx
