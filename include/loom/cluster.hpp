// Groups of rows, networks that answer together, and figures of values: a part of loom.hpp, which
// includes it.
#ifndef LOOM_CLUSTER_HPP
#define LOOM_CLUSTER_HPP

#include "loom.hpp"

namespace loom {
inline namespace api {

// docs/guide/ensembles.md. x: rows of `width` values, one behind the other.
namespace cluster {

namespace detail {
inline std::size_t rows(std::span<const double> x, std::int64_t width) {
  return width > 0 ? x.size() / static_cast<std::size_t>(width) : 0;
}
}  // namespace detail

struct KMeans {
  std::vector<std::int32_t> labels;  // of the rows: their centers
  std::vector<double> centers;       // clusters x width
  std::string info;                  // JSON: inertia, iterations
};
// `start`: as many centers to begin with; none: those of k-means++ by the seed. options: JSON:
// seed, starts, max_iterations, tolerance.
inline KMeans k_means(std::span<const double> x, std::int64_t width, std::int64_t clusters,
                      std::span<const double> start = {}, std::string_view options = {}) {
  KMeans k;
  k.labels.resize(detail::rows(x, width));
  if (clusters > 0 && width > 0) k.centers.resize(static_cast<std::size_t>(clusters * width));
  k.info = api::detail::text(loom_cluster_k_means, x.data(), x.size(), width, clusters,
                             start.data(), start.size(), options.data(), options.size(),
                             k.labels.data(), k.labels.size(), k.centers.data(), k.centers.size());
  return k;
}

// distance: euclidean, cosine, precomputed.
inline std::vector<double> silhouettes(std::span<const double> x, std::int64_t width,
                                       std::span<const std::int32_t> labels,
                                       std::string_view distance = "euclidean") {
  std::vector<double> out(detail::rows(x, width));
  check(loom_cluster_silhouettes, x.data(), x.size(), width, labels.data(), labels.size(),
        distance.data(), distance.size(), out.data(), out.size());
  return out;
}

// (rows - 1) x 4: two groups, their distance, the rows of both. options: JSON: distance, linkage.
inline std::vector<double> hierarchy(std::span<const double> x, std::int64_t width,
                                     std::string_view options = {}) {
  const std::size_t rows = detail::rows(x, width);
  std::vector<double> merges(rows > 0 ? 4 * (rows - 1) : 0);
  check(loom_cluster_hierarchy, x.data(), x.size(), width, options.data(), options.size(),
        merges.data(), merges.size());
  return merges;
}
// options: JSON: clusters or distance.
inline std::vector<std::int32_t> cut(std::span<const double> merges, std::string_view options) {
  std::vector<std::int32_t> labels(merges.size() / 4 + 1);
  check(loom_cluster_cut, merges.data(), merges.size(), options.data(), options.size(),
        labels.data(), labels.size());
  return labels;
}

}  // namespace cluster

namespace ensemble {

// JSON: [{first, second, coverage, overlap, cosine}]. correct: members x samples of 0 and 1.
inline std::string matches(std::span<const std::int32_t> correct, std::int64_t samples,
                           std::string_view options = {}) {
  return detail::text(loom_ensemble_matches, correct.data(), correct.size(), samples,
                      options.data(), options.size());
}
// scores: members x rows x width; the result: rows x width. kind: mean, majority.
inline std::vector<float> vote(std::span<const float> scores, std::int64_t members,
                               std::int64_t width, std::span<const double> weights = {},
                               std::string_view kind = "mean") {
  std::vector<float> y(members > 0 ? scores.size() / static_cast<std::size_t>(members) : 0);
  check(loom_ensemble_vote, scores.data(), scores.size(), members, width, weights.data(),
        weights.size(), kind.data(), kind.size(), y.data(), y.size());
  return y;
}
// JSON: weights, accuracy, best_member.
inline std::string select(std::span<const float> scores, std::int64_t members, std::int64_t width,
                          std::span<const std::int32_t> classes, std::int64_t steps = 20) {
  return detail::text(loom_ensemble_select, scores.data(), scores.size(), members, width,
                      classes.data(), classes.size(), steps);
}

}  // namespace ensemble

// docs/guide/observe.md.
namespace measure {

// JSON. actual and expected: samples x width; keep: samples that each list holds.
inline std::string deviation(std::span<const double> actual, std::span<const double> expected,
                             std::int64_t width = 1, std::int64_t keep = 10) {
  return detail::text(loom_measure_deviation, actual.data(), actual.size(), expected.data(),
                      expected.size(), width, keep);
}
// width x width. kind: pearson, spearman.
inline std::vector<double> correlation(std::span<const double> x, std::int64_t width,
                                       std::string_view kind = "pearson") {
  std::vector<double> matrix(width > 0 ? static_cast<std::size_t>(width * width) : 0);
  check(loom_measure_correlation, x.data(), x.size(), width, kind.data(), kind.size(),
        matrix.data(), matrix.size());
  return matrix;
}

}  // namespace measure
}  // namespace api
}  // namespace loom

#endif
