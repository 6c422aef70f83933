// Tables of numbers in CSV (RFC 4180: quotes, doubled quotes inside them, line ends LF or CRLF) as
// samples of values.
#pragma once

#include <memory>
#include <string_view>

#include "base/status.h"
#include "train/data/data.h"
#include "train/spec/spec.h"

namespace loom {

// Every column that is no target is an input, in the order of the file. Numbers (parse_number of
// csv.h) are rounded to f32. Errors name line and column (both from 1) of `name`: a row of another
// length, a cell that is no number or too large, an open quote, text after a closing quote, an
// unknown column name, a class that is no integer.
Result<std::unique_ptr<DataSource>> read_table(std::string_view text, const DataSpec& spec,
                                               const std::string& name = "table");

}  // namespace loom
