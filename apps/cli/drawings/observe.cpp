#include "drawings/observe.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "drawings/svg.h"
#include "files/files.h"
#include "support/console.h"

namespace loom::cli {
namespace {

constexpr double kLeft = 70, kTop = 44, kWidth = 720, kHeight = 300, kBottom = 40;

bool has_numbers(const Json& cell) {
  return !member(cell, "mean").is_null() && !member(cell, "std").is_null();
}

// The range of mean - std to mean + std over all cells, never empty.
struct Range {
  explicit Range(const Json::Array& cells) {
    bool first = true;
    for (const Json& cell : cells) {
      if (!has_numbers(cell)) continue;
      const double mean = number_in(cell, "mean"), std = number_in(cell, "std");
      low = first ? mean - std : std::min(low, mean - std);
      high = first ? mean + std : std::max(high, mean + std);
      first = false;
    }
    if (!(low < high)) low -= 1, high += 1;
  }
  double y(double value) const { return kTop + kHeight * ((high - value) / (high - low)); }
  double low = 0, high = 0;
};

struct Point {
  double x, low, mean, high;
};

// The band and the line of cells without a gap.
std::string piece(const std::vector<Point>& points) {
  if (points.empty()) return {};
  std::string band, line;
  for (const Point& p : points) {
    band += fixed(p.x, 1) + "," + fixed(p.high, 1) + " ";
    line += fixed(p.x, 1) + "," + fixed(p.mean, 1) + " ";
  }
  for (auto p = points.rbegin(); p != points.rend(); ++p)
    band += fixed(p->x, 1) + "," + fixed(p->low, 1) + " ";
  return "<polygon class=\"band\" points=\"" + band + "\"/>\n<polyline class=\"mean\" points=\"" +
         line + "\"/>\n";
}

}  // namespace

std::string observe_svg(const std::string& title, const Json& cells) {
  const Json::Array& list = cells.as_array();
  const Range range(list);
  const double step = kWidth / static_cast<double>(std::max<std::size_t>(list.size(), 1));
  const std::string size =
      fixed(kLeft + kWidth + 20, 0) + "\" height=\"" + fixed(kTop + kHeight + kBottom, 0);
  std::string out = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + size +
                    "\">\n<style>text{font:11px sans-serif}.band{fill:#b8d4ff}"
                    ".mean{fill:none;stroke:#1f4fd8;stroke-width:2}.cell{fill:#1f4fd8}"
                    ".bad{fill:#d62020}.axis{stroke:#999999}</style>\n"
                    "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n";
  out += text_at(kLeft, 20, title);
  out += text_at(kLeft, 36, "mean and one standard deviation of each cell; red: not finite");
  std::string marks;
  std::vector<Point> points;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Json& cell = list[i];
    const double x = kLeft + step * (static_cast<double>(i) + 0.5);
    const bool bad = integer_in(cell, "nan_count") + integer_in(cell, "inf_count") > 0;
    if (!has_numbers(cell)) {
      out += piece(points);
      points.clear();
    } else {
      const double mean = number_in(cell, "mean"), std = number_in(cell, "std");
      points.push_back({x, range.y(mean - std), range.y(mean), range.y(mean + std)});
    }
    const double y = has_numbers(cell) ? points.back().mean : kTop + kHeight;
    marks += "<circle class=\"" + std::string(bad ? "bad" : "cell") + "\" cx=\"" + fixed(x, 1) +
             "\" cy=\"" + fixed(y, 1) + "\" r=\"3\"><title>" +
             xml_text(text_in(cell, "path") + " " + text_in(cell, "type")) + "</title></circle>\n";
    if (list.size() <= 24)
      marks += text_at(x, kTop + kHeight + 16, text_in(cell, "path"), "middle");
  }
  out += piece(points) + marks;
  out += "<path class=\"axis\" d=\"M" + fixed(kLeft, 0) + " " + fixed(kTop, 0) + "V" +
         fixed(kTop + kHeight, 0) + "H" + fixed(kLeft + kWidth, 0) + "\" fill=\"none\"/>\n";
  out += text_at(kLeft - 6, kTop + 8, significant(range.high), "end");
  out += text_at(kLeft - 6, kTop + kHeight, significant(range.low), "end");
  return out + "</svg>\n";
}

}  // namespace loom::cli
