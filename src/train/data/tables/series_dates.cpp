// The dates of a series: which steps they follow, and what is missing.
#include <algorithm>
#include <map>
#include <optional>

#include "base/escape.h"
#include "base/message.h"
#include "train/data/tables/csv.h"
#include "train/data/tables/series.h"

namespace loom {
namespace {

using Unit = Steps::Unit;
constexpr std::int64_t kDay = 86400, kMaxGaps = 20, kMaxOfADay = 288, kLongestSeries = 10'000'000;

struct Row {
  Moment moment;
  std::size_t number = 0;  // in the table, from 1
  double value = 0;
  bool missing = false;
};

std::string named(const Row& row) {
  return "row " + std::to_string(row.number) + " (" + row.moment.text() + ")";
}

Status bad(const std::string& what) { return Status(Code::invalid_argument, what); }

// The units in which all dates are whole, coarsest first.
std::vector<Steps> units_of(const std::vector<Row>& rows) {
  Steps steps;
  bool month_days = true, same_second = true, weekdays = true;
  steps.precision = rows[0].moment.precision;
  steps.second = rows[0].moment.second;
  for (const Row& row : rows) steps.day = std::max(row.moment.day, steps.day);
  for (const Row& row : rows) {
    const Moment& m = row.moment;
    month_days = month_days && m.day == std::min(steps.day, days_in_month(m.year, m.month));
    same_second = same_second && m.second == steps.second;
    weekdays = weekdays && m.weekday() < 5;
  }
  std::vector<Steps> list;
  const auto add = [&](Unit unit) {
    steps.unit = unit;
    list.push_back(steps);
  };
  if (month_days && same_second) add(Unit::month);
  if (same_second && steps.precision >= Moment::Precision::day) {
    add(Unit::day);
    if (weekdays) add(Unit::weekday);
  }
  if (steps.precision == Moment::Precision::second) add(Unit::second);
  return list;
}

// Sets count and first: the most frequent difference, of which all are multiples. "": they are.
std::string follow(const std::vector<Row>& rows, Steps& steps, std::int64_t* missing) {
  std::map<std::int64_t, std::size_t> differences;
  steps.first = steps.units(rows[0].moment);
  for (std::size_t r = 1; r < rows.size(); ++r) {
    const std::int64_t d = steps.units(rows[r].moment) - steps.units(rows[r - 1].moment);
    if (d == 0) return named(rows[r]) + " and " + named(rows[r - 1]) + " have one date";
    ++differences[d];
  }
  steps.count =
      std::max_element(differences.begin(), differences.end(), [](const auto& a, const auto& b) {
        return a.second < b.second;
      })->first;
  *missing = 0;
  std::string first_gap;
  for (std::size_t r = 1; r < rows.size(); ++r) {
    const std::int64_t d = steps.units(rows[r].moment) - steps.units(rows[r - 1].moment);
    if (d % steps.count != 0)
      return named(rows[r]) + " does not follow " + named(rows[r - 1]) + " by " + steps.text();
    if (d > steps.count && first_gap.empty())
      first_gap = named(rows[r - 1]) + " and " + named(rows[r]);
    *missing += d / steps.count - 1;
  }
  const auto n = static_cast<std::int64_t>(rows.size());
  if (*missing > (n + *missing) / kMaxGaps || n + *missing > kLongestSeries)
    return std::to_string(*missing) + " of " + std::to_string(n + *missing) + " " + steps.text() +
           " are missing, the first between " + first_gap;
  return "";
}

// Of several units, that with the fewest steps missing.
Result<Steps> steps_of(const std::vector<Row>& rows) {
  std::string problem;  // of the coarsest unit
  std::int64_t fewest = -1;
  Steps best;
  for (Steps steps : units_of(rows)) {
    std::int64_t missing = 0;
    const std::string why = follow(rows, steps, &missing);
    if (problem.empty()) problem = why;
    if (why.empty() && (fewest < 0 || missing < fewest)) {
      fewest = missing;
      best = steps;
    }
  }
  if (fewest < 0) return bad(problem.empty() ? "its dates have no common unit" : problem);
  return best;
}

// The rows in the order of their dates, which are read in this order of numbers.
Result<std::vector<Row>> rows_of(const Table& table, std::size_t date, std::size_t target,
                                 const SeriesColumns& columns, DateOrder order) {
  std::vector<Row> rows;
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    Row row{{}, r + 1};
    const std::string& cell = table.rows[r][date];
    if (!parse_moment(cell, order, &row.moment))
      return bad(message("row ", r + 1, ", column ", quoted(columns.date), ": ", quoted(cell),
                         " is no date"));
    if (!rows.empty() && row.moment.precision != rows[0].moment.precision)
      return bad(message("row ", r + 1, ", column ", quoted(columns.date), ": ", quoted(cell),
                         " is not as exact as the dates before it"));
    const std::string& value = table.rows[r][target];
    row.missing = is_missing(value);
    if (!row.missing && !parse_written(value, columns.decimal, &row.value))
      return bad(message("row ", r + 1, ", column ", quoted(columns.target), ": ", quoted(value),
                         " is no number"));
    rows.push_back(row);
  }
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    return std::pair(a.moment.days(), a.moment.second) <
           std::pair(b.moment.days(), b.moment.second);
  });
  // What is missing at the ends is not there.
  while (!rows.empty() && rows.back().missing) rows.pop_back();
  rows.erase(rows.begin(),
             std::find_if(rows.begin(), rows.end(), [](const Row& r) { return !r.missing; }));
  if (rows.size() < 2) return bad("fewer than two rows have a date and a value");
  return rows;
}

