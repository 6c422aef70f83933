#include "train/data/tables/csv.h"

#include <algorithm>

#include "base/json.h"

namespace loom {
namespace {

constexpr std::size_t kMaxColumns = 1 << 20;

}  // namespace

CsvReader::CsvReader(std::string_view text, char separator, const std::string& name) : text_(text), separator_(separator), name_(name) {
  if (text_.substr(0, 3) == "\xEF\xBB\xBF") at_ = 3;  // a byte order mark
}

Result<bool> CsvReader::next(std::vector<std::string>& cells) {
  cells.clear();
  while (at_ < text_.size() && (text_[at_] == '\n' || text_[at_] == '\r')) end_line();
  if (at_ >= text_.size()) return false;
  record_line_ = line_;
  for (;;) {
    if (cells.size() == kMaxColumns) return error(cells.size(), "more than " + std::to_string(kMaxColumns) + " columns");
    cells.emplace_back();
    LOOM_TRY(cell(cells.back(), cells.size()));
    if (at_ < text_.size() && text_[at_] == separator_) { ++at_; continue; }
    end_line();
    return true;
  }
}

Status CsvReader::error(std::size_t column, const std::string& what) const {
  return Status(Code::invalid_argument, name_ + ": line " + std::to_string(record_line_) + ", column " + std::to_string(column) + ": " + what);
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
    if (at_ < text_.size() && text_[at_] != separator_ && text_[at_] != '\n' && text_[at_] != '\r') return error(column, "text after the closing quote");
    return {};
  }
  for (; at_ < text_.size() && text_[at_] != separator_ && text_[at_] != '\n' && text_[at_] != '\r'; ++at_) {
    if (text_[at_] == '"') return error(column, "a quote inside of a cell that does not start with one");
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
  if (point == std::string_view::npos || t.size() < 2 || t.size() > 100) return false;
  auto digit = [&](std::size_t i) { return i < t.size() && t[i] >= '0' && t[i] <= '9'; };
  const bool before = point > 0 && digit(point - 1), after = digit(point + 1);
  if (before == after) return false;
  std::string full(t);
  full.insert(before ? point + 1 : point, 1, '0');
  return parse_double(full, value);
}

}  // namespace loom
