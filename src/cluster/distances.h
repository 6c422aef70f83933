#pragma once

#include "cluster/cluster.h"

namespace loom::cluster {

inline double squared_distance(const double* a, const double* b, std::int64_t width) {
  double sum = 0;
  for (std::int64_t i = 0; i < width; ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum;
}
double distance_of(const Rows2d& rows, std::int64_t i, std::int64_t j, Distance kind);
// precomputed: a square, symmetric to 1e-8 of its values, 0 on its diagonal, never negative.
Status check_distances(const Rows2d& rows, Distance kind);

}  // namespace loom::cluster
