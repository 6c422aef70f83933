// What the calls of noise.def take.
#pragma once

#include <cstdint>

#include "ops/program.h"

namespace loom {

// Where a layer's noise comes from: a stream of base/random.h, drawn at run * 2^32 + element.
struct Noise {
  std::uint64_t seed = 0, stream = 0;
  RegisterId run = kNone;
};

}  // namespace loom
