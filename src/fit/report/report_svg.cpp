// The report as an image (SVG): sections one below the other, no scripts, no fonts, nothing
// fetched.
#include <algorithm>

#include "base/escape.h"
#include "fit/report/report.h"
#include "fit/text.h"

namespace loom {

namespace {

constexpr double kWidth = 760, kLeft = 20, kLine = 18, kChart = 300;
constexpr std::size_t kMaxBars = 20, kMaxSamples = 10, kMaxLabels = 20, kMaxPoints = 2000,
                      kLongest = 40;

// For XML: what a terminal would obey is spelled out, and what XML would is, too.
std::string xml(std::string_view text) {
  std::string out;
  for (const char c : escaped(text)) {
    if (c == '&') out += "&amp;";
    else if (c == '<') out += "&lt;";
    else if (c == '>') out += "&gt;";
    else if (c == '"') out += "&quot;";
    else out += c;
  }
  return out;
}

// The first characters of a name.
std::string short_name(std::string_view text) {
  std::size_t end = 0;
  for (std::size_t n = 0; end < text.size() && n < kLongest; ++n) do
      ++end;
    while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80);
  return std::string(text.substr(0, end)) + (end < text.size() ? "..." : "");
}

std::string number(double v) { return fixed(v, 1); }

class Drawing {
 public:
  double y = 30;

  void text(double x, double at, std::string_view words, const char* more = "") {
    body_ += "<text x=\"" + number(x) + "\" y=\"" + number(at) + "\"" + more + ">" + xml(words) +
             "</text>\n";
  }
  void line(std::string_view words, const char* more = "") {
    text(kLeft, y, words, more);
    y += kLine;
  }
  void heading(std::string_view words) {
    y += kLine;
    line(words, " font-weight=\"bold\"");
  }
  void box(double x, double at, double width, double height, const std::string& fill) {
    body_ += "<rect x=\"" + number(x) + "\" y=\"" + number(at) + "\" width=\"" + number(width) +
             "\" height=\"" + number(height) + "\" fill=\"" + fill + "\"/>\n";
  }
  void raw(const std::string& element) { body_ += element; }

  std::string finish(std::string_view title) const {
    const std::string w = number(kWidth), h = number(y + kLine);
    return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + w + "\" height=\"" + h +
           "\" viewBox=\"0 0 " + w + " " + h +
           "\" role=\"img\" font-family=\"sans-serif\" font-size=\"13\" fill=\"#222\">\n<title>" +
           xml(title) + "</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n" + body_ +
           "</svg>\n";
  }

 private:
  std::string body_;
};

// White to blue for none to all of a row of the matrix.
std::string shade(std::int64_t n, std::int64_t all) {
  const std::int64_t share = all > 0 ? 255 * n / all : 0;
  return "rgb(" + std::to_string(255 - share * 180 / 255) + "," +
         std::to_string(255 - share * 120 / 255) + ",255)";
}

void draw_confusion(Drawing& p, const Report& r) {
  const std::size_t n = r.labels.size();
  p.heading("Truth (rows) and answers (columns)");
  const double side = std::min(48.0, 420.0 / static_cast<double>(n));
  for (std::size_t t = 0; t < n; ++t) {
    std::int64_t all = 0;
    for (std::size_t a = 0; a < n; ++a) all += r.confusion[t * n + a];
    for (std::size_t a = 0; a < n; ++a) {
      const double x = kLeft + static_cast<double>(a) * side;
      const std::int64_t count = r.confusion[t * n + a];
      p.box(x, p.y, side - 1, side - 1, shade(count, all));
      if (count > 0)
        p.text(x + side / 2, p.y + side / 2 + 4, std::to_string(count), " text-anchor=\"middle\"");
    }
    p.text(kLeft + static_cast<double>(n) * side + 8, p.y + side / 2 + 4, short_name(r.labels[t]));
    p.y += side;
  }
  p.y += kLine;
}

void draw_scatter(Drawing& p, const Report& r) {
  p.heading("Answers (upwards) against truths (to the right)");
  double low = r.samples[0].truth, high = low;
  for (const Report::Sample& s : r.samples) {
    low = std::min({low, s.truth, s.answer});
    high = std::max({high, s.truth, s.answer});
  }
  const double span = high > low ? high - low : 1;
  const auto across = [&](double v) { return kLeft + (v - low) / span * kChart; };
  const auto up = [&](double v) { return p.y + kChart - (v - low) / span * kChart; };
  p.box(kLeft, p.y, kChart, kChart, "#f3f5f8");
  p.raw("<line x1=\"" + number(kLeft) + "\" y1=\"" + number(p.y + kChart) + "\" x2=\"" +
        number(kLeft + kChart) + "\" y2=\"" + number(p.y) + "\" stroke=\"#999\"/>\n");
  const std::size_t stride = (r.samples.size() + kMaxPoints - 1) / kMaxPoints;
  for (std::size_t i = 0; i < r.samples.size(); i += stride)
    p.raw("<circle cx=\"" + number(across(r.samples[i].truth)) + "\" cy=\"" +
          number(up(r.samples[i].answer)) + "\" r=\"2\" fill=\"#3b6fb5\" fill-opacity=\"0.6\"/>\n");
  p.y += kChart + kLine;
  p.line(significant(low) + " to " + significant(high));
}

void draw_columns(Drawing& p, const Report& r) {
  p.heading("Columns: what shuffling their values adds to the " +
            std::string(r.labels.empty() ? "mean absolute error" : "cross-entropy"));
  const double max = r.columns.empty() ? 0 : r.columns[0].harm;
  const std::size_t listed = std::min(r.columns.size(), kMaxBars);
  for (std::size_t i = 0; i < listed; ++i) {
    const double harm = r.columns[i].harm;
    p.box(kLeft, p.y - 12, max > 0 && harm > 0 ? std::max(harm / max * 300, 1.0) : 1.0, 14,
          "#3b6fb5");
    p.text(kLeft + 310, p.y, significant(harm));
    p.text(kLeft + 400, p.y, short_name(r.columns[i].name));
    p.y += kLine;
  }
  if (listed < r.columns.size())
    p.line("and " + std::to_string(r.columns.size() - listed) + " more");
}

}  // namespace

std::string Report::to_svg() const {
  Drawing p;
  p.line(short_name(title), " font-size=\"17\" font-weight=\"bold\"");
  const std::string figure = labels.empty() ? "mean absolute error " + significant(mean_error)
                                            : std::to_string(right) + " of them right";
  p.line(std::to_string(rows) + " rows that were not learned, " + figure);
  if (labels.empty())
    p.line("errors: half of them up to " + significant(half) + ", nine of ten up to " +
           significant(max) + ", the largest " + significant(largest));
  if (labels.empty()) draw_scatter(p, *this);
  else if (labels.size() <= kMaxLabels) draw_confusion(p, *this);
  draw_columns(p, *this);
  p.heading("Worst");
  for (std::size_t i = 0; i < std::min(samples.size(), kMaxSamples); ++i)
    p.line(sample_text(*this, samples[i]));
  return p.finish(title);
}

}  // namespace loom
