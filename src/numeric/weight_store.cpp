#include "numeric/weight_store.h"

#include <algorithm>
#include <string>

#include "base/files/bytes.h"
#include "numeric/packed/exact.h"
#include "numeric/packed/quantize.h"

namespace loom {
namespace {

Status check_shape(std::int64_t rows, std::int64_t cols, std::size_t values) {
  LOOM_ASSIGN(const PackedLayout layout, packed_layout({}, rows, cols));
  (void)layout;
  if (static_cast<std::uint64_t>(rows) * static_cast<std::uint64_t>(cols) == values)
    return Status();
  return Status(Code::invalid_argument, "a " + std::to_string(rows) + " x " + std::to_string(cols) +
                                            " parameter does not have " + std::to_string(values) +
                                            " values");
}

bool wants_f64(const WeightFormat& format) { return format.arith() == ArithClass::real; }

bool fits_f32(std::span<const double> values) {
  return std::all_of(values.begin(), values.end(), [](double x) {
    return static_cast<double>(static_cast<float>(x)) == x || x != x;
  });
}

std::vector<float> narrowed(std::span<const double> values) {
  std::vector<float> out(values.size());
  std::transform(values.begin(), values.end(), out.begin(),
                 [](double x) { return static_cast<float>(x); });
  return out;
}

}  // namespace

void WeightStore::fill() const {
  const std::size_t count = static_cast<std::size_t>(rows_) * static_cast<std::size_t>(cols_);
  if (held_) {
    std::vector<float> values(count);
    read_master(0, values);
    master_ = std::move(values);
    packed_ = {};
    packed_fresh_ = held_ = false;
  }
  if (!blank_) return;
  if (wants_f64(format_)) master64_.resize(count);
  else master_.resize(count);
  blank_ = false;
}

Result<WeightStore> WeightStore::from_f32(std::int64_t rows, std::int64_t cols,
                                          std::vector<float> values) {
  LOOM_TRY(check_shape(rows, cols, values.size()));
  WeightStore w;
  w.rows_ = rows;
  w.cols_ = cols;
  w.master_ = std::move(values);
  return w;
}

Result<WeightStore> WeightStore::from_f64(std::int64_t rows, std::int64_t cols,
                                          std::vector<double> values) {
  LOOM_TRY(check_shape(rows, cols, values.size()));
  WeightStore w;
  w.rows_ = rows;
  w.cols_ = cols;
  w.format_ = default_format(DType::f64);
  w.master64_ = std::move(values);
  return w;
}

WeightStore WeightStore::from_packed(PackedMatrix packed) {
  WeightStore w;
  w.rows_ = packed.rows();
  w.cols_ = packed.cols();
  w.format_ = packed.format();
  w.packed_ = std::move(packed);
  w.packed_fresh_ = true;
  return w;
}

WeightStore WeightStore::from_held(PackedMatrix packed) {
  WeightStore w;
  w.rows_ = packed.rows();
  w.cols_ = packed.cols();
  w.packed_ = std::move(packed);
  w.held_ = true;
  return w;
}

Status WeightStore::hold(ThreadPool* pool) {
  if (format_ != WeightFormat{} || master_.empty()) return {};
  const auto rows = [this](std::int64_t first, std::span<float> out) -> Status {
    read_master(first, out);
    return {};
  };
  LOOM_ASSIGN(const auto packed, pack_exactly(rows_, cols_, rows, pool));
  if (!packed) return {};
  packed_ = *packed;
  held_ = true;
  master_ = std::vector<float>();
  return {};
}

void WeightStore::read_master(std::int64_t first, std::span<float> out) const {
  if (held_) return unpack_exactly(packed_, first, out);
  fill();
  std::copy_n(master_.begin() + first * cols_, out.size(), out.begin());
}

void WeightStore::touch() {
  if (!has_master()) return;
  packed_fresh_ = false;
  ++epoch_;
}

Status WeightStore::morph(const WeightFormat& format, ThreadPool* pool) {
  if (format == format_) return Status();
  LOOM_ASSIGN(const PackedLayout layout, packed_layout(format, rows_, cols_));
  (void)layout;
  if (blank_) {
    format_ = format;
    packed_fresh_ = false;
    ++epoch_;
    return Status();
  }
  fill();
  // Everything that can fail happens on the side, so that a refusal leaves the store as it was.
  const std::size_t count = static_cast<std::size_t>(rows_) * static_cast<std::size_t>(cols_);
  std::vector<float> single;
  std::vector<double> real;
  bool replace = false;
  if (!has_master()) {
    replace = true;
    if (wants_f64(format_) || wants_f64(format)) {
      real.resize(count);
      packed_.decode(0, rows_, real);
    } else {
      single.resize(count);
      packed_.decode(0, rows_, single);
    }
    LOOM_TRY(packed_.intact());
  } else if (wants_f64(format) && !master_is_f64()) {
    replace = true;
    real.assign(master_.begin(), master_.end());
  }
  const std::span<const double> wide =
      replace ? std::span<const double>(real) : std::span<const double>(master64_);
  if (!wants_f64(format) && !wide.empty() && fits_f32(wide)) {
    single = narrowed(wide);
    real.clear();
    replace = true;
  }
  const std::span<const float> from32 =
      replace ? std::span<const float>(single) : std::span<const float>(master_);
  const std::span<const double> from64 =
      replace ? std::span<const double>(real) : std::span<const double>(master64_);
  LOOM_ASSIGN(PackedMatrix packed, from64.empty()
                                       ? PackedMatrix::encode(format, rows_, cols_, from32, pool)
                                       : PackedMatrix::encode(format, rows_, cols_, from64, pool));
  if (replace) {
    master_ = std::move(single);
    master64_ = std::move(real);
    master_.shrink_to_fit();
    master64_.shrink_to_fit();
  }
  packed_ = std::move(packed);
  packed_fresh_ = true;
  format_ = format;
  ++epoch_;
  return Status();
}

void WeightStore::narrow_master() {
  if (!master_is_f64() || wants_f64(format_)) return;
  master_ = narrowed(master64_);
  master64_ = std::vector<double>();
  touch();
}

Result<PackedMatrix> WeightStore::packed(ThreadPool* pool) {
  fill();
  if (!packed_fresh_) {
    LOOM_ASSIGN(
        packed_,
        master_is_f64()
            ? PackedMatrix::encode(format_, rows_, cols_, std::span<const double>(master64_), pool)
            : PackedMatrix::encode(format_, rows_, cols_, std::span<const float>(master_), pool));
    packed_fresh_ = true;
  }
  return packed_;
}

Status WeightStore::drop_master(ThreadPool* pool) {
  LOOM_ASSIGN(const PackedMatrix kept, packed(pool));
  (void)kept;
  master_ = std::vector<float>();
  master64_ = std::vector<double>();
  return Status();
}

Status WeightStore::check_count(std::size_t room) const {
  const std::size_t count = static_cast<std::size_t>(rows_) * static_cast<std::size_t>(cols_);
  if (room == count) return {};
  return Status(Code::invalid_argument,
                "a " + std::to_string(rows_) + " x " + std::to_string(cols_) + " parameter has " +
                    std::to_string(count) + " values, got room for " + std::to_string(room));
}

template <class T>
Status WeightStore::values_as(std::int64_t first, std::span<T> out) {
  if (held_) {
    std::vector<float> row(static_cast<std::size_t>(cols_));
    for (std::size_t at = 0; at < out.size(); at += row.size()) {
      unpack_exactly(packed_, first++, row);
      flush<float>(format_.dtype, row, out.data() + at);
    }
    return {};
  }
  fill();
  // f32 and f64 decode to their masters but for the flush; no packed form is made only to be read
  // back.
  const bool single = format_.dtype == DType::f32;
  if (has_master() && (single || format_.dtype == DType::f64)) {
    const double floor = flush_floor(format_.dtype);
    const std::size_t from = static_cast<std::size_t>(first * cols_);
    if constexpr (sizeof(T) == sizeof(double)) {
      if (!master_is_f64()) {
        flush<float>(format_.dtype, std::span(master_).subspan(from, out.size()), out.data());
        return Status();
      }
    }
    const auto copy = [&](const auto& master) {
      for (std::size_t i = 0; i < out.size(); ++i) {
        const double x =
            static_cast<double>(single ? static_cast<float>(master[from + i]) : master[from + i]);
        out[i] = x > -floor && x < floor ? T{0} : static_cast<T>(x);
      }
    };
    if (master_is_f64()) copy(master64_);
    else copy(master_);
    return Status();
  }
  LOOM_ASSIGN(const PackedMatrix matrix, packed());
  matrix.decode(first, static_cast<std::int64_t>(out.size()) / cols_, out);
  return matrix.intact();
}
Status WeightStore::values(std::int64_t first, std::span<double> out) {
  return values_as(first, out);
}
Status WeightStore::values(std::span<float> out) {
  LOOM_TRY(check_count(out.size()));
  return values_as(0, out);
}
Status WeightStore::values(std::span<double> out) {
  LOOM_TRY(check_count(out.size()));
  return values_as(0, out);
}

std::uint64_t WeightStore::packed_bytes() const {
  const auto layout = packed_layout(format_, rows_, cols_);
  return layout.ok() ? layout->total : 0;
}

}  // namespace loom
