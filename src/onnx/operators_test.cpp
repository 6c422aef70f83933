// Random settings of operators, with the answers of ONNX's reference evaluator and onnxruntime
// (tests/parity/onnx): integers equal, reals to 1e-5.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>

#include "base/files/source.h"
#include "base/json/json.h"
#include "base/threads/thread_pool.h"
#include "exec/session.h"
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

Json golden_cases(const std::string& name) {
  std::ifstream file(loom::test::source_dir() + "/tests/golden/onnx/" + name + ".json",
                     std::ios::binary);
  const auto golden = Json::parse(std::string{std::istreambuf_iterator<char>(file), {}});
  EXPECT_TRUE(golden.ok()) << golden.status().to_string();
  return golden.ok() ? *golden->find("cases") : Json::array();
}

class OnnxOperators : public testing::TestWithParam<const char*> {};
TEST_P(OnnxOperators, GiveTheReferencesAnswers) {
  std::size_t count = 0;
  const Json cases = golden_cases(GetParam());
  for (const Json& one : cases.as_array()) {
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

// The numbers of `tensor` in a port's columns: those of a smaller one are the first of each axis.
// f(column, value) for all columns; `fill` behind the ends.
template <class F>
void for_columns(const Port& port, const Json& tensor, double fill, F f) {
  const Dims dims = dims_of(tensor);
  const std::vector<double> values = values_of(tensor);
  ASSERT_EQ(dims.size(), port.dims.size());
  for (std::int64_t i = 0; i < port.count(); ++i) {
    std::int64_t rest = i, place = 0, step = 1;
    bool inside = true;
    for (std::size_t d = dims.size(); d-- > 0; rest /= port.dims[d], step *= dims[d]) {
      inside &= rest % port.dims[d] < dims[d];
      place += rest % port.dims[d] * step;
    }
    f(static_cast<std::size_t>(port.first + i),
      inside ? values[static_cast<std::size_t>(place)] : fill);
  }
}

// Padding holds what would show.
TEST(OnnxOpened, EveryLengthUpToTheMaximumGivesTheReferencesAnswers) {
  ThreadPool pool{1};
  std::size_t count = 0;
  const Json cases = golden_cases("opened");
  for (const Json& one : cases.as_array()) {
    SCOPED_TRACE(one.find("name")->as_string());
    const std::vector<std::byte> bytes = bytes_of(one.find("model")->as_string());
    auto model = read_model(source_from_view(bytes, "model"));
    ASSERT_TRUE(model.ok()) << model.status().to_string();
    OpenDims open;
    open.max.set("seq", *one.find("max"));
    auto graph = import_graph(*model, {}, nullptr, open);
    ASSERT_TRUE(graph.ok()) << graph.status().to_string();
    auto session = Session::create(graph->network, pool, {.max_rows = 1});
    ASSERT_TRUE(session.ok()) << session.status().to_string();
    ASSERT_EQ(graph->inputs.back().name, "lengths");
    const bool ids = is_integer(graph->inputs[0].type);
    std::vector<float> x(static_cast<std::size_t>(graph->network.input().width));
    for (const Json& run : one.find("runs")->as_array()) {
      const std::int64_t n = dims_of(*run.find("x"))[1];
      SCOPED_TRACE(n);
      for_columns(graph->inputs[0], *run.find("x"), ids ? 6 : 1e3,
                  [&](std::size_t at, double v) { x[at] = static_cast<float>(v); });
      x.back() = static_cast<float>(n);
      ASSERT_TRUE(session->run(x, 1).ok());
      const std::span<const float> y = session->output(0);
      std::size_t wrong = 0;
      for_columns(graph->outputs[0], *run.find("y"), 0, [&](std::size_t at, double v) {
        wrong += !(std::fabs(y[at] - v) <= 1e-5 * std::max(1.0, std::fabs(v)));
      });
      EXPECT_EQ(wrong, 0u);
      ++count;
    }
    x.back() = 0;  // no length
    ASSERT_TRUE(session->run(x, 1).ok());
    EXPECT_TRUE(std::isnan(session->output(0)[0]));
  }
  EXPECT_EQ(count, 96u);
}

}  // namespace
}  // namespace loom::onnx
