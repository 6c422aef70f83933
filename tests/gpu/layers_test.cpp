// Every layer type x every dtype that a device has, forward and backward: the CPU's bits. What a
// device refuses stands in layer_samples.h, with the text.
#include <cstdio>

#include "conformance/layer_samples.h"
#include "gpu/test_device.h"

namespace loom {
namespace {

using test::How;
using test::LayerSample;

// What the last line counts.
struct Counts {
  std::set<std::string_view> layers;
  std::set<int> dtypes;
  long equal = 0, refused = 0;
} counts;

class DeviceMatrix : public testing::TestWithParam<const LayerType*> {
 protected:
  static void TearDownTestSuite() {
    if (counts.equal > 0)
      std::printf(
          "matrix: on a device %zu layers x %zu dtypes x 2 directions = %ld combinations equal to "
          "the CPU, %ld refused by name\n",
          counts.layers.size(), counts.dtypes.size(), counts.equal, counts.refused);
  }
};

TEST_P(DeviceMatrix, EveryDtypeEqualsTheCpu) {
  LOOM_TEST_DEVICE(device);
  const auto samples = test::samples_of(*GetParam());
  ASSERT_FALSE(samples.empty())
      << "no sample of the layer type " << GetParam()->name()
      << ": add one to its folder, <folder>_samples.def (tests/conformance/layer_samples.h)";
  bool runs = false;
  for (int d = 0; d < kDTypeCount; ++d) {
    const WeightFormat format = default_format(static_cast<DType>(d));
    SCOPED_TRACE(to_string(format));
    bool equal[2] = {true, true};
    for (const LayerSample& sample : samples) {
      SCOPED_TRACE(sample.cell);
      auto n = test::network_of(sample, format);
      ASSERT_TRUE(n.ok()) << n.status().to_string();
      const bool doubles = product_class(format) == ArithClass::real;
      const auto y = test::outputs_of(*n, {.device = device});
      const auto slopes = test::slopes_of(*n, {.device = device});
      if (doubles || !sample.refusal.empty()) {
        const std::string text =
            doubles ? "computes in f64 (class D), which WebGPU lacks" : std::string(sample.refusal);
        for (const Status& status : {y.status(), slopes.status()}) {
          EXPECT_EQ(status.code(), Code::unsupported);
          EXPECT_NE(status.message().find(text), std::string::npos) << status.message();
          ++counts.refused;
        }
        continue;
      }
      ASSERT_TRUE(y.ok() && slopes.ok()) << y.status().to_string() << slopes.status().to_string();
      const auto want = test::outputs_of(*n, {});
      const auto want_slopes = test::slopes_of(*n, {});
      ASSERT_TRUE(want.ok() && want_slopes.ok());
      ASSERT_GT(want_slopes->size(), 2u);
      equal[0] = equal[0] && y->size() == want->size() &&
                 std::memcmp(y->data(), want->data(), want->size() * sizeof(float)) == 0;
      equal[1] = equal[1] && *slopes == *want_slopes;
      counts.dtypes.insert(d);
      runs = true;
    }
    EXPECT_TRUE(equal[0]) << "forward";
    EXPECT_TRUE(equal[1]) << "backward";
    if (product_class(format) != ArithClass::real) counts.equal += equal[0] + equal[1];
  }
  EXPECT_EQ(runs, GetParam()->name() != "trees")
      << "every sample of " << GetParam()->name() << " is refused: the layer runs on no device";
  counts.layers.insert(GetParam()->name());
}

// Mode gpu-mc runs single rows with fused kernels, each made for its shapes; modes that say
// "normal" do not.
TEST_P(DeviceMatrix, FusedRowsEqualTheCpu) {
  LOOM_TEST_DEVICE(device);
  for (const LayerSample& sample : test::samples_of(*GetParam())) {
    if (!sample.refusal.empty()) continue;
    SCOPED_TRACE(sample.cell);
    auto n = test::network_of(sample, default_format(DType::i4));
    ASSERT_TRUE(n.ok()) << n.status().to_string();
    const auto want = test::outputs_of(*n, {.rows_per_run = 1, .fuse = false});
    const auto got = test::outputs_of(*n, {.device = device, .rows_per_run = 1, .fuse = true});
    ASSERT_TRUE(want.ok() && got.ok()) << want.status().to_string() << got.status().to_string();
    ASSERT_EQ(got->size(), want->size());
    EXPECT_EQ(std::memcmp(got->data(), want->data(), want->size() * sizeof(float)), 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Layers, DeviceMatrix, testing::ValuesIn(test::sampled_types()),
                         [](const auto& info) { return std::string(info.param->name()); });

}  // namespace
}  // namespace loom
