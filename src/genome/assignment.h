// The assignment problem: partners for rows among columns, one to one, with the largest sum.
#pragma once

#include <cstdint>
#include <vector>

namespace loom {

// gain: rows x cols, row-major, finite, rows <= cols. Returns each row's column. Exact: shortest
// augmenting paths (Jonker and Volgenant, Computing 38, 1987), O(rows^2 cols). Ties go to the
// smallest column: the result depends on the numbers alone.
std::vector<std::int32_t> best_assignment(const std::vector<double>& gain, std::size_t rows,
                                          std::size_t cols);

}  // namespace loom
