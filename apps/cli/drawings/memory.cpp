#include "drawings/memory.h"

#include <algorithm>

#include "drawings/svg.h"
#include "files/files.h"

namespace loom::cli {
namespace {

constexpr double kLeft = 80, kRight = 60, kTop = 92, kWidth = 720, kHeight = 260, kBottom = 40;
// Names of steps stand in the first line that has room; a step that finds none has its line alone.
constexpr std::size_t kLines = 5;
constexpr double kLine = 12, kNameWidth = 60;

}  // namespace

std::string memory_svg(const std::string& title,
                       const std::vector<MemoryHistory::Sample>& samples) {
  double seconds = 1e-3, bytes = 1;
  for (const MemoryHistory::Sample& s : samples) {
    seconds = std::max(seconds, s.elapsed);
    bytes = std::max(bytes, static_cast<double>(s.resident));
  }
  const auto x = [&](double at) { return kLeft + kWidth * at / seconds; };
  std::string out =
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + fixed(kLeft + kWidth + kRight, 0) +
      "\" height=\"" + fixed(kTop + kHeight + kBottom, 0) +
      "\">\n<style>text{font:11px sans-serif}.line{fill:none;stroke:#1f4fd8;stroke-width:2}"
      ".step{stroke:#bbbbbb;stroke-dasharray:2 3}.axis{stroke:#999999;fill:none}</style>\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n";
  out += text_at(kLeft, 20, title);
  std::string points, steps;
  double named[kLines];
  std::fill(named, named + kLines, -kNameWidth);
  for (const MemoryHistory::Sample& s : samples) {
    if (s.resident >= 0)
      points += fixed(x(s.elapsed), 1) + "," +
                fixed(kTop + kHeight * (1 - static_cast<double>(s.resident) / bytes), 1) + " ";
    if (!s.named) continue;
    steps += "<path class=\"step\" d=\"M" + fixed(x(s.elapsed), 1) + " " + fixed(kTop, 0) + "v" +
             fixed(kHeight, 0) + "\"/>\n";
    for (std::size_t line = 0; line < kLines; ++line) {
      if (x(s.elapsed) - named[line] < kNameWidth) continue;
      named[line] = x(s.elapsed);
      steps += text_at(named[line], kTop - 8 - kLine * static_cast<double>(line), s.label);
      break;
    }
  }
  out += steps + "<polyline class=\"line\" points=\"" + points + "\"/>\n";
  out += "<path class=\"axis\" d=\"M" + fixed(kLeft, 0) + " " + fixed(kTop, 0) + "V" +
         fixed(kTop + kHeight, 0) + "H" + fixed(kLeft + kWidth, 0) + "\"/>\n";
  out += text_at(kLeft - 6, kTop + 8, bytes_text(static_cast<std::uint64_t>(bytes)), "end");
  out += text_at(kLeft - 6, kTop + kHeight, "0", "end");
  out += text_at(kLeft + kWidth, kTop + kHeight + 16, fixed(seconds, 2) + " s", "end");
  return out + "</svg>\n";
}

}  // namespace loom::cli
