// A drawing of the statistics of cells over the depth of a network.
#pragma once

#include <string>

#include "support/json.h"

namespace loom::cli {

// `cells`: objects as session_statistics has them, in order. A line through the means, a band of
// one standard deviation on both sides, and a red mark where a value is not finite.
std::string observe_svg(const std::string& title, const Json& cells);

}  // namespace loom::cli
