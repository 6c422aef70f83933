// Tables as people have them: columns of numbers, dates and words, holes in them, a header or none.
// `look` finds out which is which; a TableForm turns the cells of a row into what a network takes,
// the same way in training and after it. Plain data.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.h"
#include "base/status.h"
#include "train/data/tables/dates.h"

namespace loom {

struct Column {
  enum class Kind : std::uint8_t {
    number,  // one value; NaN where it is missing
    date,    // as years, a month a twelfth and a day a 372nd (dates.h)
    words,   // a value of 0 or 1 for each of `values`; all 0 where it is missing or new
    unused,
  };
  std::string name;
  Kind kind = Kind::number;
  std::vector<std::string> values;   // of words, sorted
  char decimal = '.';                // of numbers: what parts the whole from its fraction
  DateOrder order = DateOrder::ymd;  // of dates
  // Whether a cell that is not missing is a number, a date (then *value is it) or one of the words.
  bool knows(std::string_view cell, double* value) const;
};

struct TableForm {
  std::vector<Column> columns;  // of the file, the target among them
  std::int64_t target = -1;     // its place
  bool classes = false;
  std::vector<std::string> labels;  // of classes: number i is labels[i]

  // Values per row.
  std::int64_t width() const;
  // Appends the inputs of a row. `places[i]`: where column i stands in `cells`, or -1.
  void encode(const std::vector<std::string>& cells, const std::vector<std::int64_t>& places,
              std::vector<double>& x) const;
  // Which inputs are measured values, not zeros and ones.
  std::vector<bool> measured() const;
  // Whether each input is a number of its column.
  bool only_numbers() const;
  // The class of a cell, -1 where it is none; the value of one, NaN where it is missing.
  std::int32_t class_of(std::string_view cell) const;
  float value_of(std::string_view cell) const;
  bool knows_target(std::string_view cell) const;

  Json to_json() const;
  static Result<TableForm> from_json(const Json& json);
};

bool is_missing(std::string_view cell);

// The cells of a CSV file. All rows have the same number.
struct Table {
  std::vector<std::string> names;  // "0", "1" where there is no header
  bool header = false;
  char separator = ',';
  std::vector<std::vector<std::string>> rows;
};
// Separator (comma, semicolon, tab or |) and header are found out: a header's cells are no numbers
// and occur in no row below; some may be empty, whose columns are called "Unnamed: 0" by their
// place. Errors as read_table, and for two columns of one name.
Result<Table> read_cells(std::string_view text, const std::string& name);

// How the numbers of a column are written: their decimal point, '.' or ','. Empty: it holds
// something else, too.
std::optional<char> decimal_of(const Table& table, std::size_t column);

// What the columns are. `target`: a name, "" the last one. `task`: "classes", "numbers" or "":
// words are classes, and so are up to 20 different integers. Numbers may be written with decimal
// commas, thousands, currencies and percents (parse_written). A cell that is no number in a column
// of numbers (up to one in fifty) counts as missing. `notes` gets a line for each such column
// and for each that is left out. Errors: an unknown target or task, a target's cell that is no
// number, nothing to learn from.
Result<TableForm> look(const Table& table, const std::string& target, const std::string& task,
                       const std::string& name, std::vector<std::string>& notes);

}  // namespace loom
