// Memory of this process over time, as it is and not its peak: a sample every tenth of a second,
// and one where a command names a step. Long runs have fewer between.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "arguments/options.h"
#include "support/console.h"
#include "support/json.h"

namespace loom::cli {

// --memory. Without it the names of the earlier engine count: LOOM_MEMORY_HISTORY=1 writes to
// LOOM_MEMORY_HISTORY_JSON.
void bind_memory(CommandLine& command, std::string& path);
// The path that these variables name, where the option does not; "" for none.
std::string memory_path(const std::string& option);

class MemoryHistory {
 public:
  // Bytes; below 0: not known.
  struct Sample {
    double elapsed = 0;
    std::string label;
    std::int64_t host_weights = -1, device_weights = -1, device_cache = -1, resident = -1;
    bool named = false;  // by the command
  };
  static constexpr std::size_t kMaxSamples = 4096;
  // Nothing is sampled where the path is "". `inputs`: files that it may not be.
  MemoryHistory(const std::string& option, const std::vector<std::string>& inputs);
  ~MemoryHistory();
  MemoryHistory(const MemoryHistory&) = delete;
  MemoryHistory& operator=(const MemoryHistory&) = delete;

  // From here on, what the command does is called this.
  void step(std::string_view label);
  // From here on: bytes of the network on the host, and what a session, generator or training says
  // of its device.
  void weights(std::int64_t host, const Json& info);
  // Writes JSON lines, or a chart where the file ends in .svg.
  void finish(const std::string& title);

 private:
  void work();
  void sample(bool named);  // with the lock
  const std::string path_;
  const Stopwatch watch_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Sample> samples_;
  Sample now_;
  std::chrono::milliseconds between_{100};
  bool end_ = false;
  std::thread thread_;
};

// {"elapsed_sec", "label", "host_weights_bytes", "gpu_weights_bytes", "gpu_kv_bytes",
// "accelerator_bytes", "resident_bytes"}, null where not known.
Json memory_json(const MemoryHistory::Sample& sample);

}  // namespace loom::cli
