// Convolutions without unfolded rows (lowering/fuse_convolutions.cpp): products that read the
// values under a window where they lie. Every element is the sum that unfold, matmul and
// weight_grad give, in the same order.
#pragma once

#include "ops/products/gemm.h"
#include "ops/windows/conv_sizes.h"
#include "ops/windows/windows_kernels.h"

namespace loom::cpu::LOOM_ISA {

static inline Spatial conv_spatial(const KernelArgs& k) {
  return Spatial(*static_cast<const ConvWindow*>(k.attributes));
}

// The input with its padding, as far as windows reach.
struct Padded {
  i64 size[3], plane;
  explicit Padded(const Spatial& s) {
    for (int d = 0; d < 3; ++d)
      size[d] = (s.out[d] - 1) * s.stride[d] + (s.kernel[d] - 1) * s.dilation[d] + 1;
    plane = size[0] * size[1] * size[2];
  }
};

// In place of unfold: a row of y per item, each channel with its padding.
template <class T>
static void pad_input(const KernelArgs& k) {
  const Spatial s = conv_spatial(k);
  const Padded padded(s);
  const TensorArg &x = k.t[0], &y = k.t[1];
  const Range r = share(y.rows * s.channels, 1, k.worker, k.workers);
  const i64 before = min(s.pad[2], padded.size[2]), width = min(s.in[2], padded.size[2] - before);
  for (i64 u = r.begin; u < r.end; ++u) {
    const T* from = row<T>(x, u / s.channels) + u % s.channels * s.inputs();
    T* to = row<T>(y, u / s.channels) + u % s.channels * padded.plane;
    for (i64 z = -s.pad[0]; z < padded.size[0] - s.pad[0]; ++z)
      for (i64 line = -s.pad[1]; line < padded.size[1] - s.pad[1]; ++line, to += padded.size[2]) {
        const bool inside = z >= 0 && z < s.in[0] && line >= 0 && line < s.in[1];
        const i64 begin = inside ? before : padded.size[2], end = inside ? before + width : begin;
        for (i64 i = 0; i < begin; ++i) to[i] = 0;
        if (inside)
          __builtin_memcpy(to + begin, from + (z * s.in[1] + line) * s.in[2],
                           static_cast<unsigned long>(width) * sizeof(T));
        for (i64 i = end; i < padded.size[2]; ++i) to[i] = 0;
      }
  }
}

// Where the taps stand, from the place of the first one.
static inline void tap_table(const Spatial& s, const Padded& padded, int* table) {
  for (i64 c = 0; c < s.channels; ++c)
    for (i64 z = 0; z < s.kernel[0]; ++z)
      for (i64 y = 0; y < s.kernel[1]; ++y)
        for (i64 x = 0; x < s.kernel[2]; ++x)
          *table++ = static_cast<int>(c * padded.plane +
                                      (z * s.dilation[0] * padded.size[1] + y * s.dilation[1]) *
                                          padded.size[2] +
                                      x * s.dilation[2]);
}
// Where the first tap stands for rows [begin, end) (a row is a place of an item), from the item of
// row `begin`.
static inline void place_table(const Spatial& s, const Padded& padded, i64 item_stride, i64 begin,
                               i64 end, int* table) {
  const i64 places = s.outputs();
  i64 item = 0, at[3] = {begin % places / (s.out[2] * s.out[1]), begin / s.out[2] % s.out[1],
                         begin % s.out[2]};
  for (i64 r = begin; r < end; ++r) {
    *table++ = static_cast<int>(item * item_stride +
                                (at[0] * s.stride[0] * padded.size[1] + at[1] * s.stride[1]) *
                                    padded.size[2] +
                                at[2] * s.stride[2]);
    if (++at[2] < s.out[2]) continue;
    at[2] = 0;
    if (++at[1] < s.out[1]) continue;
    at[1] = 0;
    if (++at[0] < s.out[0]) continue;
    at[0] = 0;
    ++item;
  }
}

// Rows of the product (places of items, items slowest) that stand side by side in lanes, in runs
// that lie together both under the first tap and in the result.
template <class T>
struct Im2colPlan {
  static constexpr i64 kMax = 16 * kTilePanels;
  int runs = 0, begin[kMax + 1];
  const T* from[kMax];
  T* to[kMax];
  bool one_item;

  i64 item, z, line, column;  // of the next place

