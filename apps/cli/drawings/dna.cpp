#include "drawings/dna.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>

#include "files/files.h"
#include "support/console.h"

namespace loom::cli {
namespace {

constexpr double kWidth = 132, kHeight = 34, kStep = 46, kTop = 64, kGap = 160, kMargin = 24;

std::string number(double value) { return fixed(value, 1); }

std::string colour(double score) {
  char text[8];
  const double share = std::clamp(score, 0.0, 1.0);
  std::snprintf(text, sizeof text, "#%02x%02xa0", static_cast<unsigned>(240 - 110 * share),
                static_cast<unsigned>(130 + 90 * share));
  return text;
}

// A column of a grid: cells of one (y, x), over each other by z and layer; nested layers beneath.
class Grid {
 public:
  Grid(const NamedDna& named, double left) : left_(left), name_(named.name) {
    std::map<std::array<std::int64_t, 2>, int> columns;
    const auto& layers = member(named.dna, "layers").as_array();
    const auto column_of = [](const Json& layer) {
      const auto& at = member(layer, "at").as_array();
      return std::array{at[1].as_integer(), at[2].as_integer()};
    };
    for (const Json& layer : layers) columns[column_of(layer)] = 0;
    int count = 0;
    for (auto& [at, column] : columns) column = count++;
    std::map<int, int> filled;
    for (const Json& layer : layers) {
      const int column = columns[column_of(layer)];
      const int row = filled[column]++;
      const double y = kTop + row * kStep;
      places_[text_in(layer, "path")] = {left_ + column * (kWidth + 12), y,
                                         text_in(layer, "type") + " " + text_in(layer, "format")};
      bottom_ = std::max(bottom_, y + kHeight);
    }
    right_ = left_ + std::max(count, 1) * (kWidth + 12) - 12;
  }

  struct Place {
    double x, y;
    std::string label;
  };
  const Place& at(const std::string& path) const { return places_.at(path); }
  double right() const { return right_; }
  double bottom() const { return bottom_; }

  // `pairs`: by path of this network.
  std::string drawn(const std::map<std::string, const Json*>& pairs) const {
    std::string out = "<text x=\"" + number(left_) + "\" y=\"44\" class=\"name\">" +
                      xml_text(name_) + "</text>\n";
    for (const auto& [path, place] : places_) {
      const auto found = pairs.find(path);
      const bool known = found != pairs.end();
      const double score = known ? number_in(*found->second, "score") : 0;
      const bool small = known && flag_in(*found->second, "small");
      out += "<rect x=\"" + number(place.x) + "\" y=\"" + number(place.y) + "\" width=\"" +
             number(kWidth) + "\" height=\"" + number(kHeight) + "\" rx=\"4\" fill=\"" +
             (known ? colour(score) : std::string("#dddddd")) + "\"" +
             (small ? " stroke-dasharray=\"3 2\"" : "") + "><title>" + xml_text(path) +
             (known ? " score " + fixed(score, 4) : std::string(" without a counterpart")) +
             "</title></rect>\n<text x=\"" + number(place.x + 6) + "\" y=\"" +
             number(place.y + 14) + "\">" + xml_text(path) + (known ? " " + fixed(score, 2) : "") +
             "</text>\n<text x=\"" + number(place.x + 6) + "\" y=\"" + number(place.y + 27) +
             "\">" + xml_text(place.label) + "</text>\n";
    }
    return out;
  }

 private:
  double left_, right_ = 0, bottom_ = kTop;
  std::string name_;
  std::map<std::string, Place> places_;
};

std::string arrow(const Grid::Place& from, const Grid::Place& to, double score) {
  const double x0 = from.x + kWidth, y0 = from.y + kHeight / 2, y1 = to.y + kHeight / 2;
  return "<path d=\"M" + number(x0) + " " + number(y0) + " C" + number(x0 + kGap / 2) + " " +
         number(y0) + " " + number(to.x - kGap / 2) + " " + number(y1) + " " + number(to.x - 2) +
         " " + number(y1) + "\" class=\"shift\" marker-end=\"url(#head)\"><title>score " +
         fixed(score, 4) + "</title></path>\n";
}

std::string svg_of(const NamedDna& a, const NamedDna& b, const Json& report) {
  const Grid left(a, kMargin), right(b, left.right() + kGap);
  std::map<std::string, const Json*> of_a, of_b;
  for (const Json& pair : member(report, "layers").as_array()) {
    of_a[text_in(pair, "from")] = &pair;
    of_b[text_in(pair, "to")] = &pair;
  }
  const std::string width = number(right.right() + kMargin),
                    height = number(std::max(left.bottom(), right.bottom()) + kMargin);
  std::string out =
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + width + "\" height=\"" + height +
      "\" viewBox=\"0 0 " + width + " " + height +
      "\">\n<style>text{font:11px sans-serif}.name{font-weight:bold}rect{stroke:#555}"
      ".shift{fill:none;stroke:#2050c0;stroke-width:2}</style>\n"
      "<defs><marker id=\"head\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" "
      "markerHeight=\"7\" orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" fill=\"#2050c0\"/></marker>"
      "</defs>\n<rect width=\"100%\" height=\"100%\" fill=\"white\" stroke=\"none\"/>\n"
      "<text x=\"" +
      number(kMargin) + "\" y=\"22\">similarity " + fixed(number_in(report, "similarity"), 4) +
      ", overlap " + fixed(number_in(report, "overlap"), 4) + "</text>\n";
  out += left.drawn(of_a) + right.drawn(of_b);
  for (const Json& shift : member(report, "shifts").as_array())
    out += arrow(left.at(text_in(shift, "from")), right.at(text_in(shift, "to")),
                 number_in(shift, "score"));
  return out + "</svg>\n";
}

}  // namespace

void write_dna_svg(const std::string& path, const NamedDna& a, const NamedDna& b,
                   const Json& report) {
  const std::string text = svg_of(a, b, report);
  std::FILE* file = std::fopen(path.c_str(), "wb");
  bool good = file && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const int why = errno;
  if (file) good = std::fclose(file) == 0 && good;
  if (!good) throw problem(LOOM_IO, "--svg: " + path + ": " + std::strerror(why), kFailed);
}

}  // namespace loom::cli
