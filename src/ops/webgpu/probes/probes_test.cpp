#include "ops/webgpu/probes/probes.h"

#include <algorithm>

#include "gpu/test_device.h"
#include "ops/products/matmul/tile_shapes.h"

namespace loom::webgpu {
namespace {

TEST(WebGpuSelfTest, ThisDeviceIsPortable) {
  LOOM_TEST_DEVICE(device);
  const auto test = self_test(*device);
  ASSERT_TRUE(test.ok()) << test.status().to_string();
  EXPECT_EQ(test->label(), "portable");
  EXPECT_GE(test->probes, 20);
}

TEST(WebGpuSelfTest, WhatDiffersIsNamed) {
  EXPECT_EQ((SelfTest{{"division", "exp"}, 22}).label(), "device (differs: division, exp)");
}

// Gives zeros, and counts how often it is asked to compute.
class Counter : public gpu::Device {
 public:
  const gpu::DeviceInfo& info() const override { return about; }
  const gpu::Limits& limits() const override { return limits_; }
  Result<gpu::Handle> create_buffer(std::uint64_t, std::string_view) override { return 1u; }
  void destroy_buffer(gpu::Handle) override {}
  Status write(gpu::Handle, std::uint64_t, std::span<const std::byte>) override { return {}; }
  Result<gpu::Handle> pipeline(const gpu::PipelineSource&) override { return 1u; }
  Result<gpu::Handle> bind(gpu::Handle, std::span<const gpu::Binding>) override { return 1u; }
  void destroy_bindings(gpu::Handle) override {}
  Status submit(std::span<const gpu::Dispatch>) override {
    ++submitted;
    return lost ? Status(Code::io, "gpu: lost") : Status();
  }
  Status flush() override { return {}; }
  Status read(std::span<const gpu::ReadRange> ranges) override {
    for (const gpu::ReadRange& r : ranges) std::fill(r.out.begin(), r.out.end(), std::byte{});
    return {};
  }
  std::uint64_t allocated_bytes() const override { return 0; }

  gpu::DeviceInfo about{.name = "counter", .vendor = "test", .driver = "1"};
  bool lost = false;
  int submitted = 0;

 private:
  gpu::Limits limits_;
};

// Of matrix units, by kernels that every device has.
TEST(WebGpuSelfTest, KnowsExactProducts) {
  LOOM_TEST_DEVICE(device);
  for (const TileShape& shape : {TileShape{32, 64, 1, 2, true}, TileShape{64, 64, 2, 1, false}}) {
    const auto exact = exact_products(*device, shape);
    ASSERT_TRUE(exact.ok()) << exact.status().to_string();
    EXPECT_TRUE(*exact);
  }
  Counter zeros;
  EXPECT_FALSE(*exact_products(zeros, {32, 64, 1, 2, true}));
}

TEST(WebGpuSelfTest, RunsOnceForAnAdapterAndItsDriver) {
  Counter device, again, newer;
  newer.about.driver = "2";
  device.lost = true;
  EXPECT_FALSE(known_self_test(device).ok());
  device.lost = false;
  const auto first = known_self_test(device), second = known_self_test(again);
  ASSERT_TRUE(first.ok() && second.ok()) << first.status().to_string();
  EXPECT_FALSE(first->portable());
  EXPECT_EQ(first->failed, second->failed);
  EXPECT_EQ(device.submitted, 2);
  EXPECT_EQ(again.submitted, 0);
  EXPECT_TRUE(known_self_test(newer).ok());
  EXPECT_EQ(newer.submitted, 1);
}

}  // namespace
}  // namespace loom::webgpu
