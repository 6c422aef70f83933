// Groups of rows, networks that answer together, and figures of values.
#include <algorithm>
#include <cmath>

#include "base/math/fp_env.h"
#include "base/message.h"
#include "c_api/call.h"
#include "c_api/options/options.h"
#include "cluster/cluster.h"
#include "ensemble/ensemble.h"
#include "measure/measure.h"

using namespace loom;
using namespace loom::c_api;

namespace {

// The index of a name in a list.
template <std::size_t N>
Result<int> choice(std::string_view name, const std::string_view (&names)[N],
                   std::string_view what) {
  std::string list;
  for (std::size_t i = 0; i < N; ++i) {
    if (names[i] == name) return static_cast<int>(i);
    list += std::string(i ? ", " : "") + std::string(names[i]);
  }
  return Status(Code::invalid_argument,
                message(what, ": expects one of ", list, ", got \"", name, "\""));
}

Result<cluster::Rows2d> rows_in(std::span<const double> x, std::int64_t width) {
  auto rows = cluster::rows_of(x, width, 1);
  if (!rows.ok()) return rows.status().at("x");
  return rows;
}

Status k_means(const cluster::Rows2d& rows, std::int64_t clusters, const ClusterKMeans& o,
               std::span<const double> start, std::span<std::int32_t> labels,
               std::span<double> centers, loom_bytes* info) {
  cluster::KMeansOptions options = o.k_means;
  options.clusters = clusters;
  options.centers.assign(start.begin(), start.end());
  LOOM_TRY(expect_count("labels", labels.size(), rows.count()));
  LOOM_ASSIGN(const std::int64_t expected, product("centers", options.clusters, rows.width));
  LOOM_TRY(expect_count("centers", centers.size(), expected));
  LOOM_ASSIGN(const cluster::KMeans found, cluster::k_means(rows, options));
  Json json = Json::object();
  json.set("inertia", found.inertia);
  json.set("iterations", found.iterations);
  *info = new_json(json);
  std::ranges::copy(found.labels, labels.begin());
  std::ranges::copy(found.centers, centers.begin());
  return {};
}

Status hierarchy(const cluster::Rows2d& rows, const ClusterHierarchy& o, std::span<double> merges) {
  LOOM_ASSIGN(const int distance, choice(o.distance, cluster::kDistanceNames, "distance"));
  LOOM_ASSIGN(const int linkage, choice(o.linkage, cluster::kLinkageNames, "linkage"));
  LOOM_TRY(expect_count("merges", merges.size(), 4 * (rows.count() - 1)));
  LOOM_ASSIGN(const std::vector<cluster::Merge> found,
              cluster::hierarchy(rows, static_cast<cluster::Distance>(distance),
                                 static_cast<cluster::Linkage>(linkage)));
  auto to = merges.begin();
  for (const cluster::Merge& m : found)
    for (const double v : {static_cast<double>(m.first), static_cast<double>(m.second), m.distance,
                           static_cast<double>(m.size)})
      *to++ = v;
  return {};
}

// Merges as hierarchy wrote them: each joins two groups that are there, which nobody else joins.
Result<std::vector<cluster::Merge>> read_merges(std::span<const double> values) {
  if (values.size() % 4 != 0)
    return Status(Code::invalid_argument,
                  message("merges: expects rows of 4 values, got ", values.size()));
  std::vector<cluster::Merge> merges;
  const std::size_t rows = values.size() / 4 + 1;
  std::vector<bool> joined(2 * rows);
  for (std::size_t i = 0; i + 1 < rows; ++i) {
    const double* m = values.data() + 4 * i;
    cluster::Merge merge{0, 0, m[2], 0};
    for (const int side : {0, 1}) {
      const double group = m[side];
      const bool there = group >= 0 && group < static_cast<double>(rows + i) &&
                         group == std::floor(group) && !joined[static_cast<std::size_t>(group)];
      if (!there)
        return Status(Code::invalid_argument,
                      message("merges: row ", i, " joins the group ", std::to_string(group),
                              ", which is not there or has been joined"));
      joined[static_cast<std::size_t>(group)] = true;
      (side == 0 ? merge.first : merge.second) = static_cast<std::int64_t>(group);
    }
    if (!(m[2] >= (i == 0 ? 0 : m[-2])))
      return Status(Code::invalid_argument, message("merges: row ", i, ": distances must ascend"));
    merges.push_back(merge);
  }
  return merges;
}

Status cut(std::span<const double> values, const ClusterCut& o, std::span<std::int32_t> labels) {
  LOOM_ASSIGN(const std::vector<cluster::Merge> merges, read_merges(values));
  const auto rows = static_cast<std::int64_t>(merges.size()) + 1;
  LOOM_TRY(expect_count("labels", labels.size(), rows));
  if (o.clusters.has_value() == o.distance.has_value())
    return Status(Code::invalid_argument, "one of \"clusters\" and \"distance\" is wanted");
  if (o.clusters && *o.clusters > rows)
    return Status(Code::invalid_argument, message("clusters: expects 1 to ", rows,
                                                  ", the number of rows, got ", *o.clusters));
  std::ranges::copy(
      o.clusters ? cluster::cut(merges, *o.clusters) : cluster::cut_at(merges, *o.distance),
      labels.begin());
  return {};
}

Json json_of(const std::vector<ensemble::Match>& matches) {
  Json list = Json::array();
  for (const ensemble::Match& m : matches) {
    Json one = Json::object();
    one.set("first", m.first);
    one.set("second", m.second);
    one.set("coverage", m.coverage);
    one.set("overlap", m.overlap);
    one.set("cosine", m.cosine);
    list.push(one);
  }
  return list;
}

Json json_of(const ensemble::Selection& s) {
  Json json = Json::object(), weights = Json::array();
  for (const double w : s.weights) weights.push(w);
  json.set("weights", weights);
  json.set("accuracy", s.accuracy);
  json.set("best_member", s.best_member);
  return json;
}

Json number_or_null(double v) { return std::isfinite(v) ? Json(v) : Json(); }

Json json_of(const measure::Deviation& d) {
  Json json = Json::object(), worst = Json::array(), buckets = Json::array();
  for (const auto& [sample, deviation] : d.worst) {
    Json one = Json::object();
    one.set("sample", sample);
    one.set("deviation", number_or_null(deviation));
    worst.push(one);
  }
  for (std::size_t b = 0; b < d.buckets.size(); ++b) {
    Json one = Json::object(), samples = Json::array();
    for (const std::int64_t id : d.ids[b]) samples.push(id);
    one.set("percent", measure::kBucketNames[b]);
    one.set("count", d.buckets[b]);
    one.set("samples", samples);
    buckets.push(one);
  }
  json.set("samples", d.samples);
  json.set("mean", d.mean);
  json.set("score", d.score);
  json.set("equal", d.equal);
  json.set("not_finite", d.not_finite);
  json.set("worst", worst);
  json.set("buckets", buckets);
  return json;
}

}  // namespace

