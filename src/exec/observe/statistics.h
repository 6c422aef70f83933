// Statistics of a tensor of values, in double. The result has the same bits for every number of
// threads and on every instruction set, since the order of all sums is fixed. Values count in
// row-major order, and 1,024 of them are a block, the work of one thread.
//
// A block sums x - p and (x - p)^2, where p is its first finite value. Value i of the block is in
// lane i mod 8; then lanes 0 to 7 are added, one after the other. Blocks are combined in their
// order: first the mean, then the squared deviations from the mean.
//
// Subtracting a value of the block bounds the cancellation: the relative error of a variance stays
// below about 1,024 * 2^-52 (Chan, Golub, LeVeque, The American Statistician 37(3), 1983).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace loom {

struct CellStatistics {
  static constexpr double kActive = 1e-6;  // |x| above it is active

  std::int64_t count = 0;      // of all values
  std::int64_t nan_count = 0;  // and of those that are no number,
  std::int64_t inf_count = 0;  // or not finite
  std::int64_t active = 0;     // |x| > kActive, infinities among them
  // Of the finite values; the mean is 0, min and max are +-infinity where there are none.
  double mean = 0;
  double squares = 0;  // sum of (x - mean)^2
  double min, max;
  // The first value that is not finite: its row of the pass, its column of that row; -1: none.
  std::int64_t bad_row = -1, bad_column = -1;

  CellStatistics();
  std::int64_t finite() const { return count - nan_count - inf_count; }
  double std() const;  // of the population; 0 of no values
  double active_share() const;
  // As if the other's values followed these.
  void add(const CellStatistics& other);
  // As if the values were times `factor` (> 0); active ones stay so.
  void scale(double factor);
};

// Sums of up to kBlock values.
struct BlockSums {
  static constexpr std::size_t kBlock = 1024;
  double pivot = 0, sum = 0, squares = 0, min = 0, max = 0;
  std::int32_t count = 0, nan_count = 0, inf_count = 0, active = 0;
  std::int32_t first_bad = -1;  // of the block
};

// Of at most kBlock values. T: float, double. Those above `active` count as such.
template <class T>
BlockSums block_sums(const T* x, std::size_t count, double active = CellStatistics::kActive);

// Combines the blocks of one tensor in their order. `width`: values of a row, which say where a
// value stands.
CellStatistics combine(std::span<const BlockSums> blocks, std::int64_t width);

}  // namespace loom
