// Groups of rows of numbers: k-means, silhouettes, hierarchies. All sums are doubles in a fixed
// order, so that results have the same bits on every machine.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace loom::cluster {

// Rows of `width` values each, row-major.
struct Rows2d {
  std::span<const double> values;
  std::int64_t width = 0;
  std::int64_t count() const { return static_cast<std::int64_t>(values.size()) / width; }
  const double* row(std::int64_t i) const { return values.data() + i * width; }
};
// `values` as rows. invalid_argument: no whole rows, fewer than `min_rows` of them, a value that is
// not finite (by its row and column).
Result<Rows2d> rows_of(std::span<const double> values, std::int64_t width, std::int64_t min_rows);

struct KMeansOptions {
  std::int64_t clusters = 8;
  std::int64_t seed = 0;
  std::int64_t starts = 1;  // the best of them by inertia counts
  std::int64_t max_iterations = 300;
  // Ends where the squared moves of the centers are at most this share of the mean variance of the
  // columns.
  double tolerance = 1e-4;
  std::vector<double> centers;  // clusters x width to start from; empty: k-means++
};
struct KMeans {
  std::vector<std::int32_t> labels;  // of the rows: the nearest center, of equal ones the first
  std::vector<double> centers;       // clusters x width
  double inertia = 0;                // sum of squared distances to the centers
  std::int64_t iterations = 0;
};
// Lloyd's iterations (IEEE Transactions on Information Theory 28(2), 1982) from centers by
// k-means++ (Arthur and Vassilvitskii, SODA 2007). A cluster that loses all rows takes the row
// farthest from its center.
Result<KMeans> k_means(const Rows2d& rows, const KMeansOptions& options);

// cosine: 1 - cos, 1 where a row is 0. precomputed: row i has the distances to all rows.
enum class Distance { euclidean, cosine, precomputed };
inline constexpr std::string_view kDistanceNames[] = {"euclidean", "cosine", "precomputed"};

// The silhouette of each row (Rousseeuw, Journal of Computational and Applied Mathematics 20,
// 1987): (b - a) / max(a, b), a the mean distance to the others of its group, b to the nearest
// other group; 0 in a group of one. invalid_argument: fewer than two groups, or one per row.
Result<std::vector<double>> silhouettes(const Rows2d& rows, std::span<const std::int32_t> labels,
                                        Distance distance);

enum class Linkage { single, complete, average, ward };
inline constexpr std::string_view kLinkageNames[] = {"single", "complete", "average", "ward"};

// Two groups that become one. Groups are numbered: 0 to rows - 1 are the rows, rows + i is what
// merge i makes.
struct Merge {
  std::int64_t first = 0, second = 0;  // first < second
  double distance = 0;
  std::int64_t size = 0;  // rows in it
};
// Agglomerative clustering by chains of nearest neighbours (Müllner, arXiv 1109.2378): rows - 1
// merges, by ascending distance. ward takes euclidean distances alone. At most kMaxRows rows.
inline constexpr std::int64_t kMaxRows = 8192;
Result<std::vector<Merge>> hierarchy(const Rows2d& rows, Distance distance, Linkage linkage);
// The groups of all merges but the last clusters - 1, or of those up to a distance; numbered in the
// order of their first rows.
std::vector<std::int32_t> cut(std::span<const Merge> merges, std::int64_t clusters);
std::vector<std::int32_t> cut_at(std::span<const Merge> merges, double distance);

}  // namespace loom::cluster
