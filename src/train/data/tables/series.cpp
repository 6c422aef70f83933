#include "train/data/tables/series.h"

#include <algorithm>

#include "base/escape.h"
#include "base/math/exact_math.h"
#include "base/message.h"

namespace loom {
namespace {

using Calendar = SeriesForm::Calendar;
using Reference = SeriesForm::Reference;
constexpr std::string_view kUnits[] = {"month", "day", "weekday", "second"};
constexpr std::string_view kPrecisions[] = {"year", "quarter", "month", "day", "second"};
constexpr std::string_view kReferences[] = {"none", "last", "season"};
constexpr std::string_view kCalendars[] = {"month", "weekday", "hour", "year", "trend"};
constexpr std::int64_t kMaxLags = 4096, kMaxOrigins = 2000;
constexpr int kYearWaves = 3;
constexpr std::size_t kFewest = 10;  // errors that make an interval

std::int64_t inputs_of(Calendar c) {
  return c == Calendar::month     ? 12
         : c == Calendar::weekday ? 7
         : c == Calendar::hour    ? 24
         : c == Calendar::trend   ? 1
                                  : 2 * kYearWaves;
}

void append_calendar(Calendar c, const Moment& m, std::int64_t place, std::vector<float>& x) {
  // Thousands of steps: small, so that f32 tells neighbors apart.
  if (c == Calendar::trend)
    return x.push_back(static_cast<float>(static_cast<double>(place) / 1000));
  if (c == Calendar::year) {
    const double angle = 6.283185307179586 * static_cast<double>(m.days()) / 365.2425;
    for (int k = 1; k <= kYearWaves; ++k) {
      x.push_back(static_cast<float>(exact::sin(k * angle)));
      x.push_back(static_cast<float>(exact::cos(k * angle)));
    }
    return;
  }
  const std::int64_t now = c == Calendar::month     ? m.month - 1
                           : c == Calendar::weekday ? m.weekday()
                                                    : m.second / 3600;
  for (std::int64_t i = 0; i < inputs_of(c); ++i) x.push_back(i == now ? 1.0f : 0.0f);
}

// The place of a name in a list, which the file must have.
template <class E, std::size_t n>
Result<E> one_of(const Json& json, std::string_view key, const std::string_view (&names)[n]) {
  LOOM_ASSIGN(const std::string text, json.get_string(key, ""));
  const auto found = std::find(std::begin(names), std::end(names), text);
  if (found == std::end(names))
    return Status(Code::corrupt, message("inputs: series: \"", key, "\" is ", quoted(text)));
  return static_cast<E>(found - std::begin(names));
}

Json list_of(const std::vector<double>& values) {
  Json list = Json::array();
  for (const double v : values) list.push(v);
  return list;
}

Result<std::vector<double>> numbers_of(const Json& json, std::string_view key) {
  std::vector<double> values;
  const Json* list = json.find(key);
  const auto bad =
      Status(Code::corrupt, message("inputs: series: \"", key, "\" is no list of numbers"));
  if (!list || !list->is_array()) return bad;
  for (const Json& v : list->as_array()) {
    if (!v.is_number()) return bad;
    values.push_back(v.as_number());
  }
  return values;
}

// The smallest of the absolute errors that no more than a share of them exceed: of m errors that of
// rank ceil(share (m + 1)), the largest where there are fewer.
double quantile(std::vector<double> errors, double share) {
  std::sort(errors.begin(), errors.end());
  const auto rank =
      static_cast<std::size_t>(share * static_cast<double>(errors.size() + 1) + 0.999999);
  return errors[std::min(rank, errors.size()) - 1];
}

// Half of the interval h steps (from 0) ahead; beyond what was judged it grows as a random walk's.
double half_at(const std::vector<double>& half, std::size_t h) {
  if (h < half.size()) return half[h];
  return half.back() * exact::sqrt(static_cast<double>(h + 1) / static_cast<double>(half.size()));
}

}  // namespace

double SeriesForm::to_z(double value) const {
  return ((logarithm ? exact::log(value) : value) - center) / scale;
}
double SeriesForm::to_value(double z) const {
  const double v = z * scale + center;
  return logarithm ? exact::exp(v) : v;
}

std::int64_t SeriesForm::before() const {
  return std::max<std::int64_t>(reference == Reference::season ? lags + season : lags, 1);
}

std::vector<std::pair<std::string, std::int64_t>> SeriesForm::inputs() const {
  constexpr std::string_view kNames[] = {"the month", "the weekday", "the hour",
                                         "the time of the year", "the step's number"};
  std::vector<std::pair<std::string, std::int64_t>> list;
  for (std::int64_t k = reference == Reference::last ? 2 : 1; k <= lags; ++k)
    list.emplace_back("the value " + std::to_string(k) + (k == 1 ? " step" : " steps") + " before",
                      1);
  for (const Calendar c : calendar)
    list.emplace_back(kNames[static_cast<std::size_t>(c)], inputs_of(c));
  return list;
}

std::int64_t SeriesForm::width() const {
  std::int64_t width = 0;
  for (const auto& [name, values] : inputs()) width += values;
  return width;
}

double SeriesForm::base(std::span<const double> z) const {
  if (reference == Reference::none) return 0;
  return z[z.size() - static_cast<std::size_t>(reference == Reference::last ? 1 : season)];
}

void SeriesForm::row(std::span<const double> z, std::int64_t place, std::vector<float>& x) const {
  const auto back = [&](std::int64_t k) { return z[z.size() - static_cast<std::size_t>(k)]; };
  for (std::int64_t k = reference == Reference::last ? 2 : 1; k <= lags; ++k) {
    const double less = reference == Reference::last     ? back(1)
                        : reference == Reference::season ? back(k + season)
                                                         : 0;
    x.push_back(static_cast<float>(back(k) - less));
  }
  const Moment moment = steps.at(place);
  for (const Calendar c : calendar) append_calendar(c, moment, place, x);
}

Json SeriesForm::to_json() const {
  Json json = Json::object(), all = Json::object(), names = Json::array();
  json.set("date", columns.date);
  json.set("target", columns.target);
  if (columns.decimal != '.') json.set("decimal", std::string(1, columns.decimal));
  json.set("order", kDateOrders[static_cast<std::size_t>(order)]);
  json.set("unit", kUnits[static_cast<std::size_t>(steps.unit)]);
  json.set("count", steps.count);
  json.set("first", steps.first);
  json.set("day", steps.day);
  json.set("second", steps.second);
  json.set("precision", kPrecisions[static_cast<std::size_t>(steps.precision)]);
  json.set("logarithm", logarithm);
  json.set("center", center);
  json.set("scale", scale);
  json.set("reference", kReferences[static_cast<std::size_t>(reference)]);
  json.set("lags", lags);
  json.set("season", season);
  for (const Calendar c : calendar) names.push(kCalendars[static_cast<std::size_t>(c)]);
  json.set("calendar", std::move(names));
  json.set("end", end);
  json.set("history", list_of(history));
  json.set("half80", list_of(half80));
  json.set("half95", list_of(half95));
  all.set("series", std::move(json));
  return all;
}

Result<SeriesForm> SeriesForm::from_json(const Json& all) {
  const auto bad = [](const std::string& what) {
    return Status(Code::corrupt, message("inputs: series: ", what));
  };
  const Json* found = all.find("series");
  if (!found || !found->is_object()) return bad("is no object");
  const Json& json = *found;
  SeriesForm f;
  LOOM_ASSIGN(f.columns.date, json.get_string("date", ""));
  LOOM_ASSIGN(f.columns.target, json.get_string("target", ""));
  LOOM_ASSIGN(const std::string decimal, json.get_string("decimal", "."));
  if (decimal != "." && decimal != ",") return bad(message("\"decimal\" is ", quoted(decimal)));
  f.columns.decimal = decimal[0];
  LOOM_ASSIGN(f.order, one_of<DateOrder>(json, "order", kDateOrders));
  LOOM_ASSIGN(f.steps.unit, one_of<Steps::Unit>(json, "unit", kUnits));
  LOOM_ASSIGN(f.steps.precision, one_of<Moment::Precision>(json, "precision", kPrecisions));
  LOOM_ASSIGN(f.steps.count, json.get_integer("count", 1));
  LOOM_ASSIGN(f.steps.first, json.get_integer("first", 0));
  LOOM_ASSIGN(const std::int64_t day, json.get_integer("day", 1));
  LOOM_ASSIGN(f.steps.second, json.get_integer("second", 0));
  f.steps.day = static_cast<int>(std::clamp<std::int64_t>(day, 1, 31));
  LOOM_ASSIGN(f.logarithm, json.get_bool("logarithm", false));
  LOOM_ASSIGN(f.center, json.get_number("center", 0));
  LOOM_ASSIGN(f.scale, json.get_number("scale", 1));
  LOOM_ASSIGN(f.reference, one_of<Reference>(json, "reference", kReferences));
  LOOM_ASSIGN(f.lags, json.get_integer("lags", 0));
  LOOM_ASSIGN(f.season, json.get_integer("season", 0));
  LOOM_ASSIGN(f.end, json.get_integer("end", 0));
  LOOM_ASSIGN(f.history, numbers_of(json, "history"));
  LOOM_ASSIGN(f.half80, numbers_of(json, "half80"));
  LOOM_ASSIGN(f.half95, numbers_of(json, "half95"));
  const Json* names = json.find("calendar");
  if (!names || !names->is_array() || names->as_array().size() > std::size(kCalendars))
    return bad("\"calendar\" is no list");
  for (const Json& name : names->as_array()) {
    Json one = Json::object();
    one.set("calendar", name);
    LOOM_ASSIGN(const Calendar c, one_of<Calendar>(one, "calendar", kCalendars));
    f.calendar.push_back(c);
  }
  constexpr std::int64_t kFar = std::int64_t{1} << 40, kLargestStep = std::int64_t{1} << 31;
  constexpr std::int64_t kLongest = std::int64_t{1} << 24;
  const auto within = [](std::int64_t v, std::int64_t min, std::int64_t max) {
    return v >= min && v <= max;
  };
  const bool right = within(f.lags, f.reference == Reference::last ? 2 : 1, kMaxLags) &&
                     within(f.season, f.reference == Reference::season ? 1 : 0, kMaxLags) &&
                     within(f.steps.count, 1, kLargestStep) && within(f.steps.first, -kFar, kFar) &&
                     within(f.end, 0, kLongest) && f.scale > 0 && f.scale - f.scale == 0 &&
                     f.half80.size() == f.half95.size() &&
                     f.history.size() == static_cast<std::size_t>(f.before());
  if (!right) return bad("its numbers do not fit together");
  return f;
}

Result<std::vector<std::vector<double>>> roll(const SeriesForm& form, const std::vector<double>& z,
                                              const std::vector<std::int64_t>& origins,
                                              std::int64_t horizon, const SeriesNetwork& network,
                                              std::int64_t begin) {
  const std::int64_t before = form.before();
  std::vector<std::vector<double>> known;  // what each origin sees, and then its forecasts
  for (const std::int64_t o : origins) known.emplace_back(z.begin() + (o - before), z.begin() + o);
  std::vector<float> x, y;
  for (std::int64_t h = 0; h < horizon; ++h) {
    x.clear();
    for (std::size_t i = 0; i < origins.size(); ++i) form.row(known[i], begin + origins[i] + h, x);
    LOOM_TRY(network(x, static_cast<std::int64_t>(origins.size()), y));
    for (std::size_t i = 0; i < origins.size(); ++i)
      known[i].push_back(form.base(known[i]) + static_cast<double>(y[i]));
  }
  for (std::vector<double>& list : known) list.erase(list.begin(), list.begin() + before);
  return known;
}

Result<SeriesJudgment> judge_series(SeriesForm& form, const SeriesValues& series,
                                    std::int64_t begin, std::int64_t horizon,
                                    const SeriesNetwork& network) {
  const auto n = static_cast<std::int64_t>(series.values.size());
  std::vector<double> z;
  std::vector<std::int64_t> origins;
  for (const double v : series.values) z.push_back(form.to_z(v));
  const std::int64_t stride =
      std::max<std::int64_t>((n - begin + kMaxOrigins - 1) / kMaxOrigins, 1);
  for (std::int64_t o = std::max(begin, form.before()); o < n; o += stride) origins.push_back(o);
  SeriesJudgment judgment;
  judgment.origins = static_cast<std::int64_t>(origins.size());
  LOOM_ASSIGN(const auto forecasts, roll(form, z, origins, horizon, network));
  std::vector<std::vector<double>> errors(static_cast<std::size_t>(horizon));
  const std::int64_t period = std::max<std::int64_t>(form.season, 1);
  for (std::size_t i = 0; i < origins.size(); ++i)
    for (std::int64_t h = 0; h < horizon && origins[i] + h < n; ++h) {
      const std::int64_t at = origins[i] + h;
      const auto place = static_cast<std::size_t>(at);
      if (series.filled[place]) continue;
      const double z_hat = forecasts[i][static_cast<std::size_t>(h)], truth = series.values[place];
      errors[static_cast<std::size_t>(h)].push_back(__builtin_fabs(z_hat - z[place]));
      judgment.mae += __builtin_fabs(form.to_value(z_hat) - truth);
      // A whole number of periods before it, and before the origin.
      const std::int64_t naive = std::max<std::int64_t>(at - (h / period + 1) * period, 0);
      judgment.naive += __builtin_fabs(series.values[static_cast<std::size_t>(naive)] - truth);
      ++judgment.forecasts;
    }
  if (judgment.forecasts == 0)
    return Status(Code::invalid_argument, "no value that was held back can be judged");
  judgment.mae /= static_cast<double>(judgment.forecasts);
  judgment.naive /= static_cast<double>(judgment.forecasts);
  if (!(judgment.mae - judgment.mae == 0))
    return Status(Code::invalid_argument,
                  "forecasts leave the finite numbers: the network did not learn the series");
  form.half80.clear();
  form.half95.clear();
  for (std::size_t h = 0;
       h < errors.size() && !errors[h].empty() && (h == 0 || errors[h].size() >= kFewest); ++h) {
    form.half80.push_back(quantile(errors[h], 0.8));
    form.half95.push_back(quantile(errors[h], 0.95));
  }
  return judgment;
}

Status continue_after(SeriesForm& form, std::span<const double> history, std::string_view last) {
  const auto bad = [](const std::string& what) { return Status(Code::invalid_argument, what); };
  const std::string example = quoted(form.steps.at(form.end - 1).text());
  if (history.empty() && last.empty()) return {};
  if (history.empty()) return bad("last: is the date of a history's last value: give the history");
  if (last.empty())
    return bad(message("history: give the date of its last value, too, as last: ", example,
                       ", say, where the values of training end"));
  Moment moment;
  if (!parse_moment(last, form.order, &moment) && !parse_moment(last, DateOrder::ymd, &moment))
    return bad(message("last: ", quoted(last), " is no date, as ", example, " is one"));
  const std::int64_t units = form.steps.units(moment) - form.steps.first,
                     place = units / form.steps.count;
  const Moment there = form.steps.at(place);
  if (moment.precision < form.steps.precision || there.days() != moment.days() ||
      there.second != moment.second)
    return bad(message("last: ", quoted(last), " is none of the ", form.steps.text(), " from ",
                       form.steps.at(0).text(), " on that the network learned, as ", example,
                       " is one"));
  const auto before = static_cast<std::size_t>(form.before());
  if (history.size() < before)
    return bad(
        message("history: has ", history.size(), " values, a forecast looks back on ", before));
  for (std::size_t i = history.size() - before; i < history.size(); ++i)
    if (!(history[i] - history[i] == 0) || (form.logarithm && !(history[i] > 0)))
      return bad(
          message("history[", i, "] is ",
                  (history[i] - history[i] == 0 ? "not above 0, and the network learned logarithms"
                                                : "not finite: fill in what is missing")));
  form.history.assign(history.end() - static_cast<std::ptrdiff_t>(before), history.end());
  form.end = place + 1;
  return {};
}

Json Forecast::to_json() const {
  Json json = Json::object();
  json.set("date", date);
  json.set("forecast", value);
  json.set("low80", low80);
  json.set("high80", high80);
  json.set("low95", low95);
  json.set("high95", high95);
  json.set("measured", measured);
  return json;
}

Result<std::vector<Forecast>> forecast(const SeriesForm& form, std::int64_t horizon,
                                       const SeriesNetwork& network) {
  if (horizon < 1 || horizon > kMaxForecasts)
    return Status(Code::out_of_range,
                  message("a horizon is 1 to ", kMaxForecasts, " steps, got ", horizon));
  if (form.half80.empty())
    return Status(Code::unsupported, "the training of this series has not ended: --resume goes on");
  std::vector<double> z;
  for (const double v : form.history) z.push_back(form.to_z(v));
  const std::int64_t before = form.before();
  LOOM_ASSIGN(const auto steps, roll(form, z, {before}, horizon, network, form.end - before));
  std::vector<Forecast> list;
  for (std::size_t h = 0; h < steps[0].size(); ++h) {
    const double z80 = half_at(form.half80, h), z95 = half_at(form.half95, h), at = steps[0][h];
    list.push_back({form.steps.at(form.end + static_cast<std::int64_t>(h)).text(),
                    form.to_value(at), form.to_value(at - z80), form.to_value(at + z80),
                    form.to_value(at - z95), form.to_value(at + z95), h < form.half80.size()});
    const Forecast& f = list.back();
    if (!(f.low95 - f.low95 == 0 && f.high95 - f.high95 == 0))
      return Status(Code::out_of_range,
                    message("step ", h + 1, ", ", f.date,
                            ": the forecast leaves the finite numbers: ask for fewer steps"));
  }
  return list;
}

}  // namespace loom
