#include "online/clocks.h"

#if !defined(__wasm__) && !defined(_WIN32)
#include <time.h>
#endif

#include "ops/executor.h"

namespace loom {

ClockReading read_clocks() {
  ClockReading now{.wall = Executor::slice_clock()};
#if !defined(__wasm__) && !defined(_WIN32)
  timespec t;
  if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) == 0)
    now.cpu = std::int64_t{t.tv_sec} * 1000000000 + t.tv_nsec;
#endif
  return now;
}

}  // namespace loom
