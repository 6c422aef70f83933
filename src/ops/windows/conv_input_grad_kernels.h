// The gradient that goes through a convolution to its input, without unfolded rows
// (lowering/fuse_convolutions.cpp): every value is the sum that matmul_t and fold give, in the same
// order.
#pragma once

#include "ops/windows/conv_kernels.h"

namespace loom::cpu::LOOM_ISA {

// to[i * step] += from[i]
template <class T>
static inline void add_to_run(const T* __restrict from, i64 n, T* __restrict to, i64 step) {
  using N = typename V<T>::Native;
  constexpr i64 W = sizeof(N) / sizeof(T);
  i64 i = 0;
  for (; step == 1 && i + W <= n; i += W) {
    N a, b;
    __builtin_memcpy(&a, from + i, sizeof a);
    __builtin_memcpy(&b, to + i, sizeof b);
    b += a;
    __builtin_memcpy(to + i, &b, sizeof b);
  }
  for (; i < n; ++i) to[i * step] += from[i];
}
// Adds rows of `values` (a row per tap of a channel, a column per place from `first`) where the
// taps stand in the padded channel. Of the places under which a value lies the later one has the
// earlier tap, so taps descend.
template <class T>
static inline void fold_block(const Spatial& s, const Padded& padded, i64 first, i64 count,
                              const T* values, T* to) {
  const i64 begin_z = first / (s.out[2] * s.out[1]), begin_y = first / s.out[2] % s.out[1],
            begin_x = first % s.out[2];
  for (i64 z = s.kernel[0]; z-- > 0;)
    for (i64 y = s.kernel[1]; y-- > 0;)
      for (i64 x = s.kernel[2]; x-- > 0;) {
        const T* from = values + ((z * s.kernel[1] + y) * s.kernel[2] + x) * kFoldPlaces;
        i64 oz = begin_z, oy = begin_y, ox = begin_x;
        for (i64 o = 0; o < count;) {
          const i64 n = min(s.out[2] - ox, count - o);
          add_to_run(from + o, n,
                     to +
                         ((oz * s.stride[0] + z * s.dilation[0]) * padded.size[1] +
                          oy * s.stride[1] + y * s.dilation[1]) *
                             padded.size[2] +
                         ox * s.stride[2] + x * s.dilation[2],
                     s.stride[2]);
          o += n;
          ox = 0;
          if (++oy == s.out[1]) oy = 0, ++oz;
        }
      }
}
// What lies inside of a padded channel; zero where no window reaches.
template <class T>
static inline void cut_padding(const Spatial& s, const Padded& padded, const T* from, T* to) {
  for (i64 z = 0; z < s.in[0]; ++z)
    for (i64 y = 0; y < s.in[1]; ++y) {
      T* line = to + (z * s.in[1] + y) * s.in[2];
      const i64 pz = z + s.pad[0], py = y + s.pad[1],
                width = pz < padded.size[0] && py < padded.size[1]
                            ? min(s.in[2], padded.size[2] - s.pad[2])
                            : 0;
      const T* a = from + (pz * padded.size[1] + py) * padded.size[2] + s.pad[2];
      for (i64 x = 0; x < width; ++x) line[x] = stored(a[x]);
      for (i64 x = width > 0 ? width : 0; x < s.in[2]; ++x) line[x] = 0;
    }
}

// Channels [channels.begin, channels.end) of an item's gx: some of them and a block of places at a
// time. scratch: kFoldPlaces places of gy in panels of 16, the weights turned, the product, and the
// padded channels that it is added to.
template <class T>
static void spread_item(const KernelArgs& k, const Spatial& s, const Padded& padded, i64 item,
                        Range channels, T* scratch) {
  const WeightArg& w = *k.weight;
  const TensorArg &gy = k.t[1], &gx = k.t[2];
  const i64 places = s.outputs(), taps = s.taps(),
            at_once = fold_channels(taps, s.channels, padded.plane);
  T *block = scratch, *pack = block + w.rows * kFoldPlaces,
    *values = pack + w.rows * at_once * taps, *sums = values + at_once * taps * kFoldPlaces;
  for (i64 c = channels.begin; c < channels.end; c += at_once) {
    const i64 some = min(at_once, channels.end - c), rows = some * taps;
    const T* weight = static_cast<const T*>(w.dense) + c * taps;
    transpose(weight, w.dense_stride, w.rows, rows, pack, w.rows);
    for (i64 i = 0; i < some * padded.plane; ++i) sums[i] = 0;
    for (i64 o = 0; o < places; o += kFoldPlaces) {
      const i64 count = min(kFoldPlaces, places - o), columns = (count + 15) / 16 * 16;
      for (i64 n = 0; n < w.rows; ++n) {
        const T* from = row<T>(gy, item) + n * places + o;
        for (i64 p = 0; p < columns; p += 16)
          store(block + p * w.rows + n * 16, load_lanes(from + p, count - p));
      }
      const Product<T> g{w.rows, {pack, w.rows, 1}, block,   w.rows * 16, 16,
                         values, kFoldPlaces,       columns, nullptr,     false};
      i64 panel = 0;
      for (; 16 * (panel + kTilePanels) <= columns; panel += kTilePanels)
        tile_rows<T, kTilePanels>(g, rows, panel);
      for (; 16 * panel < columns; ++panel) tile_rows<T, 1>(g, rows, panel);
      for (i64 i = 0; i < some; ++i)
        fold_block(s, padded, o, count, values + i * taps * kFoldPlaces, sums + i * padded.plane);
    }
    for (i64 i = 0; i < some; ++i)
      cut_padding(s, padded, sums + i * padded.plane, row<T>(gx, item) + (c + i) * s.inputs());
  }
}

// The gradient by gather, for windows that step by one: gx[i] = sum over taps of gy * w, taps in
// reverse order. Outside the output gy is 0, which adds nothing if the weights are finite. A kernel
// of 3 with padding 1:
//
//   gx[i]     of lanes      i =           0    1    2    3    4
//   tap 2:  around[i + 0] is gy of place  -    0    1    2    3     -: outside of gy, 0
//   tap 1:  around[i + 1]                 0    1    2    3    4     each times
//   W[filter][channel][tap], tap 0:  around[i + 2]                 1    2    3    4    -     summed
//   over filters, then over taps
template <class T>
struct Gather {
  static constexpr i64 kLanes = 16 * kTilePanels;
  const Spatial& s;
  const FoldPiece& piece;
  i64 filters, taps;
  int* offsets;      // of the taps in `around`
  T *around, *pack;  // gy, by filters; weights, by tiles of channels, taps and filters
  T tile[kTileRows * kLanes];

