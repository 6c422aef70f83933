// Figures of values: how far answers are from what was expected, and how columns go together. All
// sums are doubles in a fixed order: the same bits on every machine.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace loom::measure {

// The deviation of an answer a from what was expected, e, in percent: |a - e| / |e| x 100, and
// |a - e| x 100 where |e| is below 1e-10. Of a sample of several values: the mean over them.
// Not finite: the last bucket, counted apart.
inline constexpr std::array<std::string_view, 7> kBucketNames = {
    "0-10", "10-20", "20-30", "30-40", "40-50", "50-100", "100+"};
struct Deviation {
  std::int64_t samples = 0;
  std::array<std::int64_t, kBucketNames.size()> buckets{};
  // Samples of each bucket, in their order: at most as many as were asked for.
  std::array<std::vector<std::int64_t>, kBucketNames.size()> ids;
  struct Sample {
    std::int64_t sample = 0;
    double deviation = 0;  // infinity where it is not finite
  };
  std::vector<Sample> worst;    // by descending deviation, of equal ones the first
  std::int64_t not_finite = 0;  // samples
  double mean = 0;              // of the finite deviations
  double score = 0;             // mean over all of max(0, 100 - deviation)
  double equal = 0;             // share of samples whose values are all equal
};
// `keep`: samples that each list holds. invalid_argument: sizes that differ, no whole samples,
// none, an expected value that is not finite.
Result<Deviation> deviation(std::span<const double> actual, std::span<const double> expected,
                            std::int64_t width, std::int64_t keep);

enum class Correlation { pearson, spearman };
inline constexpr std::string_view kCorrelationNames[] = {"pearson", "spearman"};
// Of each pair of columns: width x width, 1 on the diagonal; NaN where a column is constant.
// spearman: of the ranks, equal values sharing their mean rank. invalid_argument: fewer than two
// rows, a value that is not finite, by its place.
Result<std::vector<double>> correlation(std::span<const double> x, std::int64_t width,
                                        Correlation kind);

}  // namespace loom::measure
