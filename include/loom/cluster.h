/* Made by api/generate.py from api/loom.json: edit those. */
/* A part of loom/loom.h, which includes it: groups of rows, ensembles, and figures. */
#ifndef LOOM_CLUSTER_H
#define LOOM_CLUSTER_H

#include <loom/loom.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- cluster
 * Groups of rows of numbers (docs/guide/ensembles.md): f64 in a fixed order of sums, the same
 * bits everywhere. Values that are not finite are refused by their place. */

/* k-means by Lloyd's iterations. A cluster that loses all its rows takes the row farthest from
 * its center.
 *   x: rows x width
 *   width: values of a row
 *   clusters: 1 to rows
 *   start: clusters x width centers to start from; none: k-means++ by the seed
 *   options: JSON: seed (0), starts (1), max_iterations (300), tolerance (1e-4):
 *     docs/reference/options.md, cluster_k_means
 *   labels: one for each row: its center
 *   centers: clusters x width
 *   info: JSON: inertia (the sum of squared distances to the centers), iterations */
LOOM_API int32_t loom_cluster_k_means(const double* x, size_t x_count, int64_t width,
                                      int64_t clusters, const double* start, size_t start_count,
                                      const char* options, size_t options_size, int32_t* labels,
                                      size_t labels_count, double* centers, size_t centers_count,
                                      loom_bytes* info, loom_error* error);

/* How well rows fit their groups: their mean says how good a number of groups is. Refused for
 * one group, and for one row each.
 *   x: rows x width; precomputed: rows x rows distances
 *   width: values of a row
 *   labels: the group of each row, any number
 *   distance: euclidean, cosine, precomputed
 *   silhouettes: one for each row, -1 to 1: (b - a) / max(a, b), a the mean distance to the
 *     others of its group, b to those of the nearest other one; 0 in a group of one */
LOOM_API int32_t loom_cluster_silhouettes(const double* x, size_t x_count, int64_t width,
                                          const int32_t* labels, size_t labels_count,
                                          const char* distance, size_t distance_size,
                                          double* silhouettes, size_t silhouettes_count,
                                          loom_error* error);

/* Agglomerative clustering of at most 8,192 rows: the merges are those of SciPy's linkage.
 *   x: rows x width; precomputed: rows x rows distances
 *   width: values of a row
 *   options: JSON: distance, linkage: docs/reference/options.md, cluster_hierarchy
 *   merges: (rows - 1) x 4 by ascending distance: two groups, their distance, the rows of both;
 *     groups 0 to rows - 1 are the rows, rows + i is what merge i makes */
LOOM_API int32_t loom_cluster_hierarchy(const double* x, size_t x_count, int64_t width,
                                        const char* options, size_t options_size, double* merges,
                                        size_t merges_count, loom_error* error);

/* The groups of a hierarchy that are as many, or no farther apart.
 *   merges: of cluster_hierarchy
 *   options: JSON: clusters or distance: docs/reference/options.md, cluster_cut
 *   labels: one for each row, numbered in the order of their first rows */
LOOM_API int32_t loom_cluster_cut(const double* merges, size_t merges_count, const char* options,
                                  size_t options_size, int32_t* labels, size_t labels_count,
                                  loom_error* error);

/* ---- ensemble
 * Networks that answer together, by what they have answered (docs/guide/ensembles.md). */

/* Pairs of members that complete each other, with at least this coverage.
 *   correct: members x samples: 1 where the answer was right, else 0
 *   samples: of each member
 *   options: JSON: min_coverage (0): docs/reference/options.md, ensemble_matches
 *   matches: JSON: [{first, second, coverage, overlap, cosine}]: pairs of members by descending
 *     coverage, then ascending overlap; coverage: the share of samples that one of them or both
 *     have right; overlap: both; cosine: of their rows of 0 and 1 */
LOOM_API int32_t loom_ensemble_matches(const int32_t* correct, size_t correct_count,
                                       int64_t samples, const char* options, size_t options_size,
                                       loom_bytes* matches, loom_error* error);

/* The vote of several networks.
 *   scores: members x rows x width: of classes
 *   members: at least 1
 *   width: classes
 *   weights: one for each member; none: equal
 *   kind: majority: the share of the weights whose member has its greatest score there; mean:
 *     the weighted mean of the scores
 *   y: rows x width */
LOOM_API int32_t loom_ensemble_vote(const float* scores, size_t scores_count, int64_t members,
                                    int64_t width, const double* weights, size_t weights_count,
                                    const char* kind, size_t kind_size, float* y, size_t y_count,
                                    loom_error* error);

/* Chooses members whose mean of scores has most classes right: each step adds the one that helps
 * most (Caruana et al., ICML 2004).
 *   scores: members x rows x width
 *   members: at least 1
 *   width: classes
 *   classes: one for each row
 *   steps: members to add, 1 to 10000; one may come several times
 *   selection: JSON: weights (one for each member, their sum 1), accuracy (of the weighted mean
 *     on these rows), best_member (the accuracy of the best one) */
LOOM_API int32_t loom_ensemble_select(const float* scores, size_t scores_count, int64_t members,
                                      int64_t width, const int32_t* classes, size_t classes_count,
                                      int64_t steps, loom_bytes* selection, loom_error* error);

/* ---- measure
 * Figures of values (docs/guide/observe.md): f64 in a fixed order of sums, the same bits
 * everywhere. */

/* How far answers are from what was expected: |a - e| / |e| in percent, |a - e| x 100 where |e|
 * is below 1e-10; of a sample the mean of its values.
 *   actual: samples x width
 *   expected: samples x width, finite
 *   width: values of a sample
 *   keep: samples that each list holds
 *   report: JSON: samples, mean (percent, of the finite ones), score (the mean of max(0, 100 -
 *     deviation)), equal (the share of samples without any), not_finite, worst ([{sample,
 *     deviation}]; null: not finite), buckets ([{percent, count, samples}]) */
LOOM_API int32_t loom_measure_deviation(const double* actual, size_t actual_count,
                                        const double* expected, size_t expected_count,
                                        int64_t width, int64_t keep, loom_bytes* report,
                                        loom_error* error);

/* How columns go together, as of cells or features.
 *   x: rows x width
 *   width: columns
 *   kind: pearson, or spearman (of ranks, equal values share theirs)
 *   matrix: width x width; NaN where a column is constant */
LOOM_API int32_t loom_measure_correlation(const double* x, size_t x_count, int64_t width,
                                          const char* kind, size_t kind_size, double* matrix,
                                          size_t matrix_count, loom_error* error);

#ifdef __cplusplus
}
#endif

#endif