  void seek(const Spatial& s, i64 first) {
    column = first % s.out[2];
    first /= s.out[2];
    line = first % s.out[1];
    first /= s.out[1];
    z = first % s.out[0];
    item = first / s.out[0];
  }
  // The next `count` places: divisions for each would take as long as some taps.
  void find(const Spatial& s, const Padded& padded, const TensorArg& x, const TensorArg& y,
            i64 count) {
    const i64 first_item = item;
    runs = 0;
    for (i64 at = 0; at < count;) {
      const i64 n = min(count - at, s.out[2] - column);
      begin[runs] = static_cast<int>(at);
      from[runs] = row<T>(x, item) +
                   (z * s.stride[0] * padded.size[1] + line * s.stride[1]) * padded.size[2] +
                   column * s.stride[2];
      to[runs++] = row<T>(y, item) + (z * s.out[1] + line) * s.out[2] + column;
      one_item = item == first_item;
      at += n;
      column += n;
      if (column < s.out[2]) continue;
      column = 0;
      if (++line < s.out[1]) continue;
      line = 0;
      if (++z < s.out[0]) continue;
      z = 0;
      ++item;
    }
    begin[runs] = static_cast<int>(count);
  }
  // N values of each tap.
  template <int N>
  static void copy_taps(const int* taps, i64 count, const T* from, T* to) {
    for (i64 t = 0; t < count; ++t) __builtin_memcpy(to + t * kMax, from + taps[t], N * sizeof(T));
  }
  // What lies under each of the taps, kMax values apart.
  __attribute__((noinline)) void read(const int* taps, i64 count, i64 step, T* lanes) const {
    if (runs == 1 && begin[1] == kMax && step == 1)
      return copy_taps<kMax>(taps, count, from[0], lanes);
    for (int i = 0; i < runs; ++i) {
      const i64 n = begin[i + 1] - begin[i], whole = step == 1 ? n / 4 * 4 : 0;
      T* const to = lanes + begin[i];
      i64 j = 0;
      for (; j + 16 <= whole; j += 16) copy_taps<16>(taps, count, from[i] + j, to + j);
      for (; j + 8 <= whole; j += 8) copy_taps<8>(taps, count, from[i] + j, to + j);
      for (; j + 4 <= whole; j += 4) copy_taps<4>(taps, count, from[i] + j, to + j);
      for (i64 t = 0; t < count && j < n; ++t)
        for (i64 rest = j; rest < n; ++rest) to[t * kMax + rest] = from[i][taps[t] + rest * step];
    }
    for (i64 t = 0; t < count && begin[runs] < kMax; ++t)
      for (i64 j = begin[runs]; j < kMax; ++j) lanes[t * kMax + j] = 0;
  }
};

// y = bias + unfolded x W^T, turned: a row per item, each filter with its places. Places stand in
// the lanes, so nothing is turned, and W is read as it lies. A kernel of 3 over lines of 5, for
// instance:
//
//   padded x, a channel           lanes[tap][place]: a copy of a run for each tap
//                                    place    0    1    2    3    4
//    0  a  b  c  d  e  0          tap 0:      0    a    b    c    d
//   |-------|  place 0            tap 1:      a    b    c    d    e      x W[filter][tap], summed
//      |-------|  place 1         tap 2:      b    c    d    e    0      over taps as in gemm.h
//      ...                        (the taps of further lines and channels follow)
//                                             |    |    |    |    |
//                                             v    v    v    v    v
//                                 y[filter][place], as it lies
//
// scratch: what lies under the taps, then their table.
template <class T>
static void conv(const KernelArgs& k) {
  constexpr i64 kLanes = Im2colPlan<T>::kMax;
  const Spatial s = conv_spatial(k);
  const Padded padded(s);
  const WeightArg& w = *k.weight;
  const TensorArg &x = k.t[1], &y = k.t[3];
  T* const lanes = reinterpret_cast<T*>(k.scratch);
  int* const taps = reinterpret_cast<int*>(lanes + w.cols * kLanes);
  tap_table(s, padded, taps);
  const i64 places = s.outputs(), rows = y.rows * places, panels = (rows + kLanes - 1) / kLanes;
  const i64 parts =
      panels >= 4 * k.workers ? 1 : min(k.workers, (w.rows + kTileRows - 1) / kTileRows);
  const Range r = share(panels * parts, 1, k.worker, k.workers);
  Im2colPlan<T> runs;
  runs.seek(s, r.begin / parts * kLanes);
  Range filters{0, w.rows};
  for (i64 u = r.begin; u < r.end; ++u) {
    const i64 first = u / parts * kLanes, count = min(kLanes, rows - first);
    if (u == r.begin || u % parts == 0) {
      runs.find(s, padded, x, y, count);
      runs.read(taps, w.cols, s.stride[2], lanes);
    }
    if (parts > 1)
      filters = share(w.rows, kTileRows, static_cast<int>(u % parts), static_cast<int>(parts));
    T block[kRowsOf<T> * kLanes];
    // Straight into the row of an item, or by way of a block to several.
    const i64 step = runs.one_item ? filters.end - filters.begin : kRowsOf<T>;
    for (i64 m = filters.begin; m < filters.end; m += step) {
      const i64 some = min(step, filters.end - m);
      Product<T> g{w.cols,
                   {static_cast<const T*>(w.dense) + m * w.dense_stride, w.dense_stride, 1},
                   lanes,
                   16,
                   kLanes,
                   block,
                   kLanes,
                   kLanes,
                   nullptr,
                   false,
                   k.has[2] ? row<T>(k.t[2], 0) + m : nullptr,
                   false};
      if (static_cast<const ConvWindow*>(k.attributes)->relu) g.floor = 0;
      if (runs.one_item) {
        g.c = runs.to[0] + m * places;
        g.cm = places;
        g.lanes = count;
      }
      if (count > kLanes - 16) tile_rows<T, kTilePanels>(g, some, 0);
      else
        for (i64 p = 0; 16 * p < count; ++p) tile_rows<T, 1>(g, some, p);
      if (runs.one_item) continue;
      for (i64 f = 0; f < some; ++f)
        for (int i = 0; i < runs.runs; ++i)
          for (i64 j = runs.begin[i]; j < runs.begin[i + 1]; ++j)
            runs.to[i][(m + f) * places + j - runs.begin[i]] = block[f * kLanes + j];
    }
  }
}

// gw (+)= gy^T times unfolded x, NP times 16 filters of some taps at a time. gy has a row per item.
// kWindowRows places of it are transposed into a copy, which stays in the nearest cache while all
// these taps read it. The sums are in `sums` (16 * NP values a tap); those of whole blocks of 1,024
// rows are behind it, at the levels of a binary counter.
template <class T, int MR, int NP>
__attribute__((noinline)) static void window_tile(const Tabled<T> x, i64 count, const T* lanes,
                                                  T* sums, bool begins) {
  using N = typename V<T>::Native;
  constexpr int kParts = V<T>::kParts, W = 16 / kParts;
  V<T> c[MR][NP];
  LOOM_UNROLL for (int i = 0; i < MR * NP * kParts; ++i) {
    N& part = c[i / (NP * kParts)][i / kParts % NP].part[i % kParts];
    if (begins) part = N{};
    else __builtin_memcpy(&part, sums + i * W, sizeof part);
  }
  micro_kernel<T, MR, NP>(count, x, lanes, 16, 16 * NP, c);
  LOOM_UNROLL for (int i = 0; i < MR * NP * kParts; ++i) __builtin_memcpy(
      sums + i * W, &c[i / (NP * kParts)][i / kParts % NP].part[i % kParts], sizeof(N));
}
template <class T, int NP>
struct WindowSums {
  const int *taps, *rows;  // of all taps; of the rows of a block
  T *lanes, *sums;
  i64 level;  // values of `sums`, from one level to the next

