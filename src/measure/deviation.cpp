#include <algorithm>
#include <cmath>
#include <limits>

#include "measure/measure.h"

namespace loom::measure {
namespace {

Status bad(const std::string& what) { return Status(Code::invalid_argument, what); }

constexpr double kZero = 1e-10;  // below it an expected value is no measure of itself

double percent(double actual, double expected) {
  const double gap = std::abs(actual - expected), size = std::abs(expected);
  return size < kZero ? gap * 100 : gap / size * 100;
}

std::size_t bucket_of(double deviation) {
  if (!(deviation < 100)) return kBucketNames.size() - 1;
  return deviation < 50 ? static_cast<std::size_t>(deviation / 10) : 5;
}

Status check(std::span<const double> actual, std::span<const double> expected, std::int64_t width,
             std::int64_t keep) {
  if (width < 1) return bad("width: expects at least 1, got " + std::to_string(width));
  if (actual.size() != expected.size())
    return bad("expected: has " + std::to_string(expected.size()) + " values, and actual " +
               std::to_string(actual.size()));
  if (actual.empty() || actual.size() % static_cast<std::size_t>(width) != 0)
    return bad("actual: expects samples of " + std::to_string(width) +
               " values, at least one, got " + std::to_string(actual.size()) + " values");
  if (keep < 0) return bad("keep: expects at least 0, got " + std::to_string(keep));
  for (std::size_t i = 0; i < expected.size(); ++i)
    if (!std::isfinite(expected[i]))
      return bad("expected[" + std::to_string(i) + "] is no finite number");
  return {};
}

}  // namespace

Result<Deviation> deviation(std::span<const double> actual, std::span<const double> expected,
                            std::int64_t width, std::int64_t keep) {
  LOOM_TRY(check(actual, expected, width, keep));
  Deviation d;
  const auto of_sample = static_cast<std::size_t>(width);
  d.samples = static_cast<std::int64_t>(actual.size() / of_sample);
  double sum = 0, score = 0;
  std::int64_t equal = 0;
  std::vector<Deviation::Sample> all;
  for (std::int64_t s = 0; s < d.samples; ++s) {
    double total = 0;
    bool same = true;
    for (std::size_t i = 0; i < of_sample; ++i) {
      const std::size_t at = static_cast<std::size_t>(s) * of_sample + i;
      total += percent(actual[at], expected[at]);
      same = same && actual[at] == expected[at];
    }
    double one = total / static_cast<double>(width);
    if (!std::isfinite(one)) one = std::numeric_limits<double>::infinity(), ++d.not_finite;
    else sum += one;
    score += std::max(0.0, 100 - one);
    equal += same;
    const std::size_t bucket = bucket_of(one);
    ++d.buckets[bucket];
    if (static_cast<std::int64_t>(d.ids[bucket].size()) < keep) d.ids[bucket].push_back(s);
    all.push_back({s, one});
  }
  const auto samples = static_cast<double>(d.samples);
  if (d.not_finite < d.samples) d.mean = sum / static_cast<double>(d.samples - d.not_finite);
  d.score = score / samples;
  d.equal = static_cast<double>(equal) / samples;
  std::ranges::stable_sort(all, std::ranges::greater(), &Deviation::Sample::deviation);
  all.resize(static_cast<std::size_t>(std::min(keep, d.samples)));
  d.worst = std::move(all);
  return d;
}

}  // namespace loom::measure
