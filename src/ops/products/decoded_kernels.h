// Products with float weights in packed form (classes F and B): each worker decodes a panel of 16
// outputs to f32 in its scratch and multiplies it with all rows in the canonical order. Rows of any
// packed matrix.
#pragma once

#include "ops/products/gemm.h"
#include "ops/products/integers/integer_kernels.h"

namespace loom::cpu::LOOM_ISA {

// Codes lie in words, [k / Codes][16][Codes]: value(code, part) of those of `count` k, as [k][16];
// a code has the upper bits of its lane, above zeros. Every format has a separate loop.
template <int Codes, class F>
static inline void unpack_words(i64 count, const unsigned char* codes, float* out, F value) {
  constexpr int kBits = 32 / Codes, W = LOOM_VECTOR_BYTES / 4;
  for (i64 g = 0; g < (count + Codes - 1) / Codes; ++g, codes += 64, out += 16 * Codes) {
    fetch_ahead(codes);
    LOOM_UNROLL for (int p = 0; p < kParts; ++p) {
      const Dwords words = load_words(codes + p * LOOM_VECTOR_BYTES);
      LOOM_UNROLL for (int i = 0; i < Codes; ++i) {
        const V<float>::Native v =
            value(words << (32 - kBits - kBits * i) & (~0u << (32 - kBits)), p);
        __builtin_memcpy(out + 16 * i + p * W, &v, sizeof v);
      }
    }
  }
}

// Small floats: sign and exponent go to their places, a power of two sets the bias right (also of
// subnormals, exactly), and codes beyond the largest have the exponent of infinity.
struct SmallFloats {
  explicit SmallFloats(const WeightArg& w)
      : shorter(w.shorter),
        mask(0x80000000u | 0x7FFFFFFFu >> w.shorter),
        largest(w.largest << (32 - w.bits)),
        factor(w.factor) {}
  V<float>::Native operator()(Dwords codes, int) const {
    const Ints placed = __builtin_bit_cast(Ints, codes) >> shorter;
    const Dwords bits = __builtin_bit_cast(Dwords, placed) & mask;
    const V<float>::Native value = __builtin_bit_cast(V<float>::Native, bits) * factor;
    const auto beyond = (codes & 0x7FFFFFFFu) > largest;
    return __builtin_bit_cast(
        V<float>::Native,
        __builtin_bit_cast(Dwords, value) | (__builtin_bit_cast(Dwords, beyond) & 0x7F800000u));
  }
  int shorter;
  unsigned mask, largest;
  float factor;
};

// f32 values (as they lie where codes have 32 bits) of `count` k from `first` on of one panel of
// classes F and B, without the row scale, as [k][16]. `first` is a multiple of 32. Not inlined, for
// size.
__attribute__((noinline)) static void unpack_values(const WeightArg& w, const unsigned char* panel,
                                                    i64 first_row, i64 first, i64 count,
                                                    float* out) {
  using N = V<float>::Native;
  panel += first * 2 * w.bits;
  if (w.bits == 32) {
    __builtin_memcpy(out, panel, static_cast<unsigned long>(count) * 64);
    return;
  }
  if (w.bits == 8) return unpack_words<4>(count, panel, out, SmallFloats(w));
  if (w.dtype == kBf16)
    return unpack_words<2>(count, panel, out, [floor = w.floor](Dwords codes, int) {
      const auto stays = (codes & 0x7FFFFFFFu) >= floor;
      return __builtin_bit_cast(N, codes & __builtin_bit_cast(Dwords, stays));
    });
#if defined(__AVX512F__) && LOOM_VECTOR_BYTES == 64
  if (w.factor != 0 && w.shorter == 3)  // the processor's own, of half the instructions
    return unpack_words<2>(count, panel, out, [](Dwords codes, int) -> N {
      typedef short Halves __attribute__((vector_size(32)));
      constexpr int kCurrentRounding = 4;
      return __builtin_ia32_vcvtph2ps512_mask(__builtin_convertvector(codes >> 16, Halves), N{}, -1,
                                              kCurrentRounding);
    });
#endif
  if (w.factor != 0) return unpack_words<2>(count, panel, out, SmallFloats(w));
  if (w.dtype == kI16)
    return unpack_words<2>(count, panel, out, [](Dwords codes, int) {
      return __builtin_convertvector(__builtin_bit_cast(Ints, codes) >> 16, N);
    });
  Ints zeros[kParts] = {};
  for (i64 n = 0; n < min(16, w.rows - first_row); ++n)
    reinterpret_cast<int*>(zeros)[n] = static_cast<int>(w.zeros[first_row + n]);
  unpack_words<2>(count, panel, out, [&zeros](Dwords codes, int part) {
    return __builtin_convertvector(__builtin_bit_cast(Ints, codes >> 16) - zeros[part], N);
  });
}

// Adds the sums of MR rows with one panel, whose values are then read once for all of them.
template <int MR>
__attribute__((noinline)) static void add_panel_sums(i64 n, const float* a, i64 step,
                                                     const float* values, V<float>* sums) {
  V<float> c[MR][1];
  LOOM_UNROLL for (int m = 0; m < MR; ++m) c[m][0] = sums[m];
  micro_kernel<float, MR, 1>(n, a, step, 1, values, 0, 16, c);
  for (int m = 0; m < MR; ++m) sums[m] = c[m][0];
}
static constexpr int kRowsAtOnce = kTileRows > 4 ? 4 : kTileRows;
// Adds those of both planes of the same row.
static inline void add_plane_sums(i64 n, const float* a, i64 plane, const float* values,
                                  V<float>& high, V<float>& low) {
  V<float> sums[2] = {high, low};
  add_panel_sums<2>(n, a, plane, values, sums);
  high = sums[0];
  low = sums[1];
}

// Classes F (planes = 1: x is f32) and B (planes = 2: x is its hi and lo parts). scratch:
// [padded_cols][16] f32.
template <int Planes>
static void matmul_planes(const KernelArgs& k) {
  const WeightArg& w = *k.weight;
  const TensorArg &x = k.t[1], &y = k.t[3];
  float* values = reinterpret_cast<float*>(k.scratch);
  const float* bias = k.has[2] ? row<float>(k.t[2], 0) : nullptr;
  const i64 plane = (w.cols + 31) / 32 * 32;  // of x, class B, whose stride is in bytes
  const float* const all = row<float>(x, 0);
  const i64 step = Planes == 2 ? x.stride / static_cast<i64>(sizeof(float)) : x.stride;
  bool low_plane = Planes == 2;
  if (Planes == 2 && w.dtype == kFp8e4m3) {
    // What FP8 training multiplies has no low part. Zeros times weights that cannot be infinite sum
    // to +0, which is added all the same.
    low_plane = false;
    for (i64 i = 0; i < y.rows && !low_plane; ++i) {
      int other = 0;
      for (i64 c = 0; c < w.cols; ++c) other |= all[i * step + plane + c] != 0.0f;
      low_plane = other != 0;
    }
  }
  // Values that few rows meet stay in the first cache, a piece at a time.
  const i64 piece = y.rows <= kRowsAtOnce ? kPieceOfPanel : w.cols;
  const Range r = share((w.rows + 15) / 16, 1, k.worker, k.workers);
  for (i64 panel = r.begin; panel < r.end; ++panel) {
    const i64 first = panel * 16, outputs = min(16, w.rows - first);
    const unsigned char* const codes =
        static_cast<const unsigned char*>(w.panels) + panel * w.panel_bytes;
    const V<float> bias_lanes = bias ? load_lanes(bias + first, outputs) : V<float>{};
    const V<float> scale = w.scales ? load_lanes(w.scales + first, outputs) : V<float>{};
    for (i64 i = 0; i < y.rows; i += kRowsAtOnce) {
      const i64 count = min(kRowsAtOnce, y.rows - i);
      V<float> sums[kRowsAtOnce], low[kRowsAtOnce] = {};
      // Without scales the sum starts from the bias; with them the bias is added after scaling.
      for (V<float>& sum : sums) sum = w.scales ? V<float>{} : bias_lanes;
      for (i64 at = 0; at < w.cols; at += piece) {
        const i64 n = min(piece, w.cols - at);
        const float* const a = all + i * step + at;
        if (i == 0) unpack_values(w, codes, first, at, n, values);
        if (count == kRowsAtOnce) {
          add_panel_sums<kRowsAtOnce>(n, a, step, values, sums);
          if (low_plane) add_panel_sums<kRowsAtOnce>(n, a + plane, step, values, low);
          continue;
        }
        for (i64 m = 0; m < count; ++m)
          if (low_plane) add_plane_sums(n, a + m * step, plane, values, sums[m], low[m]);
          else add_panel_sums<1>(n, a + m * step, step, values, sums + m);
      }
      for (i64 m = 0; m < count; ++m) {
        V<float> v = sums[m];
        if (Planes == 2) v += low[m];
        if (w.scales) v = bias ? v * scale + bias_lanes : v * scale;
        put_lanes(row<float>(y, i + m) + first, v, outputs);
      }
    }
  }
}

// Class F without scales, of many rows: the tiles of float products, a part of some panels at a
// time. scratch: kPackedSums of kTilePanels panels.
static void matmul_parts(const KernelArgs& k) {
  const WeightArg& w = *k.weight;
  const i64 rows = k.t[3].rows;
  float* const values = reinterpret_cast<float*>(k.scratch);
  Product<float> g = product_of<float>(k, nullptr, 0);
  const float* const x = g.a.a;
  const Range r = share((w.rows + 15) / 16, 1, k.worker, k.workers);
  for (i64 panel = r.begin; panel < r.end; panel += kTilePanels)
    for (i64 at = 0; at < w.cols; at += kPackedSums) {
      const i64 end = min(panel + kTilePanels, r.end);
      g.k = min(w.cols - at, kPackedSums);
      g.a.a = x + at;
      g.bp = g.k * 16;
      g.b = values - panel * g.bp;
      g.accumulate = at > 0;
      g.partial = at + g.k < w.cols;
      for (i64 p = panel; p < end; ++p)
        unpack_values(w, static_cast<const unsigned char*>(w.panels) + p * w.panel_bytes, p * 16,
                      at, g.k, values + (p - panel) * g.bp);
      if (end - panel == kTilePanels) tile_rows<float, kTilePanels>(g, rows, panel);
      else
        for (i64 p = panel; p < end; ++p) tile_rows<float, 1>(g, rows, p);
    }
}

template <class T>
static void matmul_decoded(const KernelArgs& k) {
  if (k.weight->scales || k.t[3].rows <= kRowsAtOnce) matmul_planes<1>(k);
  else matmul_parts(k);
}
template <class T>
static void matmul_split(const KernelArgs& k) {
  matmul_planes<2>(k);
}

// y[r] = value of row ids[r]: code times row scale, rounded once. scratch: an unpacked panel.
static void gather_packed(const KernelArgs& k) {
  const WeightArg& w = *k.weight;
  const TensorArg &ids = k.t[1], &y = k.t[2];
  const bool integer = w.form == kIntegerForm;
  const i64 padded = (w.cols + 63) / 64 * 64;
  const Range r = share(y.rows, 1, k.worker, k.workers);
  for (i64 i = r.begin; i < r.end; ++i) {
    i64 id = *row<unsigned>(ids, i);
    if (id >= w.rows) id = w.rows - 1;
    const unsigned char* panel =
        static_cast<const unsigned char*>(w.panels) + id / 16 * w.panel_bytes;
    float* out = row<float>(y, i);
    const float scale = w.scales ? (w.dtype == kFp4 ? 0.5f * w.scales[id] : w.scales[id]) : 1.0f;
    if (integer) {
      unsigned char* codes = reinterpret_cast<unsigned char*>(k.scratch);
      unpack_codes(w, panel, padded, codes);
      const int offset = code_offset(w, id);
      for (i64 c = 0; c < w.cols; ++c)
        out[c] = stored(
            static_cast<float>(static_cast<int>(codes[c / 4 * 64 + id % 16 * 4 + c % 4]) - offset) *
            scale);
    } else {
      float* values = reinterpret_cast<float*>(k.scratch);
      unpack_values(w, panel, id / 16 * 16, 0, w.cols, values);
      for (i64 c = 0; c < w.cols; ++c) out[c] = stored(values[c * 16 + id % 16] * scale);
    }
  }
}

}  // namespace loom::cpu::LOOM_ISA
