#include "fit/report/report.h"

#include <algorithm>

#include "base/escape.h"
#include "base/json/json_text.h"
#include "base/math/exact_math.h"
#include "fit/rows.h"
#include "fit/text.h"

namespace loom {
namespace {

constexpr std::uint64_t kSeed = 0x7265706f7274;  // "report"
constexpr std::int64_t kShuffles = 5;
// JudgedRows that are shuffled: fewer where there are many columns.
constexpr std::int64_t kMaxShuffled = 2000, kMinShuffled = 100, kMaxRuns = 200000;
constexpr std::size_t kBriefColumns = 5, kBriefSamples = 3, kMaxSamples = 20, kMaxLabels = 20;

// The rows that have a target.
struct JudgedRows {
  std::vector<std::int64_t> samples;
  std::vector<double> x;
  std::vector<float> values;
  std::vector<std::int32_t> classes;
  std::size_t width = 0;
};

JudgedRows rows_of(const DataSource& judged) {
  JudgedRows rows;
  rows.width = static_cast<std::size_t>(judged.form().width);
  Batch batch;
  for (std::int64_t s = 0; s < judged.samples(); ++s) {
    batch.clear();
    judged.append(s, batch);
    if (!batch.classes.empty() && batch.classes[0] == kIgnoredClass) continue;
    rows.samples.push_back(s);
    if (batch.wide_x.empty()) rows.x.insert(rows.x.end(), batch.x.begin(), batch.x.end());
    else rows.x.insert(rows.x.end(), batch.wide_x.begin(), batch.wide_x.end());
    rows.values.insert(rows.values.end(), batch.values.begin(), batch.values.end());
    rows.classes.insert(rows.classes.end(), batch.classes.begin(), batch.classes.end());
  }
  return rows;
}

// The answer to row i, and how far it is off.
Report::Sample judge(const JudgedRows& rows, std::size_t i, std::span<const float> y,
                     const ReportForm& form) {
  Report::Sample sample;
  if (form.labels.empty()) {
    sample.truth = form.value(rows.samples[i], rows.values[i]);
    sample.answer = form.value(rows.samples[i], y[0]);
    sample.error = __builtin_fabs(sample.answer - sample.truth);
  } else {
    const std::vector<double> p = softmax(y);
    sample.truth = rows.classes[i];
    sample.answer = best_class(y);
    // The floor keeps a sure and wrong answer finite.
    sample.error = -exact::log(std::max(p[static_cast<std::size_t>(rows.classes[i])], 1e-30));
  }
  return sample;
}

double mean_error(const JudgedRows& rows, std::size_t n, const std::vector<float>& y,
                  const ReportForm& form) {
  const std::size_t outputs = y.size() / n;
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i)
    sum += judge(rows, i, std::span(y).subspan(i * outputs, outputs), form).error;
  return sum / static_cast<double>(n);
}

// Of each input in turn, what shuffling it costs.
Status shuffle(Session& session, const JudgedRows& rows, const ReportForm& form,
               const std::vector<float>& y, Report& report) {
  const auto inputs = static_cast<std::int64_t>(form.inputs.size());
  const std::int64_t runs = std::max<std::int64_t>(inputs, 1) * kShuffles;
  const std::int64_t fit = std::clamp(kMaxRuns / runs, kMinShuffled, kMaxShuffled);
  report.shuffled_rows = std::min(report.rows, fit);
  const auto n = static_cast<std::size_t>(report.shuffled_rows);
  const std::size_t outputs = y.size() / rows.samples.size();
  const double before =
      mean_error(rows, n, {y.begin(), y.begin() + static_cast<std::ptrdiff_t>(n * outputs)}, form);
  std::size_t first = 0;
  std::vector<double> x;
  std::vector<float> answers;
  for (const ReportForm::Input& input : form.inputs) {
    const auto values = static_cast<std::size_t>(input.values);
    double after = 0;
    for (std::int64_t k = 0; k < kShuffles; ++k) {
      const Permutation order(report.shuffled_rows, kSeed, static_cast<std::uint64_t>(k));
      x.assign(rows.x.begin(), rows.x.begin() + static_cast<std::ptrdiff_t>(n * rows.width));
      for (std::size_t i = 0; i < n; ++i) {
        const auto other = static_cast<std::size_t>(order(static_cast<std::int64_t>(i)));
        std::copy_n(rows.x.begin() + static_cast<std::ptrdiff_t>(other * rows.width + first),
                    values, x.begin() + static_cast<std::ptrdiff_t>(i * rows.width + first));
      }
      LOOM_TRY(run_rows(session, x, report.shuffled_rows, answers));
      after += mean_error(rows, n, answers, form) / static_cast<double>(kShuffles);
    }
    report.columns.push_back({input.name, after - before});
    first += values;
  }
  std::stable_sort(report.columns.begin(), report.columns.end(),
                   [](const auto& a, const auto& b) { return a.harm > b.harm; });
  return {};
}

std::string label_of(const Report& report, double number) {
  return quoted(report.labels[static_cast<std::size_t>(number)]);
}

std::string signed_text(double v) { return (v < 0 ? "" : "+") + significant(v); }

}  // namespace

