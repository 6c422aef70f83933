// RMSNorm (Zhang and Sennrich, arXiv 1910.07467) and LayerNorm (Ba et al., arXiv 1607.06450) over
// groups of columns; sums by rule 4.
#pragma once

#include "ops/cpu/vectors/simd.h"

namespace loom::cpu::LOOM_ISA {

template <class T>
struct NormStats {
  T mean, inverse;  // inverse standard deviation, or inverse root mean square with mean 0
};

template <class T, bool Centered>
static inline NormStats<T> norm_stats(const T* x, i64 n, T eps) {
  T mean = 0;
  if constexpr (Centered)
    mean = reduce_row<T>(n, [&](i64 i, i64 lanes) { return load_lanes(x + i, lanes); }) /
           static_cast<T>(n);
  const T squares = reduce_row<T>(n, [&](i64 i, i64 lanes) {
    V<T> v = load_lanes(x + i, lanes) - mean;
    if (lanes < 16)
      for (i64 j = lanes; j < 16; ++j) v.lane(j) = 0;
    return v * v;
  });
  return {mean, exact::rsqrt(squares / static_cast<T>(n) + eps)};
}

template <class T, bool Centered>
static void norm(const KernelArgs& k) {
  const TensorArg &x = k.t[0], &y = Centered ? k.t[3] : k.t[2];
  const T *gain = row<T>(k.t[1], 0), *bias = Centered ? row<T>(k.t[2], 0) : nullptr;
  const i64 n = k.ints[0], groups = x.cols / n;
  const Range r = share(x.rows * groups, 1, k.worker, k.workers);
  for (i64 u = r.begin; u < r.end; ++u) {
    const T* a = row<T>(x, u / groups) + u % groups * n;
    T* o = row<T>(y, u / groups) + u % groups * n;
    const NormStats<T> s = norm_stats<T, Centered>(a, n, static_cast<T>(k.reals[0]));
    if constexpr (Centered) {
      for (i64 i = 0; i < n; ++i) o[i] = stored(((a[i] - s.mean) * s.inverse) * gain[i] + bias[i]);
    } else {
      for (i64 i = 0; i < n; ++i) o[i] = stored((a[i] * s.inverse) * gain[i]);
    }
  }
}

// With xh = (x - mean) * inverse and g = gy * gain: gx = inverse * (g - mean(g) - xh * mean(g *
// xh)); RMSNorm has no mean(g) term.
template <class T, bool Centered>
static void norm_back(const KernelArgs& k) {
  const TensorArg &x = k.t[0], &gy = k.t[2], &gx = k.t[3];
  const T* gain = row<T>(k.t[1], 0);
  const i64 n = k.ints[0], groups = x.cols / n;
  const Range r = share(x.rows * groups, 1, k.worker, k.workers);
  for (i64 u = r.begin; u < r.end; ++u) {
    const i64 col = u % groups * n;
    const T *a = row<T>(x, u / groups) + col, *g = row<T>(gy, u / groups) + col;
    T* o = row<T>(gx, u / groups) + col;
    const NormStats<T> s = norm_stats<T, Centered>(a, n, static_cast<T>(k.reals[0]));
    T mean_g = 0;
    if constexpr (Centered)
      mean_g = reduce_row<T>(n,
                             [&](i64 i, i64 lanes) {
                               return load_lanes(g + i, lanes) * load_lanes(gain + i, lanes);
                             }) /
               static_cast<T>(n);
    const T mean_gx =
        reduce_row<T>(n,
                      [&](i64 i, i64 lanes) {
                        return (load_lanes(g + i, lanes) * load_lanes(gain + i, lanes)) *
                               ((load_lanes(a + i, lanes) - s.mean) * s.inverse);
                      }) /
        static_cast<T>(n);
    for (i64 i = 0; i < n; ++i) {
      const T xh = (a[i] - s.mean) * s.inverse;
      o[i] = stored(s.inverse * ((g[i] * gain[i] - mean_g) - xh * mean_gx));
    }
  }
}

// gg (+)= sum over rows and groups, ascending, of gy * xh. scratch: the statistics of every group.
template <class T, bool Centered>
static void norm_gain(const KernelArgs& k) {
  const TensorArg &x = k.t[0], &gy = k.t[1], &gg = k.t[2];
  const i64 n = k.ints[0], groups = x.cols / n;
  const Range r = share(n, 16, k.worker, k.workers);
  if (r.begin == r.end) return;
  NormStats<T>* stats = reinterpret_cast<NormStats<T>*>(k.scratch);
  for (i64 u = 0; u < x.rows * groups; ++u)
    stats[u] = norm_stats<T, Centered>(row<T>(x, u / groups) + u % groups * n, n,
                                       static_cast<T>(k.reals[0]));
  for (i64 c = r.begin; c < r.end; c += 16) {
    const i64 lanes = min(16, r.end - c);
    RowSum<V<T>> sum;
    for (i64 u = 0; u < x.rows * groups; ++u) {
      const i64 col = u % groups * n + c;
      sum.push(
          load_lanes(row<T>(gy, u / groups) + col, lanes) *
          ((load_lanes(row<T>(x, u / groups) + col, lanes) - stats[u].mean) * stats[u].inverse));
    }
    const V<T> s = sum.total();
    T* to = row<T>(gg, 0) + c;
    put_lanes(to, k.ints[1] ? load_lanes(to, lanes) + s : s, lanes);
  }
}

template <class T>
static void rms_norm(const KernelArgs& k) {
  norm<T, false>(k);
}
template <class T>
static void rms_norm_back(const KernelArgs& k) {
  norm_back<T, false>(k);
}
template <class T>
static void rms_norm_gain(const KernelArgs& k) {
  norm_gain<T, false>(k);
}
template <class T>
static void layer_norm(const KernelArgs& k) {
  norm<T, true>(k);
}
template <class T>
static void layer_norm_back(const KernelArgs& k) {
  norm_back<T, true>(k);
}
template <class T>
static void layer_norm_gain(const KernelArgs& k) {
  norm_gain<T, true>(k);
}

}  // namespace loom::cpu::LOOM_ISA
