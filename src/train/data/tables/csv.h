// Walks over CSV text (RFC 4180), record by record, and what cells are: for tables of every kind.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace loom {

class CsvReader {
 public:
  // Text and name are borrowed.
  CsvReader(std::string_view text, char separator, const std::string& name);
  // The next record that is no empty line; false at the end.
  Result<bool> next(std::vector<std::string>& cells);
  // invalid_argument with name, line and column (both from 1) of the last record.
  Status error(std::size_t column, const std::string& what) const;

 private:
  Status cell(std::string& out, std::size_t column);
  void end_line();

  std::string_view text_;
  char separator_;
  const std::string& name_;
  std::size_t at_ = 0, line_ = 1, record_line_ = 1;
};

// Without blanks at both ends.
std::string_view trimmed(std::string_view s);
// A JSON number with optional blanks around it, an optional plus sign, and digits on one side of
// the point enough (".5", "5.").
bool parse_number(std::string_view cell, double* value);
// A number as people write it: parse_number's, or with `decimal` ('.' or ',') for the point.
// Thousands may be grouped by the other of the two, by an apostrophe or by a blank ("1.234,5"). A
// currency or percent sign on one side is dropped ("$1,000", "12 %" is 12).
bool parse_written(std::string_view cell, char decimal, double* value);

}  // namespace loom
