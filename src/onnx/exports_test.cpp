// Networks that PyTorch exported (tests/parity/onnx/exports.py): its outputs, and for the one
// trained on MNIST its count of right answers.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>

#include "base/json/json.h"
#include "exec/session.h"
#include "onnx/import.h"
#include "support/data.h"
#include "support/digits.h"
#include "support/places.h"

namespace loom::onnx {
namespace {

const std::string kFolder = loom::test::source_dir() + "/tests/golden/onnx/";

Json golden_of(const std::string& name) {
  std::ifstream file(kFolder + name + ".json", std::ios::binary);
  auto json = Json::parse(std::string{std::istreambuf_iterator<char>(file), {}});
  EXPECT_TRUE(json.ok()) << name << ": " << json.status().to_string();
  return json.ok() ? std::move(*json) : Json();
}
struct Array {
  Type type;
  Dims dims;
  std::vector<double> values;
};
Array array_of(const Json& j) {
  Array a{j.find("type")->as_string() == "int64" ? Type::i64 : Type::f32, {}, {}};
  for (const Json& d : j.find("dims")->as_array()) a.dims.push_back(d.as_integer());
  for (const Json& v : j.find("values")->as_array()) a.values.push_back(v.as_number());
  return a;
}
double worst_of(std::span<const double> got, const std::vector<double>& want) {
  if (got.size() != want.size()) return 1e9;
  double worst = 0;
  for (std::size_t i = 0; i < want.size(); ++i)
    worst = std::max(worst, std::fabs(got[i] - want[i]) / std::max(1.0, std::fabs(want[i])));
  return worst;
}

class Export : public testing::TestWithParam<const char*> {};

TEST_P(Export, GivesPyTorchsOutputs) {
  const Json golden = golden_of(GetParam());
  auto model = open_model(kFolder + GetParam() + ".onnx");
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  const Runner runner(std::move(*model));
  for (const Json& run : golden.find("runs")->as_array()) {
    const Array x = array_of(*run.find("x")), y = array_of(*run.find("y"));
    const auto out = runner.run({{"x", *make_tensor("x", x.type, x.dims, x.values)}});
    ASSERT_TRUE(out.ok()) << out.status().to_string();
    ASSERT_EQ(out->size(), 1u);
    EXPECT_EQ((*out)[0].dims, y.dims);
    EXPECT_LT(worst_of((*out)[0].values, y.values), 1e-5);
  }
}

// As a network its rows are the batch: the same numbers, and parameters that are the file's.
TEST_P(Export, IsANetworkWhoseRowsAreTheBatch) {
  const Json golden = golden_of(GetParam());
  auto model = open_model(kFolder + GetParam() + ".onnx");
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  const Json& run = golden.find("runs")->as_array().back();
  const Array x = array_of(*run.find("x")), y = array_of(*run.find("y"));
  Binding one{"x", x.dims, nullptr};
  one.dims[0] = 1;
  auto imported = import_graph(*model, {one});
  ASSERT_TRUE(imported.ok()) << imported.status().to_string();
  for (const auto& p : imported->network.params())  // what a file can hold
    for (const float v : p.param->store->mutable_master())
      ASSERT_TRUE(std::isfinite(v)) << p.path << ":" << p.param->spec.role;
  ThreadPool pool(1);
  auto session = Session::create(imported->network, pool, {.max_rows = x.dims[0]});
  ASSERT_TRUE(session.ok()) << session.status().to_string();
  const std::vector<float> rows(x.values.begin(), x.values.end());
  ASSERT_TRUE(session->run(rows, x.dims[0]).ok());
  std::vector<double> got;
  for (std::int64_t r = 0; r < x.dims[0]; ++r) {
    const std::span<const float> row = session->output(r);
    got.insert(got.end(), row.begin(), row.end());
  }
  EXPECT_LT(worst_of(got, y.values), 1e-5);
}

INSTANTIATE_TEST_SUITE_P(Onnx, Export,
                         testing::Values("mlp", "mnist_cnn", "resnet", "lstm", "gru_bidirectional",
                                         "encoder", "transformer_layer", "unet"),
                         [](const auto& info) { return std::string(info.param); });

TEST(Onnx, TheExportedMnistNetworkIsRightAsOftenAsInPyTorch) {
  LOOM_TEST_FILE(images_path, "mnist/t10k-images-idx3-ubyte.gz");
  LOOM_TEST_FILE(labels_path, "mnist/t10k-labels-idx1-ubyte.gz");
  const Json golden = golden_of("mnist_cnn");
  auto model = open_model(kFolder + "mnist_cnn.onnx");
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  auto imported = import_graph(*model);
  ASSERT_TRUE(imported.ok()) << imported.status().to_string();
  const std::int64_t correct = test::right_digits(imported->network, images_path, labels_path);
  EXPECT_EQ(correct, golden.find("correct")->as_integer());
  EXPECT_GT(correct, 9700);
}

}  // namespace
}  // namespace loom::onnx
