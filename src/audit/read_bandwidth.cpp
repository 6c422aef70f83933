#include "audit/read_bandwidth.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>

namespace loom::audit {
namespace {

constexpr int kMaxRepeats = 64;

struct Reading {
  const std::uint64_t* data;
  std::size_t count;
  std::atomic<std::uint64_t> sum{0};

  static void share(void* context, int worker, int workers) noexcept {
    auto& r = *static_cast<Reading*>(context);
    const auto w = static_cast<std::size_t>(worker), n = static_cast<std::size_t>(workers);
    // Several streams at once, fetched ahead into the second cache, as decoding reads weights: one
    // alone waits at each page.
    constexpr std::size_t kStreams = 4, kLine = 64 / sizeof(std::uint64_t), kAhead = 64 * kLine;
    typedef std::uint64_t Line __attribute__((vector_size(64)));
    const std::size_t begin = r.count * w / n, end = r.count * (w + 1) / n,
                      apart = (end - begin) / kStreams / kLine * kLine;
    Line sums[kStreams] = {};
    for (std::size_t i = 0; i < apart; i += kLine)
      for (std::size_t s = 0; s < kStreams; ++s) {
        __builtin_prefetch(r.data + begin + s * apart + i + kAhead, 0, 2);
        Line line;
        std::memcpy(&line, r.data + begin + s * apart + i, sizeof line);
        sums[s] += line;
      }
    std::uint64_t total = 0;
    for (const Line& s : sums)
      for (std::size_t i = 0; i < kLine; ++i) total += s[i];
    r.sum += total;
  }
};

}  // namespace

Result<double> read_bandwidth(ThreadPool& pool, int repeats, std::uint64_t bytes) {
  using Clock = std::chrono::steady_clock;
  const auto count = static_cast<std::size_t>(bytes / sizeof(std::uint64_t));
  auto* data = static_cast<std::uint64_t*>(std::malloc(count * sizeof(std::uint64_t)));
  if (!data) return Status(Code::out_of_memory, "no memory to read in a measurement");
  for (std::size_t i = 0; i < count; ++i) data[i] = 1;
  Reading reading{data, count};
  double seconds[kMaxRepeats];
  repeats = std::clamp(repeats, 1, kMaxRepeats);
  for (int i = 0; i < repeats; ++i) {
    const Clock::time_point start = Clock::now();
    pool.run(&Reading::share, &reading);
    const double s = std::chrono::duration<double>(Clock::now() - start).count();
    int at = i;
    for (; at > 0 && seconds[at - 1] > s; --at) seconds[at] = seconds[at - 1];
    seconds[at] = s;
  }
  std::free(data);
  return static_cast<double>(bytes) / std::max(seconds[repeats / 2], 1e-9);
}

}  // namespace loom::audit
