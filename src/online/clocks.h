// The clocks that answers are timed by.
#pragma once

#include <cstdint>

namespace loom {

struct ClockReading {
  std::int64_t wall = 0;  // ns of Executor::slice_clock()
  std::int64_t cpu = -1;  // ns that the calling thread has computed; -1 where nothing tells it:
                          // in WebAssembly and on Windows
};
ClockReading read_clocks();

}  // namespace loom
