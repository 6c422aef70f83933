#include "genome/assignment.h"

#include <cstddef>
#include <limits>

namespace loom {

// Rows are added one by one; `row_price` and `col_price` are the dual variables, under which no
// cost is below their sum. Index 0 of columns is a virtual one that holds the row being added.
std::vector<std::int32_t> best_assignment(const std::vector<double>& gain, std::size_t rows,
                                          std::size_t cols) {
  constexpr double kFar = std::numeric_limits<double>::infinity();
  std::vector<double> row_price(rows + 1, 0), col_price(cols + 1, 0), distance(cols + 1);
  std::vector<std::size_t> row_of(cols + 1, 0), before(cols + 1, 0);
  std::vector<char> reached(cols + 1);
  for (std::size_t added = 1; added <= rows; ++added) {
    row_of[0] = added;
    std::size_t at = 0;
    distance.assign(cols + 1, kFar);
    reached.assign(cols + 1, 0);
    do {
      reached[at] = 1;
      const std::size_t row = row_of[at];
      const double* gains = gain.data() + (row - 1) * cols;
      double step = kFar;
      std::size_t next = 0;
      for (std::size_t c = 1; c <= cols; ++c) {
        if (reached[c]) continue;
        const double reduced = -gains[c - 1] - row_price[row] - col_price[c];
        if (reduced < distance[c]) distance[c] = reduced, before[c] = at;
        if (distance[c] < step) step = distance[c], next = c;
      }
      for (std::size_t c = 0; c <= cols; ++c) {
        if (reached[c]) row_price[row_of[c]] += step, col_price[c] -= step;
        else distance[c] -= step;
      }
      at = next;
    } while (row_of[at] != 0);
    for (; at != 0; at = before[at]) row_of[at] = row_of[before[at]];
  }
  std::vector<std::int32_t> partner(rows, -1);
  for (std::size_t c = 1; c <= cols; ++c)
    if (row_of[c] != 0) partner[row_of[c] - 1] = static_cast<std::int32_t>(c - 1);
  return partner;
}

}  // namespace loom
