// Accuracy over the outputs of tasks that change, and of the earlier tasks below, as an image.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace loom::cli {

struct Curve {
  std::string name;
  std::vector<std::pair<double, double>> points;  // output, accuracy from 0 to 1
  std::size_t color = 0;
  bool dashed = false;
};
struct AdaptDrawing {
  std::string title;
  double outputs = 0, recover = 0.95;
  std::vector<double> changes;                        // outputs before each
  std::vector<std::pair<double, std::string>> found;  // detected ones, with their delay
  std::vector<Curve> accuracy, held;                  // of answers; of held samples by task
  std::string held_title;
};
std::string adapt_svg(const AdaptDrawing& drawing);

}  // namespace loom::cli
