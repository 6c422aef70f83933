// A drawing of a step mesh that ran: its cells over the ticks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace loom::cli {

struct HeatMap {
  std::vector<std::string> cells;            // a row each
  std::vector<std::int64_t> ticks;           // a column each
  std::vector<std::vector<double>> columns;  // of each tick, for each cell the mean of |value|
};
// From white (0) to blue (the largest of all); grey where a value is not finite.
std::string mesh_svg(const std::string& title, const HeatMap& map);

}  // namespace loom::cli