  i64 reach(int d) const { return (s.kernel[d] - 1) * s.dilation[d]; }
  i64 lines() const { return piece.lines + reach(1); }  // of a plane of `around`

  void find_offsets() {
    int* to = offsets;
    for (i64 z = 0; z < s.kernel[0]; ++z)
      for (i64 y = 0; y < s.kernel[1]; ++y)
        for (i64 x = 0; x < s.kernel[2]; ++x)
          *to++ = static_cast<int>((z * s.dilation[0] * lines() + y * s.dilation[1]) * piece.line +
                                   x * s.dilation[2]);
  }
  // gy of the places that have the values from (z, y, x) under them.
  void surround(const T* gy, i64 z, i64 y, i64 x) {
    const i64 oz = z + s.pad[0] - reach(0), oy = y + s.pad[1] - reach(1),
              ox = x + s.pad[2] - reach(2);
    const i64 begin = ox < 0 ? min(-ox, piece.line) : 0,
              end = ox + begin < s.out[2] ? min(piece.line, s.out[2] - ox) : begin;
    for (i64 f = 0; f < filters; ++f) {
      const T* from = gy + f * s.outputs() + ox;
      T* to = around + f * piece.stride;
      for (i64 i = oz; i <= oz + reach(0); ++i)
        for (i64 j = oy; j < oy + lines(); ++j, to += piece.line) {
          const bool some = i >= 0 && i < s.out[0] && j >= 0 && j < s.out[1];
          const i64 first = some ? begin : piece.line, last = some ? end : piece.line;
          for (i64 n = 0; n < first; ++n) to[n] = 0;
          if (some)
            __builtin_memcpy(to + first, from + (i * s.out[1] + j) * s.out[2] + first,
                             static_cast<unsigned long>(last - first) * sizeof(T));
          for (i64 n = last; n < piece.line; ++n) to[n] = 0;
        }
      for (i64 n = 0; n < kLanes; ++n) to[n] = 0;  // lanes reach past the end
    }
  }
  // The weights of MR channels; whether they are finite.
  template <int MR>
  bool take(const T* weight, i64 stride, T* to) {
    T probe = 0;
    for (i64 f = 0; f < filters; ++f)
      for (i64 m = 0; m < MR; ++m)
        for (i64 t = 0; t < taps; ++t) {
          const T value = weight[f * stride + m * taps + t];
          probe += value * T(0);
          to[((taps - 1 - t) * filters + f) * MR + m] = value;
        }
    return probe == T(0);
  }
  // Lanes of MR channels, from `from` on in `around`.
  template <int MR, int NP>
  void gather(const T* weights, const T* from) {
    using N = typename V<T>::Native;
    constexpr int kParts = V<T>::kParts, W = 16 / kParts;
    N sums[MR][NP * kParts];
    LOOM_UNROLL for (int i = 0; i < MR * NP * kParts; ++i)
        sums[i / (NP * kParts)][i % (NP * kParts)] = N{};
    for (i64 t = 0; t < taps; ++t) {
      V<T> c[MR][NP];
      LOOM_UNROLL for (int i = 0; i < MR * NP * kParts; ++i) c[i / (NP * kParts)][i / kParts % NP]
          .part[i % kParts] = N{};
      micro_kernel<T, MR, NP>(filters, weights + t * filters * MR, 1, MR, from + offsets[t], 16,
                              piece.stride, c);
      LOOM_UNROLL for (int i = 0; i < MR * NP * kParts; ++i)
          sums[i / (NP * kParts)][i % (NP * kParts)] +=
          flushed(c[i / (NP * kParts)][i / kParts % NP].part[i % kParts]);
    }
    LOOM_UNROLL for (int m = 0; m < MR; ++m) LOOM_UNROLL for (int q = 0; q < NP * kParts; ++q) {
      const N x = stored_part<T>(sums[m][q]);
      __builtin_memcpy(tile + m * kLanes + q * W, &x, sizeof x);
    }
  }
  // `some` lines of MR channels at gx. Lanes stand along lines one by one, or, where this fills
  // them better, along all of them, what lies between lines included.
  template <int MR>
  void channels(const T* weights, T* gx, i64 some, i64 width) {
    const i64 step =
        some * ((width + 15) / 16) <= ((some - 1) * piece.line + width + 15) / 16 ? 1 : some;
    for (i64 l = 0; l < some; l += step) {
      const i64 n = (step - 1) * piece.line + width;
      for (i64 at = 0; at < n; at += kLanes) {
        const T* from = around + l * piece.line + at;
        const i64 count = min(n - at, kLanes);
        if (count > 16) gather<MR, kTilePanels>(weights, from);
        else gather<MR, 1>(weights, from);
        for (i64 j = 0; j < count;) {
          const i64 line = (at + j) / piece.line, col = (at + j) % piece.line,
                    run = min(count - j, width - col);
          for (i64 m = 0; m < MR && run > 0; ++m)
            __builtin_memcpy(gx + m * s.inputs() + (l + line) * s.in[2] + col,
                             tile + m * kLanes + j, static_cast<unsigned long>(run) * sizeof(T));
          j += run > 0 ? run : piece.line - col;
        }
      }
    }
  }
};

// gx = fold(gy W), gy a row per item. scratch: the Gather's taps, gy and weights, or what
// spread_item takes.
template <class T>
static void conv_input_grad(const KernelArgs& k) {
  const Spatial s = conv_spatial(k);
  const Padded padded(s);
  const WeightArg& w = *k.weight;
  const TensorArg &gy = k.t[1], &gx = k.t[2];
  const i64 taps = s.taps();
  const FoldPiece piece = fold_piece(s.in, s.kernel, s.stride, s.dilation, s.out, w.rows);
  T* const scratch = reinterpret_cast<T*>(k.scratch);
  if (piece.width == 0) {
    const i64 parts = gx.rows >= k.workers ? 1 : min(k.workers, s.channels);
    const Range r = share(gx.rows * parts, 1, k.worker, k.workers);
    for (i64 u = r.begin; u < r.end; ++u)
      spread_item(k, s, padded, u / parts,
                  share(s.channels, 1, static_cast<int>(u % parts), static_cast<int>(parts)),
                  scratch);
    return;
  }
  T* const values = scratch + (taps + 15) / 16 * 16;
  Gather<T> g{s,
              piece,
              w.rows,
              taps,
              reinterpret_cast<int*>(scratch),
              values,
              values + w.rows * piece.stride,
              {}};
  g.find_offsets();
  const i64 at_once = gather_channels(w.rows * taps, s.channels),
            bands = (s.in[1] + piece.lines - 1) / piece.lines,
            across = (s.in[2] + piece.width - 1) / piece.width;
  const i64 pieces = s.in[0] * bands * across, units = gx.rows * pieces;
  const Range r = share((s.channels + at_once - 1) / at_once * units, 1, k.worker, k.workers);
  bool finite = true;
  for (i64 u = r.begin; u < r.end; ++u) {
    const i64 first = u / units * at_once, some = min(at_once, s.channels - first),
              item = u % units / pieces, at = u % pieces;
    const T* weight = static_cast<const T*>(w.dense) + first * taps;
    if (u == r.begin || u % units == 0) {
      finite = true;
      each_tile<kTileRows>(0, some, [&](i64 m, auto rows) {
        finite &= g.template take<rows.value>(weight + m * taps, w.dense_stride,
                                              g.pack + m * taps * w.rows);
      });
    }
    if (!finite) {
      if (at == 0) spread_item(k, s, padded, item, {first, first + some}, values);
      continue;
    }
    const i64 z = at / (bands * across), y = at / across % bands * piece.lines,
              x = at % across * piece.width;
    g.surround(row<T>(gy, item), z, y, x);
    T* const to = row<T>(gx, item) + first * s.inputs() + (z * s.in[1] + y) * s.in[2] + x;
    each_tile<kTileRows>(0, some, [&](i64 m, auto rows) {
      g.template channels<rows.value>(g.pack + m * taps * w.rows, to + m * s.inputs(),
                                      min(piece.lines, s.in[1] - y), min(piece.width, s.in[2] - x));
    });
  }
}

}  // namespace loom::cpu::LOOM_ISA
