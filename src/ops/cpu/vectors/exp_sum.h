// Exponentials of a row as they are normalized: of the differences to its largest number, and their
// sum (numerics rule 6).
#pragma once

#include "ops/cpu/vectors/simd.h"

namespace loom::cpu::LOOM_ISA {

template <class T>
static constexpr T kInfinite = static_cast<T>(__builtin_inff());

// The larger lanes of both; a NaN in b is none.
template <class T>
static inline V<T> larger(V<T> a, const V<T>& b) {
  for (int i = 0; i < V<T>::kParts; ++i) a.part[i] = b.part[i] > a.part[i] ? b.part[i] : a.part[i];
  return a;
}
template <class T>
static inline V<T> same_lanes(T x) {
  V<T> v = {};
  for (int i = 0; i < V<T>::kParts; ++i) v.part[i] = v.part[i] + x;
  return v;
}
template <class T>
static inline T largest_lane(const V<T>& v) {
  T s[16];
  store(s, v);
  LOOM_UNROLL for (int half = 8; half >= 1; half /= 2) for (int i = 0; i < half; ++i) s[i] =
      s[i + half] > s[i] ? s[i + half] : s[i];
  return s[0];
}

// The largest number of a row, a NaN aside; -inf where there is none.
template <class T>
static inline T row_max(const T* x, i64 n) {
  T top = -kInfinite<T>;
  i64 i = 0;
  if (n >= 64) {
    V<T> lanes[4] = {load(x), load(x + 16), load(x + 32), load(x + 48)};
    for (auto& v : lanes) v = larger(same_lanes(top), v);
    for (i = 64; i + 64 <= n; i += 64)
      for (int p = 0; p < 4; ++p) lanes[p] = larger(lanes[p], load(x + i + 16 * p));
    top = largest_lane(larger(larger(lanes[0], lanes[1]), larger(lanes[2], lanes[3])));
  }
  for (; i < n; ++i) top = x[i] > top ? x[i] : top;
  return top;
}

// e = exp(x - top) for n numbers, n a multiple of 16; top is not -inf. Not inlined: gcc forgets
// __restrict then.
template <class T>
__attribute__((noinline)) LOOM_FLATTEN static void exp_run(const T* __restrict x, i64 n, T top,
                                                           T* __restrict e) {
  for (i64 i = 0; i < n; i += 16)
    for (i64 j = i; j < i + 16; ++j) e[j] = exact::detail::exp_below(x[j], top);
}
template <class T>
static inline void exp_row(const T* x, i64 n, T top, T* e) {
  if (top == -kInfinite<T>) {
    for (i64 i = 0; i < n; ++i) e[i] = exact::exp_difference(x[i], top);
    return;
  }
  const i64 whole = n / 16 * 16;
  if (whole > 0) exp_run(x, whole, top, e);
  if (whole == n) return;
  T from[16] = {}, to[16];
  for (i64 i = whole; i < n; ++i) from[i - whole] = x[i];
  exp_run(from, 16, top, to);
  for (i64 i = whole; i < n; ++i) e[i] = to[i - whole];
}

// The largest number of a row, and the sum of exp(x - top) by rule 4, which lost `rest`.
template <class T>
struct ExpSum {
  T top, sum, rest;
  // Of a sum from 2 on, what it lost is below the last place of its logarithm.
  T logarithm() const { return exact::log(sum) + (sum < 2 ? rest : T(0)); }
};
// a += b; what that loses is added to `lost` (Knuth's two-sum).
template <class N>
__attribute__((always_inline)) static inline void add_keeping(N& a, N& lost, const N& b) {
  const N s = a + b, t = s - a;
  lost = lost + ((a - (s - t)) + (b - t));
  a = s;
}
template <class N>
__attribute__((always_inline)) static inline void join_keeping(N& a, N& lost, const N& b,
                                                               const N& b_lost) {
  lost = lost + b_lost;
  add_keeping(a, lost, b);
}
// Of 16 lanes and what they lost. In vectors of four: compilers make scalars of the halves else.
template <class T>
static inline ExpSum<T> joined_lanes(T top, const V<T>& sum, const V<T>& lost) {
  typedef T Four __attribute__((vector_size(4 * sizeof(T))));
  T s[16], l[16];
  store(s, sum);
  store(l, lost);
  Four a[4], b[4];
  __builtin_memcpy(a, s, sizeof(a));
  __builtin_memcpy(b, l, sizeof(b));
  join_keeping(a[0], b[0], a[2], b[2]);
  join_keeping(a[1], b[1], a[3], b[3]);
  join_keeping(a[0], b[0], a[1], b[1]);
  T x[4] = {a[0][0], a[0][1], a[0][2], a[0][3]}, y[4] = {b[0][0], b[0][1], b[0][2], b[0][3]};
  join_keeping(x[0], y[0], x[2], y[2]);
  join_keeping(x[1], y[1], x[3], y[3]);
  join_keeping(x[0], y[0], x[1], y[1]);
  const T total = x[0] + y[0];
  return {top, total, y[0] - (total - x[0])};
}
// Of at most 16 numbers: most rows of classes.
template <class T>
__attribute__((noinline)) LOOM_FLATTEN static ExpSum<T> exp_sum_of_few(const T* x, i64 n, T* e) {
  T s[16], r[16];
  if (n == 16) store(s, load(x));
  else
    for (i64 j = 0; j < 16; ++j) s[j] = x[j < n ? j : 0];
  const T top = largest_lane(larger(same_lanes(-kInfinite<T>), load(s)));
  if (top == -kInfinite<T>) {
    for (i64 j = 0; j < n; ++j) r[j] = exact::exp_difference(s[j], top);
  } else if constexpr (LOOM_VECTOR_BYTES == 16) {
    exp_run(s, 16, top, r);
  } else {
    for (i64 j = 0; j < 16; ++j) r[j] = exact::detail::exp_below(s[j], top);
  }
  for (int j = 0; j < 16; ++j) r[j] = j < static_cast<int>(n) ? r[j] : T(0);
  if (e)
    for (i64 j = 0; j < n; ++j) e[j] = r[j];
  return joined_lanes(top, load(r), V<T>{});
}
// Lanes keep what additions lose: equal numbers lose in the same direction, 64 of them in a lane up
// to 16 ulp, and the logarithm of a sum just above 1 hangs on all digits. `e` keeps the
// exponentials, in place of x or elsewhere, or is null.
template <class T>
__attribute__((noinline)) LOOM_FLATTEN static ExpSum<T> exp_sum_of_many(const T* x, i64 n, T* e) {
  constexpr i64 kChunk = 512;
  const T top = row_max(x, n);
  V<T> sum[4] = {}, lost[4] = {};
  T chunk[kChunk];
  for (i64 i = 0; i < n; i += kChunk) {
    const i64 count = min(kChunk, n - i), whole = count / 64 * 64;
    T* to = e && e != x ? e + i : chunk;
    exp_row(x + i, count, top, to);
    if (e == x)
      for (i64 c = 0; c < count; ++c) e[i + c] = to[c];
    T end[64] = {};
    for (i64 c = whole; c < count; ++c) end[c - whole] = to[c];
    for (i64 c = 0; c < count; c += 64) {
      const T* from = c < whole ? to + c : end;
      for (int p = 0; p < 4; ++p) add_keeping(sum[p], lost[p], load(from + 16 * p));
    }
  }
  join_keeping(sum[0], lost[0], sum[2], lost[2]);
  join_keeping(sum[1], lost[1], sum[3], lost[3]);
  join_keeping(sum[0], lost[0], sum[1], lost[1]);
  return joined_lanes(top, sum[0], lost[0]);
}
template <class T>
static inline ExpSum<T> exp_sum(const T* x, i64 n, T* e = nullptr) {
  return n <= 16 ? exp_sum_of_few(x, n, e) : exp_sum_of_many(x, n, e);
}

// (x - top) - logarithm, at most 0: with the logarithm of exp_sum, that of a share. -inf of -inf.
template <class T>
static inline T log_share(T x, T top, T logarithm) {
  const auto d = exact::detail::difference(x, top);
  const T low = d.high - d.high == 0 ? d.low : T(0);  // beyond the range nothing more is known
  return (x == -kInfinite<T> ? x : d.high) + (low - logarithm);
}

}  // namespace loom::cpu::LOOM_ISA
