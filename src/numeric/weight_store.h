// One parameter of a cell: its master values and the packed form that runs. The master is the truth
// (f32, or f64 for the class D types); packed forms are caches made from it, so morphing f32 -> i8
// -> i4 -> f32 equals f32 -> i4 -> f32. Not thread-safe: morph and update between runs (sessions
// pin the packed form they run).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "numeric/packed/packed_matrix.h"

namespace loom {

class WeightStore {
 public:
  WeightStore() = default;
  // rows x cols zeros, f32. They take no memory until someone reads or writes them: a network
  // planned from its topology is small.
  WeightStore(std::int64_t rows, std::int64_t cols) : rows_(rows), cols_(cols), blank_(true) {}
  static Result<WeightStore> from_f32(std::int64_t rows, std::int64_t cols,
                                      std::vector<float> values);
  static Result<WeightStore> from_f64(std::int64_t rows, std::int64_t cols,
                                      std::vector<double> values);
  // Without a master: a packed matrix as loaded from a file.
  static WeightStore from_packed(PackedMatrix packed);
  // f32, whose values pack_exactly() packed: the master is made when somebody asks for it. Until
  // then kernels read the packed form, and it is all that is in memory.
  static WeightStore from_held(PackedMatrix packed);
  // The same of the values that are there, if f16 or bf16 hold each of them.
  Status hold(ThreadPool* pool = nullptr);
  const PackedMatrix* held() const { return held_ ? &packed_ : nullptr; }

  std::int64_t rows() const { return rows_; }
  std::int64_t cols() const { return cols_; }
  const WeightFormat& format() const { return format_; }
  bool has_master() const { return blank_ || held_ || !master_.empty() || !master64_.empty(); }
  bool master_is_f64() const {
    return blank_ ? format_.arith() == ArithClass::real : !master64_.empty();
  }

  // Row-major master values; empty where the master is of the other type or dropped. Call touch()
  // after writing.
  std::span<const float> master() const { return fill(), master_; }
  std::span<const double> master64() const { return fill(), master64_; }
  std::span<float> mutable_master() { return fill(), master_; }
  std::span<double> mutable_master64() { return fill(), master64_; }
  // Some whole rows of an f32 master, which is not made for it.
  void read_master(std::int64_t first, std::span<float> out) const;
  // The master changed: the packed form is stale.
  void touch();

  // Changes the format and encodes from the master. On an error (PackedMatrix::encode names them)
  // nothing has changed. The master becomes f64 for class D formats, and f32 again for the others
  // where that loses nothing; where it would, it stays f64 and is encoded from there
  // (narrow_master() rounds it). Without a master the decoded values become the master, f64 if
  // either format is of class D, so that nothing is rounded twice in silence. A team encodes where
  // there is one, here and below.
  Status morph(const WeightFormat& format, ThreadPool* pool = nullptr);
  // Rounds an f64 master to f32 under a format that runs in f32 or less; otherwise does nothing.
  void narrow_master();
  // The packed form of the current format; encoded when stale.
  Result<PackedMatrix> packed(ThreadPool* pool = nullptr);
  // Frees the master; the packed form remains. Values are then exactly the decoded ones.
  Status drop_master(ThreadPool* pool = nullptr);

  // Current values as the network sees them, row-major: decoded from the packed form (f32 and f64:
  // the master, flushed as packing does).
  Status values(std::span<float> out);
  Status values(std::span<double> out);
  // The same from row `first` on, as many rows as `out` has room for.
  Status values(std::int64_t first, std::span<double> out);

  // Counts changes of the values or the format: sessions compare it to know what to repack.
  std::uint64_t epoch() const { return epoch_; }
  // Bytes of the packed form of the current format, encoded already or not.
  std::uint64_t packed_bytes() const;
  // What the master takes, or what is held in its place.
  std::uint64_t master_bytes() const {
    return held_ ? packed_.bytes().size()
                 : master_.size() * sizeof(float) + master64_.size() * sizeof(double);
  }

 private:
  Status check_count(std::size_t room) const;
  template <class T>
  Status values_as(std::int64_t first, std::span<T> out);
  // Makes the master of a blank store, or of one that holds it packed.
  void fill() const;

  std::int64_t rows_ = 0, cols_ = 0;
  WeightFormat format_;
  mutable bool blank_ = false;  // all zero, and nothing is allocated
  mutable std::vector<float> master_;
  mutable std::vector<double> master64_;
  mutable PackedMatrix packed_;
  mutable bool packed_fresh_ = false;
  mutable bool held_ = false;  // packed_ has the master's values, in a format that is not format_
  std::uint64_t epoch_ = 0;
};

}  // namespace loom
