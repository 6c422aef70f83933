// Sizes that convolutions and those who plan for them agree on. No standard library here.
#pragma once

#include "ops/products/product_sizes.h"

namespace loom::cpu {

// Places of a window whose product is folded at once, and channels: as many as keep the product,
// and the padded channels it is added to, near.
inline constexpr i64 kFoldPlaces = 128;
static inline i64 fold_channels(i64 taps, i64 channels, i64 plane) {
  const i64 product = 16384 / (taps * kFoldPlaces), sums = 131072 / plane,
            max = product < sums ? product : sums;
  return max < 1 ? 1 : max >= channels ? channels : max >= 4 ? max / 4 * 4 : max;  // whole tiles
}

// Values of gx that conv_input_grad gathers at once: `lines` of `width` at one depth. What lies
// around them in gy has lines of `line` values, and `stride` for each filter. width 0: windows that
// step by more, or mostly over what is not there, spread instead.
struct FoldPiece {
  i64 lines = 0, width = 0, line = 0, stride = 0;
};
inline constexpr i64 kGathered = 32768;  // values of gy, and of weights
template <class Dims>
static inline FoldPiece fold_piece(const Dims& in, const Dims& kernel, const Dims& stride,
                                   const Dims& dilation, const Dims& out, i64 filters) {
  i64 reach[3];
  for (int d = 0; d < 3; ++d) {
    if (stride[d] != 1 && out[d] > 1) return {};
    reach[d] = (kernel[d] - 1) * dilation[d];
  }
  if (4 * in[0] * in[1] * in[2] > 5 * out[0] * out[1] * out[2]) return {};
  const i64 plane = kGathered / filters / (reach[0] + 1);
  FoldPiece p;
  p.lines = plane / (in[2] + reach[2]) - reach[1];
  p.width = in[2];
  if (p.lines < 1) {
    p.lines = 1;
    p.width = (plane / (reach[1] + 1) - reach[2]) / 32 * 32;
  }
  if ((p.lines < in[1] && p.lines < reach[1]) || (p.width < in[2] && p.width < 64 + reach[2]))
    return {};  // would copy more than it gathers
  const i64 bands = (in[1] + p.lines - 1) / p.lines;
  p.lines = (in[1] + bands - 1) / bands;
  p.line = p.width + reach[2];
  p.stride = ((reach[0] + 1) * (p.lines + reach[1]) * p.line + 32 + 15) / 16 * 16;
  if (p.stride % 64 == 0)
    p.stride += 16;  // filters a multiple of the cache's period apart would share its lines
  return p;
}
// Channels whose weights, `each` per channel, are kept near; whole tiles.
static inline i64 gather_channels(i64 each, i64 channels) {
  const i64 max = kGathered / each / 12 * 12;
  return max >= channels ? channels : max < 12 ? (channels < 12 ? channels : 12) : max;
}

// Weight gradients of windows take kWindowRows rows and kWindowTaps taps at once; bytes for their
// tables, the rows, and the sums, at each level of a binary counter of blocks.
inline constexpr i64 kWindowRows = 128, kWindowTaps = 320;
static inline i64 outer_window_scratch(i64 rows, i64 taps) {
  i64 levels = 2;
  for (i64 blocks = rows / 1024; blocks > 0; blocks /= 2) ++levels;
  return 4 * (taps + rows + 16 + 16 * kPackedPanels * (kWindowRows + levels * kWindowTaps));
}

}  // namespace loom::cpu
