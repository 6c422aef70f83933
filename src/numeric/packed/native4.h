// The encoders of the native 4-bit layouts. A row has one f32 scale R and small integer sub-scales
// per block, so that
//   A4 (blocks of 16):  w8 = code*s - 8*m4,   code 0..15, s 1..15, m4 0..15
//   S4 (blocks of 32):  w8 = (code - 8)*s
// is an int8 with |w8| <= 127 (only such codes are picked; decoders never clip) and value = w8 * R.
// Pure functions, any thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "numeric/weight_format.h"

namespace loom {

constexpr std::int64_t native4_block(Layout layout) { return layout == Layout::a4 ? 16 : 32; }

// Rows to encode, and where to. values: count x cols, f32, finite, tiny ones already 0. codes: of a
// row as many as values rounded up to whole blocks, padded with values of 0. sub_scales: one per
// block, s | m4 << 4 (A4) or s (S4). scales: R of each row; 0 for a row of zeros.
struct Native4Rows {
  Layout layout;
  std::size_t count, cols;
  const float* values;
  std::uint8_t* codes;
  std::size_t code_stride;
  std::uint8_t* sub_scales;
  std::size_t sub_stride;
  float* scales;
};

// For each of four R the best (s, m4) of every block is found among all of them, exactly as an
// exhaustive search would; the R with the least squared error is then fitted again to the codes
// picked. No row depends on another: some together fill the lanes that search blocks.
// `search`: of native4_search.h; null: the fastest.
namespace native4 {
struct Search;
}
void encode_native4(const Native4Rows& rows, const native4::Search* search = nullptr);

constexpr int native4_value(Layout layout, int code, int sub_scale) {
  return layout == Layout::a4 ? code * (sub_scale & 15) - 8 * (sub_scale >> 4)
                              : (code - 8) * sub_scale;
}

}  // namespace loom
