// Does a device give the CPU's bits? Some twenty probes of what compilers and arithmetic units do differently: contraction, reassociation, division,
// roots, elementary functions, flushing, integer dot products, reductions. Under a second.
#pragma once

#include <string>
#include <vector>

#include "gpu/device.h"

namespace loom::webgpu {

struct SelfTest {
  std::vector<std::string> failed;  // names of probes
  int probes = 0;
  bool portable() const { return failed.empty(); }
  // "portable", or "device (differs: div, exp)": the numerics a device may claim.
  std::string label() const;
};

Result<SelfTest> self_test(gpu::Device& device);

}  // namespace loom::webgpu
