// Time series: a column of numbers at dates in regular steps. What a network learns of it is one
// step: from the values before it and the calendar. Further steps are forecast from forecasts.
// Plain data; docs/guide/your-data.md has the definitions.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/json/json.h"
#include "base/status.h"
#include "train/data/tables/columns.h"
#include "train/data/tables/dates.h"

namespace loom {

// Points of time in regular steps. Place p stands p steps after the first.
struct Steps {
  enum class Unit : std::uint8_t { month, day, weekday, second };  // weekday: Monday to Friday
  Unit unit = Unit::day;
  std::int64_t count = 1;   // units of a step
  std::int64_t first = 0;   // in units
  int day = 1;              // of the month, where months count; its last one where it has fewer
  std::int64_t second = 0;  // of the day, where no seconds count
  Moment::Precision precision = Moment::Precision::day;

  std::int64_t units(const Moment& moment) const;
  Moment at(std::int64_t place) const;
  std::string text() const;  // "months", "steps of 7 days"
  // Steps of a year of months or weeks, of a week of days, or of a day of up to 288; 0: none.
  std::int64_t season() const;
};

// The values of a table in order, none missing.
struct SeriesValues {
  Steps steps;
  DateOrder order = DateOrder::ymd;
  std::int64_t begin = 0;  // the place of the first value
  std::vector<double> values;
  std::vector<bool> filled;  // made up between its neighbors: never judged
  std::vector<std::string> notes;
};

// Which columns: names of a header, or "0", "1".
struct SeriesColumns {
  std::string date, target;
  char decimal = '.';
};

// Errors: invalid_argument, naming the row, where dates are none, are ambiguous, stand twice or in
// irregular steps, and where values are missing: up to one step in twenty may be, within the
// series. `known`: steps that the dates must follow, whose places the values then have.
Result<SeriesValues> read_series(const Table& table, const SeriesColumns& columns,
                                 const std::string& name, const SeriesValues* known = nullptr);

struct SeriesForm {
  enum class Reference : std::uint8_t { none, last, season };  // what a step is told beside
  enum class Calendar : std::uint8_t { month, weekday, hour, year, trend };
  SeriesColumns columns;
  Steps steps;
  DateOrder order = DateOrder::ymd;
  bool logarithm = false;
  double center = 0, scale = 1;  // z = (value or its logarithm - center) / scale
  Reference reference = Reference::none;
  std::int64_t lags = 1, season = 0;
  std::vector<Calendar> calendar;
  std::int64_t end = 0;         // the place after the last value
  std::vector<double> history;  // the last before(), as the table has them
  // Half the width of the interval h + 1 steps ahead, in z.
  std::vector<double> half80, half95;

  double to_z(double value) const;
  double to_value(double z) const;
  std::int64_t before() const;  // values that a row looks back on
  // What a row holds: names, and how many inputs each is.
  std::vector<std::pair<std::string, std::int64_t>> inputs() const;
  std::int64_t width() const;
  // Appends the inputs of the value at `place`; `z` are those before it, the latest last.
  void row(std::span<const double> z, std::int64_t place, std::vector<float>& x) const;
  // What the network's answer is added to.
  double base(std::span<const double> z) const;

  Json to_json() const;
  static Result<SeriesForm> from_json(const Json& json);
};

// Answers rows of inputs with a value each.
using SeriesNetwork =
    std::function<Status(const std::vector<float>& x, std::int64_t rows, std::vector<float>& y)>;

// [origin][h]: z[origin + h], forecast from z before the origin and the forecasts before. z[0]
// stands at the place `begin`. Origins are at least before().
Result<std::vector<std::vector<double>>> roll(const SeriesForm& form, const std::vector<double>& z,
                                              const std::vector<std::int64_t>& origins,
                                              std::int64_t horizon, const SeriesNetwork& network,
                                              std::int64_t begin = 0);

// How forecasts did that begin at each place from `begin` on, up to `horizon` steps ahead; of more
// than 2,000 places, at every second, third, ...
struct SeriesJudgment {
  double mae = 0, naive = 0;  // in the values' own unit; naive: the value a season (or step) before
  std::int64_t origins = 0, forecasts = 0;
};
// Sets half80 and half95 of the form.
Result<SeriesJudgment> judge_series(SeriesForm& form, const SeriesValues& series,
                                    std::int64_t begin, std::int64_t horizon,
                                    const SeriesNetwork& network);

struct Forecast {
  std::string date;
  double value = 0, low80 = 0, high80 = 0, low95 = 0, high95 = 0;
  bool measured = false;  // the interval: as many steps ahead were judged
  Json to_json() const;
};
constexpr std::int64_t kMaxForecasts = 100000, kDefaultHorizon = 12;
// Forecasts follow other values, of which `last` is the date of the last one; both empty: those of
// training. Errors: invalid_argument for dates that are none of the form's steps, and values that
// are too few, not finite or not above 0 where the network learned logarithms.
Status continue_after(SeriesForm& form, std::span<const double> history, std::string_view last);
// After the values of form.history. Errors: a horizon out of 1..kMaxForecasts, forecasts that
// leave the finite numbers.
Result<std::vector<Forecast>> forecast(const SeriesForm& form, std::int64_t horizon,
                                       const SeriesNetwork& network);

}  // namespace loom
