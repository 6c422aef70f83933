#include "train/data/tables/csv.h"

#include <algorithm>

#include "base/json/json.h"
#include "base/message.h"

namespace loom {
namespace {

constexpr std::size_t kMaxColumns = 1 << 20, kLongestNumber = 100;
constexpr std::string_view kUnits[] = {"%", "$", "\u20AC", "\u00A3", "\u00A5"};  // euro, pound, yen

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// "$5", "5 %" without their signs.
std::string_view without_unit(std::string_view t) {
  for (const std::string_view unit : kUnits) {
    if (t.starts_with(unit)) return trimmed(t.substr(unit.size()));
    if (t.ends_with(unit)) return trimmed(t.substr(0, t.size() - unit.size()));
  }
  return t;
}

}  // namespace

CsvReader::CsvReader(std::string_view text, char separator, const std::string& name)
    : text_(text), separator_(separator), name_(name) {
  if (text_.substr(0, 3) == "\xEF\xBB\xBF") at_ = 3;  // a byte order mark
}

Result<bool> CsvReader::next(std::vector<std::string>& cells) {
  cells.clear();
  while (at_ < text_.size() && (text_[at_] == '\n' || text_[at_] == '\r')) end_line();
  if (at_ >= text_.size()) return false;
  record_line_ = line_;
  for (;;) {
    if (cells.size() == kMaxColumns)
      return error(cells.size(), "more than " + std::to_string(kMaxColumns) + " columns");
    cells.emplace_back();
    LOOM_TRY(cell(cells.back(), cells.size()));
    if (at_ < text_.size() && text_[at_] == separator_) {
      ++at_;
      continue;
    }
    end_line();
    return true;
  }
}

Status CsvReader::error(std::size_t column, const std::string& what) const {
  return Status(Code::invalid_argument,
                message(name_, ": line ", record_line_, ", column ", column, ": ", what));
}

Status CsvReader::cell(std::string& out, std::size_t column) {
  if (at_ < text_.size() && text_[at_] == '"') {
    for (++at_;; ++at_) {
      if (at_ >= text_.size()) return error(column, "the quote is never closed");
      if (text_[at_] == '"' && (at_ + 1 >= text_.size() || text_[at_ + 1] != '"')) break;
      if (text_[at_] == '"') ++at_;
      if (text_[at_] == '\n') ++line_;
      out += text_[at_];
    }
    ++at_;
    if (at_ < text_.size() && text_[at_] != separator_ && text_[at_] != '\n' && text_[at_] != '\r')
      return error(column, "text after the closing quote");
    return {};
  }
  for (; at_ < text_.size() && text_[at_] != separator_ && text_[at_] != '\n' && text_[at_] != '\r';
       ++at_) {
    if (text_[at_] == '"')
      return error(column, "a quote inside of a cell that does not start with one");
    out += text_[at_];
  }
  return {};
}

void CsvReader::end_line() {
  if (at_ < text_.size() && text_[at_] == '\r') ++at_;
  if (at_ < text_.size() && text_[at_] == '\n') ++at_;
  ++line_;
}

std::string_view trimmed(std::string_view s) {
  while (!s.empty() && (s.front() == ' ' || s.front() == '\t')) s.remove_prefix(1);
  while (!s.empty() && (s.back() == ' ' || s.back() == '\t')) s.remove_suffix(1);
  return s;
}

bool parse_number(std::string_view cell, double* value) {
  std::string_view t = trimmed(cell);
  if (t.size() > 1 && t[0] == '+' && t[1] != '-') t.remove_prefix(1);
  if (parse_double(t, value)) return true;
  // JSON wants digits on both sides of the point.
  const std::size_t point = t.find('.');
  if (point == std::string_view::npos || t.size() < 2 || t.size() > kLongestNumber) return false;
  auto digit = [&](std::size_t i) { return i < t.size() && t[i] >= '0' && t[i] <= '9'; };
  const bool before = point > 0 && digit(point - 1), after = digit(point + 1);
  if (before == after) return false;
  std::string full(t);
  full.insert(before ? point + 1 : point, 1, '0');
  return parse_double(full, value);
}

bool parse_written(std::string_view cell, char decimal, double* value) {
  if (decimal == '.' && parse_number(cell, value)) return true;
  std::string_view t = trimmed(cell);
  if (t.size() > kLongestNumber) return false;
  std::string plain;
  if (t.starts_with('-') && t.size() > 1 && !is_digit(t[1])) {  // "-$5"
    plain = "-";
    t.remove_prefix(1);
  }
  t = without_unit(t);
  if (t.starts_with('-') && plain.empty()) {
    plain = "-";
    t.remove_prefix(1);
  }
  const std::string_view whole = t.substr(0, t.find_first_not_of("0123456789.,' "));
  const std::size_t point = std::min(whole.find(decimal), whole.size());
  const char other = decimal == '.' ? ',' : '.';
  std::size_t digits = 0;  // of the group
  char parting = 0;
  for (std::size_t i = 0; i < point; ++i) {
    if (is_digit(t[i])) {
      plain += t[i];
      ++digits;
      continue;
    }
    const bool first = parting == 0;
    if (first ? t[i] != other && t[i] != '\'' && t[i] != ' ' : t[i] != parting) return false;
    if (first ? digits < 1 || digits > 3 : digits != 3) return false;
    parting = t[i];
    digits = 0;
  }
  if (parting != 0 && digits != 3) return false;
  if (point < t.size()) plain += t[point] == decimal ? '.' : t[point];
  if (point + 1 < t.size()) plain += t.substr(point + 1);
  return parse_number(plain, value);
}

}  // namespace loom
