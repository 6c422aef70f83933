// The geometry of P16x4 panels: where the code of (output n of a panel, input k) lies.
// docs/reference/packing.md draws it. A panel is 16 outputs; its byte rows hold 16 outputs x group
// consecutive k, in `planes` layers of bits where codes are small:
//
//   bits      64   32   16   8    4    2    ternary  1
//   group     1    1    2    4    4    4    4        4
//   planes    1    1    1    1    2    4    5        8
//   row bytes 128  64   64   64   64   64   64       64
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/files/bytes.h"
#include "numeric/packed/packed_matrix.h"

namespace loom {

struct PanelGeometry {
  int code_bytes;      // of one element of a byte row; 1 for 8 bits and less
  int group;           // consecutive k next to each other
  int planes;          // groups that share a byte row
  int plane_bits;      // bits of a plane; 0 for ternary, whose planes are base-3 digits
  int sub_scale_rows;  // a byte row of sub-scales after so many rows of codes (A4: 8, S4: 32), 0:
                       // none
  int k_per_row() const { return group * planes; }
  int row_bytes() const { return static_cast<int>(kPanel) * group * code_bytes; }
};
PanelGeometry panel_geometry(const WeightFormat& format);

// Byte row `row` of codes lies at this multiple of row_bytes in its panel, sub-scale rows counted.
constexpr std::int64_t stored_row(std::int64_t row, int sub_scale_rows) {
  return sub_scale_rows == 0 ? row : row + row / sub_scale_rows;
}

// Five base-3 digits d0..d4 in a byte: v = d0*81 + d1*27 + d2*9 + d3*3 + d4, byte = ceil(v * 256 /
// 243). Then d0 is (byte * 3) >> 8, and byte * 3 mod 256 is the same code of d1..d4 and a zero.
constexpr std::uint8_t pack_trits(int v) {
  return static_cast<std::uint8_t>((v * 256 + 242) / 243);
}
constexpr int trit(std::uint8_t byte, int index) {
  for (int i = 0; i < index; ++i) byte = static_cast<std::uint8_t>(byte * 3);
  return byte * 3 >> 8;
}

// Codes of output n (0..15) of a panel, k ascending from 0, into or out of the panel's bytes.
// codes.size() is a multiple of k_per_row. U: the unsigned integer of code_bytes.
template <class U>
void pack_panel_row(const PanelGeometry& g, std::span<const U> codes, int n, std::byte* panel);
void unpack_panel_row(const PanelGeometry& g, const std::byte* panel, int n,
                      std::span<std::uint64_t> codes);

// A4 and S4 sub-scales of output n, block b, in a panel of `rows` byte rows of codes. A4: s | m4
// << 4. S4: s.
std::uint8_t get_sub_scale(Layout layout, const std::byte* panel, std::int64_t rows, int n,
                           std::int64_t b);
void put_sub_scale(Layout layout, std::byte* panel, std::int64_t rows, int n, std::int64_t b,
                   std::uint8_t value);

}  // namespace loom
