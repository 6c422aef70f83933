#include "ops/webgpu/probes/probes.h"

#include "gpu/test_device.h"

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

}  // namespace
}  // namespace loom::webgpu