  // The rows (places of items, items slowest) from `first` of the block that begins at row `begin`.
  void add_rows(const T* x, const TensorArg& gy, i64 places, i64 filter, i64 filters, i64 begin,
                i64 first, i64 count, i64 tap, i64 some) {
    for (i64 k = 0; k < count;) {
      const i64 item = (begin + first + k) / places, place = (begin + first + k) % places,
                n = min(count - k, places - place);
      transpose(row<T>(gy, item) + filter * places + place, places, filters, n, lanes + k * 16 * NP,
                16 * NP);
      k += n;
    }
    // Taps of a tile of one panel: as many as have the sums of two.
    each_tile<kTileRows * kTilePanels / NP>(0, some, [&]<int N>(i64 t, Count<N>) {
      window_tile<T, N, NP>({x, taps + tap + t, rows + first}, count, lanes, sums + t * 16 * NP,
                            first == 0);
    });
  }
  // The sums of a block join those of the blocks before it, of which there are `before`, as
  // BinaryCounter adds them.
  void close(i64 before, i64 values) {
    int depth = __builtin_popcountll(static_cast<unsigned long long>(before));
    for (i64 c = before; c & 1; c >>= 1) gather(depth--, values);
    const T* from = sums;
    T* to = sums + (depth + 1) * level;
    for (i64 i = 0; i < values; i += 16) store(to + i, load(from + i));
  }
  // What the levels of `blocks` blocks hold in all.
  void total(i64 blocks, i64 values) {
    int depth = __builtin_popcountll(static_cast<unsigned long long>(blocks));
    for (i64 i = 0; i < values; i += 16)
      store(sums + i, depth > 0 ? load(sums + depth * level + i) : V<T>{});
    while (--depth > 0) gather(depth, values);
  }
  void gather(int at, i64 values) {
    for (i64 i = 0; i < values; i += 16)
      store(sums + i, load(sums + at * level + i) + load(sums + i));
  }
};
template <class T, int NP>
static inline void outer_window_taps(const KernelArgs& k, Range r, i64 places, const int* taps,
                                     const int* rows, T* scratch, i64 filter) {
  const TensorArg &gy = k.t[0], &x = k.t[1], &gw = k.t[2];
  WindowSums<T, NP> w{taps, rows, scratch, scratch + kWindowRows * 16 * NP, kWindowTaps * 16 * NP};
  const i64 left = gw.rows - filter, filters = min(left, 16 * NP), all = gy.rows * places;
  for (i64 i = 0; i < kWindowRows * 16 * NP; ++i) w.lanes[i] = 0;  // of filters that are not there
  for (i64 tap = r.begin; tap < r.end; tap += kWindowTaps) {
    const i64 some = min(kWindowTaps, r.end - tap), values = some * 16 * NP;
    i64 blocks = 0;
    for (i64 b = 0; b < all; b += 1024, ++blocks) {
      const i64 end = min(b + 1024, all);
      w.rows = rows + b;
      for (i64 i = b; i < end; i += kWindowRows)
        w.add_rows(row<T>(x, b / places), gy, places, filter, filters, b, i - b,
                   min(kWindowRows, end - i), tap, some);
      w.close(blocks, values);
    }
    w.total(blocks, values);
    for (i64 t = 0; t < some; ++t)
      for (i64 n = 0; n < filters; ++n) {
        T& to = row<T>(gw, filter + n)[tap + t];
        const T sum = w.sums[t * 16 * NP + n];
        to = stored(k.ints[0] ? to + sum : sum);
      }
  }
}
// scratch: a table of the taps, one of all rows in blocks of 1,024, then the WindowSums.
template <class T>
static void conv_weight_grad(const KernelArgs& k) {
  const Spatial s = conv_spatial(k);
  const Padded padded(s);
  const TensorArg &gy = k.t[0], &gw = k.t[2];
  const i64 places = s.outputs(), all = gy.rows * places;
  int *taps = reinterpret_cast<int*>(k.scratch), *rows = taps + gw.cols;
  T* scratch = reinterpret_cast<T*>(taps + (gw.cols + all + 15) / 16 * 16);
  const Range r = share(gw.cols, kTileRows, k.worker, k.workers);
  if (r.begin == r.end) return;
  tap_table(s, padded, taps);
  for (i64 b = 0; b < all; b += 1024)
    place_table(s, padded, k.t[1].stride, b, min(b + 1024, all), rows + b);
  i64 filter = 0;
  if constexpr (kTilePanels > 1)
    for (; filter + 16 * (kTilePanels - 1) < gw.rows; filter += 16 * kTilePanels)
      outer_window_taps<T, kTilePanels>(k, r, places, taps, rows, scratch, filter);
  for (; filter < gw.rows; filter += 16)
    outer_window_taps<T, 1>(k, r, places, taps, rows, scratch, filter);
}

// gb (+)= sums of gy over rows and places. A row of gy has the values of all places, `places` of
// the first channel and so on; the sums are those of bias_grad over rows of single places.
template <class T>
static void conv_bias_grad(const KernelArgs& k) {
  constexpr i64 kAtOnce = 32;
  const TensorArg &gy = k.t[0], &gb = k.t[1];
  const i64 places = static_cast<const PlacesOfRow*>(k.attributes)->places;
  const Range r = share(gb.cols, 16, k.worker, k.workers);
  T turned[kAtOnce * 16];
  for (i64 c = r.begin; c < r.end; c += 16) {
    const i64 n = min(16, r.end - c);
    RowSum<V<T>> sum;
    for (i64 i = 0; i < kAtOnce * 16; ++i) turned[i] = 0;
    for (i64 i = 0; i < gy.rows; ++i)
      for (i64 o = 0; o < places; o += kAtOnce) {
        const i64 some = min(kAtOnce, places - o);
        transpose(row<T>(gy, i) + c * places + o, places, n, some, turned, 16);
        for (i64 j = 0; j < some; ++j) sum.push(load(turned + 16 * j));
      }
    const V<T> s = sum.total();
    T* to = row<T>(gb, 0) + c;
    put_lanes(to, k.ints[0] ? load_lanes(to, n) + s : s, n);
  }
}

}  // namespace loom::cpu::LOOM_ISA
