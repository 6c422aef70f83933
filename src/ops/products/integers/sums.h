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

// A quantized row: hi plane, lo plane, each padded to 64, then the scale and the sums of both
// planes.
struct Q15Row {
  const signed char* plane[2];
  float scale;
  int sum[2];
};
static inline Q15Row q15_row(const TensorArg& x, i64 r, i64 padded) {
  const signed char* p = reinterpret_cast<const signed char*>(x.data) + r * x.stride;
  Q15Row q{{p, p + padded}, 0, {}};
  __builtin_memcpy(&q.scale, p + 2 * padded, 4);
  __builtin_memcpy(q.sum, p + 2 * padded + 4, 8);
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
  unsigned offsets[16] = {};
  for (i64 n = 0; n < o.lanes; ++n)
    offsets[n] = static_cast<unsigned>((offset ? code_offset(w, o.first + n) : 0) - bias_of_sum);
  __builtin_memcpy(o.offset, offsets, 64);
  return o;
}

// f(S) of numerics rule 5: rounds once.
static inline auto sum_to_f32(Ints sum) {
  using F = V<float>::Native;
  return __builtin_convertvector(sum >> 12, F) * 4096.0f + __builtin_convertvector(sum & 4095, F);
}

// y = ((f(S_hi) * 128 + f(S_lo)) * 2^e) * row scale [+ bias]
static inline void finish(const PanelOutputs& o, const Ints (&sum)[2][kParts], const Q15Row& q,
                          float* y) {
  V<float> v;
  for (i64 p = 0; p < kParts; ++p) {
    Ints s[2];
    for (int plane = 0; plane < 2; ++plane) {
      const Dwords corrected = reinterpret_cast<const Dwords&>(sum[plane][p]) -
                               o.offset[p] * static_cast<unsigned>(q.sum[plane]);
      s[plane] = reinterpret_cast<const Ints&>(corrected);
    }
    v.part[p] = ((sum_to_f32(s[0]) * 128.0f + sum_to_f32(s[1])) * q.scale) * o.scale.part[p];
  }
  put_lanes(y + o.first, o.bias_from ? v + o.bias : v, o.lanes);
}

}  // namespace loom::cpu::LOOM_ISA
