#include "train/data/tables/dates.h"

#include <algorithm>

#include "train/data/tables/csv.h"

namespace loom {
namespace {

using Precision = Moment::Precision;
constexpr std::int64_t kDay = 86400;
constexpr std::string_view kMonths[] = {"january",   "february", "march",    "april",
                                        "may",       "june",     "july",     "august",
                                        "september", "october",  "november", "december"};

struct Token {
  std::string_view text;
  bool digits = false;
  char before = 0;  // what parts it from the one before
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c | 32) >= 'a' && (c | 32) <= 'z'; }

// Runs of digits and of letters, up to three; false where something else is there.
bool tokens_of(std::string_view text, std::vector<Token>& out) {
  char before = 0;
  for (std::size_t i = 0; i < text.size();) {
    const bool digits = is_digit(text[i]);
    if (!digits && !is_letter(text[i])) {
      // ", " parts as one.
      const bool comma = text[i] == ',' && i + 1 < text.size() && text[i + 1] == ' ';
      if (out.empty() || before != 0 || !(comma || std::string_view("-/. ").find(text[i]) < 4))
        return false;
      before = text[i];
      i += comma ? 2 : 1;
      continue;
    }
    std::size_t end = i;
    while (end < text.size() && (digits ? is_digit(text[end]) : is_letter(text[end]))) ++end;
    if (out.size() == 3 || end - i > 9) return false;
    out.push_back({text.substr(i, end - i), digits, before});
    before = 0;
    i = end;
  }
  return before == 0 && !out.empty();
}

int number_of(std::string_view digits) {
  int v = 0;
  for (const char c : digits) v = 10 * v + (c - '0');
  return v;
}

// 1..12 of a name or its first three letters (and "sept"); 0: none.
int month_of(std::string_view name) {
  std::string lower;
  for (const char c : name) lower += static_cast<char>(c | 32);
  for (int m = 0; m < 12; ++m)
    if (lower == kMonths[m] || lower == kMonths[m].substr(0, 3)) return m + 1;
  return lower == "sept" ? 9 : 0;
}

// Of four digits, or of two that mean 1969 to 2068; 0: none.
int year_of(const Token& t, bool two_digits) {
  if (!t.digits || (t.text.size() != 4 && !(two_digits && t.text.size() == 2))) return 0;
  const int v = number_of(t.text);
  return t.text.size() == 4 ? v : v < 69 ? 2000 + v : 1900 + v;
}

bool set(Moment& m, int year, int month, int day, Precision precision) {
  if (year < 1 || month < 1 || month > 12 || day < 1 || day > days_in_month(year, month))
    return false;
  m.year = year;
  m.month = month;
  m.day = day;
  m.precision = precision;
  return true;
}

int short_number(const Token& t) { return t.digits && t.text.size() <= 2 ? number_of(t.text) : 0; }

// "1949Q1", "Q1 1949".
bool parse_quarter(const std::vector<Token>& t, Moment& m) {
  for (const std::size_t q : {0, 1}) {
    if (t.size() != 3 || (t[q].text != "Q" && t[q].text != "q") || t[q + 1].text.size() != 1)
      continue;
    const int year = year_of(t[q == 0 ? 2 : 0], false), quarter = number_of(t[q + 1].text);
    if (t[q + 1].digits && quarter >= 1 && quarter <= 4)
      return set(m, year, 3 * quarter - 2, 1, Precision::quarter);
  }
  return false;
}

// "Jan 1949", "1949 Jan", "31 Jan 1949", "Jan 31, 1949".
bool parse_named(const std::vector<Token>& t, Moment& m) {
  const std::size_t n = t.size();
  for (std::size_t i = 0; i < n; ++i) {
    const int month = t[i].digits ? 0 : month_of(t[i].text);
    if (month == 0) continue;
    if (n == 2) return set(m, year_of(t[1 - i], i == 0), month, 1, Precision::month);
    return n == 3 && i < 2 &&
           set(m, year_of(t[2], true), month, short_number(t[1 - i]), Precision::day);
  }
  return false;
}

bool parse_numbers(const std::vector<Token>& t, DateOrder order, Moment& m) {
  const std::size_t n = t.size();
  const bool ymd = order == DateOrder::ymd;
  if (n == 1 && ymd) {
    const int v = number_of(t[0].text);
    if (t[0].text.size() == 8) return set(m, v / 10000, v / 100 % 100, v % 100, Precision::day);
    return set(m, year_of(t[0], false), 1, 1, Precision::year);
  }
  if (n == 2) {
    const char between = t[1].before;
    if (!ymd) return set(m, year_of(t[1], false), short_number(t[0]), 1, Precision::month);
    const bool year = t[0].text.size() == 4 || (t[0].text.size() < 4 && between == '-');
    return year && between != '.' && between != ' ' && t[1].text.size() < 4 &&
           set(m, number_of(t[0].text), short_number(t[1]), 1, Precision::month);
  }
  if (n != 3 || t[1].before != t[2].before) return false;
  if (ymd)
    return set(m, year_of(t[0], false), short_number(t[1]), short_number(t[2]), Precision::day);
  const bool day_first = order == DateOrder::dmy;
  if (!day_first && t[1].before == '.') return false;  // points are of day.month.year
  return set(m, year_of(t[2], true), short_number(t[day_first ? 1 : 0]),
             short_number(t[day_first ? 0 : 1]), Precision::day);
}

// "HH:MM", "HH:MM:SS", "HH:MM:SS.000", then "Z", "AM" or "PM".
bool parse_time(std::string_view text, std::int64_t* second) {
  int half = -1;
  if (text.ends_with('Z')) text.remove_suffix(1);
  if (text.size() > 2 && (text.back() | 32) == 'm') {
    const char c = static_cast<char>(text[text.size() - 2] | 32);
    if (c != 'a' && c != 'p') return false;
    half = c == 'p' ? 1 : 0;
    text = trimmed(text.substr(0, text.size() - 2));
  }
  std::int64_t parts[3] = {0, 0, 0};
  for (int i = 0; i < 3; ++i) {
    std::size_t n = 0;
    while (n < text.size() && is_digit(text[n])) ++n;
    if (n < 1 || n > 2 || (i > 0 && n != 2)) return false;
    parts[i] = number_of(text.substr(0, n));
    text.remove_prefix(n);
    if (i == 2 && text.starts_with('.'))
      text.remove_prefix(text.find_first_not_of('0', 1) == std::string_view::npos ? text.size()
                                                                                  : 0);
    if (text.empty() && i > 0) break;
    if (i == 2 || !text.starts_with(':')) return false;
    text.remove_prefix(1);
  }
  if (half >= 0) {
    if (parts[0] < 1 || parts[0] > 12) return false;
    parts[0] = parts[0] % 12 + 12 * half;
  }
  if (parts[0] > 23 || parts[1] > 59 || parts[2] > 59) return false;
  *second = parts[0] * 3600 + parts[1] * 60 + parts[2];
  return true;
}

std::string padded(std::int64_t v, std::size_t width) {
  std::string text = std::to_string(v);
  return text.size() < width ? std::string(width - text.size(), '0') + text : text;
}

}  // namespace