// Values at every step, straight lines where there are none.
Status fill(const std::vector<Row>& rows, SeriesValues& out) {
  const Row* last = nullptr;
  std::int64_t at = 0, missing = 0;
  for (const Row& row : rows) {
    if (row.missing) continue;
    const std::int64_t place = (out.steps.units(row.moment) - out.steps.first) / out.steps.count;
    for (std::int64_t p = at + 1; last && p < place; ++p, ++missing) {
      const double share = static_cast<double>(p - at) / static_cast<double>(place - at);
      out.values.push_back(last->value + share * (row.value - last->value));
      out.filled.push_back(true);
    }
    if (last && place > at + 1 && missing == place - at - 1)
      out.notes.push_back("missing values are filled in on a straight line, the first between " +
                          named(*last) + " and " + named(row));
    out.values.push_back(row.value);
    out.filled.push_back(false);
    last = &row;
    at = place;
  }
  const auto n = static_cast<std::int64_t>(out.values.size());
  if (missing > n / kMaxGaps) return bad(message(missing, " of ", n, " values are missing"));
  return {};
}

Result<std::size_t> find_column(const Table& table, const std::string& column) {
  const auto found = std::find(table.names.begin(), table.names.end(), column);
  if (found == table.names.end())
    return Status(Code::not_found, message("no column ", quoted(column)));
  return static_cast<std::size_t>(found - table.names.begin());
}

Result<SeriesValues> read_as(const Table& table, std::size_t date, std::size_t target,
                             const SeriesColumns& columns, DateOrder order) {
  LOOM_ASSIGN(const std::vector<Row> rows, rows_of(table, date, target, columns, order));
  SeriesValues out;
  out.order = order;
  LOOM_ASSIGN(out.steps, steps_of(rows));
  for (std::size_t r = 1; r < rows.size() && out.notes.empty(); ++r)
    if (rows[r].number < rows[r - 1].number)
      out.notes.push_back("rows are put in the order of their dates");
  LOOM_TRY(fill(rows, out));
  return out;
}

}  // namespace

std::int64_t Steps::units(const Moment& m) const {
  const std::int64_t days = m.days();
  if (unit == Unit::month) return m.year * 12 + m.month - 1;
  if (unit == Unit::day) return days;
  // 1969-12-29 was a Monday.
  if (unit == Unit::weekday) return (days + 3 - m.weekday()) / 7 * 5 + m.weekday();
  return days * kDay + m.second;
}

