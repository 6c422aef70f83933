// The memory of a process over time, as an image.
#pragma once

#include <string>
#include <vector>

#include "support/memory_history.h"

namespace loom::cli {

// Resident memory as a line, the steps of the command as names above it.
std::string memory_svg(const std::string& title, const std::vector<MemoryHistory::Sample>& samples);

}  // namespace loom::cli
