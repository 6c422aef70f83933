// The sum of exponentials of a row without overflow (numerics rule 6).
#pragma once

#include "ops/cpu/vectors/simd.h"

namespace loom::cpu::LOOM_ISA {

template <class T>
static constexpr T kLn2 = static_cast<T>(0.693147180559945309417);

// m * 2^(k - top); below 2^-60 (f32) or 2^-900 (f64) it is 0: its products with stored values are normal numbers (rule 9).
static inline float rescale(float m, int k, int top) {
  const int d = k - top;
  if (d < -60) return 0.0f;
  return m * __builtin_bit_cast(float, static_cast<unsigned>(d + 127) << 23);
}
static inline double rescale(double m, int k, int top) {
  const int d = k - top;
  if (d < -900) return 0.0;
  return m * __builtin_bit_cast(double, static_cast<unsigned long long>(d + 1023) << 52);
}

// The largest k of a row and the sum of m * 2^(k - top) by rule 5.
template <class T>
struct ExpSum {
  int top;
  T sum;
};
template <class T>
static inline ExpSum<T> exp_sum(const T* x, i64 n) {
  int top = -1000000;
  for (i64 i = 0; i < n; ++i) {
    const int k = exact::exp_parts(x[i]).k;
    top = k > top ? k : top;
  }
  const T sum = reduce_row<T>(n, [&](i64 i, i64 lanes) {
    T e[16];
    for (i64 j = 0; j < 16; ++j) e[j] = 0;
    for (i64 j = 0; j < least(16, lanes); ++j) {
      const auto parts = exact::exp_parts(x[i + j]);
      e[j] = rescale(parts.m, parts.k, top);
    }
    return load(e);
  });
  return {top, sum};
}

}  // namespace loom::cpu::LOOM_ISA
