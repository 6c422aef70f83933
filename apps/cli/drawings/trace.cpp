#include "drawings/trace.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "drawings/svg.h"
#include "files/files.h"
#include "support/console.h"

namespace loom::cli {
namespace {

constexpr double kLeft = 70, kTop = 44, kWidth = 720, kHeight = 260, kBottom = 44;
constexpr const char* kColors[] = {"#1f4fd8", "#2c8a3f", "#b05a00", "#7a3fb0"};

// The deviations of one cell by pass.
struct Line {
  std::string path;
  std::vector<std::pair<double, double>> points;
};

std::vector<Line> lines_of(const std::vector<Json>& passes) {
  std::vector<Line> lines;
  for (std::size_t pass = 0; pass < passes.size(); ++pass)
    for (const Json& event : passes[pass].as_array()) {
      if (text_in(event, "type") != "metacognition" || member(event, "std").is_null()) continue;
      const std::string path = text_in(event, "path");
      auto line = std::ranges::find(lines, path, &Line::path);
      if (line == lines.end()) line = lines.insert(lines.end(), {path, {}});
      line->points.emplace_back(static_cast<double>(pass), number_in(event, "std"));
    }
  return lines;
}

// "morph i4", "gate 0.5".
std::string act_text(const Json& act) {
  std::string text = text_in(act, "act");
  for (const auto& [key, value] : member(act, "after").as_object())
    text += " " + (value.is_string() ? value.as_string() : value.dump());
  return text;
}

}  // namespace

std::string trace_svg(const std::string& title, const std::vector<Json>& passes, const Json& acts) {
  const std::vector<Line> lines = lines_of(passes);
  double high = 0;
  for (const Line& line : lines)
    for (const auto& [pass, std] : line.points) high = std::max(high, std);
  if (!(high > 0)) high = 1;
  const double last = std::max<double>(static_cast<double>(passes.size()) - 1, 1);
  const auto x = [&](double pass) { return kLeft + kWidth * (pass / last); };
  const auto y = [&](double std) { return kTop + kHeight * (1 - std / high); };
  std::string out = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" +
                    fixed(kLeft + kWidth + 20, 0) + "\" height=\"" +
                    fixed(kTop + kHeight + kBottom, 0) +
                    "\">\n<style>text{font:11px sans-serif}.line{fill:none;stroke-width:2}"
                    ".act{stroke:#d62020;stroke-dasharray:3 3}.axis{stroke:#999999}</style>\n"
                    "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n";
  out += text_at(kLeft, 20, title);
  out += text_at(kLeft, 36, "standard deviation of each metacognition by pass; red: acts of rules");
  double row = kTop + 12;
  for (const Json& act : acts.as_array()) {
    const double at = x(static_cast<double>(integer_in(act, "pass")));
    out += "<path class=\"act\" d=\"M" + fixed(at, 1) + " " + fixed(kTop, 0) + "V" +
           fixed(kTop + kHeight, 0) + "\"/>\n";
    const bool left = at < kLeft + kWidth / 2;
    out += text_at(at + (left ? 4 : -4), row, text_in(act, "path") + " " + act_text(act),
                   left ? "start" : "end");
    row = row + 14 < kTop + kHeight ? row + 14 : kTop + 12;
  }
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const char* const color = kColors[i % std::size(kColors)];
    out += "<polyline class=\"line\" stroke=\"" + std::string(color) + "\" points=\"";
    for (const auto& [pass, std] : lines[i].points)
      out += fixed(x(pass), 1) + "," + fixed(y(std), 1) + " ";
    out += "\"><title>" + xml_text(lines[i].path) + "</title></polyline>\n";
  }
  out += "<path class=\"axis\" d=\"M" + fixed(kLeft, 0) + " " + fixed(kTop, 0) + "V" +
         fixed(kTop + kHeight, 0) + "H" + fixed(kLeft + kWidth, 0) + "\" fill=\"none\"/>\n";
  out += text_at(kLeft - 6, kTop + 8, significant(high), "end");
  out += text_at(kLeft - 6, kTop + kHeight, "0", "end");
  out += text_at(kLeft, kTop + kHeight + 16, "pass 0");
  out += text_at(kLeft + kWidth, kTop + kHeight + 16, std::to_string(passes.size() - 1), "end");
  return out + "</svg>\n";
}

}  // namespace loom::cli
