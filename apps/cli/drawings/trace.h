// A drawing of the acts of rules while data run through a network.
#pragma once

#include <string>
#include <vector>

#include "support/json.h"

namespace loom::cli {

// A drawing of the rules of a network at work: the standard deviation of each metacognition over
// the passes, and a mark with its act where a rule fired. `passes`: for each pass a list of events
// of cells; `acts`: objects as a trace has them.
std::string trace_svg(const std::string& title, const std::vector<Json>& passes, const Json& acts);

}  // namespace loom::cli
