#pragma once

#include <cstdint>

#include "base/status.h"
#include "base/threads/thread_pool.h"

namespace loom::audit {

// Larger than the caches of a core.
inline constexpr std::uint64_t kReadBytes = std::uint64_t{256} << 20;

// Bytes per second that all threads of the pool together read from a block of `bytes`: the
// median of `repeats`, 64 at most. Error: out_of_memory.
Result<double> read_bandwidth(ThreadPool& pool, int repeats, std::uint64_t bytes = kReadBytes);

}  // namespace loom::audit
