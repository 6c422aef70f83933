// Attention (numerics rule 6), class F form. A walk over the keys finds the scores of a query and
// their largest one, M; the weight of a position is e = exp(s - M). Sums run per block of 64
// absolute positions from +0, blocks in ascending order, so prefill in any chunks, decoding, and
// the training form give the same bits.
#pragma once

#include "ops/attention/attention_scores.h"
#include "ops/attention/query_heads.h"
#include "ops/cpu/vectors/rows.h"
#include "ops/cpu/vectors/simd.h"
#include "ops/products/gemm.h"

namespace loom::cpu::LOOM_ISA {

// Pairs (i, i + head_dim/2) of each head turn by the angle of the row's position; inverse turns
// back (the gradient).
template <class T>
static void rope(const KernelArgs& k) {
  const TensorArg &x = k.t[0], &pos = k.t[1], &table = k.t[2], &y = k.t[3];
  const i64 hd = k.ints[0], half = hd / 2, heads = y.cols / hd;
  const T sign = k.ints[1] ? T(-1) : T(1);
  const Range r = share(y.rows * heads, 1, k.worker, k.workers);
  for (i64 u = r.begin; u < r.end; ++u) {
    const i64 i = u / heads, h = u % heads;
    i64 p = *row<unsigned>(pos, i);
    if (p >= table.rows) p = table.rows - 1;
    const T *cosine = row<T>(table, p), *sine = cosine + half, *a = row<T>(x, i) + h * hd;
    T* o = row<T>(y, i) + h * hd;
    for (i64 j = 0; j < half; ++j) {
      const T s = sign * sine[j], lo = a[j], hi = a[j + half];
      o[j] = stored(lo * cosine[j] - hi * s);
      o[j + half] = stored(hi * cosine[j] + lo * s);
    }
  }
}

// The inference form, one query of one head at a time. kv: pages of 64 positions, each
// [kv_heads][head_dim][64] keys, then [kv_heads][64][head_dim] values.
//
//                block `first`       ...        block `last`
//   K   d = 0   [ 64 positions ]            [ 64 positions ]     lanes: positions
//       ...     [              ]            [     |p       ]     of them p is the last that is seen
//                      |  q . K * scale            |
//   s           [ 64 scores    ]            [ 64 scores    ]     all are kept, until the largest is
//   known
//                      |  exp(s - largest)         |
//   e           [ 64 weights   ]  sum, sum: [ 64 weights   ]  -> den, blocks in ascending order
//                      |  e . V                    |
//   V   lanes:  [ 16 columns   ]  sum, sum: [ 16 columns   ]  -> y = num / den
//
// scratch: a T per position.
template <class T>
static inline void attend_cache(const KernelArgs& a, const TensorArg& y, const T* slopes) {
  const TensorArg &q = a.t[0], &kv = a.t[1];
  const i64 kv_heads = a.ints[1], hd = a.ints[2], window = a.ints[3];
  const T scale = static_cast<T>(a.reals[0]);
  const i64 plane = kv_heads * hd * kBlock;
  T* e = reinterpret_cast<T*>(a.scratch);
  each_query(a, y.rows, [&](i64 u) {
    const auto [i, h, kvh, p, first, last, table] = query_head(a, u);
    const T* query = row<T>(q, i) + h * hd;
    const T slope = slopes ? slopes[h] : T(0);
    auto keys_of = [&, kvh = kvh, table = table](i64 b) {
      return reinterpret_cast<const T*>(kv.data) + table[b] * 2 * plane + kvh * hd * kBlock;
    };
    auto seen_of = [&, p = p](i64 b) { return seen(b, p, window, true, 0); };
    ScoreWalk<T> walk;
    for (i64 b = first; b <= last; ++b) {
      block_scores(query, keys_of(b), kBlock, hd, scale, e + b * kBlock, seen_of(b));
      prefer_near(e + b * kBlock, slope, p - b * kBlock);
      walk.take(e + b * kBlock, seen_of(b));
    }
    T top = walk.largest();
    if (!walk.finite()) {
      top = -kInfinite<T>;
      for (i64 b = first; b <= last; ++b)
        top = settle_scores(e + b * kBlock, seen_of(b), top, [&, p = p](i64 j, T plain) {
          const T far = far_score(query, keys_of(b) + j, kBlock, hd, scale, plain);
          return nearer(far, slope, p - b * kBlock - j);
        });
    }
    T* out = row<T>(y, i) + h * hd;
    T den = 0;
    for (i64 b = first; b <= last; ++b) den = den + block_weights(e + b * kBlock, seen_of(b), top);
    const T inverse = T(1) / den;
    for (i64 d = 0; d < hd; d += 16) {
      V<T> num = {};
      for (i64 b = first; b <= last; ++b) {
        V<T> c[1][1] = {};
        micro_kernel<T, 1, 1>(seen_of(b).last + 1, e + b * kBlock, 0, 1, keys_of(b) + plane + d, 0,
                              hd, c);
        num += c[0][0];
      }
      put_lanes(out + d, num * inverse, hd - d);
    }
  });
}

template <class T>
static void attention(const KernelArgs& a) {
  attend_cache<T>(a, a.t[4], nullptr);
}
template <class T>
static void attention_alibi(const KernelArgs& a) {
  attend_cache<T>(a, a.t[5], row<T>(a.t[4], 0));
}

template <class T>
static void kv_append(const KernelArgs& a) {
  const TensorArg &key = a.t[0], &value = a.t[1], &seq = a.t[2], &pos = a.t[3], &kv = a.t[4];
  const i64 kv_heads = a.ints[0], hd = a.ints[1], plane = kv_heads * hd * kBlock;
  const Range r = share(key.rows * kv_heads, 1, a.worker, a.workers);
  for (i64 u = r.begin; u < r.end; ++u) {
    const i64 i = u / kv_heads, h = u % kv_heads;
    const i64 p = *row<unsigned>(pos, i);
    if (p >= a.pages_per_sequence * kBlock) continue;
    const unsigned page = a.page_table[*row<unsigned>(seq, i) * a.pages_per_sequence + p / kBlock];
    T* keys = reinterpret_cast<T*>(kv.data) + page * 2 * plane + h * hd * kBlock + p % kBlock;
    T* values =
        reinterpret_cast<T*>(kv.data) + page * 2 * plane + plane + (h * kBlock + p % kBlock) * hd;
    const T *from_k = row<T>(key, i) + h * hd, *from_v = row<T>(value, i) + h * hd;
    for (i64 d = 0; d < hd; ++d) {
      keys[d * kBlock] = from_k[d];
      values[d] = from_v[d];
    }
  }
}

// The training form: keys and values are rows of this run. A sequence is a stretch of rows whose
// positions ascend by one from 0.
struct Stretch {
  i64 begin, length;
};
static inline bool next_sequence(const TensorArg& pos, Stretch& s) {
  const i64 begin = s.begin + s.length;
  if (begin >= pos.rows) return false;
  i64 end = begin + 1;
  while (end < pos.rows && *row<unsigned>(pos, end) == *row<unsigned>(pos, end - 1) + 1) ++end;
  s = {begin, end - begin};
  return true;
}

// Transposes `length` rows of hd columns into [hd][padded], zeros beyond the end.
template <class T>
static inline void transpose(const TensorArg& x, i64 begin, i64 length, i64 col, i64 hd, i64 padded,
                             T* out) {
  for (i64 d = 0; d < hd; ++d)
    for (i64 j = length; j < padded; ++j) out[d * padded + j] = 0;
  for (i64 j = 0; j < length; ++j) {
    const T* from = row<T>(x, begin + j) + col;
    for (i64 d = 0; d < hd; ++d) out[d * padded + j] = from[d];
  }
}

// One head of a query of the training form, at position p of its sequence; keys: [hd][padded].
template <class T>
struct RowHead {
  const T *query, *keys;
  i64 padded, hd, p, window, length;
  bool causal;
  T scale, slope;  // slope: of ALiBi, 0: none
  i64 first() const { return window > 0 && p - window + 1 > 0 ? (p - window + 1) / kBlock : 0; }
  i64 last() const { return (causal ? p : length - 1) / kBlock; }
  Seen seen_of(i64 b) const { return seen(b, p, window, causal, length); }
  void scores(i64 b, T* s) const {
    block_scores(query, keys + b * kBlock, padded, hd, scale, s, seen_of(b));
    prefer_near(s, slope, p - b * kBlock);
  }
  T settle(i64 b, T* s, T top) const {
    return settle_scores(s, seen_of(b), top, [&](i64 j, T plain) {
      const T far = far_score(query, keys + b * kBlock + j, padded, hd, scale, plain);
      return nearer(far, slope, p - b * kBlock - j);
    });
  }
};

// y of a query, its largest score and 1 / (the sum of its weights). e: [padded]; values: of the
// sequence's first row.
template <class T>
static inline void attend(const RowHead<T>& head, const T* values, i64 stride, T* e, T* y,
                          T* stats) {
  ScoreWalk<T> walk;
  for (i64 b = head.first(); b <= head.last(); ++b) {
    head.scores(b, e + b * kBlock);
    walk.take(e + b * kBlock, head.seen_of(b));
  }
  T top = walk.largest(), den = 0;
  if (!walk.finite()) {
    top = -kInfinite<T>;
    for (i64 b = head.first(); b <= head.last(); ++b) top = head.settle(b, e + b * kBlock, top);
  }
  for (i64 b = head.first(); b <= head.last(); ++b)
    den = den + block_weights(e + b * kBlock, head.seen_of(b), top);
  const T inverse = T(1) / den;
  for (i64 d = 0; d < head.hd; d += 16) {
    V<T> num = {};
    for (i64 b = head.first(); b <= head.last(); ++b) {
      V<T> c[1][1] = {};
      micro_kernel<T, 1, 1>(head.seen_of(b).last + 1, e + b * kBlock, 0, 1,
                            values + b * kBlock * stride + d, 0, stride, c);
      num += c[0][0];
    }
    put_lanes(y + d, num * inverse, head.hd - d);
  }
  stats[0] = stored(den == den ? top : den);
  stats[1] = stored(inverse);
}

// scratch: [hd][padded] keys, [padded] e.
template <class T>
static inline void attend_rows(const KernelArgs& a, const TensorArg& y, const TensorArg& stats,
                               const T* slopes) {
  const TensorArg &q = a.t[0], &key = a.t[1], &value = a.t[2], &pos = a.t[3];
  const i64 of_head = slopes ? 3 : 2;  // stats
  const i64 heads = a.ints[0], kv_heads = a.ints[1], hd = a.ints[2], window = a.ints[3];
  const bool causal = a.ints[4] != 0;
  const T scale = static_cast<T>(a.reals[0]);
  i64 task = 0;
  for (Stretch s{0, 0}; next_sequence(pos, s);) {
    const i64 padded = (s.length + kBlock - 1) / kBlock * kBlock;
    T *keys = reinterpret_cast<T*>(a.scratch), *e = keys + hd * padded;
    for (i64 kvh = 0; kvh < kv_heads; ++kvh) {
      if (task++ % a.workers != a.worker) continue;
      transpose(key, s.begin, s.length, kvh * hd, hd, padded, keys);
      for (i64 h = kvh * (heads / kv_heads); h < (kvh + 1) * (heads / kv_heads); ++h)
        for (i64 p = 0; p < s.length; ++p) {
          const i64 i = s.begin + p;
          const T slope = slopes ? slopes[h] : T(0);
          const RowHead<T> head{
              row<T>(q, i) + h * hd, keys, padded, hd, p, window, s.length, causal, scale, slope};
          T* own = row<T>(stats, i) + of_head * h;
          attend(head, row<T>(value, s.begin) + kvh * hd, value.stride, e, row<T>(y, i) + h * hd,
                 own);
          if (slopes) own[2] = slope;
        }
    }
  }
}

template <class T>
static void attention_rows(const KernelArgs& a) {
  attend_rows<T>(a, a.t[4], a.t[5], nullptr);
}
template <class T>
static void attention_rows_alibi(const KernelArgs& a) {
  attend_rows<T>(a, a.t[5], a.t[6], row<T>(a.t[4], 0));
}

// The sum over d of g[d] * y[d] by rule 3.
template <class T>
static inline T dot_product(const T* g, const T* y, i64 n) {
  T even = 0, odd = 0, dot = 0;
  for (i64 d = 0; d < n; ++d) {
    if (d & 1) odd = odd + g[d] * y[d];
    else even = even + g[d] * y[d];
    if ((d & 31) == 31 || d == n - 1) {
      dot = dot + (even + odd);
      even = odd = 0;
    }
  }
  return dot;
}
// P and dS of a query, in place of its products with the keys and of g with the values; g and y:
// gradient and result of the query; stats: as attend left them.
template <class T>
static inline void query_slopes(const RowHead<T>& head, const T* g, const T* y, const T* stats,
                                T* probability, T* slope) {
  const T top = stats[0], inverse = stats[1], dot = dot_product(g, y, head.hd);
  for (i64 j = 0; j < head.first() * kBlock; ++j) probability[j] = slope[j] = 0;
  for (i64 b = head.first(); b <= head.last(); ++b) {
    T e[kBlock];
    T *p = probability + b * kBlock, *s = slope + b * kBlock;
    const Seen see = head.seen_of(b);
    for (i64 j = 0; j < kBlock; ++j) p[j] = p[j] * head.scale;
    prefer_near(p, head.slope, head.p - b * kBlock);
    ScoreWalk<T> walk;
    walk.take(p, see);
    if (!walk.finite()) head.settle(b, p, top);
    exp_row(p, kBlock, top, e);
    for (i64 j = 0; j < kBlock; ++j) {
      const T w = stored(e[j] * inverse);
      p[j] = w;
      s[j] = stored(w * (s[j] - dot));
    }
    hide(p, see, T(0));
    hide(s, see, T(0));
  }
}

// c[m][n] (+)= the sum over k of a(m, k) * b[k * b_step + n], as it is; `more`: c continues.
template <class T>
static inline void plain_product(i64 rows, i64 length, Strided<T> a, const T* b, i64 b_step, T* c,
                                 i64 c_step, i64 cols, bool more) {
  const Product<T> g{length, a, b, 16, b_step, c, c_step, cols, nullptr, more, nullptr, true};
  const i64 panels = (cols + 15) / 16, whole = panels / kTilePanels * kTilePanels;
  for (i64 p = 0; p < whole; p += kTilePanels) tile_rows<T, kTilePanels>(g, rows, p);
  for (i64 p = whole; p < panels; ++p) tile_rows<T, 1>(g, rows, p);
}

// Gradients of attention_rows. With P = e / den: gv_j = sum_i P_ij gy_i; dP_ij = gy_i . v_j; dS = P
// (dP - gy_i . y_i); gq_i = scale sum_j dS_ij k_j; gk_j = scale sum_i dS_ij q_i. Sums by rule 3
// over positions from 0; per KV head one chain through its query heads. scratch: keys and values
// [hd][padded], P and dS [length][padded].
//
// kQueries queries, or keys, are taken at once, for products in tiles. What one of them does not
// see has the weight 0 there, which leaves a sum as it is.
template <class T>
struct AttentionBack {
  const KernelArgs& a;
  Stretch s;
  i64 h, kvh;  // the head, and that of its keys
  bool more;   // earlier heads of the group have begun the chains
  T *keys, *values, *probability, *slopes;
  static constexpr i64 kQueries = 32;
  i64 hd = a.ints[2], padded = (s.length + kBlock - 1) / kBlock * kBlock;
  bool causal = a.ints[4] != 0;

