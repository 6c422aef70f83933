// Arrays of a file as samples: what numpy.save or idx wrote, decoded row by row where they lie, so
// that bytes stay bytes in memory.
#pragma once

#include <memory>

#include "formats/tensor_file.h"
#include "train/data/data.h"

namespace loom {

// Types of integers of which f32 does not hold all.
constexpr bool is_whole(StorageType type) {
  return type == StorageType::i32 || type == StorageType::u32 || type == StorageType::i64 ||
         type == StorageType::u64;
}
// f32 does not hold all values of the type.
constexpr bool is_wide(StorageType type) { return type == StorageType::f64 || is_whole(type); }
// f64 holds every value of rows of `width`; the error names the row and the column of one that it
// does not, above 2^53.
Status check_whole(const TensorInfo& tensor, std::int64_t width);

class TensorData : public DataSource {
 public:
  // x: [samples, ...], a row is all of the rest; y: [samples, ...] of values, or, with `classes`,
  // one whole number per sample. Errors name the file: shapes that do not agree, no sample, a class
  // that is none.
  static Result<std::unique_ptr<TensorData>> create(TensorInfo x, const TensorInfo& y,
                                                    bool classes);

  std::int64_t samples() const override { return x_.shape[0]; }
  Form form() const override {
    return {.width = width_,
            .classes = limit_,
            .targets = targets_,
            .whole_x = is_whole(x_.type),
            .whole_y = whole_y_};
  }
  void append(std::int64_t sample, Batch& batch) const override;
  bool all_finite() const override {
    return targets_ == 0 && (type() == StorageType::u8 || type() == StorageType::boolean);
  }
  // Of a sample, without the first dimension.
  std::span<const std::int64_t> shape() const { return std::span(x_.shape).subspan(1); }
  StorageType type() const { return x_.type; }

 private:
  TensorInfo x_;
  std::vector<float> y_;
  std::vector<double> wide_y_;
  bool wide_x_ = false;   // of a type that f32 does not hold
  bool whole_y_ = false;  // of whole numbers
  std::vector<std::int32_t> classes_;
  std::int64_t width_ = 1, targets_ = 0, limit_ = 0;
};

// A part of another source, which must outlive it: a list of its samples.
class Subset : public DataSource {
 public:
  // The samples at begin..begin+count-1 of the permutation of the seed. Preconditions: they are
  // there, count > 0.
  Subset(const DataSource& whole, std::int64_t begin, std::int64_t count, std::uint64_t seed);
  // These, in this order.
  Subset(const DataSource& whole, std::vector<std::int64_t> samples);
  std::int64_t samples() const override { return static_cast<std::int64_t>(samples_.size()); }
  std::int64_t max_rows() const override { return whole_.max_rows(); }
  Form form() const override { return whole_.form(); }
  void append(std::int64_t sample, Batch& batch) const override {
    whole_.append(samples_[static_cast<std::size_t>(sample)], batch);
  }
  bool all_finite() const override { return whole_.all_finite(); }
  // Where the sample before it in the other source stands before it here, too.
  bool continues(std::int64_t sample) const override {
    const auto i = static_cast<std::size_t>(sample);
    return i > 0 && samples_[i] == samples_[i - 1] + 1 && whole_.continues(samples_[i]);
  }
  std::int64_t window() const override { return whole_.window(); }
  std::int64_t row_of(std::int64_t sample) const override {
    return whole_.row_of(samples_[static_cast<std::size_t>(sample)]);
  }

 private:
  const DataSource& whole_;
  std::vector<std::int64_t> samples_;
};

// What is learned and what is held back to judge by.
struct Split {
  std::unique_ptr<DataSource> learned, held_back;
  std::vector<std::int32_t> single{};  // classes of one sample, which is learned
};
// Holds back a share of the samples, at least one, picked by the seed. Where each sample has one
// class, the classes keep their proportions on both sides (largest remainders), and a class of two
// samples or more has at least one on each side; a class of one sample is learned. Samples of the
// class `ignore`, which does not count, form a separate group. Errors: fewer than two samples, no
// class of two.
Result<Split> split(const DataSource& whole, double share, std::uint64_t seed,
                    std::int64_t ignore = kIgnoredClass);
// The same share from the end: what is learned as a stream stays one.
Result<Split> split_end(const DataSource& whole, double share);

}  // namespace loom
