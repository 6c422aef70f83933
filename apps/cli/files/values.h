// Numbers of a file that a command reads whole: .npy of numpy.save, or CSV without a header.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace loom::cli {

struct Values {
  std::vector<std::int64_t> shape;  // of CSV: lines, numbers of a line
  std::vector<double> values;
};
// What is neither ends the action as kRefused, by the line and column of CSV.
Values read_values(const std::string& path);
// The same of a table: the first line may be a header, names of columns and no numbers, and CSV may
// have semicolons or tabs in place of commas.
Values read_table(const std::string& path);
// The sizes before those that make rows of `width` values: of (streams, ticks, width) the first
// two; of (n,) for a width of 1 n, and none for a single row (width,). Nothing where no sizes at
// the end make `width`: values are not put into other rows than those of the file.
std::optional<std::vector<std::int64_t>> sizes_before(const Values& file, std::int64_t width);
// "(4, 2)", for messages.
std::string shape_text(const std::vector<std::int64_t>& shape);

}  // namespace loom::cli
