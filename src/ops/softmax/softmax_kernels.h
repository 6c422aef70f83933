// Distributions over groups of columns, and one of noise. All but the logarithm have the gradient s
// * (g - mean of g weighted by s), where s is a function of the result.
#pragma once

#include "ops/cpu/vectors/exp_sum.h"
#include "ops/cpu/vectors/rows.h"
#include "ops/softmax/softmax.h"

namespace loom::cpu::LOOM_ISA {

// max(z - tau, 0)^q with q = 1 / (alpha - 1).
template <class T>
static inline T entmax_value(SoftmaxKind kind, T above, T q) {
  if (!(above > 0)) return T(0);
  return kind == SoftmaxKind::sparsemax  ? above
         : kind == SoftmaxKind::entmax15 ? above * above
                                         : exact::exp(q * exact::log(above));
}

// The sum of what entmax_value gives for z = scale (x - top), or of its slopes by z. One function
// for all, which is large: several sums per row.
template <class T>
__attribute__((noinline)) static T entmax_sum(SoftmaxKind kind, bool slopes, const T* x, i64 n,
                                              T top, T scale, T tau, T q) {
  const bool squares = kind == SoftmaxKind::entmax15;
  return reduce_row<T>(n, [&](i64 i, i64 lanes) {
    T e[16];
    for (i64 j = 0; j < 16; ++j) {
      const T z = j < lanes ? scale * (x[i + j] - top) : tau;
      if (slopes) e[j] = z > tau ? (squares ? T(2) * (z - tau) : T(1)) : T(0);
      else e[j] = entmax_value(kind, z - tau, q);
    }
    return load(e);
  });
}

// y = (z - tau)_+^q that sums to 1, where z = (alpha - 1) x: Martins and Astudillo 2016 (alpha 2),
// Peters et al. 2019. Without sorting: from -1 below the largest on, tau grows by Newton's steps,
// which cannot overshoot (the sum is convex in tau); another alpha is bisected.
template <class T>
static void entmax_group(SoftmaxKind kind, const T* x, T* y, i64 n, T alpha) {
  const T scale = alpha - T(1), q = T(1) / scale;
  T top = x[0];
  bool finite = true;
  for (i64 i = 0; i < n; ++i) {
    finite &= x[i] == x[i] && x[i] < static_cast<T>(__builtin_inff());
    top = x[i] > top ? x[i] : top;
  }
  if (!finite || top == -static_cast<T>(__builtin_inff())) {
    for (i64 i = 0; i < n; ++i) y[i] = static_cast<T>(__builtin_nanf(""));
    return;
  }
  auto sum_at = [&](T tau, bool slopes) {
    return entmax_sum(kind, slopes, x, n, top, scale, tau, q);
  };
  T tau = -1, total = 1;
  if (kind != SoftmaxKind::entmax) {
    for (int step = 0; step < 1000; ++step) {
      const T over = sum_at(tau, false) - T(1);
      const T next = tau + over / sum_at(tau, true);
      if (!(next > tau)) break;
      tau = next;
    }
  } else {
    T width = 1;
    for (int step = 0; step < (sizeof(T) == 4 ? 26 : 55); ++step) {
      width = width * T(0.5);
      const T middle = tau + width;
      if (sum_at(middle, false) >= T(1)) tau = middle;
    }
    total = sum_at(tau, false);
  }
  for (i64 i = 0; i < n; ++i) {
    const T p = entmax_value(kind, scale * (x[i] - top) - tau, q);
    y[i] = stored(kind == SoftmaxKind::entmax ? p / total : p);
  }
}

// 1 at the first of the largest; a row with a NaN is NaN.
template <class T>
static void hardmax_group(const T* x, T* y, i64 n) {
  i64 best = 0;
  bool real = true;
  for (i64 i = 0; i < n; ++i) {
    real &= x[i] == x[i];
    best = x[i] > x[best] ? i : best;
  }
  for (i64 i = 0; i < n; ++i) y[i] = i == best ? T(1) : T(0);
  if (real) return;
  for (i64 i = 0; i < n; ++i) y[i] = static_cast<T>(__builtin_nanf(""));
}
template <class T>
LOOM_FLATTEN static void softmax_group(const T* x, T* y, i64 n) {
  const T inverse = T(1) / exp_sum(x, n, y).sum;
  for (i64 i = 0; i < n; ++i) y[i] = stored(y[i] * inverse);
}
template <class T>
LOOM_FLATTEN static void log_softmax_group(const T* x, T* y, i64 n) {
  const ExpSum<T> row = exp_sum(x, n);
  const T logarithm = row.logarithm();
  for (i64 i = 0; i < n; ++i) y[i] = stored(log_share(x[i], row.top, logarithm));
}

template <class T>
static void softmax(const KernelArgs& k) {
  const TensorArg &x = k.t[0], &y = k.t[1];
  const SoftmaxKind kind = static_cast<SoftmaxKind>(k.ints[0]);
  const i64 n = k.ints[1], groups = x.cols / n;
  const Range r = share(x.rows * groups, 1, k.worker, k.workers);
  for (i64 u = r.begin; u < r.end; ++u) {
    const T* a = row<T>(x, u / groups) + u % groups * n;
    T* o = row<T>(y, u / groups) + u % groups * n;
    switch (kind) {
      case SoftmaxKind::softmax: softmax_group(a, o, n); break;
      case SoftmaxKind::log_softmax: log_softmax_group(a, o, n); break;
      case SoftmaxKind::hardmax: hardmax_group(a, o, n); break;
      default: entmax_group(kind, a, o, n, static_cast<T>(k.reals[0]));
    }
  }
}

template <class T>
static inline T softmax_weight(SoftmaxKind kind, T y, T alpha) {
  if (kind == SoftmaxKind::softmax) return y;
  if (kind == SoftmaxKind::log_softmax) return exact::exp(y);
  if (!(y > 0)) return T(0);
  return kind == SoftmaxKind::sparsemax  ? T(1)
         : kind == SoftmaxKind::entmax15 ? exact::sqrt(y)
                                         : exact::exp((T(2) - alpha) * exact::log(y));
}
template <class T>
static void softmax_back(const KernelArgs& k) {
  const TensorArg &y = k.t[0], &gy = k.t[1], &gx = k.t[2];
  const SoftmaxKind kind = static_cast<SoftmaxKind>(k.ints[0]);
  const i64 n = k.ints[1], groups = y.cols / n;
  const T alpha = static_cast<T>(k.reals[0]);
  const bool logarithm = kind == SoftmaxKind::log_softmax,
             sums_to_one = kind == SoftmaxKind::softmax;
  const Range r = share(y.rows * groups, 1, k.worker, k.workers);
  for (i64 u = r.begin; u < r.end; ++u) {
    const i64 col = u % groups * n;
    const T *p = row<T>(y, u / groups) + col, *g = row<T>(gy, u / groups) + col;
    T* o = row<T>(gx, u / groups) + col;
    auto sum_of = [&](auto f) {
      return reduce_row<T>(n, [&](i64 i, i64 lanes) {
        T e[16];
        for (i64 j = 0; j < 16; ++j) e[j] = j < lanes ? f(i + j) : T(0);
        return load(e);
      });
    };
    const T dot =
        sum_of([&](i64 i) { return logarithm ? g[i] : softmax_weight(kind, p[i], alpha) * g[i]; });
    const T mean = logarithm || sums_to_one
                       ? dot
                       : dot / sum_of([&](i64 i) { return softmax_weight(kind, p[i], alpha); });
    for (i64 i = 0; i < n; ++i) {
      const T s = softmax_weight(kind, p[i], alpha);
      o[i] = stored(logarithm ? g[i] - s * mean : s * (g[i] - mean));
    }
  }
}

}  // namespace loom::cpu::LOOM_ISA
