// How a device does the products of one row in one dispatch (decode_products): workgroups, threads
// and memory, by the sizes of the matrices and the device's limits.
#pragma once

#include <optional>

#include "gpu/device.h"
#include "ops/lowering/lowered.h"
#include "ops/lowering/weight_arg.h"

namespace loom {

struct DecodeGeometry {
  std::int64_t words = 0;       // of a plane of the row
  std::int64_t run = 0;         // byte rows that a thread takes at a time
  std::int64_t block_rows = 0;  // byte rows of a block, where blocks have scales
  std::int64_t units = 0;       // panels, pairs of them, or heads
  std::int64_t threads = 0;     // of a workgroup
  std::int64_t turns = 0;       // units that a workgroup makes one after the other
  std::int64_t groups = 0;
  bool staged = false;  // the row's values are kept in workgroup memory
};
// Nothing where the device's limits do not allow it. `matrix`: the first one, as prepared.
std::optional<DecodeGeometry> decode_geometry(const LoweredProgram& program,
                                              const DecodeProducts& products,
                                              const WeightArg& matrix, const gpu::Limits& limits);

}  // namespace loom
