#include "drawings/evolve.h"

#include <algorithm>

#include "drawings/svg.h"
#include "files/files.h"
#include "support/console.h"

namespace loom::cli {
namespace {

constexpr double kLeft = 70, kTop = 44, kWidth = 720, kHeight = 300, kBottom = 40;
constexpr std::size_t kMaxPoints = 2000;

struct Scale {
  double low, high, first, last;
  double x(double generation) const {
    return kLeft + (last > first ? kWidth * ((generation - first) / (last - first)) : 0);
  }
  double y(double value) const {
    // Halves, so that no difference overflows.
    return kTop + kHeight * ((high / 2 - value / 2) / (high / 2 - low / 2));
  }
};

std::string line(const char* name, const Scale& scale, const std::vector<FitnessPoint>& points,
                 double FitnessPoint::* value) {
  const std::size_t every = (points.size() + kMaxPoints - 1) / kMaxPoints;
  std::string out = "<polyline class=\"" + std::string(name) + "\" points=\"";
  for (std::size_t i = 0; i < points.size(); ++i)
    if (i % every == 0 || i + 1 == points.size())
      out +=
          fixed(scale.x(points[i].generation), 1) + "," + fixed(scale.y(points[i].*value), 1) + " ";
  return out + "\"/>\n";
}

}  // namespace

std::string evolve_svg(const std::string& title, const std::vector<FitnessPoint>& points,
                       const double* goal) {
  Scale scale{points[0].mean, points[0].best, points.front().generation, points.back().generation};
  for (const FitnessPoint& p : points) {
    scale.low = std::min(scale.low, p.mean);
    scale.high = std::max(scale.high, p.best);
  }
  if (goal) scale.high = std::max(scale.high, *goal);
  if (!(scale.low < scale.high)) scale.low -= 1, scale.high += 1;
  std::string out = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" +
                    fixed(kLeft + kWidth + 20, 0) + "\" height=\"" +
                    fixed(kTop + kHeight + kBottom, 0) +
                    "\">\n<style>text{font:11px sans-serif}polyline{fill:none;stroke-width:2}"
                    ".best{stroke:#1f4fd8}.mean{stroke:#8fb0e8}.axis{stroke:#999999}"
                    ".goal{stroke:#2a9d3a;stroke-dasharray:4}</style>\n"
                    "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n";
  out += text_at(kLeft, 20, title);
  out += text_at(kLeft, 36, "fitness over generations: best (dark), mean (light), goal (dashed)");
  out += line("mean", scale, points, &FitnessPoint::mean);
  out += line("best", scale, points, &FitnessPoint::best);
  const std::string right = fixed(kLeft + kWidth, 0);
  if (goal)
    out += "<path class=\"goal\" d=\"M" + fixed(kLeft, 0) + " " + fixed(scale.y(*goal), 1) + "H" +
           right + "\"/>\n";
  out += "<path class=\"axis\" d=\"M" + fixed(kLeft, 0) + " " + fixed(kTop, 0) + "V" +
         fixed(kTop + kHeight, 0) + "H" + right + "\" fill=\"none\"/>\n";
  out += text_at(kLeft - 6, kTop + 8, significant(scale.high), "end");
  out += text_at(kLeft - 6, kTop + kHeight, significant(scale.low), "end");
  out += text_at(kLeft, kTop + kHeight + 16, fixed(scale.first, 0), "middle");
  out += text_at(kLeft + kWidth, kTop + kHeight + 16, fixed(scale.last, 0), "middle");
  return out + "</svg>\n";
}

}  // namespace loom::cli
