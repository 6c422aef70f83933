#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/math/exact_math.h"
#include "measure/measure.h"

namespace loom::measure {
namespace {

// From 1; equal values have the mean of their ranks.
std::vector<double> ranks(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return values[i]; });
  std::vector<double> out(values.size());
  for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    for (std::size_t i = begin; i < end; ++i)
      out[order[i]] = static_cast<double>(begin + end + 1) / 2;
  }
  return out;
}

// Less their mean, and divided by the root of the sum of their squares; empty: constant.
std::vector<double> unit(std::vector<double> values) {
  double mean = 0, squares = 0;
  for (const double v : values) mean += v;
  mean /= static_cast<double>(values.size());
  for (double& v : values) v -= mean, squares += v * v;
  if (!(squares > 0)) return {};
  const double norm = exact::sqrt(squares);
  for (double& v : values) v /= norm;
  return values;
}

}  // namespace

Result<std::vector<double>> correlation(std::span<const double> x, std::int64_t width,
                                        Correlation kind) {
  if (width < 1)
    return Status(Code::invalid_argument,
                  "width: expects at least 1, got " + std::to_string(width));
  const auto columns = static_cast<std::size_t>(width);
  if (x.size() % columns != 0 || x.size() / columns < 2)
    return Status(Code::invalid_argument, "x: expects at least 2 rows of " + std::to_string(width) +
                                              " values, got " + std::to_string(x.size()) +
                                              " values");
  const std::size_t rows = x.size() / columns;
  std::vector<std::vector<double>> units(columns);
  for (std::size_t c = 0; c < columns; ++c) {
    std::vector<double> column(rows);
    for (std::size_t r = 0; r < rows; ++r) {
      column[r] = x[r * columns + c];
      if (!std::isfinite(column[r]))
        return Status(Code::invalid_argument, "x: row " + std::to_string(r) + ", column " +
                                                  std::to_string(c) + " is no finite number");
    }
    units[c] = unit(kind == Correlation::spearman ? ranks(column) : std::move(column));
  }
  std::vector<double> matrix(columns * columns, std::numeric_limits<double>::quiet_NaN());
  for (std::size_t a = 0; a < columns; ++a)
    for (std::size_t b = 0; b <= a; ++b) {
      if (units[a].empty() || units[b].empty()) continue;
      double dot = 0;
      for (std::size_t r = 0; r < rows; ++r) dot += units[a][r] * units[b][r];
      matrix[a * columns + b] = matrix[b * columns + a] = a == b ? 1 : std::clamp(dot, -1.0, 1.0);
    }
  return matrix;
}

}  // namespace loom::measure
