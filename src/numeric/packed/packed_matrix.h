// A weight matrix in the canonical kernel layout: the same bytes in memory, in .entity files and on
// a GPU. Rows are outputs (N), columns are inputs (K). Immutable; copies share the bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "base/files/mapping.h"
#include "base/status.h"
#include "numeric/weight_format.h"

namespace loom {

class ThreadPool;

inline constexpr std::int64_t kPanel = 16;  // outputs per panel
inline constexpr std::int64_t kGroup = 4;   // consecutive k in a byte row of a panel

// Byte offsets of the sections of a packed matrix; each begins at a multiple of 64, and one that a
// format lacks has size 0.
struct PackedLayout {
  std::int64_t panels =
      0;  // ceil(rows / 16); 0 for the GGUF layouts, whose section `codes` is rows of blocks
  std::int64_t padded_cols = 0;  // K padded: to 64 for class I, to 32 for the float classes, to 20
                                 // for ternary, to whole blocks for GGUF. Kernels of class I want
                                 // activations that are 0 up to align_up(padded_cols, 64).
  std::int64_t blocks = 0;  // per row, where scales are per block (ceil(padded_cols / block)) or
                            // the layout is A4 or S4
  std::uint64_t panel_bytes = 0;  // per panel, A4's and S4's sub-scales included (GGUF: per row)
  std::uint64_t codes = 0, codes_size = 0;
  std::uint64_t sub_scales = 0,
                sub_scales_size =
                    0;  // scale per block: f32 (f64 for class D) [panel][block][16 outputs]
  std::uint64_t scales = 0, scales_size = 0;  // scale per tensor or row, A4, S4: f32 (f64 for class
                                              // D) [panel][16 outputs]
  std::uint64_t zeros = 0,
                zeros_size =
                    0;  // zero points of unsigned types, u32 (u64 for u64), shaped as the scales
  std::uint64_t total = 0;
};
// Errors: out_of_range where a size overflows or a dimension is not in 1..2^31-1, invalid_argument
// for a format that is not one of all_weight_formats().
Result<PackedLayout> packed_layout(const WeightFormat& format, std::int64_t rows,
                                   std::int64_t cols);

class PackedMatrix {
 public:
  PackedMatrix() = default;

  const WeightFormat& format() const { return format_; }
  std::int64_t rows() const { return rows_; }
  std::int64_t cols() const { return cols_; }
  const PackedLayout& layout() const { return layout_; }
  // All sections, 64-byte aligned: [panels of codes][block scales][row scales][zero points];
  // offsets from packed_layout().
  std::span<const std::byte> bytes() const { return bytes_; }
  // The file that they lie in, null where it is none. Who has read them asks whether it is intact.
  const Mapping* file() const { return file_; }
  Status intact() const { return file_ ? file_->intact() : Status(); }

  // Encodes a row-major rows x cols matrix. Scales are chosen by the format's policy (quantize.h),
  // deterministically. Errors: invalid_argument for a wrong count of values, or a NaN or infinity,
  // named by its index; out_of_range where a value is too large for the format's scales;
  // unsupported for q4_k and q6_k, which are read only. A team, where there is one, shares the
  // work: the bytes are the same.
  static Result<PackedMatrix> encode(const WeightFormat& format, std::int64_t rows,
                                     std::int64_t cols, std::span<const float> values,
                                     ThreadPool* pool = nullptr);
  static Result<PackedMatrix> encode(const WeightFormat& format, std::int64_t rows,
                                     std::int64_t cols, std::span<const double> values,
                                     ThreadPool* pool = nullptr);
  // From whole rows as they come: read(first, values) fills rows [first, first + values.size() /
  // cols). Only a few rows are held at a time, all of them where one scale serves the tensor. The
  // threads of a team call it at the same time.
  using ReadRows = std::function<Status(std::int64_t first, std::span<float> values)>;
  static Result<PackedMatrix> encode(const WeightFormat& format, std::int64_t rows,
                                     std::int64_t cols, const ReadRows& read,
                                     ThreadPool* pool = nullptr);
  // Wraps bytes already in the layout (a mapped file); `owner` keeps them alive. Checks their size
  // and that panels begin at a multiple of 64 in memory.
  static Result<PackedMatrix> wrap(const WeightFormat& format, std::int64_t rows, std::int64_t cols,
                                   std::span<const std::byte> bytes,
                                   std::shared_ptr<const void> owner);
  // For bytes that nothing vouches for: reads all of them, some GB a second, and names the first
  // thing an encoder would not have written and on which kernels could differ (a scale that is not
  // finite, a sub-scale or code whose w8 leaves int8).
  Status check() const;

  // Decoded values of rows [first, first + count), row-major, exactly what the kernels multiply
  // with (scale included, rounded once). out.size() is count * cols.
  void decode(std::int64_t first, std::int64_t count, std::span<float> out) const;
  void decode(std::int64_t first, std::int64_t count, std::span<double> out) const;
  // The same without the row scale ("decoded codes") and the scale of one row: value = code_value *
  // row_scale. Where scales are per block they are in the decoded codes, and row_scale is 1. The
  // float forms suit classes I, B and F, where they are exact except for block scales; class D
  // needs the double forms.
  void decode_codes(std::int64_t row, std::span<float> out) const;
  void decode_codes(std::int64_t row, std::span<double> out) const;
  float row_scale(std::int64_t row) const { return static_cast<float>(row_scale64(row)); }
  double row_scale64(std::int64_t row) const;

 private:
  WeightFormat format_;
  std::int64_t rows_ = 0, cols_ = 0;
  PackedLayout layout_;
  std::span<const std::byte> bytes_;
  std::shared_ptr<const void> owner_;
  const Mapping* file_ = nullptr;
};

// The integer that class I multiplies at (row, col): w8 for A4 and S4, code minus zero point for
// the plain layouts, twice the value for fp4, q (q4_k) or the centered q for the GGUF layouts. The
// readable reference of the integer kernels; slow. 0 for other classes.
std::int32_t code_at(const PackedMatrix& matrix, std::int64_t row, std::int64_t col);

}  // namespace loom
