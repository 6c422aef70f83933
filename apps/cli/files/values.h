// Numbers of a file that a command reads whole: .npy of numpy.save, or CSV without a header.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace loom::cli {

struct Values {
  std::vector<std::int64_t> shape;  // of CSV: lines, numbers of a line
  std::vector<double> values;
};
// What is neither ends the action as kRefused, by the line and column of CSV.
Values read_values(const std::string& path);

}  // namespace loom::cli