Moment Steps::at(std::int64_t place) const {
  const std::int64_t v = first + place * count;
  Moment m;
  if (unit == Unit::month) {
    m.year = v / 12;
    m.month = static_cast<int>(v % 12) + 1;
    m.day = std::min(day, days_in_month(m.year, m.month));
    m.second = second;
  } else if (unit == Unit::second) {
    const std::int64_t days = v / kDay - (v % kDay < 0 ? 1 : 0);
    m = moment_of(days, v - days * kDay);
  } else if (unit == Unit::weekday) {
    const std::int64_t weeks = v / 5 - (v % 5 < 0 ? 1 : 0);
    m = moment_of(weeks * 7 - 3 + (v - weeks * 5), second);
  } else {
    m = moment_of(v, second);
  }
  m.precision = precision;
  return m;
}

std::string Steps::text() const {
  std::int64_t n = count;
  std::string what = unit == Unit::month     ? "month"
                     : unit == Unit::day     ? "day"
                     : unit == Unit::weekday ? "weekday"
                                             : "second";
  const auto larger = [&](Unit of, std::int64_t size, const char* name) {
    if (unit != of || n % size != 0) return false;
    n /= size;
    what = name;
    return true;
  };
  (void)(larger(Unit::month, 12, "year") || larger(Unit::month, 3, "quarter") ||
         larger(Unit::day, 7, "week") || larger(Unit::second, kDay, "day") ||
         larger(Unit::second, 3600, "hour") || larger(Unit::second, 60, "minute"));
  return n == 1 ? what + "s" : "steps of " + std::to_string(n) + " " + what + "s";
}

std::int64_t Steps::season() const {
  if (unit == Unit::month) return count < 12 && 12 % count == 0 ? 12 / count : 0;
  if (unit == Unit::weekday) return count == 1 ? 5 : 0;
  if (unit == Unit::day) return count == 1 ? 7 : count == 7 ? 52 : 0;
  if (count == kDay) return 7;
  return count < kDay && kDay % count == 0 && kDay / count <= kMaxOfADay ? kDay / count : 0;
}

Result<SeriesValues> read_series(const Table& table, const SeriesColumns& columns,
                                 const std::string& name, const SeriesValues* known) {
  const auto tell = [&](const Status& s) { return Status(s.code(), name + ": " + s.message()); };
  const auto date = find_column(table, columns.date), target = find_column(table, columns.target);
  for (const auto* column : {&date, &target})
    if (!column->ok()) return tell(column->status());
  std::optional<Result<SeriesValues>> found, problem;
  for (const DateOrder order : {DateOrder::ymd, DateOrder::dmy, DateOrder::mdy}) {
    if (known && order != known->order) continue;
    auto read = read_as(table, *date, *target, columns, order);
    if (read.ok() && found && (*found)->steps.first != read->steps.first)
      return tell(
          bad(message("column ", quoted(columns.date),
                      ": its dates may be day/month or month/day: write them as YYYY-MM-DD")));
    if (read.ok() && !found) found.emplace(std::move(read));
    // The order in which more of the rows were dates tells more.
    else if (!read.ok() &&
             (!problem || read.status().message().find("is no date") == std::string::npos))
      problem.emplace(std::move(read));
  }
  if (!found) return tell(problem->status());
  const Steps& steps = (*found)->steps;
  const std::int64_t from = known ? steps.first - known->steps.first : 0;
  if (known && (steps.unit != known->steps.unit || steps.count != known->steps.count ||
                from % steps.count != 0))
    return tell(bad(message("its dates are ", steps.text(), " from ", steps.at(0).text(),
                            ", the network learned ", known->steps.text(), " from ",
                            known->steps.at(0).text())));
  if (known) {
    (*found)->begin = from / steps.count;
    (*found)->steps = known->steps;
  }
  return std::move(*found);
}

}  // namespace loom
