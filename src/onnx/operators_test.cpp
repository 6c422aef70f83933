// Random settings of operators, with the answers of ONNX's reference evaluator and onnxruntime
// (tests/parity/onnx): integers equal, reals to 1e-5.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>

#include "base/files/source.h"
#include "base/json/json.h"
#include "onnx/import.h"
#include "support/places.h"

namespace loom::onnx {
namespace {

std::vector<std::byte> bytes_of(const std::string& hex) {
  std::vector<std::byte> out;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    out.push_back(static_cast<std::byte>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  return out;
}
Type type_of(const std::string& text) {
  for (const Type t : {Type::f32, Type::i64, Type::i32, Type::i8, Type::u8, Type::boolean})
    if (name(t) == text) return t;
  ADD_FAILURE() << "a type of the file: " << text;
  return Type::f32;
}
Dims dims_of(const Json& array) {
  Dims dims;
  for (const Json& d : array.find("dims")->as_array()) dims.push_back(d.as_integer());
  return dims;
}
std::vector<double> values_of(const Json& array) {
  std::vector<double> values;
  for (const Json& v : array.find("values")->as_array()) values.push_back(v.as_number());
  return values;
}

class OnnxOperators : public testing::TestWithParam<const char*> {};
TEST_P(OnnxOperators, GiveTheReferencesAnswers) {
  std::ifstream file(loom::test::source_dir() + "/tests/golden/onnx/" + GetParam() + ".json",
                     std::ios::binary);
  const auto golden = Json::parse(std::string{std::istreambuf_iterator<char>(file), {}});
  ASSERT_TRUE(golden.ok()) << golden.status().to_string();
  std::size_t count = 0;
  for (const Json& one : golden->find("cases")->as_array()) {
    SCOPED_TRACE(one.find("name")->as_string());
    const std::vector<std::byte> bytes = bytes_of(one.find("model")->as_string());
    auto model = read_model(source_from_view(bytes, "model"));
    ASSERT_TRUE(model.ok()) << model.status().to_string();
    const Runner runner(std::move(*model));
    std::vector<Runner::Input> inputs;
    for (const auto& [key, array] : one.find("inputs")->as_object()) {
      const auto tensor = make_tensor(key, type_of(array.find("type")->as_string()), dims_of(array),
                                      values_of(array));
      ASSERT_TRUE(tensor.ok()) << tensor.status().to_string();
      inputs.push_back({key, *tensor});
    }
    const auto out = runner.run(inputs);
    ASSERT_TRUE(out.ok()) << out.status().to_string();
    const auto& wanted = one.find("outputs")->as_array();
    ASSERT_EQ(out->size(), wanted.size());
    for (std::size_t k = 0; k < wanted.size(); ++k) {
      const std::vector<double> want = values_of(wanted[k]);
      const Runner::Output& got = (*out)[k];
      EXPECT_EQ(got.dims, dims_of(wanted[k]));
      ASSERT_EQ(got.values.size(), want.size());
      const double max = is_integer(got.type) ? 0 : 1e-5;
      std::size_t wrong = 0;
      for (std::size_t i = 0; i < want.size(); ++i)
        wrong += !(std::fabs(got.values[i] - want[i]) <= max * std::max(1.0, std::fabs(want[i])));
      EXPECT_EQ(wrong, 0u) << "of " << want.size() << " values of output " << k;
    }
    ++count;
  }
  EXPECT_GE(count, 250u);
}
INSTANTIATE_TEST_SUITE_P(Onnx, OnnxOperators, testing::Values("operators", "settings"),
                         [](const auto& one) { return std::string(one.param); });

}  // namespace
}  // namespace loom::onnx
