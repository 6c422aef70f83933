// A table that is a time series: which of its columns are it, and what one step is learned from.
#include <algorithm>

#include "base/escape.h"
#include "base/math/exact_math.h"
#include "base/message.h"
#include "train/auto_config/parts.h"
#include "train/data/tables/csv.h"

namespace loom::choosing {
namespace {

using Calendar = SeriesForm::Calendar;
using Reference = SeriesForm::Reference;
using Unit = Steps::Unit;
constexpr std::int64_t kMinSteps = 20, kMaxTried = 200, kMaxFitted = 5000, kMaxSeason = 60;
constexpr double kRidge = 0.01;  // of the variance of an input
// Logarithms where the spread grows with the level, which then changes by half at least.
constexpr double kSteadier = 0.9, kLevels = 1.5;

// Names of columns of years, which are plain numbers.
bool is_year_name(std::string_view name) {
  std::string lower;
  for (const char c : name) lower += static_cast<char>(c >= 'A' && c <= 'Z' ? c | 32 : c);
  return lower == "year" || lower == "years" || lower == "date" || lower == "time" ||
         lower == "jahr";
}

// `digits`: also numbers that could be anything else, as 1949.
bool is_date_column(const Table& table, std::size_t column, bool digits) {
  std::vector<std::string_view> cells;
  for (const auto& row : table.rows) cells.push_back(row[column]);
  bool ambiguous = false;
  if (!order_of(cells, &ambiguous)) return false;
  // YYYYMMDD, or years by their name.
  return digits || !decimal_of(table, column) || trimmed(cells[0]).size() == 8 ||
         is_year_name(table.names[column]);
}

// Dates and target; an empty date: there is no series, and `why` says what lacks.
SeriesColumns find_columns(const Table& table, const AutoConfigOptions& options, bool asked,
                           std::string& why) {
  SeriesColumns columns;
  std::vector<std::string> dates, numbers;
  columns.target = options.target.empty() ? table.names.back() : options.target;
  for (std::size_t c = 0; c < table.names.size(); ++c) {
    if (is_date_column(table, c, false)) dates.push_back(table.names[c]);
    else if (decimal_of(table, c)) numbers.push_back(table.names[c]);
  }
  const auto is_number = [&](const std::string& name) {
    return std::find(numbers.begin(), numbers.end(), name) != numbers.end();
  };
  // The dates may stand last.
  if (options.target.empty() && numbers.size() == 1 && !is_number(columns.target))
    columns.target = numbers[0];
  std::erase(dates, columns.target);
  for (std::size_t c = 0; asked && dates.empty() && c < table.names.size(); ++c)
    if (table.names[c] != columns.target && is_date_column(table, c, true))
      dates.push_back(table.names[c]);
  if (dates.size() != 1)
    why = dates.empty() ? "no column holds a date in every row"
                        : "the columns " + first_of(dates) + " hold dates";
  else if (!is_number(columns.target))
    why = "the target " + quoted(columns.target) + " is no column of numbers";
  else if (std::count(table.names.begin(), table.names.end(), columns.target) > 1)
    why = "two columns are called " + quoted(columns.target);
  else columns.date = dates[0];
  const auto at = std::find(table.names.begin(), table.names.end(), columns.target);
  if (at != table.names.end())
    columns.decimal =
        decimal_of(table, static_cast<std::size_t>(at - table.names.begin())).value_or('.');
  return columns;
}

struct Moments {
  double mean = 0, deviation = 0;
};
Moments moments_of(std::span<const double> values) {
  Moments m;
  const auto n = static_cast<double>(values.size());
  for (const double v : values) m.mean += (v - values[0]) / n;
  for (const double v : values)
    m.deviation += (v - values[0] - m.mean) * (v - values[0] - m.mean) / n;
  return {m.mean + values[0], exact::sqrt(m.deviation)};
}

// Guerrero's criterion, for the two powers 1 and 0: of windows of a season, the ratio of spread to
// level varies less than the spread does.
bool wants_logarithm(std::span<const double> values, std::int64_t season) {
  const auto width = static_cast<std::size_t>(season >= 3 ? season : 4);
  std::vector<double> spreads, ratios, levels;
  for (std::size_t i = 0; i + width <= values.size(); i += width) {
    const Moments m = moments_of(values.subspan(i, width));
    if (*std::min_element(values.begin() + static_cast<std::ptrdiff_t>(i),
                          values.begin() + static_cast<std::ptrdiff_t>(i + width)) <= 0)
      return false;
    spreads.push_back(m.deviation);
    ratios.push_back(m.deviation / m.mean);
    levels.push_back(m.mean);
  }
  if (spreads.size() < 3) return false;
  const auto [low, high] = std::minmax_element(levels.begin(), levels.end());
  const Moments spread = moments_of(spreads), ratio = moments_of(ratios);
  return *high > kLevels * *low && spread.mean > 0 &&
         ratio.deviation * spread.mean < kSteadier * spread.deviation * ratio.mean;
}

// What of the calendar came twice in what is learned.
std::vector<Calendar> calendar_of(const Steps& steps, std::int64_t learned) {
  constexpr std::int64_t kDay = 86400;
  std::vector<Calendar> list;
  if (steps.unit == Unit::month)
    return steps.season() > 1 && learned >= 2 * steps.season() ? std::vector{Calendar::month}
                                                               : list;
  const bool parts = steps.unit == Unit::second && steps.count < kDay;
  const bool days = steps.unit != Unit::second ? steps.count == 1 : steps.count <= kDay;
  const std::int64_t a_day = parts ? kDay / steps.count : 1;
  const std::int64_t a_year = steps.season() == 52          ? 52
                              : steps.unit == Unit::weekday ? 261
                                                            : 365 * a_day;
  if (parts && learned >= 2 * a_day) list.push_back(Calendar::hour);
  if (days && learned >= 14 * a_day) list.push_back(Calendar::weekday);
  if ((days || steps.season() == 52) && learned >= 2 * a_year) list.push_back(Calendar::year);
  return list;
}

// A line through standardized inputs by least squares, with a little weight on small weights.
struct Line {
  std::vector<double> mean, scale, weight;
  double offset = 0;
};

// Solves a x = b in place, a symmetric and positive definite, by Cholesky.
void solve(std::vector<double>& a, std::vector<double>& b) {
  const std::size_t p = b.size();
  for (std::size_t i = 0; i < p; ++i)
    for (std::size_t j = 0; j <= i; ++j) {
      double v = a[i * p + j];
      for (std::size_t k = 0; k < j; ++k) v -= a[i * p + k] * a[j * p + k];
      a[i * p + j] = i == j ? exact::sqrt(v) : v / a[j * p + j];
    }
  for (std::size_t i = 0; i < p; ++i) {
    for (std::size_t k = 0; k < i; ++k) b[i] -= a[i * p + k] * b[k];
    b[i] /= a[i * p + i];
  }
  for (std::size_t i = p; i-- > 0;) {
    for (std::size_t k = i + 1; k < p; ++k) b[i] -= a[k * p + i] * b[k];
    b[i] /= a[i * p + i];
  }
}

Line fit(const std::vector<float>& x, const std::vector<float>& y) {
  const std::size_t n = y.size(), p = x.size() / n;
  Line line;
  std::vector<double> column(n), gram(p * p), z(n * p);
  for (std::size_t c = 0; c < p; ++c) {
    for (std::size_t r = 0; r < n; ++r) column[r] = static_cast<double>(x[r * p + c]);
    const Moments m = moments_of(column);
    line.mean.push_back(m.mean);
    line.scale.push_back(m.deviation > 1e-12 ? 1 / m.deviation : 0);
    for (std::size_t r = 0; r < n; ++r) z[r * p + c] = (column[r] - m.mean) * line.scale[c];
  }
  for (const float v : y) line.offset += static_cast<double>(v) / static_cast<double>(n);
  line.weight.assign(p, 0.0);
  for (std::size_t r = 0; r < n; ++r)
    for (std::size_t i = 0; i < p; ++i) {
      for (std::size_t j = 0; j <= i; ++j) gram[i * p + j] += z[r * p + i] * z[r * p + j];
      line.weight[i] += z[r * p + i] * (static_cast<double>(y[r]) - line.offset);
    }
  for (std::size_t i = 0; i < p; ++i) gram[i * p + i] += kRidge * static_cast<double>(n);
  solve(gram, line.weight);
  return line;
}

Status answer(const Line& line, const std::vector<float>& x, std::int64_t rows,
              std::vector<float>& y) {
  const std::size_t p = line.weight.size();
  y.assign(static_cast<std::size_t>(rows), 0.0f);
  for (std::size_t r = 0; r < y.size(); ++r) {
    double v = line.offset;
    for (std::size_t c = 0; c < p; ++c)
      v += (static_cast<double>(x[r * p + c]) - line.mean[c]) * line.scale[c] * line.weight[c];
    y[r] = static_cast<float>(v);
  }
  return {};
}

std::vector<double> z_of(const SeriesForm& form, const SeriesValues& series) {
  std::vector<double> z;
  for (const double v : series.values) z.push_back(form.to_z(v));
  return z;
}

// Rows of the places begin..end-1 whose values are not made up.
void rows_of(const SeriesForm& form, const SeriesValues& series, std::int64_t begin,
             std::int64_t end, std::vector<float>& x, std::vector<float>& y,
             std::vector<std::int64_t>* places = nullptr) {
  const std::vector<double> z = z_of(form, series);
  for (std::int64_t p = std::max(begin, form.before()); p < end; ++p) {
    if (series.filled[static_cast<std::size_t>(p)]) continue;
    const auto known = std::span(z).first(static_cast<std::size_t>(p));
    form.row(known, series.begin + p, x);
    y.push_back(static_cast<float>(z[static_cast<std::size_t>(p)] - form.base(known)));
    if (places) places->push_back(p);
  }
}

// The mean error of forecasts in begin..end-1 of a line that is fitted to what is before; below 0:
// there is too little to fit.
Result<double> try_form(SeriesForm form, const SeriesValues& series, std::int64_t begin,
                        std::int64_t end, std::int64_t horizon) {
  std::vector<float> x, y;
  rows_of(form, series, std::max<std::int64_t>(begin - kMaxFitted, 0), begin, x, y);
  if (static_cast<std::int64_t>(y.size()) < 3 * form.width()) return -1.0;
  const Line line = fit(x, y);
  const std::int64_t stride = std::max<std::int64_t>((end - begin) / kMaxTried, 1);
  std::vector<std::int64_t> origins;
  for (std::int64_t o = begin; o < end; o += stride) origins.push_back(o);
  LOOM_ASSIGN(const auto forecasts,
              roll(form, z_of(form, series), origins, horizon,
                   [&](const std::vector<float>& in, std::int64_t rows, std::vector<float>& out) {
                     return answer(line, in, rows, out);
                   }));
  double sum = 0, count = 0;
  for (std::size_t i = 0; i < origins.size(); ++i)
    for (std::int64_t h = 0; h < horizon && origins[i] + h < end; ++h) {
      const auto place = static_cast<std::size_t>(origins[i] + h);
      sum += __builtin_fabs(form.to_value(forecasts[i][static_cast<std::size_t>(h)]) -
                            series.values[place]);
      count += 1;
    }
  return sum - sum == 0 ? sum / count : -1.0;
}

std::string describe(const SeriesForm& form) {
  std::string text = form.logarithm ? "logarithms, " : "";
  if (form.reference != Reference::none)
    text += "as differences from the value " +
            (form.reference == Reference::last ? std::string("before")
                                               : count_of(form.season, "step") + " before") +
            ", ";
  text += "from the last " + count_of(form.lags, "value");
  for (const auto& [name, values] : form.inputs())
    if (!name.ends_with(" before")) text += ", " + name;
  return text;
}

// All that are tried. Differences know of a trend by themselves.
std::vector<SeriesForm> forms_of(const SeriesForm& form, const std::vector<std::int64_t>& lags,
                                 const std::vector<Calendar>& calendar) {
  std::vector<SeriesForm> list;
  for (const Reference reference : {Reference::none, Reference::last, Reference::season})
    for (const std::int64_t l : lags)
      for (const bool dated : {false, true})
        for (const bool trend : {false, true}) {
          if ((dated && calendar.empty()) || (trend && reference != Reference::none) ||
              (reference == Reference::season && form.season < 2))
            continue;
          list.push_back(form);
          list.back().reference = reference;
          list.back().lags = l;
          if (dated) list.back().calendar = calendar;
          if (trend) list.back().calendar.push_back(Calendar::trend);
        }
  return list;
}

// The form of which a line forecasts the last two fifths of what is learned best.
Status choose_form(SeriesForm& form, const SeriesValues& series, std::int64_t learned,
                   std::int64_t horizon, std::string& decisions) {
  const auto known = std::span(series.values).first(static_cast<std::size_t>(learned));
  form.logarithm = wants_logarithm(known, form.season) &&
                   *std::min_element(series.values.begin(), series.values.end()) > 0;
  std::vector<double> scaled;
  for (const double v : known) scaled.push_back(form.to_z(v));
  const Moments m = moments_of(scaled);
  form.center = m.mean;
  form.scale = m.deviation > 0 ? m.deviation : 1;
  const std::int64_t begin = learned * 3 / 5;
  std::vector<std::int64_t> lags = {3, 6, 48};
  if (form.season > 0 && form.season <= kMaxSeason)
    lags.insert(lags.end(), {form.season + 2, 2 * form.season + 1});
  else lags.insert(lags.end(), {12, 24});
  double best = -1;
  SeriesForm found = form;
  for (SeriesForm& one : forms_of(form, lags, calendar_of(form.steps, learned))) {
    if (one.before() >= begin) continue;
    LOOM_ASSIGN(const double error,
                try_form(one, series, begin, learned, std::min(horizon, learned - begin)));
    if (error < 0 || (best >= 0 && error >= best)) continue;
    best = error;
    found = std::move(one);
  }
  if (best < 0) return Status(Code::invalid_argument, "is too short to be learned as a series");
  form = std::move(found);
  decisions = "inputs: " + describe(form) +
              "; of what was tried, this errs least where the steps from " +
              form.steps.at(begin).text() + " to " + form.steps.at(learned - 1).text() +
              " are forecast from those before";
  return {};
}

// The line through the last kMaxFitted of the first rows: weights of the inputs as they are, and
// what it adds to them.
std::vector<double> line_of(const std::vector<float>& x, const std::vector<float>& y,
                            std::size_t rows) {
  const std::size_t width = x.size() / y.size(),
                    begin = rows - std::min<std::size_t>(rows, kMaxFitted);
  const auto part = [&](const std::vector<float>& of, std::size_t values) {
    const auto at = [&](std::size_t row) {
      return of.begin() + static_cast<std::ptrdiff_t>(row * values);
    };
    return std::vector<float>(at(begin), at(rows));
  };
  const Line line = fit(part(x, width), part(y, 1));
  std::vector<double> weights;
  double offset = line.offset;
  for (std::size_t c = 0; c < line.weight.size(); ++c) {
    weights.push_back(line.weight[c] * line.scale[c]);
    offset -= weights[c] * line.mean[c];
  }
  weights.push_back(offset);
  return weights;
}

// Keeps the last values, from which forecasts go on.
void end_at(SeriesForm& form, const SeriesValues& series) {
  form.end = series.begin + static_cast<std::int64_t>(series.values.size());
  form.history.assign(series.values.end() - static_cast<std::ptrdiff_t>(form.before()),
                      series.values.end());
}

Status plan_series(AutoConfig& t, const AutoConfigOptions& options, const SeriesColumns& columns,
                   SeriesValues series) {
  const auto n = static_cast<std::int64_t>(series.values.size());
  const std::int64_t held = std::max<std::int64_t>(
                         static_cast<std::int64_t>(kSeriesHeldBack * static_cast<double>(n)), 1),
                     learned = n - held;
  SeriesForm form;
  form.columns = columns;
  form.steps = series.steps;
  form.order = series.order;
  form.season = series.steps.season();
  const std::int64_t horizon = std::min(options.horizon, held);
  std::string decisions;
  LOOM_TRY(choose_form(form, series, learned, horizon, decisions).at(options.data));
  end_at(form, series);
  std::vector<float> x, y;
  std::vector<std::int64_t> places, before, after;
  rows_of(form, series, 0, n, x, y, &places);
  for (std::size_t i = 0; i < places.size(); ++i)
    (places[i] < learned ? before : after).push_back(static_cast<std::int64_t>(i));
  if (before.empty() || after.empty())
    return bad(options.data, "is too short to be learned as a series");
  if (options.network.empty()) t.line = line_of(x, y, before.size());
  LOOM_ASSIGN(t.whole, ArrayData::create(std::move(x), form.width(), std::move(y), 1));
  t.split.learned = std::make_unique<Subset>(*t.whole, before);
  t.split.held_back = std::make_unique<Subset>(*t.whole, after);
  t.rows = std::move(places);
  t.inputs = form.to_json();
  const Steps& s = form.steps;
  t.decisions.push_back("data: a time series: " + quoted(columns.target) + " in " + s.text() +
                        " from " + s.at(0).text() + " to " + s.at(n - 1).text() + ", " +
                        std::to_string(n) +
                        " values, forecast from its own past (--no-series: the table row by row)");
  for (std::string& note : series.notes) t.decisions.push_back(std::move(note));
  t.decisions.push_back(std::move(decisions));
  t.decisions.push_back(
      "split: " + std::to_string(learned) + " steps to learn from, the last " +
      std::to_string(held) + ", from " + s.at(learned).text() + " on, held back to judge by" +
      (horizon < options.horizon ? ", by forecasts of up to " + count_of(horizon, "step") : ""));
  Answers answers{.classes = false,
                  .outputs = 1,
                  .measured = std::vector<bool>(static_cast<std::size_t>(form.width()), true),
                  .series = true};
  t.series.emplace(SeriesConfig{std::move(form), std::move(series), learned, horizon});
  return complete(t, options, std::move(answers));
}

}  // namespace

Result<bool> choose_series(AutoConfig& t, const AutoConfigOptions& options, const Table& table,
                           std::vector<std::string>& notes) {
  const bool asked = options.series == "yes";
  if (options.series == "no" || (options.task == "classes" && !asked)) return false;
  if (options.task == "classes") return bad(options.data, "a time series has numbers, no classes");
  if (options.horizon < 1 || options.horizon > kMaxForecasts)
    return bad(options.data, "a horizon is 1 to " + std::to_string(kMaxForecasts) + " steps, got " +
                                 std::to_string(options.horizon));
  std::string why;
  const SeriesColumns columns = find_columns(table, options, asked, why);
  if (columns.date.empty()) {
    if (asked) return bad(options.data, "is no time series: " + why);
    return false;
  }
  auto series = read_series(table, columns, options.data);
  if (series.ok() && static_cast<std::int64_t>(series->values.size()) < kMinSteps)
    series =
        bad(options.data, "a time series has " + std::to_string(kMinSteps) +
                              " steps or more, this one " + std::to_string(series->values.size()));
  if (!series.ok()) {
    if (asked) return series.status();
    notes.push_back("no time series: " + series.status().message());
    return false;
  }
  if (table.names.size() != 2 && !asked) {
    notes.push_back("the dates of " + quoted(columns.date) + " are " + series->steps.text() +
                    ": --series would forecast " + quoted(columns.target) + " from its own past");
    return false;
  }
  if (!options.test.empty())
    return bad(options.data,
               "a time series is judged by its last fifth: leave --test out, or learn the table "
               "row by row with --no-series");
  std::vector<std::string> others;
  for (const std::string& name : table.names)
    if (name != columns.date && name != columns.target) others.push_back(name);
  if (!others.empty())
    t.decisions.push_back("left out: " + first_of(others) +
                          ": a series is forecast from its own past");
  LOOM_TRY(plan_series(t, options, columns, std::move(*series)));
  return true;
}

namespace {

// The table of another file, with places counted from the first date of training.
Result<SeriesValues> read_again(const SeriesForm& form, const std::string& file,
                                std::vector<std::string>& decisions) {
  LOOM_ASSIGN(const Table table, open_table(file, decisions));
  SeriesValues known;
  known.steps = form.steps;
  known.order = form.order;
  LOOM_ASSIGN(SeriesValues series, read_series(table, form.columns, file, &known));
  decisions.insert(decisions.end(), series.notes.begin(), series.notes.end());
  const auto n = static_cast<std::int64_t>(series.values.size());
  if (n < form.before())
    return bad(file, "has " + count_of(n, "step") + ", a forecast looks back on " +
                         std::to_string(form.before()));
  for (std::int64_t i = 0; i < n && form.logarithm; ++i)
    if (!(series.values[static_cast<std::size_t>(i)] > 0))
      return bad(file, series.steps.at(series.begin + i).text() +
                           " is not above 0, and the network learned logarithms");
  return series;
}

}  // namespace

Result<RawRows> read_series_rows(const Json& inputs, std::int64_t width, const std::string& file) {
  RawRows raw;
  LOOM_ASSIGN(const SeriesForm form, SeriesForm::from_json(inputs));
  if (form.width() != width)
    return Status(Code::corrupt, message("inputs: the series has rows of ", form.width(),
                                         " values, the network takes ", width));
  LOOM_ASSIGN(const SeriesValues series, read_again(form, file, raw.decisions));
  std::vector<float> y;
  rows_of(form, series, 0, static_cast<std::int64_t>(series.values.size()), raw.x, y);
  if (y.empty()) return bad(file, "has no step that can be judged");
  raw.rows = static_cast<std::int64_t>(y.size());
  raw.decisions.push_back(
      "a time series: each row is one step ahead, in the scale that the network learned");
  LOOM_ASSIGN(raw.judged, ArrayData::create(raw.x, width, std::move(y), 1));
  return raw;
}

}  // namespace loom::choosing

namespace loom {

Result<SeriesForm> continue_series(const Json& inputs, const std::string& file,
                                   std::vector<std::string>& decisions) {
  LOOM_ASSIGN(SeriesForm form, SeriesForm::from_json(inputs));
  LOOM_ASSIGN(const SeriesValues series, choosing::read_again(form, file, decisions));
  choosing::end_at(form, series);
  return form;
}

}  // namespace loom