int32_t loom_measure_deviation(const double* actual, size_t actual_count, const double* expected,
                               size_t expected_count, int64_t width, int64_t keep,
                               loom_bytes* report, loom_error* error) {
  return call(error, [&]() -> Status {
    [[maybe_unused]] const FpEnvGuard fp;
    LOOM_TRY(want(report));
    LOOM_ASSIGN(const auto a, c_api::span(actual, actual_count, "actual"));
    LOOM_ASSIGN(const auto e, c_api::span(expected, expected_count, "expected"));
    LOOM_ASSIGN(const measure::Deviation found, measure::deviation(a, e, width, keep));
    *report = new_json(json_of(found));
    return {};
  });
}

int32_t loom_measure_correlation(const double* x, size_t x_count, int64_t width, const char* kind,
                                 size_t kind_size, double* matrix, size_t matrix_count,
                                 loom_error* error) {
  return call(error, [&]() -> Status {
    [[maybe_unused]] const FpEnvGuard fp;
    LOOM_ASSIGN(const auto values, c_api::span(x, x_count, "x"));
    LOOM_ASSIGN(const auto out, c_api::span(matrix, matrix_count, "matrix"));
    LOOM_ASSIGN(const auto name, text_argument(kind, kind_size, "kind"));
    LOOM_ASSIGN(const int index, choice(name, measure::kCorrelationNames, "kind"));
    LOOM_ASSIGN(const std::int64_t expected, product("matrix", width, width));
    LOOM_TRY(expect_count("matrix", out.size(), expected));
    LOOM_ASSIGN(const auto found,
                measure::correlation(values, width, static_cast<measure::Correlation>(index)));
    std::ranges::copy(found, out.begin());
    return {};
  });
}

int32_t loom_cluster_k_means(const double* x, size_t x_count, int64_t width, int64_t clusters,
                             const double* start, size_t start_count, const char* options,
                             size_t options_size, int32_t* labels, size_t labels_count,
                             double* centers, size_t centers_count, loom_bytes* info,
                             loom_error* error) {
  return call(error, [&]() -> Status {
    [[maybe_unused]] const FpEnvGuard fp;
    LOOM_TRY(want(info));
    ClusterKMeans o;
    LOOM_TRY(read_options(options, options_size, o));
    LOOM_ASSIGN(const auto values, c_api::span(x, x_count, "x"));
    LOOM_ASSIGN(const auto from, c_api::span(start, start_count, "start"));
    LOOM_ASSIGN(const auto to_labels, c_api::span(labels, labels_count, "labels"));
    LOOM_ASSIGN(const auto to_centers, c_api::span(centers, centers_count, "centers"));
    LOOM_ASSIGN(const cluster::Rows2d rows, rows_in(values, width));
    return k_means(rows, clusters, o, from, to_labels, to_centers, info);
  });
}

