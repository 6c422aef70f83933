// The scores of a query of class F: products with the keys of a block, their largest, and the
// weights that they become (numerics rule 6). No score of finite queries and keys is infinite.
#pragma once

#include "ops/cpu/vectors/exp_sum.h"
#include "ops/products/gemm.h"

namespace loom::cpu::LOOM_ISA {

static constexpr i64 kBlock = 64;

// Positions first..last of a block (0..63) that a query at position p may see; vectors(): of 16
// positions, that hold them all.
struct Seen {
  i64 first, last;
  int vectors() const { return static_cast<int>(last / 16) + 1; }
};
static constexpr Seen kAllSeen{0, kBlock - 1};

// One block's scores of one query: dot products over head_dim in the canonical order, times scale.
// kt: [head_dim][64].
template <class T, int N>
static inline void score_vectors(const T* q, const T* kt, i64 kt_stride, i64 head_dim, T scale,
                                 T* s) {
  V<T> c[1][N] = {};
  micro_kernel<T, 1, N>(head_dim, q, 0, 1, kt, 16, kt_stride, c);
  for (int p = 0; p < N; ++p) store(s + 16 * p, c[0][p] * scale);
}
template <class T>
static inline void block_scores(const T* q, const T* kt, i64 kt_stride, i64 head_dim, T scale, T* s,
                                Seen see = kAllSeen) {
  if (see.vectors() == 1) score_vectors<T, 1>(q, kt, kt_stride, head_dim, scale, s);
  else score_vectors<T, 4>(q, kt, kt_stride, head_dim, scale, s);
}

static inline Seen seen(i64 block, i64 p, i64 window, bool causal, i64 length) {
  const i64 end = causal ? p : length - 1;
  const i64 begin = window > 0 && p - window + 1 > 0 ? p - window + 1 : 0;
  const i64 a = begin - block * kBlock, b = end - block * kBlock;
  return {a < 0 ? 0 : a, b > kBlock - 1 ? kBlock - 1 : b};
}

// x of the positions of a block, of its first `end`, that are not seen.
template <class T>
static inline void hide(T* x, Seen see, T value, i64 end = kBlock) {
  for (i64 j = 0; j < see.first; ++j) x[j] = value;
  for (i64 j = see.last + 1; j < end; ++j) x[j] = value;
}

// ALiBi: a score less the slope of its head times the distance of query and key.
template <class T>
static inline T nearer(T s, T slope, i64 distance) {
  return s - slope * static_cast<T>(static_cast<int>(distance < 0 ? -distance : distance));
}
// Of a block, whose first key is `from` positions before the query; slope 0: none.
template <class T>
static inline void prefer_near(T* s, T slope, i64 from) {
  if (slope == 0) return;
  for (int j = 0; j < static_cast<int>(kBlock); ++j) s[j] = nearer(s[j], slope, from - j);
}

template <class T>
static constexpr T kLargest = static_cast<T>(sizeof(T) == 4 ? __FLT_MAX__ : __DBL_MAX__);

// The walk over a query's scores, block by block: the largest, and whether one is not finite.
template <class T>
struct ScoreWalk {
  V<T> top = same_lanes(-kLargest<T>), rest = {};  // rest: the sum of s - s
  // Hides what is not seen, whose keys may be anything.
  void take(T* s, Seen see) {
    hide(s, see, -kLargest<T>, 16 * see.vectors());
    for (int p = 0; p < see.vectors(); ++p) {
      const V<T> v = load(s + 16 * p);
      top = larger(top, v);
      rest += v - v;
    }
  }
  bool finite() const {
    T s[16];
    store(s, rest);
    LOOM_UNROLL for (int half = 8; half >= 1; half /= 2) for (int i = 0; i < half; ++i) s[i] =
        s[i] + s[i + half];
    return s[0] == 0;
  }
  T largest() const { return largest_lane(top); }
};

// The power of two p with |x| / p in [2, 4).
template <class T>
static inline T power_under(T x) {
  using C = exact::detail::Constants<T>;
  const auto exponent = (exact::detail::bits(x) >> C::kMantissa) &
                        static_cast<exact::detail::Bits<T>>(2 * C::kBias + 1);
  return exact::detail::from_bits<T>((exponent > 1 ? exponent - 1 : 1) << C::kMantissa);
}
template <class T>
static inline T bounded(T x) {
  return x > kLargest<T> ? kLargest<T> : x < -kLargest<T> ? -kLargest<T> : x;
}

// A score whose products or sum are beyond the range of numbers: from query and key scaled by
// powers of two, and where it is itself beyond the range, the largest number of its sign. Not
// finite: where query or key is not.
template <class T>
__attribute__((noinline, cold)) static T far_score(const T* q, const T* key, i64 step, i64 n,
                                                   T scale, T plain) {
  constexpr T kMin = static_cast<T>(0x1p-60);  // what counts: no product of two is subnormal
  T a = 0, b = 0, rest = 0;
  for (i64 d = 0; d < n; ++d) {
    const T x = q[d] < 0 ? -q[d] : q[d], y = key[d * step] < 0 ? -key[d * step] : key[d * step];
    a = x > a ? x : a;
    b = y > b ? y : b;
    rest = rest + ((x - x) + (y - y));
  }
  if (rest != 0 || a == 0 || b == 0) return plain;
  const T pa = power_under(a), pb = power_under(b), ia = T(1) / pa, ib = T(1) / pb;
  auto small = [](T x) { return x < kMin && x > -kMin ? T(0) : x; };
  T sum = 0;
  for (i64 d0 = 0; d0 < n; d0 += 32) {
    T even = 0, odd = 0;
    const i64 end = min(d0 + 32, n);
    for (i64 d = d0; d < end; ++d) {
      const T product = small(q[d] * ia) * small(key[d * step] * ib);
      if (d & 1) odd = odd + product;
      else even = even + product;
    }
    sum = sum + (even + odd);
  }
  return bounded(((small(sum) * scale) * (pa < pb ? pa : pb)) * (pa < pb ? pb : pa));
}

// Scores of a block that are not finite, once more; returns the largest of those seen and `top`.
template <class T, class Score>
__attribute__((noinline, cold)) static T settle_scores(T* s, Seen see, T top, Score score) {
  for (i64 j = see.first; j <= see.last; ++j) {
    if (s[j] - s[j] != 0) s[j] = score(j, s[j]);
    top = s[j] > top ? s[j] : top;
  }
  return top;
}

// s becomes e over a block; returns its sum by rule 4 (64 lanes, one element each).
template <class T>
LOOM_FLATTEN static inline T block_weights(T* s, Seen see, T top) {
  T e[kBlock];
  const i64 n = 16 * see.vectors();
  if (LOOM_VECTOR_BYTES == 16 || top == -kInfinite<T>) exp_row(s, n, top, e);
  else
    for (i64 i = 0; i < n; i += 16)
      for (i64 j = i; j < i + 16; ++j) e[j] = exact::detail::exp_below(s[j], top);
  hide(e, see, T(0), n);
  RowReduce<T> sum;
  for (int p = 0; p < 4; ++p) {
    if (16 * p < n) sum.lane[p] = load(e + 16 * p);
    store(s + 16 * p, sum.lane[p]);
  }
  return sum.total();
}

}  // namespace loom::cpu::LOOM_ISA
