// Finds changes in a stream of errors: ADWIN (Bifet and Gavalda, "Learning from time-changing data
// with adaptive windowing", SDM 2007). A window of the newest values shrinks as soon as two parts
// of it have means that differ by more than chance allows; memory and time are logarithmic in its
// length. Not thread-safe.
#pragma once

#include <array>
#include <cstdint>

namespace loom {

class ChangeDetector {
 public:
  // `delta`: about the probability of a false cut, above 0 and below 1.
  explicit ChangeDetector(double delta = 1e-4) : delta_(delta) {}

  // Takes the next error, from 0 to 1. True: the mean has risen, `width()` values ago, and older
  // ones are forgotten. A mean that falls only shortens the window: so does learning.
  bool add(double error);
  // Values in the window, and their mean.
  std::int64_t width() const { return width_; }
  double mean() const { return width_ > 0 ? total_ / static_cast<double>(width_) : 0; }
  void reset();

 private:
  static constexpr int kBuckets = 5;  // of a size, before two of them become one of twice the size
  static constexpr int kRows = 40;    // sizes: 2^row values
  struct Bucket {
    double total = 0, squares = 0;  // sum, and sum of squared deviations from the mean
  };
  struct Row {
    std::array<Bucket, kBuckets + 1> buckets;  // the oldest first
    int count = 0;
  };
  void insert(double error);
  void compress();
  void drop_oldest();
  // The newest values of the cut whose parts differ the most beyond chance; 0: there is none.
  std::int64_t cut(bool& rises) const;

  double delta_;
  std::array<Row, kRows> rows_;
  std::int64_t width_ = 0;
  double total_ = 0, squares_ = 0;
};

}  // namespace loom
