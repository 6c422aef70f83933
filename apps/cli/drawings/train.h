// A training, as an image.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace loom::cli {

// A step that was logged. Of target propagation also the budget of each part, 0 to 1, and whether
// the part learned.
struct TrainPoint {
  std::int64_t step = 0;
  double loss = 0;
  std::vector<double> budgets;
  std::vector<bool> learned;
};
// An SVG of the loss over the steps, and below it budgets over depth: a row for each part, the
// first one at the top, from white (0) to blue (1), grey where the part did not learn. One to any
// number of points; `parts`: their paths, or none.
std::string train_svg(const std::string& title, const std::vector<TrainPoint>& points,
                      const std::vector<std::string>& parts);

}  // namespace loom::cli