std::string confusion_text(const std::vector<std::int64_t>& confusion,
                           const std::vector<std::string>& labels) {
  const std::size_t n = labels.size();
  if (n == 0 || n > kMaxLabels || confusion.size() != n * n) return "";
  std::string text = "truth (rows) and answers (columns):\n";
  for (std::size_t t = 0; t < n; ++t) {
    for (std::size_t a = 0; a < n; ++a) {
      const std::string count = std::to_string(confusion[t * n + a]);
      text += std::string(count.size() < 6 ? 6 - count.size() : 1, ' ') + count;
    }
    text += "  " + escaped(labels[t]) + "\n";
  }
  return text;
}

std::string sample_text(const Report& report, const Report::Sample& s) {
  if (report.labels.empty())
    return s.name + ": answered " + significant(s.answer) + ", truth " + significant(s.truth);
  const std::string p = fixed(exact::exp(-s.error), 4),
                    truth = s.name + ": " + label_of(report, s.truth);
  if (s.truth == s.answer) return truth + ", answered rightly at a probability of " + p;
  return truth + " taken for " + label_of(report, s.answer) + ", the truth at a probability of " +
         p;
}

Result<Report> make_report(Session& session, const DataSource& judged, const ReportForm& form) {
  const JudgedRows rows = rows_of(judged);
  Report report;
  report.title = form.title;
  report.labels = form.labels;
  report.rows = static_cast<std::int64_t>(rows.samples.size());
  if (report.rows == 0) return Status(Code::invalid_argument, "report: no row has a target");
  std::vector<float> y;
  LOOM_TRY(run_rows(session, rows.x, report.rows, y));
  const std::size_t outputs = y.size() / rows.samples.size(), classes = form.labels.size();
  report.confusion.resize(classes * classes);
  std::vector<double> errors;
  for (std::size_t i = 0; i < rows.samples.size(); ++i) {
    Report::Sample s = judge(rows, i, std::span(y).subspan(i * outputs, outputs), form);
    s.name = form.name(rows.samples[i]);
    if (classes > 0) {
      ++report.confusion[static_cast<std::size_t>(s.truth) * classes +
                         static_cast<std::size_t>(s.answer)];
      report.right += s.truth == s.answer;
    }
    errors.push_back(s.error);
    report.mean_error += s.error / static_cast<double>(report.rows);
    report.samples.push_back(std::move(s));
  }
  std::sort(errors.begin(), errors.end());
  const auto rank = [&](double share) {
    const auto n = static_cast<double>(errors.size());
    return errors[static_cast<std::size_t>(std::max(share * n + 0.999999, 1.0)) - 1];
  };
  report.half = rank(0.5);
  report.max = rank(0.9);
  report.largest = errors.back();
  std::stable_sort(report.samples.begin(), report.samples.end(),
                   [](const auto& a, const auto& b) { return a.error > b.error; });
  LOOM_TRY(shuffle(session, rows, form, y, report));
  return report;
}

Json Report::to_json() const {
  Json json = Json::object(), list = Json::array(), worst = Json::array();
  for (const Column& c : columns) {
    Json one = Json::object();
    one.set("name", json_text(c.name));
    one.set("harm", c.harm);
    list.push(std::move(one));
  }
  for (std::size_t i = 0; i < std::min(samples.size(), kBriefSamples); ++i) {
    Json one = Json::object();
    one.set("name", samples[i].name);
    one.set("truth", labels.empty() ? Json(samples[i].truth)
                                    : Json(static_cast<std::int64_t>(samples[i].truth)));
    one.set("answer", labels.empty() ? Json(samples[i].answer)
                                     : Json(static_cast<std::int64_t>(samples[i].answer)));
    one.set("error", samples[i].error);
    worst.push(std::move(one));
  }
  json.set("columns", std::move(list));
  json.set("worst", std::move(worst));
  return json;
}

std::string Report::to_text(bool brief) const {
  std::string text;
  if (!brief) {
    text += escaped(title) + "\n" + std::to_string(rows) + " rows that were not learned";
    text += labels.empty() ? ", mean absolute error " + significant(mean_error) + "\n"
                           : ", " + std::to_string(right) + " of them right\n";
    text += "\n" + confusion_text(confusion, labels);
  }
  if (labels.empty())
    text += "errors: half of them up to " + significant(half) + ", nine of ten up to " +
            significant(max) + ", the largest " + significant(largest) + "\n";
  const std::size_t listed = brief ? std::min(columns.size(), kBriefColumns) : columns.size();
  text += std::string(brief ? "" : "\n") + "columns, and by how much the " +
          (labels.empty() ? "mean absolute error" : "cross-entropy") +
          " grows where their values are shuffled among " + std::to_string(shuffled_rows) +
          " rows:\n";
  for (std::size_t i = 0; i < listed; ++i)
    text += "  " + signed_text(columns[i].harm) + "  " + escaped(columns[i].name) + "\n";
  if (listed < columns.size())
    text += "  and " + std::to_string(columns.size() - listed) + " more\n";
  text += std::string(brief ? "" : "\n") + "worst:\n";
  for (std::size_t i = 0; i < std::min(samples.size(), brief ? kBriefSamples : kMaxSamples); ++i)
    text += "  " + sample_text(*this, samples[i]) + "\n";
  return text;
}

}  // namespace loom
