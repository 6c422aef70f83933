// Rows of f32 as q15 (numerics rule 5): x = (128 * hi + lo) * 2^e up to rounding, as quantize_q15
// of numeric/q15.h.
#pragma once

#include "ops/cpu/vectors/simd.h"

namespace loom::cpu::LOOM_ISA {

struct Q15 {
  float scale = 0;  // 2^e; 0 for a row of zeros; NaN for a row that holds a NaN or infinity, whose
                    // planes are 0
  int sum_hi = 0, sum_lo = 0;
};

// Writes n values of each plane; of one plane lo is 0, and hi is rounded from x.
template <int Planes = 2>
static inline Q15 quantize_row(const float* x, i64 n, signed char* hi, signed char* lo) {
  Q15 q;
  int largest = 0;
  for (i64 c = 0; c < n; ++c) {
    const int m = __builtin_bit_cast(int, x[c]) & 0x7FFFFFFF;
    largest = m > largest ? m : largest;
  }
  if (largest >= 0x7F800000 || largest < (27 << 23)) {  // not finite, or all below 2^-100
    if (largest >= 0x7F800000) q.scale = __builtin_nanf("");
    for (i64 c = 0; c < n; ++c) hi[c] = lo[c] = 0;
    return q;
  }
  // 16256 = 1.984375 * 2^13: the least e with max <= 16256 * 2^e is the exponent minus 13, one more
  // where the mantissa is larger.
  const int e = (largest >> 23) - 127 - 13 + ((largest & 0x7FFFFF) > 0x7E0000);
  q.scale = __builtin_bit_cast(float, (e + 127) << 23);
  const float inverse = __builtin_bit_cast(float, (127 - e - (Planes == 1 ? 7 : 0)) << 23);
  int sum_hi = 0, sum_lo = 0;
  for (i64 c = 0; c < n; ++c) {
    // Adding 1.5 * 2^23 rounds to an integer, ties to even.
    const int v = __builtin_bit_cast(int, x[c] * inverse + 12582912.0f) - 0x4B400000;
    const int h = Planes == 1 ? v : (v + 64) >> 7, l = Planes == 1 ? 0 : v - 128 * h;
    hi[c] = static_cast<signed char>(h);
    lo[c] = static_cast<signed char>(l);
    sum_hi += h;
    sum_lo += l;
  }
  q.sum_hi = sum_hi;
  q.sum_lo = sum_lo;
  return q;
}

// Rows of x: hi plane, lo plane, each padded to 64, then the scale, the sums of both planes, and
// whether lo is left out.
template <int Planes>
static inline void quantize_rows(const KernelArgs& k) {
  const TensorArg &x = k.t[0], &y = k.t[1];
  const i64 n = x.cols, padded = (n + 63) / 64 * 64;
  const Range r = share(x.rows, 1, k.worker, k.workers);
  for (i64 i = r.begin; i < r.end; ++i) {
    char* p = y.data + i * y.stride;
    signed char *hi = reinterpret_cast<signed char*>(p), *lo = hi + padded;
    const Q15 q = quantize_row<Planes>(row<float>(x, i), n, hi, lo);
    const int high_only = Planes == 1;
    for (i64 c = n; c < padded; ++c) hi[c] = lo[c] = 0;
    __builtin_memcpy(p + 2 * padded, &q.scale, 4);
    __builtin_memcpy(p + 2 * padded + 4, &q.sum_hi, 4);
    __builtin_memcpy(p + 2 * padded + 8, &q.sum_lo, 4);
    __builtin_memcpy(p + 2 * padded + 12, &high_only, 4);
  }
}
static void quantize(const KernelArgs& k) { quantize_rows<2>(k); }
static void quantize_i8(const KernelArgs& k) { quantize_rows<1>(k); }

// x = hi + lo in bf16, both kept as f32 values (split_bf16 of numeric/q15.h).
static inline float to_bf16(float x) {
  const unsigned bits = __builtin_bit_cast(unsigned, x), magnitude = bits & 0x7FFFFFFFu;
  if (magnitude >= 0x7F800000u) return x;
  unsigned rounded = (bits + 0x7FFFu + (bits >> 16 & 1u)) & 0xFFFF0000u;
  if ((rounded & 0x7FFFFFFFu) >= 0x7F800000u) rounded = (bits & 0x80000000u) | 0x7F7F0000u;
  if (magnitude < (71u << 23)) rounded = bits & 0x80000000u;  // below 2^-56
  return __builtin_bit_cast(float, rounded);
}
template <class T>
static void split_bf16(const KernelArgs& k) {
  const TensorArg &x = k.t[0], &y = k.t[1];
  const i64 n = x.cols, plane = (n + 31) / 32 * 32;
  const Range r = share(x.rows, 1, k.worker, k.workers);
  for (i64 i = r.begin; i < r.end; ++i) {
    const float* a = row<float>(x, i);
    float* hi = reinterpret_cast<float*>(y.data + i * y.stride);
    for (i64 c = 0; c < n; ++c) {
      const float h = to_bf16(a[c]), rest = a[c] - h;
      hi[c] = h;
      hi[plane + c] = rest == rest ? to_bf16(rest) : 0.0f;
    }
  }
}

}  // namespace loom::cpu::LOOM_ISA
