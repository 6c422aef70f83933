#include "drawings/train.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "drawings/svg.h"
#include "files/files.h"
#include "support/console.h"

namespace loom::cli {
namespace {

constexpr double kLeft = 90, kTop = 44, kWidth = 720, kHeight = 220, kGap = 56, kRow = 14;
constexpr std::size_t kMaxColumns = 240;

// At most kMaxColumns of the points, the last one among them.
std::vector<TrainPoint> thinned(const std::vector<TrainPoint>& points) {
  const std::size_t every = (points.size() + kMaxColumns - 1) / kMaxColumns;
  std::vector<TrainPoint> kept;
  for (std::size_t i = 0; i < points.size(); ++i)
    if (i % every == 0 || i + 1 == points.size()) kept.push_back(points[i]);
  return kept;
}

std::string losses(const std::vector<TrainPoint>& points) {
  double low = HUGE_VAL, high = -HUGE_VAL;
  for (const TrainPoint& p : points)
    if (std::isfinite(p.loss)) low = std::min(low, p.loss), high = std::max(high, p.loss);
  if (low > high) return text_at(kLeft, kTop + 20, "no finite loss");
  if (low == high) low -= 1, high += 1;
  const auto first = static_cast<double>(points.front().step),
             steps = std::max(static_cast<double>(points.back().step) - first, 1.0);
  std::string line = "<polyline points=\"";
  for (const TrainPoint& p : points)
    if (std::isfinite(p.loss))
      line += fixed(kLeft + kWidth * (static_cast<double>(p.step) - first) / steps, 1) + "," +
              fixed(kTop + kHeight * (high / 2 - p.loss / 2) / (high / 2 - low / 2), 1) + " ";
  return line + "\"/>\n" + text_at(kLeft - 6, kTop + 8, significant(high), "end") +
         text_at(kLeft - 6, kTop + kHeight, significant(low), "end");
}

std::string color_of(double budget, bool learned) {
  if (!learned || !std::isfinite(budget)) return "#999999";
  char text[8];
  const double share = std::clamp(budget, 0.0, 1.0);
  std::snprintf(text, sizeof text, "#%02x%02xff", static_cast<unsigned>(255 - 223 * share),
                static_cast<unsigned>(255 - 175 * share));
  return text;
}

std::string budgets(const std::vector<TrainPoint>& points, const std::vector<std::string>& parts) {
  const double top = kTop + kHeight + kGap, step = kWidth / static_cast<double>(points.size());
  std::string out = text_at(kLeft, top - 10,
                            "budget of each part, from the input down: white 0, blue 1, grey where "
                            "it did not learn");
  for (std::size_t r = 0; r < parts.size(); ++r) {
    const double y = top + kRow * static_cast<double>(r);
    out += text_at(kLeft - 6, y + kRow - 3, parts[r], "end");
    for (std::size_t c = 0; c < points.size(); ++c) {
      const TrainPoint& p = points[c];
      if (r >= p.budgets.size()) continue;
      out += "<rect x=\"" + fixed(kLeft + step * static_cast<double>(c), 1) + "\" y=\"" +
             fixed(y, 1) + "\" width=\"" + fixed(step, 2) + "\" height=\"" + fixed(kRow - 1, 0) +
             "\" fill=\"" + color_of(p.budgets[r], p.learned[r]) + "\"><title>" +
             xml_text(parts[r]) + ", step " + std::to_string(p.step) + ": " +
             significant(p.budgets[r]) + "</title></rect>\n";
    }
  }
  return out;
}

}  // namespace

std::string train_svg(const std::string& title, const std::vector<TrainPoint>& all,
                      const std::vector<std::string>& parts) {
  const std::vector<TrainPoint> points = thinned(all);
  const double below = parts.empty() ? 30 : kGap + kRow * static_cast<double>(parts.size()) + 10;
  std::string out = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" +
                    fixed(kLeft + kWidth + 20, 0) + "\" height=\"" +
                    fixed(kTop + kHeight + below, 0) +
                    "\">\n<style>text{font:11px sans-serif}polyline{fill:none;stroke:#1f4fd8;"
                    "stroke-width:2}.axis{stroke:#999999;fill:none}</style>\n"
                    "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n";
  out += text_at(kLeft, 20, title) + text_at(kLeft, 36, "loss over the steps");
  out += "<path class=\"axis\" d=\"M" + fixed(kLeft, 0) + " " + fixed(kTop, 0) + "V" +
         fixed(kTop + kHeight, 0) + "H" + fixed(kLeft + kWidth, 0) + "\"/>\n";
  out += losses(points);
  out += text_at(kLeft, kTop + kHeight + 16, std::to_string(points.front().step), "middle") +
         text_at(kLeft + kWidth, kTop + kHeight + 16, std::to_string(points.back().step), "middle");
  if (!parts.empty()) out += budgets(points, parts);
  return out + "</svg>\n";
}

}  // namespace loom::cli
