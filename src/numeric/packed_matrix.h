// A weight matrix in the canonical kernel layout: the same bytes in memory, in .entity files and on a GPU.
// Rows are outputs (N), columns are inputs (K). Immutable; copies share the bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "base/status.h"
#include "numeric/weight_format.h"

namespace loom {

inline constexpr std::int64_t kPanel = 16;   // outputs per panel
inline constexpr std::int64_t kGroup = 4;    // consecutive k in a byte row of a panel

class PackedMatrix {
 public:
  PackedMatrix() = default;

  const WeightFormat& format() const { return format_; }
  std::int64_t rows() const { return rows_; }
  std::int64_t cols() const { return cols_; }
  // All sections, 64-byte aligned: [panels of codes][sub-scales][row scales][zero points]; offsets from packed_layout().
  std::span<const std::byte> bytes() const { return bytes_; }

  // Encodes a row-major rows x cols matrix. Scales are chosen by the format's policy, deterministically.
  static Result<PackedMatrix> encode(const WeightFormat& format, std::int64_t rows, std::int64_t cols, std::span<const float> values);
  static Result<PackedMatrix> encode(const WeightFormat& format, std::int64_t rows, std::int64_t cols, std::span<const double> values);
  // Wraps bytes already in the layout (a mapped file); `owner` keeps them alive. Checks their size.
  static Result<PackedMatrix> wrap(const WeightFormat& format, std::int64_t rows, std::int64_t cols, std::span<const std::byte> bytes, std::shared_ptr<const void> owner);

  // Decoded values of rows [first, first + count), row-major, exactly what the kernels multiply with (scale included).
  void decode(std::int64_t first, std::int64_t count, std::span<float> out) const;
  void decode(std::int64_t first, std::int64_t count, std::span<double> out) const;
  // The same without the row scale ("decoded codes") and the scale of one row: value = code_value * row_scale. Block formats have row_scale 1.
  void decode_codes(std::int64_t row, std::span<float> out) const;
  float row_scale(std::int64_t row) const;

 private:
  WeightFormat format_;
  std::int64_t rows_ = 0, cols_ = 0;
  std::span<const std::byte> bytes_;
  std::shared_ptr<const void> owner_;
};

// Byte offsets of the sections of a packed matrix; a section that a format lacks has size 0.
struct PackedLayout {
  std::int64_t panels = 0;        // ceil(rows / 16)
  std::int64_t padded_cols = 0;   // K padded: to 64 for class I, to 32 for the float classes
  std::uint64_t panel_bytes = 0;  // of codes, per panel
  std::uint64_t codes = 0, codes_size = 0;
  std::uint64_t sub_scales = 0, sub_scales_size = 0;  // A4, S4: integer sub-scales; block scales: f32 per block
  std::uint64_t scales = 0, scales_size = 0;          // f32 (f64 for class D) per row or tensor
  std::uint64_t zeros = 0, zeros_size = 0;            // zero points of unsigned types, i32 (i64 for u64)
  std::uint64_t total = 0;
};
// Error: out_of_range where a size overflows or a dimension is not in 1..2^31-1.
Result<PackedLayout> packed_layout(const WeightFormat& format, std::int64_t rows, std::int64_t cols);

}  // namespace loom
