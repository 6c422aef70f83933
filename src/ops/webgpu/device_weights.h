// The weight matrices of a program on the device: each one buffer of [codes][scales][minima][zero points] as cpu::PreparedWeights makes them, codes as
// they lie in files. Nothing of them stays with the host.
#pragma once

#include <vector>

#include "base/thread_pool.h"
#include "gpu/device.h"
#include "numeric/weight_store.h"
#include "ops/cpu/kernel_args.h"
#include "ops/program.h"

namespace loom::webgpu {

struct DeviceMatrix {
  gpu::Buffer buffer;
  cpu::WeightArg arg;  // numbers; its pointers only say which sections there are
  std::uint32_t scales = 0, minima = 0, zeros = 0;  // words from the start
};

// Uploads the panels that products read, into `into`'s buffer where it has the size already.
Status upload_matrix(gpu::Device& device, WeightStore& store, const std::string& name, DeviceMatrix& into);

// One row of values, or a few, as an instruction would have stored them.
Result<std::vector<float>> vector_values(WeightStore& store);

}  // namespace loom::webgpu
