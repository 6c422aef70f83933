// One parameter of a cell: its master values and the packed form that runs. The master is the truth (f32, or f64 for the
// class D types); packed forms are caches made from it, so morphing f32 -> i8 -> i4 -> f32 equals f32 -> i4 -> f32.
// Not thread-safe: morph and update between runs (sessions pin the packed form they run).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "numeric/packed_matrix.h"

namespace loom {

class WeightStore {
 public:
  WeightStore() = default;
  // rows x cols zeros, f32.
  WeightStore(std::int64_t rows, std::int64_t cols);
  static Result<WeightStore> from_f32(std::int64_t rows, std::int64_t cols, std::vector<float> values);
  static Result<WeightStore> from_f64(std::int64_t rows, std::int64_t cols, std::vector<double> values);
  // Without a master: a packed matrix as loaded from a file.
  static WeightStore from_packed(PackedMatrix packed);

  std::int64_t rows() const { return rows_; }
  std::int64_t cols() const { return cols_; }
  const WeightFormat& format() const { return format_; }
  bool has_master() const { return !master_.empty() || !master64_.empty(); }
  bool master_is_f64() const { return !master64_.empty(); }

  // Row-major master values; empty where the master is of the other type or dropped. Call touch() after writing.
  std::span<const float> master() const { return master_; }
  std::span<const double> master64() const { return master64_; }
  std::span<float> mutable_master();
  std::span<double> mutable_master64();
  // The master changed: packed forms are stale.
  void touch();

  // Changes the format; encodes from the master. Between f32 and class D the master changes its type without loss where the
  // values allow. Without a master: possible only from formats that decode exactly into the new one's master; otherwise the
  // decoded values become the master (never silently rounded twice).
  Status morph(const WeightFormat& format);
  // The packed form of the current format; encoded when stale.
  Result<PackedMatrix> packed();
  // Frees the master; the packed form remains. Values are then exactly the decoded ones.
  Status drop_master();

  // Current values as the network sees them (decoded from the packed form; the master for f32 and f64), row-major.
  Status values(std::span<float> out);
  Status values(std::span<double> out);

  // Counts changes of the values or the format: sessions compare it to know what to repack.
  std::uint64_t epoch() const { return epoch_; }
  std::uint64_t packed_bytes() const;
  std::uint64_t master_bytes() const { return master_.size() * sizeof(float) + master64_.size() * sizeof(double); }

 private:
  std::int64_t rows_ = 0, cols_ = 0;
  WeightFormat format_;
  std::vector<float> master_;
  std::vector<double> master64_;
  PackedMatrix packed_;
  bool packed_fresh_ = false;
  std::uint64_t epoch_ = 0;
};

}  // namespace loom
