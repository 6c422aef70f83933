// Products with float weights in packed form (classes F and B): each worker decodes a panel of 16
// outputs to f32 in its scratch and multiplies it with all rows in the canonical order. Rows of any
// packed matrix.
#pragma once

#include "ops/products/gemm.h"
#include "ops/products/integers/integer_kernels.h"

namespace loom::cpu::LOOM_ISA {

// Codes lie in words of four bytes, [k / Codes][16][Codes]: value(code, output) of all, as [k][16].
// A loop of its own for every format, which compilers turn into vectors.
template <int Codes, class F>
static inline void unpack_words(i64 cols, const unsigned char* panel, float* out, F value) {
  constexpr int kBits = 32 / Codes;
  for (i64 g = 0; g < (cols + Codes - 1) / Codes; ++g, panel += 64, out += 16 * Codes)
    for (i64 n = 0; n < 16; ++n) {
      const unsigned char* p = panel + n * 4;
      const unsigned word = p[0] | static_cast<unsigned>(p[1]) << 8 |
                            static_cast<unsigned>(p[2]) << 16 | static_cast<unsigned>(p[3]) << 24;
      LOOM_UNROLL for (int i = 0; i < Codes; ++i) out[16 * i + n] =
          value(word >> kBits * i & ((1u << kBits) - 1), n);
    }
}

// f32 values of one panel of classes F and B, without the row scale, as [k][16]. Not inlined, for
// size.
__attribute__((noinline)) static void unpack_values(const WeightArg& w, const unsigned char* panel,
                                                    i64 first_row, float* out) {
  const float* const table = w.table;
  const auto listed = [table](unsigned code, i64) { return table[code]; };
  if (w.bits == 8) return unpack_words<4>(w.cols, panel, out, listed);
  if (w.dtype == kBf16)
    return unpack_words<2>(w.cols, panel, out, [](unsigned code, i64) {
      return __builtin_bit_cast(float, code << 16);
    });
  if (table) return unpack_words<2>(w.cols, panel, out, listed);
  if (w.dtype == kI16)
    return unpack_words<2>(w.cols, panel, out, [](unsigned code, i64) {
      return static_cast<float>(static_cast<int>(code ^ 0x8000) - 0x8000);
    });
  int zeros[16] = {};
  for (i64 n = 0; n < min(16, w.rows - first_row); ++n)
    zeros[n] = static_cast<int>(w.zeros[first_row + n]);
  unpack_words<2>(w.cols, panel, out, [&zeros](unsigned code, i64 n) {
    return static_cast<float>(static_cast<int>(code) - zeros[n]);
  });
}

// Sums of MR rows with one panel, whose values are then read once for all of them; each from
// `start`.
template <int MR>
__attribute__((noinline)) static void panel_sums(i64 n, const float* a, i64 step,
                                                 const float* values, const V<float>& start,
                                                 V<float>* sums) {
  V<float> c[MR][1];
  LOOM_UNROLL for (int m = 0; m < MR; ++m) c[m][0] = start;
  micro_kernel<float, MR, 1>(n, a, step, 1, values, 0, 16, c);
  for (int m = 0; m < MR; ++m) sums[m] = c[m][0];
}

// Classes F (planes = 1: x is f32) and B (planes = 2: x is its hi and lo parts). scratch:
// [padded_cols][16] f32.
template <int Planes>
static void matmul_planes(const KernelArgs& k) {
  constexpr int kRows = kTileRows > 4 ? 4 : kTileRows;
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
  const Range r = share((w.rows + 15) / 16, 1, k.worker, k.workers);
  for (i64 panel = r.begin; panel < r.end; ++panel) {
    const i64 first = panel * 16, outputs = min(16, w.rows - first);
    unpack_values(w, static_cast<const unsigned char*>(w.panels) + panel * w.panel_bytes, first,
                  values);
    const V<float> bias_lanes = bias ? load_lanes(bias + first, outputs) : V<float>{};
    const V<float> scale = w.scales ? load_lanes(w.scales + first, outputs) : V<float>{};
    // Without scales the sum starts from the bias; with them the bias is added after scaling.
    const V<float> start = w.scales ? V<float>{} : bias_lanes;
    for (i64 i = 0; i < y.rows;) {
      V<float> sums[kRows], low[kRows] = {};
      const i64 count = i + kRows <= y.rows ? kRows : 1;
      const auto panel_of = count == 1 ? panel_sums<1> : panel_sums<kRows>;
      panel_of(w.cols, all + i * step, step, values, start, sums);
      if (low_plane) panel_of(w.cols, all + i * step + plane, step, values, V<float>{}, low);
      for (i64 m = 0; m < count; ++m) {
        V<float> v = sums[m];
        if (Planes == 2) v += low[m];
        if (w.scales) v = bias ? v * scale + bias_lanes : v * scale;
        put_lanes(row<float>(y, i + m) + first, v, outputs);
      }
      i += count;
    }
  }
}

template <class T>
static void matmul_decoded(const KernelArgs& k) {
  matmul_planes<1>(k);
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
      unpack_values(w, panel, id / 16 * 16, values);
      for (i64 c = 0; c < w.cols; ++c) out[c] = stored(values[c * 16 + id % 16] * scale);
    }
  }
}

}  // namespace loom::cpu::LOOM_ISA
