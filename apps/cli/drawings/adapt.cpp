#include "drawings/adapt.h"

#include "drawings/svg.h"
#include "files/files.h"
#include "support/console.h"

namespace loom::cli {
namespace {

constexpr double kLeft = 50, kWidth = 720, kHeight = 170, kFirst = 48, kSecond = 270;
constexpr const char* kColors[] = {"#1f4fd8", "#c2410c", "#2a9d3a",
                                   "#7c3aed", "#0e7490", "#a16207"};

std::string color_of(std::size_t index) { return kColors[index % std::size(kColors)]; }

std::string path(const std::string& d, const std::string& style) {
  return "<path d=\"" + d + "\" " + style + "/>\n";
}

struct Panel {
  double top, outputs;
  double x(double output) const { return kLeft + (outputs > 0 ? kWidth * output / outputs : 0); }
  double y(double accuracy) const { return top + kHeight * (1 - accuracy); }
};

std::string curve(const Panel& panel, const Curve& c) {
  std::string points;
  for (const auto& [output, accuracy] : c.points)
    points += fixed(panel.x(output), 1) + "," + fixed(panel.y(accuracy), 1) + " ";
  return "<polyline points=\"" + points + "\" stroke=\"" + color_of(c.color) + "\"" +
         (c.dashed ? " stroke-dasharray=\"5 4\"" : "") + "/>\n";
}

std::string frame(const Panel& panel, const AdaptDrawing& d) {
  std::string out;
  for (const double level : {0.0, 0.5, 1.0}) {
    out += path("M" + fixed(kLeft, 0) + " " + fixed(panel.y(level), 1) + "h" + fixed(kWidth, 0),
                "stroke=\"#dddddd\"");
    out += text_at(kLeft - 6, panel.y(level) + 4, fixed(100 * level, 0) + " %", "end");
  }
  for (const double change : d.changes)
    out +=
        path("M" + fixed(panel.x(change), 1) + " " + fixed(panel.top, 0) + "v" + fixed(kHeight, 0),
             "stroke=\"#888888\" stroke-dasharray=\"2 3\"");
  return out;
}

std::string legend(const std::vector<Curve>& curves, double y) {
  std::string out;
  double x = kLeft + kWidth;
  for (auto c = curves.rbegin(); c != curves.rend(); ++c) {
    if (c->dashed) continue;  // the title says what they are
    out += text_at(x, y, c->name, "end", color_of(c->color));
    x -= 7 * static_cast<double>(c->name.size()) + 14;
  }
  return out;
}

}  // namespace

std::string adapt_svg(const AdaptDrawing& d) {
  const Panel top{kFirst, d.outputs}, bottom{kSecond, d.outputs};
  const bool held = !d.held.empty();
  const double height = (held ? kSecond : kFirst) + kHeight + 40;
  std::string out = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" +
                    fixed(kLeft + kWidth + 30, 0) + "\" height=\"" + fixed(height, 0) +
                    "\">\n<style>text{font:11px sans-serif}polyline{fill:none;stroke-width:2}"
                    "</style>\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n";
  out += text_at(kLeft, 18, d.title);
  out +=
      text_at(kLeft, 36, "accuracy of answers; dotted: the task changes; triangles: it was found");
  out += frame(top, d) + legend(d.accuracy, 36);
  out += path("M" + fixed(kLeft, 0) + " " + fixed(top.y(d.recover), 1) + "h" + fixed(kWidth, 0),
              "stroke=\"#2a9d3a\" stroke-dasharray=\"4\"");
  for (const Curve& c : d.accuracy) out += curve(top, c);
  for (const auto& [output, delay] : d.found) {
    const double x = top.x(output), y = top.top + kHeight;
    out += "<path d=\"M" + fixed(x - 4, 1) + " " + fixed(y + 8, 1) + "h8l-4 -7z\" " +
           "fill=\"#c2410c\"><title>" + xml_text(delay) + "</title></path>\n";
  }
  if (held) {
    out += text_at(kLeft, kSecond - 12, d.held_title) + legend(d.held, kSecond - 12);
    out += frame(bottom, d);
    for (const Curve& c : d.held) out += curve(bottom, c);
  }
  const double end = height - 20;
  out += text_at(kLeft, end, "0", "middle");
  out += text_at(kLeft + kWidth, end, fixed(d.outputs, 0) + " outputs", "end");
  return out + "</svg>\n";
}

}  // namespace loom::cli
