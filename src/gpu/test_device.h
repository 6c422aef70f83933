// The adapter that tests run on: `./dev gpu` provides one. Without it they skip and say why.
#pragma once

#include <gtest/gtest.h>

#include "gpu/device.h"

namespace loom::gpu {

// One device for a test program; null where there is none, with the reason in `why`.
inline Device* test_device(std::string* why) {
  static Result<std::unique_ptr<Device>> device = open_device();
  if (device.ok()) return device->get();
  *why = device.status().message();
  return nullptr;
}

}  // namespace loom::gpu

#define LOOM_TEST_DEVICE(variable)                                                 \
  std::string variable##_why;                                                      \
  ::loom::gpu::Device* const variable = ::loom::gpu::test_device(&variable##_why); \
  if (!variable) GTEST_SKIP() << "no adapter: " << variable##_why
