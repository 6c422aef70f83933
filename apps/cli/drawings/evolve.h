// Fitness over generations, as an image.
#pragma once

#include <string>
#include <vector>

namespace loom::cli {

struct FitnessPoint {
  double generation = 0, best = 0, mean = 0;
};
// An SVG of best and mean fitness, with a goal where there is one. One to any number of points.
std::string evolve_svg(const std::string& title, const std::vector<FitnessPoint>& points,
                       const double* goal);

}  // namespace loom::cli
