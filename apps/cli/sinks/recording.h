// Recordings: what --events wrote, handed to sinks again, and totalled.
#pragma once

#include <cstdint>
#include <string>

#include "sinks/sinks.h"

namespace loom::cli {

struct Replayed {
  std::int64_t events = 0, passes = 0;
  Json cells = Json::array();  // the total of each cell, as session_statistics has it
  bool ended = true;           // false: by Ctrl-C
};

// A line that is no event ends the action as kRefused.
void check_recording(const std::string& path);
// The same of a recording that was checked. `speed`: 1 keeps the pace of the recording, 2 is twice
// as fast, 0 waits for receivers alone.
Replayed replay_recording(const std::string& path, double speed, Sinks& sinks);

}  // namespace loom::cli
