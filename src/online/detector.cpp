#include "online/detector.h"

#include <algorithm>
#include <cmath>

#include "base/math/exact_math.h"

namespace loom {

void ChangeDetector::reset() {
  for (Row& row : rows_) row.count = 0;
  width_ = 0;
  total_ = squares_ = 0;
}

void ChangeDetector::insert(double error) {
  Row& row = rows_[0];
  row.buckets[static_cast<std::size_t>(row.count++)] = {error, 0};
  if (width_ > 0) {
    const double n = static_cast<double>(width_), d = error - total_ / n;
    squares_ += n * d * d / (n + 1);
  }
  ++width_;
  total_ += error;
  compress();
}

void ChangeDetector::compress() {
  for (std::size_t r = 0; r + 1 < rows_.size(); ++r) {
    Row& row = rows_[r];
    if (row.count <= kBuckets) return;
    Row& next = rows_[r + 1];
    const double n = std::ldexp(1.0, static_cast<int>(r));
    const Bucket &a = row.buckets[0], &b = row.buckets[1];
    const double d = (a.total - b.total) / n;
    next.buckets[static_cast<std::size_t>(next.count++)] = {a.total + b.total,
                                                            a.squares + b.squares + n * d * d / 2};
    std::copy(row.buckets.begin() + 2, row.buckets.end(), row.buckets.begin());
    row.count -= 2;
  }
}

void ChangeDetector::drop_oldest() {
  std::size_t r = rows_.size() - 1;
  while (rows_[r].count == 0) --r;
  Row& row = rows_[r];
  const Bucket gone = row.buckets[0];
  std::copy(row.buckets.begin() + 1, row.buckets.end(), row.buckets.begin());
  --row.count;
  const std::int64_t size = std::int64_t{1} << r;
  width_ -= size;
  total_ -= gone.total;
  const double n = static_cast<double>(size), rest = static_cast<double>(width_);
  const double d = rest > 0 ? gone.total / n - total_ / rest : 0;
  squares_ = std::max(0.0, squares_ - gone.squares - n * rest * d * d / (n + rest));
  if (width_ == 0) total_ = squares_ = 0;
}

// Section 4 of the paper: the bound with the variance of the window, and delta / ln(n).
std::int64_t ChangeDetector::cut(bool& rises) const {
  constexpr std::int64_t kMinPart = 5;
  if (width_ < 2 * kMinPart) return 0;
  const double n = static_cast<double>(width_), variance = squares_ / n,
               log = exact::log(2 * exact::log(n) / delta_);
  std::int64_t older = 0, found = 0;
  double sum = 0, furthest = 1;
  for (std::size_t r = rows_.size(); r-- > 0;) {
    for (int i = 0; i < rows_[r].count; ++i) {
      older += std::int64_t{1} << r;
      sum += rows_[r].buckets[static_cast<std::size_t>(i)].total;
      const std::int64_t newer = width_ - older;
      if (older < kMinPart) continue;
      if (newer < kMinPart) return found;
      const double n0 = static_cast<double>(older), n1 = static_cast<double>(newer);
      const double inverse = 1 / n0 + 1 / n1, d = (total_ - sum) / n1 - sum / n0;
      const double bound = std::sqrt(2 * inverse * variance * log) + 2.0 / 3 * inverse * log;
      if (std::abs(d) <= bound * furthest) continue;
      furthest = std::abs(d) / bound;
      found = newer;
      rises = d > 0;
    }
  }
  return found;
}

bool ChangeDetector::add(double error) {
  insert(error);
  bool rises = false;
  for (std::int64_t newer = cut(rises); newer > 0; newer = cut(rises)) {
    if (rises) {
      while (width_ > newer) drop_oldest();
      return true;
    }
    drop_oldest();
  }
  return false;
}

}  // namespace loom
