// Elementwise functions with parameters, pairs with broadcasting, reductions of groups of columns,
// places taken from a list, products of matrices that are values. Kinds: kinds.h.
#pragma once

#include "ops/cpu/vectors/rows.h"
#include "ops/cpu/vectors/simd.h"
#include "ops/graph/kind_ids.h"
#include "ops/graph/unary_functions.h"

namespace loom::cpu::LOOM_ISA {

template <class T>
static void unary(const KernelArgs& k) {
  const TensorArg &x = k.t[0], &y = k.t[1];
  const T a = static_cast<T>(k.reals[0]), b = static_cast<T>(k.reals[1]);
  const Unary kind = static_cast<Unary>(k.ints[0]);
  each_element<T>(k, y, [&](i64 r, i64 c0, i64 c1) {
    const T* from = row<T>(x, r);
    T* to = row<T>(y, r);
    if constexpr (sizeof(T) == 4) {
      // FP8 training rounds all that goes into its products: loops of their own, which become
      // vectors.
      if (kind == Unary::fp8e4m3) {
        for (i64 c = c0; c < c1; ++c) to[c] = stored(to_fp8e4m3(from[c]));
        return;
      }
      if (kind == Unary::fp8e5m2) {
        for (i64 c = c0; c < c1; ++c) to[c] = stored(to_fp8e5m2(from[c]));
        return;
      }
    }
    for (i64 c = c0; c < c1; ++c) to[c] = stored(unary_of(kind, from[c], a, b));
  });
}
template <class T>
static void unary_back(const KernelArgs& k) {
  const TensorArg &x = k.t[0], &gy = k.t[1], &gx = k.t[2];
  const T a = static_cast<T>(k.reals[0]), b = static_cast<T>(k.reals[1]);
  each_element<T>(k, gx, [&](i64 r, i64 c0, i64 c1) {
    for (i64 c = c0; c < c1; ++c)
      row<T>(gx, r)[c] = stored(row<T>(gy, r)[c] *
                                unary_slope(static_cast<Unary>(k.ints[0]), row<T>(x, r)[c], a, b));
  });
}

// exact::pow is for positive bases; whole exponents take negative ones too (IEEE 754 pow).
template <class T>
static inline T power(T a, T b) {
  if (b == 0 || a == 1) return T(1);
  if (a > 0 || a != a || b != b) return exact::pow(a, b);
  const bool whole = truncated(b) == b, odd = whole && b - T(2) * floored(b * T(0.5)) != 0;
  if (a == 0) {
    const T size = b > 0 ? T(0) : T(1) / T(0);
    return odd && __builtin_signbit(a) ? -size : size;
  }
  if (!whole) return a - a != 0 ? exact::pow(-a, b) : (a - a) / (a - a);
  const T size = exact::pow(-a, b);
  return odd ? -size : size;
}
template <class T>
static inline T binary_of(Binary kind, T a, T b) {
  const T one = T(1), none = T(0);
  switch (kind) {
    case Binary::add: return a + b;
    case Binary::sub: return a - b;
    case Binary::mul: return a * b;
    case Binary::div: return a / b;
    case Binary::pow: return power(a, b);
    case Binary::max: return a != a || a > b ? a : b;
    case Binary::min: return a != a || a < b ? a : b;
    case Binary::prelu: return a > 0 ? a : a * b;
    case Binary::less: return a < b ? one : none;
    case Binary::less_equal: return a <= b ? one : none;
    case Binary::greater: return a > b ? one : none;
    case Binary::greater_equal: return a >= b ? one : none;
    case Binary::equal: return a == b ? one : none;
    case Binary::logical_and: return a != 0 && b != 0 ? one : none;
    case Binary::logical_or: return a != 0 || b != 0 ? one : none;
    case Binary::logical_xor: return (a != 0) != (b != 0) ? one : none;
  }
  return a;
}
// f(row, column of y, place in a, place in b) for the worker's part. ints: kind, sizes of y, steps
// of a, steps of b.
template <class T, class F>
static inline void each_pair(const KernelArgs& k, const TensorArg& y, F f) {
  const i64 *size = k.ints + 1, *as = k.ints + 6, *bs = k.ints + 11;
  each_element<T>(k, y, [&](i64 r, i64 c0, i64 c1) {
    for (i64 c = c0; c < c1;) {
      i64 rest = c / size[4], a = 0, b = 0;
      for (int d = 4; d-- > 0;) {
        a += rest % size[d] * as[d];
        b += rest % size[d] * bs[d];
        rest /= size[d];
      }
      for (i64 i = c % size[4]; i < size[4] && c < c1; ++i, ++c)
        f(r, c, a + i * as[4], b + i * bs[4]);
    }
  });
}
// An operand of one row serves all.
template <class T>
static inline T* shared_row(const TensorArg& t, i64 r) {
  return row<T>(t, t.rows == 1 ? 0 : r);
}
template <class T>
static void binary(const KernelArgs& k) {
  const TensorArg &a = k.t[0], &b = k.t[1], &y = k.t[2];
  each_pair<T>(k, y, [&](i64 r, i64 c, i64 i, i64 j) {
    row<T>(y, r)[c] = stored(
        binary_of(static_cast<Binary>(k.ints[0]), shared_row<T>(a, r)[i], shared_row<T>(b, r)[j]));
  });
}
// Gradients of both operands at each element of y. Of equal operands, max and min give each half;
// beside a NaN, each all of it.
template <class T>
static void binary_back(const KernelArgs& k) {
  const TensorArg &a = k.t[0], &b = k.t[1], &gy = k.t[2], &ga = k.t[3], &gb = k.t[4];
  each_pair<T>(k, gy, [&](i64 r, i64 c, i64 i, i64 j) {
    const T x = shared_row<T>(a, r)[i], z = shared_row<T>(b, r)[j], g = row<T>(gy, r)[c];
    T p = 0, q = 0;
    switch (static_cast<Binary>(k.ints[0])) {
      case Binary::add:
        p = g;
        q = g;
        break;
      case Binary::sub:
        p = g;
        q = -g;
        break;
      case Binary::mul:
        p = g * z;
        q = g * x;
        break;
      case Binary::div:
        p = g / z;
        q = -((g * x) / (z * z));
        break;
      case Binary::pow: {
        p = g * (z * power(x, z - T(1)));
        q = x > 0 ? g * (power(x, z) * exact::log(x)) : T(0);
        break;
      }
      case Binary::max:
      case Binary::min: {
        const bool max = static_cast<Binary>(k.ints[0]) == Binary::max;
        p = x == z ? T(0.5) * g : (max ? x < z : x > z) ? T(0) : g;
        q = x == z ? T(0.5) * g : (max ? z < x : z > x) ? T(0) : g;
        break;
      }
      case Binary::prelu:
        p = x > 0 ? g : g * z;
        q = x > 0 ? T(0) : g * x;
        break;
      default: break;
    }
    row<T>(ga, r)[c] = stored(p);
    row<T>(gb, r)[c] = stored(q);
  });
}

// Sums in chunks of 32, even and odd terms apart, as gemm.h adds them.
template <class T, class F>
static inline T chunk_sum(i64 n, F term) {
  T sum = 0;
  for (i64 i0 = 0; i0 < n; i0 += 32) {
    T even = 0, odd = 0;
    const i64 end = min(i0 + 32, n);
    for (i64 i = i0; i < end; i += 2) {
      even += term(i);
      if (i + 1 < end) odd += term(i + 1);
    }
    sum += even + odd;
  }
  return sum;
}
// The first of the greatest (least); a NaN is greater (less) than all.
template <class T>
static inline i64 extreme(const T* x, i64 n, bool max) {
  i64 best = 0;
  for (i64 i = 1; i < n; ++i)
    if (x[best] == x[best] && (x[i] != x[i] || (max ? x[i] > x[best] : x[i] < x[best]))) best = i;
  return best;
}
template <class T>
static inline T exp_chunks(const T* x, i64 n, T max) {
  return chunk_sum<T>(n, [&](i64 i) { return exact::exp_difference(x[i], max); });
}
template <class T>
static inline T reduced(Reduce kind, const T* x, i64 n) {
  switch (kind) {
    case Reduce::sum: return chunk_sum<T>(n, [&](i64 i) { return x[i]; });
    case Reduce::mean: return chunk_sum<T>(n, [&](i64 i) { return x[i]; }) / static_cast<T>(n);
    case Reduce::max: return x[extreme(x, n, true)];
    case Reduce::min: return x[extreme(x, n, false)];
    case Reduce::prod: {
      T p = 1;
      for (i64 i = 0; i < n; ++i) p = p * x[i];
      return p;
    }
    case Reduce::l1: return chunk_sum<T>(n, [&](i64 i) { return x[i] < 0 ? -x[i] : x[i]; });
    case Reduce::l2: return exact::sqrt(chunk_sum<T>(n, [&](i64 i) { return x[i] * x[i]; }));
    case Reduce::sum_square: return chunk_sum<T>(n, [&](i64 i) { return x[i] * x[i]; });
    case Reduce::log_sum: return exact::log(chunk_sum<T>(n, [&](i64 i) { return x[i]; }));
    case Reduce::log_sum_exp: {
      const T max = x[extreme(x, n, true)];
      if (max - max != 0) return max;
      return max + exact::log(exp_chunks(x, n, max));
    }
    case Reduce::argmax: return static_cast<T>(extreme(x, n, true));
    case Reduce::argmin: return static_cast<T>(extreme(x, n, false));
  }
  return T(0);
}
template <class T>
static void reduce(const KernelArgs& k) {
  const TensorArg &x = k.t[0], &y = k.t[1];
  const i64 n = k.ints[1];
  each_element<T>(k, y, [&](i64 r, i64 c0, i64 c1) {
    for (i64 c = c0; c < c1; ++c)
      row<T>(y, r)[c] = stored(reduced(static_cast<Reduce>(k.ints[0]), row<T>(x, r) + c * n, n));
  });
}
template <class T>
static void reduce_back(const KernelArgs& k) {
  const TensorArg &x = k.t[0], &y = k.t[1], &gy = k.t[2], &gx = k.t[3];
  const i64 n = k.ints[1];
  each_element<T>(k, gy, [&](i64 r, i64 c0, i64 c1) {
    for (i64 c = c0; c < c1; ++c) {
      const T *a = row<T>(x, r) + c * n, g = row<T>(gy, r)[c], v = row<T>(y, r)[c];
      T* o = row<T>(gx, r) + c * n;
      const Reduce kind = static_cast<Reduce>(k.ints[0]);
      const bool exponentials = kind == Reduce::log_sum_exp;
      const bool picks = kind == Reduce::max || kind == Reduce::min || exponentials;
      const i64 best = picks ? extreme(a, n, kind != Reduce::min) : -1;
      const T max = exponentials ? a[best] : T(0);
      const T inverse = exponentials ? T(1) / exp_chunks(a, n, max) : T(0);
      for (i64 i = 0; i < n; ++i) {
        T d = 0;
        switch (kind) {
          case Reduce::sum: d = g; break;
          case Reduce::mean: d = g / static_cast<T>(n); break;
          case Reduce::max:
          case Reduce::min: d = i == best ? g : T(0); break;
          case Reduce::prod: {
            T p = g;
            for (i64 j = 0; j < n; ++j)
              if (j != i) p = p * a[j];
            d = p;
            break;
          }
          case Reduce::l1: d = a[i] > 0 ? g : a[i] < 0 ? -g : T(0); break;
          case Reduce::l2: d = v == 0 ? T(0) : g * (a[i] / v); break;
          case Reduce::sum_square: d = g * (a[i] + a[i]); break;
          case Reduce::log_sum: d = g / exact::exp(v); break;
          case Reduce::log_sum_exp: d = g * (exact::exp_difference(a[i], max) * inverse); break;
          default: break;
        }
        o[i] = stored(d);
      }
    }
  });
}

// y[j] = x[places[j]], or the fill value.
template <class T>
static void index_select(const KernelArgs& k) {
  const TensorArg &x = k.t[0], &y = k.t[2];
  const int* places = row<int>(k.t[1], 0);
  const T fill = stored(static_cast<T>(k.reals[0]));
  each_element<T>(k, y, [&](i64 r, i64 c0, i64 c1) {
    for (i64 c = c0; c < c1; ++c) row<T>(y, r)[c] = places[c] < 0 ? fill : row<T>(x, r)[places[c]];
  });
}
// Each value gets the sum of its uses, ascending from +0.
template <class T>
static void index_select_back(const KernelArgs& k) {
  const TensorArg &gy = k.t[0], &gx = k.t[2];
  const int *inverse = row<int>(k.t[1], 0), *list = inverse + gx.cols + 1;
  each_element<T>(k, gx, [&](i64 r, i64 c0, i64 c1) {
    for (i64 c = c0; c < c1; ++c) {
      T sum = 0;
      for (int u = inverse[c]; u < inverse[c + 1]; ++u) sum += row<T>(gy, r)[list[u]];
      row<T>(gx, r)[c] = stored(sum);
    }
  });
}
template <class T>
static void select(const KernelArgs& k) {
  const TensorArg &c = k.t[0], &a = k.t[1], &b = k.t[2], &y = k.t[3];
  each_element<T>(k, y, [&](i64 r, i64 c0, i64 c1) {
    for (i64 i = c0; i < c1; ++i)
      row<T>(y, r)[i] = row<T>(c, r)[i] != 0 ? row<T>(a, r)[i] : row<T>(b, r)[i];
  });
}

// y = a b for each matrix of a row: ints: outer, inner (counts of matrices), m, n, k, then steps of
// a (outer, inner, m, k) and of b (outer, inner, k, n).
template <class T>
static void batched_matmul(const KernelArgs& k) {
  const TensorArg &a = k.t[0], &b = k.t[1], &y = k.t[2];
  const i64 inner = k.ints[1], m = k.ints[2], n = k.ints[3], depth = k.ints[4];
  const i64 *as = k.ints + 5, *bs = k.ints + 9;
  const i64 lines = k.ints[0] * inner * m;
  const Range r = share(y.rows * lines, 1, k.worker, k.workers);
  for (i64 u = r.begin; u < r.end; ++u) {
    const i64 at = u / lines, line = u % lines, matrix = line / m;
    const T* x = row<T>(a, at) + matrix / inner * as[0] + matrix % inner * as[1] + line % m * as[2];
    const T* w = row<T>(b, at) + matrix / inner * bs[0] + matrix % inner * bs[1];
    T* o = row<T>(y, at) + line * n;
    for (i64 c = 0; c < n; ++c)
      o[c] = stored(
          chunk_sum<T>(depth, [&](i64 i) { return x[i * as[3]] * w[i * bs[2] + c * bs[3]]; }));
  }
}

}  // namespace loom::cpu::LOOM_ISA
