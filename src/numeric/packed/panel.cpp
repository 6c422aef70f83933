#include "numeric/packed/panel.h"

#include <algorithm>
#include <cstring>

namespace loom {
namespace {

constexpr int kPow3[5] = {81, 27, 9, 3, 1};

// Calls f(code index, byte offset) for each element of output n, 8 bits and wider.
template <class F>
void each_wide(const PanelGeometry& g, std::size_t count, int n, F&& f) {
  const std::size_t group = static_cast<std::size_t>(g.group),
                    size = static_cast<std::size_t>(g.code_bytes);
  std::size_t at = static_cast<std::size_t>(n) * group * size;
  for (std::size_t k = 0; k < count; k += group, at += static_cast<std::size_t>(g.row_bytes()))
    for (std::size_t i = 0; i < group; ++i) f(k + i, at + i * size);
}

template <class U>
void unpack_wide(const PanelGeometry& g, const std::byte* panel, int n,
                 std::span<std::uint64_t> codes) {
  each_wide(g, codes.size(), n,
            [&](std::size_t k, std::size_t at) { codes[k] = load_le<U>(panel + at); });
}

struct SubScalePlace {
  std::int64_t byte;
  int shift;
};
SubScalePlace sub_scale_place(Layout layout, std::int64_t rows, int n, std::int64_t b) {
  // Of its superblock: 8 rows of codes and 4 blocks of 16 (A4), or up to 32 rows and 8 blocks of 32
  // (S4), then the sub-scales.
  const std::int64_t per = layout == Layout::a4 ? 8 : 32, blocks = layout == Layout::a4 ? 4 : 8;
  const std::int64_t super = b / blocks, codes = std::min(per, rows - super * per);
  return {(super * (per + 1) + codes) * 64 + n * 4 + b % 4,
          layout == Layout::a4 ? 0 : static_cast<int>(b % blocks / 4) * 4};
}

}  // namespace

PanelGeometry panel_geometry(const WeightFormat& format) {
  const int sub = format.layout == Layout::a4 ? 8 : format.layout == Layout::s4 ? 32 : 0;
  if (format.dtype == DType::ternary) return {1, 4, 5, 0, 0};
  switch (info(format.dtype).bits) {
    case 64: return {8, 1, 1, 64, 0};
    case 32: return {4, 1, 1, 32, 0};
    case 16: return {2, 2, 1, 16, 0};
    case 8: return {1, 4, 1, 8, 0};
    case 4: return {1, 4, 2, 4, sub};
    case 2: return {1, 4, 4, 2, 0};
    default: return {1, 4, 8, 1, 0};
  }
}

template <class U>
void pack_panel_row(const PanelGeometry& g, std::span<const U> codes, int n, std::byte* panel) {
  if constexpr (sizeof(U) > 1) {
    each_wide(g, codes.size(), n,
              [&](std::size_t k, std::size_t at) { store_le(panel + at, codes[k]); });
  } else {
    // Four bytes at once, in the host's order both ways: a byte's sum or shifted bits never leave
    // it.
    const std::size_t per_row = static_cast<std::size_t>(g.k_per_row());
    for (std::size_t row = 0; row * per_row < codes.size(); ++row) {
      std::uint32_t value = 0;
      for (int p = 0; p < g.planes; ++p) {
        std::uint32_t four;
        std::memcpy(&four, codes.data() + row * per_row + 4 * static_cast<std::size_t>(p),
                    sizeof four);
        value += g.plane_bits == 0 ? four * static_cast<std::uint32_t>(kPow3[p])
                                   : four << (p * g.plane_bits);
      }
      std::byte* to =
          panel + stored_row(static_cast<std::int64_t>(row), g.sub_scale_rows) * 64 + n * 4;
      std::memcpy(to, &value, sizeof value);
      if (g.plane_bits == 0)
        for (int i = 0; i < 4; ++i)
          to[i] = static_cast<std::byte>(pack_trits(static_cast<int>(to[i])));
    }
  }
}
template void pack_panel_row(const PanelGeometry&, std::span<const std::uint8_t>, int, std::byte*);
template void pack_panel_row(const PanelGeometry&, std::span<const std::uint16_t>, int, std::byte*);
template void pack_panel_row(const PanelGeometry&, std::span<const std::uint32_t>, int, std::byte*);
template void pack_panel_row(const PanelGeometry&, std::span<const std::uint64_t>, int, std::byte*);

void unpack_panel_row(const PanelGeometry& g, const std::byte* panel, int n,
                      std::span<std::uint64_t> codes) {
  switch (g.code_bytes) {
    case 8: return unpack_wide<std::uint64_t>(g, panel, n, codes);
    case 4: return unpack_wide<std::uint32_t>(g, panel, n, codes);
    case 2: return unpack_wide<std::uint16_t>(g, panel, n, codes);
    default: break;
  }
  if (g.planes == 1) return unpack_wide<std::uint8_t>(g, panel, n, codes);
  const std::size_t per_row = static_cast<std::size_t>(g.k_per_row());
  const unsigned mask = (1u << g.plane_bits) - 1;
  for (std::size_t row = 0; row * per_row < codes.size(); ++row) {
    std::uint64_t* c = codes.data() + row * per_row;
    const std::byte* from =
        panel + stored_row(static_cast<std::int64_t>(row), g.sub_scale_rows) * 64 + n * 4;
    for (int i = 0; i < 4; ++i) {
      unsigned value = static_cast<unsigned>(from[i]);
      for (int p = 0; p < g.planes; ++p) {
        if (g.plane_bits == 0) {
          value *= 3;
          c[4 * p + i] = value >> 8;
          value &= 255;
        } else {
          c[4 * p + i] = value >> (p * g.plane_bits) & mask;
        }
      }
    }
  }
}

std::uint8_t get_sub_scale(Layout layout, const std::byte* panel, std::int64_t rows, int n,
                           std::int64_t b) {
  const SubScalePlace at = sub_scale_place(layout, rows, n, b);
  const unsigned byte = static_cast<unsigned>(panel[at.byte]);
  return static_cast<std::uint8_t>(layout == Layout::a4 ? byte : byte >> at.shift & 15u);
}

void put_sub_scale(Layout layout, std::byte* panel, std::int64_t rows, int n, std::int64_t b,
                   std::uint8_t value) {
  const SubScalePlace at = sub_scale_place(layout, rows, n, b);
  panel[at.byte] |= static_cast<std::byte>(value << at.shift);
}

}  // namespace loom
