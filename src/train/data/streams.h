// Another source as a stream: its rows, one after another, cut into lanes of equal length that are
// learned side by side. A sample is a window of a lane: the first windows of all lanes, then the
// second ones, and so on; the last may be shorter. What is too little for a row of every lane is
// left out at the end.
#pragma once

#include <memory>
#include <vector>

#include "train/data/data.h"

namespace loom {

class Streams : public DataSource {
 public:
  // Errors: fewer rows than lanes, with both numbers. `whole` must outlive it.
  static Result<std::unique_ptr<Streams>> create(const DataSource& whole, std::int64_t lanes);

  std::int64_t samples() const override { return lanes_ * windows(); }
  std::int64_t max_rows() const override { return window_; }
  Form form() const override { return whole_.form(); }
  // Positions count from the beginning of the lane or, where one begins in it, of the document: a
  // row at 0 has no state before it.
  void append(std::int64_t sample, Batch& batch) const override;
  bool all_finite() const override { return whole_.all_finite(); }
  std::int64_t row_of(std::int64_t sample) const override {
    return whole_.row_of(static_cast<std::int64_t>(sample_at(first_row(sample))));
  }
  std::int64_t windows() const { return (rows_ + window_ - 1) / window_; }  // of a lane
  std::int64_t lane_rows() const { return rows_; }
  std::int64_t left_out() const { return first_.back() - lanes_ * rows_; }

 private:
  Streams(const DataSource& whole, std::int64_t lanes) : whole_(whole), lanes_(lanes) {}
  std::int64_t first_row(std::int64_t sample) const {
    return sample % lanes_ * rows_ + sample / lanes_ * window_;
  }
  std::size_t sample_at(std::int64_t row) const;  // of the other source
  const DataSource& whole_;
  std::int64_t lanes_, rows_ = 0, window_ = 0;
  std::vector<std::int64_t> first_;  // rows before each sample of the other source, and all
  std::vector<std::int64_t> begin_;  // the row where its document begins
};

}  // namespace loom
