// Decoding in few dispatches: instructions of a single row that one kernel does together, with the
// bits of each. A layer of a decoder is [norm, quantize, q k v, rope, append] [attention]
// [quantize, o, add] [norm, quantize, gate up, silu_mul] [quantize, down, add].
#pragma once

#include <vector>

#include "ops/webgpu/launches.h"

namespace loom {

// A fused kernel runs in place of its first instruction, and so writes earlier than the program
// does, by fewer instructions than this: the arena keeps places that long after their last reader.
constexpr int kFusionReach = 12;

struct Fusion {
  std::size_t first = 0;                  // instruction in whose place it runs
  std::vector<std::size_t> instructions;  // all that it does
  LoweredInstruction fused;
};

// Instructions from n on that a device does in one dispatch, the last of which quantizes: rows that
// only it reads, and before a norm the sum that is normalized. 1: just n.
std::size_t quantized_at_once(const LoweredProgram& program, std::size_t n);

// The fusions of a lowered program. `matrices` gives a weight as prepared and the buffer it lies
// in; kernels keep to the limits.
std::vector<Fusion> find_fusions(const LoweredProgram& program,
                                 const webgpu::MatrixLookup& matrices, const gpu::Limits& limits);

}  // namespace loom
