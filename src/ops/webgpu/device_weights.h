// The weight matrices of a program on the device, one after the other in a few large buffers: each
// is [codes][scales][minima][zero points] as PreparedWeights makes them, codes as they lie in
// files. Nothing of them stays with the host.
#pragma once

#include <vector>

#include "base/threads/thread_pool.h"
#include "gpu/device.h"
#include "numeric/weight_store.h"
#include "ops/cpu/kernel_args.h"
#include "ops/program.h"

namespace loom::webgpu {

struct DeviceMatrix {
  int heap = -1;         // the buffer it lies in
  std::uint64_t at = 0;  // bytes from its beginning
  std::uint64_t bytes = 0;
  WeightFormat format;
  WeightArg arg;  // numbers; its pointers only say which sections there are
  std::uint32_t scales = 0, minima = 0, zeros = 0;  // words from the beginning of the buffer
};

// What a matrix takes in its present format.
Result<std::uint64_t> matrix_bytes(const WeightStore& store);
// Uploads the forms that products read to the place that `into` names.
Status upload_matrix(gpu::Device& device, gpu::Handle heap, WeightStore& store, DeviceMatrix& into);

// One row of values, or a few, as an instruction would have stored them.
Result<std::vector<float>> vector_values(WeightStore& store);

}  // namespace loom::webgpu