int32_t loom_cluster_silhouettes(const double* x, size_t x_count, int64_t width,
                                 const int32_t* labels, size_t labels_count, const char* distance,
                                 size_t distance_size, double* silhouettes,
                                 size_t silhouettes_count, loom_error* error) {
  return call(error, [&]() -> Status {
    [[maybe_unused]] const FpEnvGuard fp;
    LOOM_ASSIGN(const auto values, c_api::span(x, x_count, "x"));
    LOOM_ASSIGN(const auto of, c_api::span(labels, labels_count, "labels"));
    LOOM_ASSIGN(const auto out, c_api::span(silhouettes, silhouettes_count, "silhouettes"));
    LOOM_ASSIGN(const auto name, text_argument(distance, distance_size, "distance"));
    LOOM_ASSIGN(const int kind, choice(name, cluster::kDistanceNames, "distance"));
    LOOM_ASSIGN(const cluster::Rows2d rows, rows_in(values, width));
    LOOM_TRY(expect_count("silhouettes", out.size(), rows.count()));
    LOOM_ASSIGN(const auto found,
                cluster::silhouettes(rows, of, static_cast<cluster::Distance>(kind)));
    std::ranges::copy(found, out.begin());
    return {};
  });
}

int32_t loom_cluster_hierarchy(const double* x, size_t x_count, int64_t width, const char* options,
                               size_t options_size, double* merges, size_t merges_count,
                               loom_error* error) {
  return call(error, [&]() -> Status {
    [[maybe_unused]] const FpEnvGuard fp;
    ClusterHierarchy o;
    LOOM_TRY(read_options(options, options_size, o));
    LOOM_ASSIGN(const auto values, c_api::span(x, x_count, "x"));
    LOOM_ASSIGN(const auto out, c_api::span(merges, merges_count, "merges"));
    LOOM_ASSIGN(const cluster::Rows2d rows, rows_in(values, width));
    return hierarchy(rows, o, out);
  });
}

int32_t loom_cluster_cut(const double* merges, size_t merges_count, const char* options,
                         size_t options_size, int32_t* labels, size_t labels_count,
                         loom_error* error) {
  return call(error, [&]() -> Status {
    ClusterCut o;
    LOOM_TRY(read_options(options, options_size, o));
    LOOM_ASSIGN(const auto values, c_api::span(merges, merges_count, "merges"));
    LOOM_ASSIGN(const auto out, c_api::span(labels, labels_count, "labels"));
    return cut(values, o, out);
  });
}

int32_t loom_ensemble_matches(const int32_t* correct, size_t correct_count, int64_t samples,
                              const char* options, size_t options_size, loom_bytes* matches,
                              loom_error* error) {
  return call(error, [&]() -> Status {
    [[maybe_unused]] const FpEnvGuard fp;
    LOOM_TRY(want(matches));
    EnsembleMatches o;
    LOOM_TRY(read_options(options, options_size, o));
    LOOM_ASSIGN(const auto right, c_api::span(correct, correct_count, "correct"));
    LOOM_ASSIGN(const ensemble::Correctness c, ensemble::correctness_of(right, samples));
    *matches = new_json(json_of(ensemble::complementary_matches(c, o.min_coverage)));
    return {};
  });
}

int32_t loom_ensemble_vote(const float* scores, size_t scores_count, int64_t members, int64_t width,
                           const double* weights, size_t weights_count, const char* kind,
                           size_t kind_size, float* y, size_t y_count, loom_error* error) {
  return call(error, [&]() -> Status {
    [[maybe_unused]] const FpEnvGuard fp;
    LOOM_ASSIGN(const auto in, c_api::span(scores, scores_count, "scores"));
    LOOM_ASSIGN(const auto by, c_api::span(weights, weights_count, "weights"));
    LOOM_ASSIGN(const auto out, c_api::span(y, y_count, "y"));
    LOOM_ASSIGN(const auto name, text_argument(kind, kind_size, "kind"));
    LOOM_ASSIGN(const int vote_kind, choice(name, ensemble::kVoteNames, "kind"));
    return ensemble::vote(in, members, width, by, static_cast<ensemble::Vote>(vote_kind), out);
  });
}

int32_t loom_ensemble_select(const float* scores, size_t scores_count, int64_t members,
                             int64_t width, const int32_t* classes, size_t classes_count,
                             int64_t steps, loom_bytes* selection, loom_error* error) {
  return call(error, [&]() -> Status {
    [[maybe_unused]] const FpEnvGuard fp;
    LOOM_TRY(want(selection));
    LOOM_ASSIGN(const auto in, c_api::span(scores, scores_count, "scores"));
    LOOM_ASSIGN(const auto of, c_api::span(classes, classes_count, "classes"));
    LOOM_ASSIGN(const ensemble::Selection found, ensemble::select(in, members, width, of, steps));
    *selection = new_json(json_of(found));
    return {};
  });
}
