// Checks that a device computes the CPU's bits. Some twenty probes test where compilers and
// arithmetic units differ: contraction, reassociation, division, roots, elementary functions,
// flushing, integer dot products, reductions. Under a second.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/device.h"

namespace loom {
struct TileShape;
}

namespace loom::webgpu {

struct SelfTest {
  std::vector<std::string> failed;  // names of probes
  int probes = 0;
  bool matrix_units = false;  // are there, and their sums are exact
  bool fma = false;           // of a product and -0 is the product, and stays apart from a sum
  bool portable() const { return failed.empty(); }
  // "portable", or "device (differs: div, exp)": the numerics a device may claim.
  std::string label() const;
};

Result<SelfTest> self_test(gpu::Device& device);
// Whether products of class I in tiles of this shape are exact. False also where the kernel does
// not compile.
Result<bool> exact_products(gpu::Device& device, const TileShape& shape);
// The same, run once in a process for each adapter and driver; an error is not kept. Any thread.
Result<SelfTest> known_self_test(gpu::Device& device);

// What a user's "cpu", "gpu" or "auto" means, with the numerics that the choice may claim.
struct Choice {
  std::unique_ptr<gpu::Device> device;  // null: the CPU
  std::string numerics = "portable";    // label() of the device
  std::string note;                     // why "auto" took the CPU
};
inline constexpr const char* kDeviceNames = "cpu, gpu, auto";
// "gpu" is an error where there is none, naming what is missing; "auto" takes the CPU there, and in
// place of a device that is software.
Result<Choice> choose_device(std::string_view name);

}  // namespace loom::webgpu
