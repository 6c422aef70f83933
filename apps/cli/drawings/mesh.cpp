#include "drawings/mesh.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "drawings/svg.h"
#include "files/files.h"
#include "support/console.h"

namespace loom::cli {
namespace {

constexpr std::int64_t kLabel = 150, kTop = 52, kHeight = 16, kMargin = 16;

std::string colour(double share) {
  if (!std::isfinite(share)) return "#999999";
  char text[8];
  std::snprintf(text, sizeof text, "#%02x%02xff", static_cast<unsigned>(255 - 223 * share),
                static_cast<unsigned>(255 - 175 * share));
  return text;
}

}  // namespace

std::string mesh_svg(const std::string& title, const HeatMap& p) {
  double largest = 0;
  for (const auto& column : p.columns)
    for (const double v : column)
      if (std::isfinite(v)) largest = std::max(largest, v);
  const auto columns = static_cast<std::int64_t>(p.columns.size()),
             rows = static_cast<std::int64_t>(p.cells.size());
  const std::int64_t step =
                         std::clamp<std::int64_t>(640 / std::max<std::int64_t>(columns, 1), 2, 24),
                     width = std::max<std::int64_t>(kLabel + columns * step + kMargin, 400),
                     height = kTop + rows * kHeight + 32;
  const std::string size = std::to_string(width) + " " + std::to_string(height);
  std::string out = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + std::to_string(width) +
                    "\" height=\"" + std::to_string(height) + "\" viewBox=\"0 0 " + size +
                    "\">\n<style>text{font:11px sans-serif}"
                    ".row{fill:none;stroke:#cccccc}</style>\n"
                    "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n";
  out += text_at(kMargin, 20, title);
  out += text_at(kMargin, 36,
                 "mean |value| of each cell after a tick: white 0, blue " + significant(largest));
  for (std::int64_t r = 0; r < rows; ++r) {
    const std::int64_t y = kTop + r * kHeight;
    const auto row = static_cast<std::size_t>(r);
    out += text_at(kMargin, static_cast<double>(y + 12), p.cells[row]);
    out += "<rect class=\"row\" x=\"" + std::to_string(kLabel) + "\" y=\"" + std::to_string(y) +
           "\" width=\"" + std::to_string(columns * step) + "\" height=\"" +
           std::to_string(kHeight - 2) + "\"/>\n";
    for (std::int64_t c = 0; c < columns; ++c) {
      const auto column = static_cast<std::size_t>(c);
      const double v = p.columns[column][row];
      if (v == 0) continue;  // as the paper
      out += "<rect x=\"" + std::to_string(kLabel + c * step) + "\" y=\"" + std::to_string(y) +
             "\" width=\"" + std::to_string(step) + "\" height=\"" + std::to_string(kHeight - 2) +
             "\" fill=\"" + colour(largest > 0 ? v / largest : v) + "\"><title>" +
             xml_text(p.cells[row]) + ", tick " + std::to_string(p.ticks[column]) + ": " +
             significant(v) + "</title></rect>\n";
    }
  }
  const auto below = static_cast<double>(kTop + rows * kHeight + 14);
  if (columns > 0) {
    out += text_at(kLabel, below, "tick " + std::to_string(p.ticks.front()));
    if (columns > 1)
      out += text_at(
          static_cast<double>(std::max<std::int64_t>(kLabel + columns * step - 60, kLabel + 80)),
          below, "tick " + std::to_string(p.ticks.back()));
  }
  return out + "</svg>\n";
}

}  // namespace loom::cli
