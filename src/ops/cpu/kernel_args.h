// What a CPU kernel gets. Plain data and no standard library: kernel files are compiled once per instruction set, and an inline
// function of a header compiled for AVX-512 must never be the copy that the linker keeps for everybody.
#pragma once

#include "numeric/dtype_ids.h"

namespace loom::cpu {

using i64 = long long;

struct TensorArg {
  char* data = nullptr;
  i64 rows = 0;    // in this run
  i64 cols = 0;    // of the view
  i64 stride = 0;  // elements between rows; the view's first element is at data
};

// Ids of DType, and of Layout as far as kernels tell them apart (numeric/weight_format.h;
// prepared_weights.cpp checks that they agree).
using enum dtype_ids::Id;
enum : int { kPlain = 0, kA4 = 1, kS4 = 2 };
// How a product reads its weights.
enum : int { kFloatForm = 0, kIntegerForm = 1, kDecodedForm = 2, kSplitForm = 3, kBlockForm = 4, kForms = 5 };

// A parameter as prepared for the kernels. Which members are set follows from the ops that read it.
struct WeightArg {
  const void* panels = nullptr;  // the packed form (numeric/packed/packed_matrix.h), or float panels of 16 outputs: element (n, k) at [n/16][k][n%16]
  const void* dense = nullptr;   // row-major decoded values, rows padded to `dense_stride` with zeros
  i64 dense_stride = 0;
  // Row-major f32, [rows][cols], each value still to be read as stored(): what a program updates, and reads in products alone that copy the
  // panels they need. Then there are neither `panels` nor `dense`.
  const float* master = nullptr;
  i64 rows = 0, cols = 0, padded_cols = 0;
  i64 panel_bytes = 0;
  const float* scales = nullptr;    // per row; null: 1. kBlockForm: [panel][block][16 outputs]
  const float* minima = nullptr;    // kBlockForm: what is taken off every value of a block, placed as the scales; null: nothing
  const unsigned* zeros = nullptr;  // zero points, placed as the scales; null: none
  i64 block = 0, blocks = 0;        // kBlockForm: k per scale, and scales per row
  const float* table = nullptr;     // f32 of every f16 or fp8 code
  int dtype = 0, layout = 0, form = kFloatForm;
};

// Class I products of so many rows read the packed weights directly, their outputs shared in panels of 16; schedule.cpp relies on it.
inline constexpr i64 kGemvRows = 2;

struct KernelArgs {
  TensorArg t[10];
  bool has[10];
  const WeightArg* weight = nullptr;  // operand 0 of the ops that take a weight matrix
  i64 ints[24];
  double reals[5];
  unsigned u32s[5];
  float f32s[5];
  const unsigned* page_table = nullptr;  // kv ops: page of (sequence, block of 64 positions)
  i64 pages_per_sequence = 0;
  unsigned* measured = nullptr;  // route_rows: where its count goes
  char* scratch = nullptr;  // this worker's own
  int worker = 0, workers = 1;
};

// Places of a window whose product is folded at once, and channels: as many as keep the product, and the padded channels it is added to, near.
inline constexpr i64 kFoldPlaces = 128;
static inline i64 fold_channels(i64 taps, i64 channels, i64 plane) {
  const i64 product = 16384 / (taps * kFoldPlaces), sums = 131072 / plane, most = product < sums ? product : sums;
  return most < 1 ? 1 : most >= channels ? channels : most >= 4 ? most / 4 * 4 : most;  // whole tiles
}

// Values of gx that products/fold.h gathers at once: `lines` of `width` at one depth. What lies around them in gy has lines of `line` values, and `stride` for each
// filter. width 0: windows that step by more, or mostly over what is not there, spread instead.
struct FoldPiece {
  i64 lines = 0, width = 0, line = 0, stride = 0;
};
inline constexpr i64 kGathered = 32768;  // values of gy, and of weights
template <class Dims>
static inline FoldPiece fold_piece(const Dims& in, const Dims& kernel, const Dims& stride, const Dims& dilation, const Dims& out, i64 filters) {
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
  if ((p.lines < in[1] && p.lines < reach[1]) || (p.width < in[2] && p.width < 64 + reach[2])) return {};  // would copy more than it gathers
  const i64 bands = (in[1] + p.lines - 1) / p.lines;
  p.lines = (in[1] + bands - 1) / bands;
  p.line = p.width + reach[2];
  p.stride = ((reach[0] + 1) * (p.lines + reach[1]) * p.line + 32 + 15) / 16 * 16;
  if (p.stride % 64 == 0) p.stride += 16;  // filters a multiple of the cache's period apart would share its lines
  return p;
}
// Channels whose weights, `each` per channel, are kept near; whole tiles.
static inline i64 gather_channels(i64 each, i64 channels) {
  const i64 most = kGathered / each / 12 * 12;
  return most >= channels ? channels : most < 12 ? (channels < 12 ? channels : 12) : most;
}

// Products copy panels whose values lie apart, so much of their sums at a time; of dense rows only for so many rows of results.
inline constexpr i64 kPackedSums = 2048, kPackedRows = 16, kPackedPanels = 2;  // panels at once, at most

// Weight gradients over no more rows copy what they read: so many values of gy at once, and all rows of kPackedPanels panels of x.
inline constexpr i64 kPackedOuter = 1024, kPackedOuterValues = 32768;

// Weight gradients of windows take so many rows and taps at once; bytes for their tables, the rows, and the sums, at each level of a binary counter of blocks.
inline constexpr i64 kWindowRows = 128, kWindowTaps = 128;
static inline i64 outer_window_scratch(i64 rows, i64 taps) {
  i64 levels = 2;
  for (i64 blocks = rows / 1024; blocks > 0; blocks /= 2) ++levels;
  return 4 * (taps + rows + 16 + 16 * kPackedPanels * (kWindowRows + levels * kWindowTaps));
}

inline constexpr i64 kBlockRows = 16;  // of activations, that share the unpacked codes of a panel (kBlockForm)

using Kernel = void (*)(const KernelArgs&);

// The rows, or other units, [begin, end) of n that a worker owns; `grain` keeps a unit of work together.
struct Range {
  i64 begin, end;
};
static inline Range share(i64 n, i64 grain, int worker, int workers) {
  const i64 units = (n + grain - 1) / grain;
  const i64 begin = units * worker / workers * grain, end = units * (worker + 1) / workers * grain;
  return {begin < n ? begin : n, end < n ? end : n};
}

// What goes to memory when an instruction writes x: an f32 below 2^-40 as 0, so that no product or sum of stored values is subnormal on
// any device (numerics rule 9), and every NaN as the one canonical NaN (rule 12).
template <int Exponent>
static inline float stored_above(float x) {
  const int bits = __builtin_bit_cast(int, x), magnitude = bits & 0x7FFFFFFF;
  const int settled = magnitude < ((127 + Exponent) << 23) ? 0 : magnitude > 0x7F800000 ? 0x7FC00000 : bits;
  return __builtin_bit_cast(float, settled);
}
template <int>
static inline double stored_above(double x) { return x == x ? x : __builtin_bit_cast(double, 0x7FF8000000000000ll); }
template <class T>
static inline T stored(T x) { return stored_above<-40>(x); }

}  // namespace loom::cpu