  T* at(int i, i64 p, i64 head) const { return row<T>(a.t[i], s.begin + p) + head * hd; }

  void queries(bool alibi) const {
    const T scale = static_cast<T>(a.reals[0]);
    for (i64 from = 0; from < s.length; from += kQueries) {
      const i64 n = min(kQueries, s.length - from),
                cols = causal ? (from + n + kBlock - 1) / kBlock * kBlock : padded;
      T *p = probability + from * padded, *slope = slopes + from * padded;
      plain_product<T>(n, hd, {at(0, from, h), a.t[0].stride, 1}, keys, padded, p, padded, cols,
                       false);
      plain_product<T>(n, hd, {at(6, from, h), a.t[6].stride, 1}, values, padded, slope, padded,
                       cols, false);
      for (i64 i = from; i < from + n; ++i) {
        const T* own = row<T>(a.t[5], s.begin + i) + (alibi ? 3 : 2) * h;
        const RowHead<T> head{at(0, i, h), keys,     padded, hd,    i,
                              a.ints[3],   s.length, causal, scale, alibi ? own[2] : T(0)};
        query_slopes(head, at(6, i, h), at(4, i, h), own, probability + i * padded,
                     slopes + i * padded);
      }
      plain_product<T>(n, causal ? from + n : s.length, {slope, padded, 1}, at(1, 0, kvh),
                       a.t[1].stride, at(7, from, h), a.t[7].stride, hd, false);
      for (i64 i = from; i < from + n; ++i) scaled(at(7, i, h), scale);
    }
  }
  // gv and gk, as sums that later heads continue.
  void keys_and_values() const {
    for (i64 j = 0; j < s.length; j += kQueries) {
      // Queries before j see nothing of it when causal; their chunk positions still count from 0.
      const i64 n = min(kQueries, s.length - j), from = causal ? j / 32 * 32 : 0;
      plain_product<T>(n, s.length - from, {probability + from * padded + j, 1, padded},
                       at(6, from, h), a.t[6].stride, at(9, j, kvh), a.t[9].stride, hd, more);
      plain_product<T>(n, s.length - from, {slopes + from * padded + j, 1, padded}, at(0, from, h),
                       a.t[0].stride, at(8, j, kvh), a.t[8].stride, hd, more);
    }
  }
  void scaled(T* x, T scale) const {
    for (i64 d = 0; d < hd; ++d) x[d] = stored(x[d] * scale);
  }
};

template <class T>
static inline void attend_back(const KernelArgs& a, bool alibi) {
  const i64 heads = a.ints[0], kv_heads = a.ints[1], hd = a.ints[2];
  i64 task = 0;
  for (Stretch s{0, 0}; next_sequence(a.t[3], s);) {
    const i64 n = s.length, padded = (n + kBlock - 1) / kBlock * kBlock;
    T* keys = reinterpret_cast<T*>(a.scratch);
    T* values = keys + hd * padded;
    T* probability = values + hd * padded;
    for (i64 kvh = 0; kvh < kv_heads; ++kvh) {
      if (task++ % a.workers != a.worker) continue;
      transpose(a.t[1], s.begin, n, kvh * hd, hd, padded, keys);
      transpose(a.t[2], s.begin, n, kvh * hd, hd, padded, values);
      AttentionBack<T> back{a,      s,           kvh * (heads / kv_heads), kvh, false, keys,
                            values, probability, probability + n * padded};
      for (; back.h < (kvh + 1) * (heads / kv_heads); ++back.h, back.more = true) {
        back.queries(alibi);
        back.keys_and_values();
      }
      for (i64 j = 0; j < n; ++j) {
        back.scaled(back.at(8, j, kvh), static_cast<T>(a.reals[0]));
        back.scaled(back.at(9, j, kvh), T(1));
      }
    }
  }
}

template <class T>
static void attention_back(const KernelArgs& a) {
  attend_back<T>(a, false);
}
template <class T>
static void attention_back_alibi(const KernelArgs& a) {
  attend_back<T>(a, true);
}

}  // namespace loom::cpu::LOOM_ISA