int days_in_month(std::int64_t year, int month) {
  if (month == 2) return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28;
  return month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
}

std::int64_t Moment::days() const {
  // Years from March, so that the leap day is the last one.
  const std::int64_t y = year - (month < 3 ? 1 : 0), era = (y >= 0 ? y : y - 399) / 400;
  const std::int64_t in_era = y - 400 * era, in_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
  return era * 146097 + in_era * 365 + in_era / 4 - in_era / 100 + in_year - 719468;
}

int Moment::weekday() const { return static_cast<int>(((days() + 3) % 7 + 7) % 7); }

double Moment::years() const {
  return static_cast<double>(year) + (month - 1) / 12.0 + (day - 1) / 372.0 +
         static_cast<double>(second) / (372.0 * kDay);
}

Moment moment_of(std::int64_t days, std::int64_t second) {
  days += 719468;
  const std::int64_t era = (days >= 0 ? days : days - 146096) / 146097,
                     in_era = days - era * 146097;
  const std::int64_t y = (in_era - in_era / 1460 + in_era / 36524 - in_era / 146096) / 365;
  const std::int64_t in_year = in_era - (365 * y + y / 4 - y / 100), m = (5 * in_year + 2) / 153;
  Moment moment;
  moment.month = static_cast<int>(m < 10 ? m + 3 : m - 9);
  moment.year = y + era * 400 + (moment.month < 3 ? 1 : 0);
  moment.day = static_cast<int>(in_year - (153 * m + 2) / 5 + 1);
  moment.second = second;
  return moment;
}

std::string Moment::text() const {
  std::string out = padded(year, 4);
  if (precision == Precision::year) return out;
  if (precision == Precision::quarter) return out + "-Q" + std::to_string((month + 2) / 3);
  out += "-" + padded(month, 2);
  if (precision == Precision::month) return out;
  out += "-" + padded(day, 2);
  if (precision == Precision::day) return out;
  out += " " + padded(second / 3600, 2) + ":" + padded(second / 60 % 60, 2);
  return second % 60 == 0 ? out : out + ":" + padded(second % 60, 2);
}

bool parse_moment(std::string_view text, DateOrder order, Moment* moment) {
  text = trimmed(text);
  const std::size_t colon = text.find(':');
  *moment = {};
  bool timed = false;
  if (colon != std::string_view::npos) {
    const std::size_t part = text.find_last_of(" T", colon);
    if (part == std::string_view::npos || !parse_time(text.substr(part + 1), &moment->second))
      return false;
    text = trimmed(text.substr(0, part));
    timed = true;
  }
  std::vector<Token> tokens;
  if (!tokens_of(text, tokens)) return false;
  const bool named =
      std::any_of(tokens.begin(), tokens.end(), [](const Token& t) { return !t.digits; });
  if (named ? !(parse_quarter(tokens, *moment) || parse_named(tokens, *moment))
            : !parse_numbers(tokens, order, *moment))
    return false;
  if (timed && moment->precision != Precision::day) return false;
  if (timed) moment->precision = Precision::second;
  return true;
}

std::optional<DateOrder> order_of(const std::vector<std::string_view>& cells, bool* ambiguous) {
  std::optional<DateOrder> found;
  std::vector<Moment> moments;
  *ambiguous = false;
  for (const DateOrder order : {DateOrder::ymd, DateOrder::dmy, DateOrder::mdy}) {
    std::vector<Moment> these(cells.size());
    std::size_t i = 0;
    while (i < cells.size() && parse_moment(cells[i], order, &these[i])) ++i;
    if (i < cells.size() || cells.empty()) continue;
    if (found)
      for (i = 0; i < cells.size(); ++i)
        *ambiguous = *ambiguous || these[i].days() != moments[i].days();
    if (!found) {
      found = order;
      moments = std::move(these);
    }
  }
  return found;
}

}  // namespace loom
