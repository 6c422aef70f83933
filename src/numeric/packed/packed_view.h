// Internal to the numeric module: where row scales, block scales and zero points of a packed matrix
// lie.
#pragma once

#include <string>

#include "base/files/bytes.h"
#include "numeric/gguf/gguf_blocks.h"
#include "numeric/packed/packed_matrix.h"
#include "numeric/packed/panel.h"
#include "numeric/packed/quantize.h"

namespace loom {

inline bool is_gguf(Layout layout) { return gguf_block(layout).weights != 0; }
inline bool is_native4(Layout layout) { return layout == Layout::a4 || layout == Layout::s4; }
inline bool is_real(const WeightFormat& f) { return f.arith() == ArithClass::real; }

// Bytes of a zero point: of codes of 64 bits as wide as they are.
inline std::uint64_t zero_bytes(const WeightFormat& f) { return info(f.dtype).bits == 64 ? 8 : 4; }

inline std::string shape_text(std::int64_t rows, std::int64_t cols) {
  return std::to_string(rows) + " x " + std::to_string(cols);
}

// Bytes at a multiple of 64, zeroed from `first` on, or nothing; and what is wrong then.
std::shared_ptr<std::byte> aligned_bytes(std::uint64_t size, std::uint64_t first = 0);
Status no_memory(const WeightFormat& format, std::int64_t rows, std::int64_t cols,
                 std::uint64_t bytes);

// Reads and writes the sections of a matrix by row; `bytes` is the whole of it.
struct PackedView {
  const WeightFormat& format;
  const PackedLayout& layout;
  PanelGeometry geometry;

  PackedView(const WeightFormat& f, const PackedLayout& l)
      : format(f), layout(l), geometry(panel_geometry(f)) {}

  std::int64_t code_rows() const { return layout.padded_cols / geometry.k_per_row(); }
  std::uint64_t panel_at(std::int64_t row) const {
    return layout.codes + static_cast<std::uint64_t>(row / kPanel) * layout.panel_bytes;
  }
  // Index of the scale of (row, block) in its section; block is 0 for scales per row or tensor.
  std::uint64_t scale_index(std::int64_t row, std::int64_t block) const {
    const std::int64_t per_row = format.scale == ScaleKind::block ? layout.blocks : 1;
    return static_cast<std::uint64_t>((row / kPanel * per_row + block) * kPanel + row % kPanel);
  }
  std::uint64_t scale_section() const {
    return format.scale == ScaleKind::block ? layout.sub_scales : layout.scales;
  }

  double scale(const std::byte* bytes, std::int64_t row, std::int64_t block) const {
    if (format.scale == ScaleKind::none) return 1;
    const std::byte* at =
        bytes + scale_section() + scale_index(row, block) * (is_real(format) ? 8 : 4);
    return is_real(format) ? load_le<double>(at) : static_cast<double>(load_le<float>(at));
  }
  std::uint64_t zero(const std::byte* bytes, std::int64_t row, std::int64_t block) const {
    if (layout.zeros_size == 0) return 0;
    const std::byte* at = bytes + layout.zeros + scale_index(row, block) * zero_bytes(format);
    return zero_bytes(format) == 8 ? load_le<std::uint64_t>(at) : load_le<std::uint32_t>(at);
  }
  void put_group(std::byte* bytes, std::int64_t row, std::int64_t block,
                 const GroupScale& g) const {
    if (format.scale == ScaleKind::none) return;
    std::byte* at = bytes + scale_section() + scale_index(row, block) * (is_real(format) ? 8 : 4);
    if (is_real(format)) store_le(at, g.scale);
    else store_le(at, static_cast<float>(g.scale));
    if (layout.zeros_size == 0) return;
    at = bytes + layout.zeros + scale_index(row, block) * zero_bytes(format);
    if (zero_bytes(format) == 8) store_le(at, g.zero);
    else store_le(at, static_cast<std::uint32_t>(g.zero));
  }
};

}  // namespace loom
