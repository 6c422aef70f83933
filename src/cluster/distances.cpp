#include "cluster/distances.h"

#include <algorithm>
#include <cmath>

#include "base/math/exact_math.h"

namespace loom::cluster {

Result<Rows2d> rows_of(std::span<const double> values, std::int64_t width, std::int64_t min_rows) {
  if (width < 1)
    return Status(Code::invalid_argument, "width must be at least 1, got " + std::to_string(width));
  const auto columns = static_cast<std::size_t>(width);
  if (values.size() % columns != 0)
    return Status(Code::invalid_argument, "expects rows of " + std::to_string(width) +
                                              " values, got " + std::to_string(values.size()) +
                                              " values");
  const Rows2d rows{values, width};
  if (rows.count() < min_rows)
    return Status(Code::invalid_argument, "expects at least " + std::to_string(min_rows) +
                                              " rows, got " + std::to_string(rows.count()));
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!std::isfinite(values[i]))
      return Status(Code::invalid_argument, "row " + std::to_string(i / columns) + ", column " +
                                                std::to_string(i % columns) +
                                                " is no finite number");
  return rows;
}

double distance_of(const Rows2d& rows, std::int64_t i, std::int64_t j, Distance kind) {
  const double *a = rows.row(i), *b = rows.row(j);
  if (kind == Distance::precomputed) return a[j];
  if (kind == Distance::euclidean) return exact::sqrt(squared_distance(a, b, rows.width));
  double dot = 0, aa = 0, bb = 0;
  for (std::int64_t c = 0; c < rows.width; ++c) {
    dot += a[c] * b[c];
    aa += a[c] * a[c];
    bb += b[c] * b[c];
  }
  return aa > 0 && bb > 0 ? std::max(0.0, 1 - dot / (exact::sqrt(aa) * exact::sqrt(bb))) : 1;
}

Status check_distances(const Rows2d& rows, Distance kind) {
  if (kind != Distance::precomputed) return {};
  const std::int64_t n = rows.count();
  if (rows.width != n)
    return Status(Code::invalid_argument, "precomputed distances are a square, got " +
                                              std::to_string(n) + " x " +
                                              std::to_string(rows.width));
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j <= i; ++j) {
      const double a = rows.row(i)[j], b = rows.row(j)[i];
      if (a >= 0 && std::abs(a - b) <= 1e-8 * std::max(a, b) && (i != j || a == 0)) continue;
      return Status(Code::invalid_argument,
                    "precomputed: the distance of rows " + std::to_string(i) + " and " +
                        std::to_string(j) +
                        (i == j    ? " must be 0, got "
                         : a < 0.0 ? " must be at least 0, got "
                                   : " must be the same in both places, got ") +
                        std::to_string(a) + (i == j || a < 0 ? "" : " and " + std::to_string(b)));
    }
  return {};
}

}  // namespace loom::cluster
