// How something runs, in one word: which machine, alone or with all its workers, fused or as
// defined. The bits are the same in every mode.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace loom {

struct Mode {
  std::string name;            // "" where none was named
  std::string device = "cpu";  // as webgpu::choose_device reads it
  int threads = 0;             // 0: one per core
  bool fuse = true;            // SessionOptions, TrainerOptions
  bool auto_device = false;    // the device, or the CPU where that is faster
};

// What they mean stands in docs/reference/modes.md.
inline constexpr const char* kModeNames =
    "cpu-normal, cpu-sc, cpu-mc, gpu-normal, gpu-sc, gpu-mc, auto";
std::vector<std::string_view> mode_names();

// The mode of that name ("": none) with what else was asked for, threads (0: nothing) and a device
// ("": nothing). invalid_argument: an unknown name, a device beside a mode, several threads in a
// mode of one.
Result<Mode> mode_of(std::string_view name, int threads, std::string_view device);

}  // namespace loom
