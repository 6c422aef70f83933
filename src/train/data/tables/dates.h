// Dates and times as tables write them. Proleptic Gregorian calendar, no time zones.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace loom {

struct Moment {
  enum class Precision : std::uint8_t { year, quarter, month, day, second };
  std::int64_t year = 1;
  int month = 1, day = 1;   // from 1
  std::int64_t second = 0;  // of the day
  Precision precision = Precision::day;

  std::int64_t days() const;  // since 1970-01-01
  int weekday() const;        // 0: Monday
  double years() const;       // a month is a twelfth and a day a 372nd
  // ISO 8601 as far as the precision goes; "1949-Q1", "2020-01-31 06:30".
  std::string text() const;
};

Moment moment_of(std::int64_t days, std::int64_t second);
int days_in_month(std::int64_t year, int month);

// In which order numbers stand: 2020-01-31, 31.1.2020, 1/31/2020.
enum class DateOrder : std::uint8_t { ymd, dmy, mdy };
constexpr std::string_view kDateOrders[] = {"ymd", "dmy", "mdy"};

// YYYY, YYYY-MM, YYYY-MM-DD (also with / and .), YYYYMMDD, DD.MM.YYYY, MM/DD/YYYY, MM/YYYY, months
// by their English names or first three letters, quarters ("2020Q1", "Q1 2020"); then a time
// HH:MM[:SS] behind a blank or a T, with AM, PM or Z. Years of two digits behind day and month are
// 1969 to 2068; the year of a YYYY-MM may have one to four digits.
bool parse_moment(std::string_view text, DateOrder order, Moment* moment);

// The order in which every cell is a date. Empty where there is none; `ambiguous`: where there are
// two that mean different days.
std::optional<DateOrder> order_of(const std::vector<std::string_view>& cells, bool* ambiguous);

}  // namespace loom
