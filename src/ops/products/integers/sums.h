// What products of class I are made of: rows of q15, outputs of a panel, sums and their scales.
#pragma once

#include "ops/cpu/vectors/simd.h"
#include "ops/products/integers/unpack.h"
#include "ops/products/product_sizes.h"

namespace loom::cpu::LOOM_ISA {

// Four consecutive activations, for every output.
static inline Ints repeat_four(const signed char* x) {
  int v;
  __builtin_memcpy(&v, x, 4);
  return Ints{} + v;
}

// Products of unpacked codes: `Small` where none has more than 7 bits, else every code loses
// kCodeBias<Small>.
template <bool Small>
static constexpr i64 kCodeBias = Small ? 0 : kFullBias;
template <bool Small>
static inline Ints dot(Ints acc, Bytes codes, Ints x) {
  return Small ? dot_small(acc, codes, x) : dot_full(acc, codes, x);
}
// Calls f.template operator()<Small>() for the codes of w.
template <class F>
static inline void with_small(const WeightArg& w, F f) {
  if constexpr (kSmallIsFaster)
    if (w.layout == kPlain && w.bits != 8) return f.template operator()<true>();
  f.template operator()<false>();
}

// Sixteen sums of (code - kCodeBias) * x: add() takes a byte row of codes and the activations of
// its four k.
template <bool Small = false>
struct Sums16 {
  Ints s[kParts] = {};
  void add(const unsigned char* codes, Ints x) {
    LOOM_UNROLL for (i64 p = 0; p < kParts; ++p) s[p] =
        dot<Small>(s[p], load_bytes(codes + p * LOOM_VECTOR_BYTES), x);
  }
  void get(int* out) const { __builtin_memcpy(out, s, 64); }
};

// A quantized row: hi plane, lo plane, each padded to 64, then the scale, the sums of both planes,
// and whether lo is 0 in all rows, so that products may leave it out.
struct Q15Row {
  const signed char* plane[2];
  float scale;
  int sum[2];
  bool high_only;
};
static inline Q15Row q15_row(const TensorArg& x, i64 r, i64 padded) {
  const signed char* p = reinterpret_cast<const signed char*>(x.data) + r * x.stride;
  Q15Row q{{p, p + padded}, 0, {}, false};
  __builtin_memcpy(&q.scale, p + 2 * padded, 4);
  __builtin_memcpy(q.sum, p + 2 * padded + 4, 8);
  int high_only;
  __builtin_memcpy(&high_only, p + 2 * padded + 12, 4);
  q.high_only = high_only != 0;
  return q;
}

// The outputs of one panel: what all rows share.
struct PanelOutputs {
  i64 first, lanes;
  const float* bias_from;
  V<float> scale, bias;
  Dwords offset[kParts];
};
// bias_of_sum: what the sums hold in each code beside its value and the offset, negated.
static inline PanelOutputs panel_outputs(const KernelArgs& k, i64 panel, bool offset,
                                         i64 bias_of_sum) {
  const WeightArg& w = *k.weight;
  PanelOutputs o;
  o.first = panel * 16;
  o.lanes = min(16, w.rows - o.first);
  o.scale = load_lanes(w.scales + o.first, o.lanes);
  if (w.dtype == kFp4) o.scale = 0.5f * o.scale;  // the codes are twice the values
  o.bias_from = k.has[2] ? row<float>(k.t[2], 0) : nullptr;
  o.bias = o.bias_from ? load_lanes(o.bias_from + o.first, o.lanes) : V<float>{};
  const unsigned one = static_cast<unsigned>((offset ? w.offset : 0) - bias_of_sum);
  for (Dwords& part : o.offset) part = Dwords{} + one;
  if (!offset || !w.zeros) return o;
  unsigned offsets[16] = {};
  for (i64 n = 0; n < o.lanes; ++n)
    offsets[n] = w.zeros[o.first + n] - static_cast<unsigned>(bias_of_sum);
  __builtin_memcpy(o.offset, offsets, 64);
  return o;
}

// y = ((f(S_hi) * 128 + f(S_lo)) * 2^e) * row scale [+ bias]; f rounds a sum to f32 once (numerics
// rule 5), as the conversion does.
static inline void finish(const PanelOutputs& o, const Ints (&sum)[2][kParts], const Q15Row& q,
                          float* y) {
  using F = V<float>::Native;
  V<float> v;
  for (i64 p = 0; p < kParts; ++p) {
    Ints s[2];
    for (int plane = 0; plane < 2; ++plane) {
      const Dwords corrected = reinterpret_cast<const Dwords&>(sum[plane][p]) -
                               o.offset[p] * static_cast<unsigned>(q.sum[plane]);
      s[plane] = reinterpret_cast<const Ints&>(corrected);
    }
    v.part[p] =
        ((__builtin_convertvector(s[0], F) * 128.0f + __builtin_convertvector(s[1], F)) * q.scale) *
        o.scale.part[p];
  }
  put_lanes(y + o.first, o.bias_from ? v + o.bias : v, o.lanes);
}

// Calls each.template operator()<P>(panel, rows), P <= Panels, for the panels and rows of this
// worker, at most `block` rows at once.
template <int Panels, class F>
static inline void share_panels(const KernelArgs& k, i64 block, F each) {
  const i64 rows = k.t[3].rows, panels = (k.weight->rows + 15) / 16,
            blocks = (rows + block - 1) / block, groups = (panels + Panels - 1) / Panels;
  const bool by_panels = groups >= 2 * k.workers;
  const Range r = share(by_panels ? groups : groups * blocks, 1, k.worker, k.workers);
  for (i64 b = 0; b < (by_panels ? blocks : 1); ++b)
    for (i64 u = r.begin; u < r.end; ++u) {
      const i64 at = by_panels ? b : u / groups, panel = (by_panels ? u : u % groups) * Panels;
      const Range some{at * block, min(rows, (at + 1) * block)};
      if (panel + Panels <= panels) each.template operator()<Panels>(panel, some);
      else each.template operator()<1>(panel, some);
    }
}

}  // namespace loom::cpu::LOOM_ISA
