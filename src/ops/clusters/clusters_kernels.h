// Squared distances of rows to the rows of a weight matrix, which is read as decoded, and their
// gradients.
#pragma once

#include "ops/cpu/vectors/rows.h"
#include "ops/cpu/vectors/simd.h"

namespace loom::cpu::LOOM_ISA {

template <class T>
static inline const T* center(const WeightArg& w, i64 n) {
  return static_cast<const T*>(w.dense) + n * w.dense_stride;
}

// Sum over i in [0, n) of f(i) in the order of group_matmul.
template <class T, class F>
static inline T chained_sum(i64 n, F f) {
  T sum = 0;
  for (i64 i0 = 0; i0 < n; i0 += 32) {
    T even = 0, odd = 0;
    const i64 end = min(i0 + 32, n);
    for (i64 i = i0; i < end; i += 2) {
      even += f(i);
      if (i + 1 < end) odd += f(i + 1);
    }
    sum += even + odd;
  }
  return sum;
}

// y = |x - w_n|^2
template <class T>
static void distances(const KernelArgs& k) {
  const TensorArg &x = k.t[1], &y = k.t[2];
  each_element<T>(k, y, [&](i64 r, i64 c0, i64 c1) {
    const T* a = row<T>(x, r);
    for (i64 n = c0; n < c1; ++n) {
      const T* w = center<T>(*k.weight, n);
      row<T>(y, r)[n] = stored(chained_sum<T>(x.cols, [&](i64 i) {
        const T d = a[i] - w[i];
        return d * d;
      }));
    }
  });
}
// gx = sum over n of 2 g_n (x - w_n)
template <class T>
static void distances_back(const KernelArgs& k) {
  const TensorArg &x = k.t[1], &g = k.t[2], &gx = k.t[3];
  each_element<T>(k, gx, [&](i64 r, i64 c0, i64 c1) {
    const T *a = row<T>(x, r), *s = row<T>(g, r);
    for (i64 c = c0; c < c1; ++c)
      row<T>(gx, r)[c] = stored(T(2) * chained_sum<T>(g.cols, [&](i64 n) {
                                  return s[n] * (a[c] - center<T>(*k.weight, n)[c]);
                                }));
  });
}
// gw_n (+)= sum over rows of 2 g_n (w_n - x)
template <class T>
static void distances_weight(const KernelArgs& k) {
  const TensorArg &x = k.t[1], &g = k.t[2], &gw = k.t[3];
  const Range r = share(gw.rows, 1, k.worker, k.workers);
  for (i64 n = r.begin; n < r.end; ++n)
    for (i64 c = 0; c < gw.cols; c += 16) {
      const i64 lanes = min(16, gw.cols - c);
      const V<T> w = load_lanes(center<T>(*k.weight, n) + c, lanes);
      RowSum<V<T>> sum;
      for (i64 i = 0; i < x.rows; ++i)
        sum.push((w - load_lanes(row<T>(x, i) + c, lanes)) * row<T>(g, i)[n]);
      const V<T> s = sum.total() * T(2);
      T* to = row<T>(gw, n) + c;
      put_lanes(to, k.ints[0] ? load_lanes(to, lanes) + s : s, lanes);
    }
}

}  // namespace loom::cpu::LOOM_ISA
