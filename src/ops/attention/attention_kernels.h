// Attention by exact rescaling (numerics rule 6), class F form. exp(s) = m * 2^k with m depending on s alone; with M = max k the weight of a
// position is e = m * 2^(k - M). Sums run per block of 64 absolute positions from +0, blocks in ascending order, so prefill in any
// chunks, decoding, and the training form give the same bits.
#pragma once

#include "ops/cpu/vectors/exp_sum.h"
#include "ops/cpu/vectors/rows.h"
#include "ops/cpu/vectors/simd.h"
#include "ops/products/gemm.h"

namespace loom::cpu::LOOM_ISA {

// Pairs (i, i + head_dim/2) of each head turn by the angle of the row's position; inverse turns back (the gradient).
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

static constexpr i64 kBlock = 64;

// One block's 64 scores of one query: dot products over head_dim in the canonical order, times scale. kt: [head_dim][64].
template <class T>
static inline void block_scores(const T* q, const T* kt, i64 kt_stride, i64 head_dim, T scale, T* s) {
  V<T> c[1][4] = {};
  multiply<T, 1, 4>(head_dim, q, 0, 1, kt, 16, kt_stride, c);
  for (int p = 0; p < 4; ++p) store(s + 16 * p, c[0][p] * scale);
}

// Positions first..last of a block (0..63) that a query at position p may see.
struct Seen {
  i64 first, last;
};
static inline Seen seen(i64 block, i64 p, i64 window, bool causal, i64 length) {
  const i64 end = causal ? p : length - 1, begin = window > 0 && p - window + 1 > 0 ? p - window + 1 : 0;
  const i64 a = begin - block * kBlock, b = end - block * kBlock;
  return {a < 0 ? 0 : a, b > kBlock - 1 ? kBlock - 1 : b};
}

// Turns scores into parts; masked positions get m = 0. Returns the largest k.
template <class T>
LOOM_FLATTEN static inline int score_parts(const T* s, Seen see, T* m, int* k, int top) {
  for (i64 j = 0; j < kBlock; ++j) {
    const auto parts = exact::exp_parts(s[j]);
    const bool visible = j >= see.first && j <= see.last;
    m[j] = visible ? parts.m : T(0);
    k[j] = visible ? parts.k : -1000000;
    top = k[j] > top ? k[j] : top;
  }
  return top;
}

// e over a block; returns its sum by rule 5 (64 lanes, one element each).
template <class T>
LOOM_FLATTEN static inline T block_weights(const T* m, const int* k, int top, T* e) {
  for (i64 j = 0; j < kBlock; ++j) e[j] = rescale(m[j], k[j], top);
  RowReduce<T> sum;
  sum.add(load(e), load(e + 16), load(e + 32), load(e + 48));
  return sum.total();
}

static constexpr int kLowest = -1000000;

// One head of one query row, for both inference forms: unit u of rows x heads; blocks first..last hold the positions it may see.
struct QueryHead {
  i64 row, head, kv_head, position, first, last;
  const unsigned* pages;
};
static inline QueryHead query_head(const KernelArgs& a, i64 u) {
  const i64 heads = a.ints[0], window = a.ints[3], capacity = a.pages_per_sequence * kBlock, i = u / heads, h = u % heads;
  const i64 given = *row<unsigned>(a.t[3], i), p = given < capacity ? given : capacity - 1;  // the executor has refused such positions
  return {i, h, h / (heads / a.ints[1]), p, window > 0 && p - window + 1 > 0 ? (p - window + 1) / kBlock : 0, p / kBlock,
          a.page_table + *row<unsigned>(a.t[2], i) * a.pages_per_sequence};
}

// The inference form, one query of one head at a time. kv: pages of 64 positions, each
// [kv_heads][head_dim][64] keys, then [kv_heads][64][head_dim] values.
//
//                block `first`       ...        block `last`
//   K   d = 0   [ 64 positions ]            [ 64 positions ]     lanes: positions
//       ...     [              ]            [     |p       ]     of them p is the last that is seen
//                      |  q . K * scale            |
//   s           [ 64 scores    ]            [ 64 scores    ]     all are kept, until the largest is known
//                      |  exp(s - largest)         |
//   e           [ 64 weights   ]  sum, sum: [ 64 weights   ]  -> den, blocks in ascending order
//                      |  e . V                    |
//   V   lanes:  [ 16 columns   ]  sum, sum: [ 16 columns   ]  -> y = num / den
//
// scratch: per position one T and one int, then 64 + 16 T.
template <class T>
static void attention(const KernelArgs& a) {
  const TensorArg &q = a.t[0], &kv = a.t[1], &y = a.t[4];
  const i64 heads = a.ints[0], kv_heads = a.ints[1], hd = a.ints[2], window = a.ints[3];
  const T scale = static_cast<T>(a.reals[0]);
  const i64 plane = kv_heads * hd * kBlock, capacity = a.pages_per_sequence * kBlock;
  T* m = reinterpret_cast<T*>(a.scratch);
  T* e = m + capacity;
  int* k = reinterpret_cast<int*>(e + 2 * kBlock);
  const Range r = share(y.rows * heads, 1, a.worker, a.workers);
  for (i64 u = r.begin; u < r.end; ++u) {
    const auto [i, h, kvh, p, first, last, table] = query_head(a, u);
    int top = kLowest;
    for (i64 b = first; b <= last; ++b) {
      const T* keys = reinterpret_cast<const T*>(kv.data) + table[b] * 2 * plane + kvh * hd * kBlock;
      block_scores(row<T>(q, i) + h * hd, keys, kBlock, hd, scale, e);
      top = score_parts(e, seen(b, p, window, true, 0), m + b * kBlock, k + b * kBlock, top);
    }
    T* out = row<T>(y, i) + h * hd;
    T den = 0;
    for (i64 b = first; b <= last; ++b) {
      const T sum = block_weights(m + b * kBlock, k + b * kBlock, top, e);
      den = den + sum;
      for (i64 j = 0; j < kBlock; ++j) m[b * kBlock + j] = e[j];
    }
    const T inverse = T(1) / den;
    for (i64 d = 0; d < hd; d += 16) {
      V<T> num = {};
      for (i64 b = first; b <= last; ++b) {
        const T* values = reinterpret_cast<const T*>(kv.data) + table[b] * 2 * plane + plane + kvh * hd * kBlock + d;
        V<T> c[1][1] = {};
        multiply<T, 1, 1>(kBlock, m + b * kBlock, 0, 1, values, 0, hd, c);
        num += c[0][0];
      }
      put_lanes(out + d, num * inverse, hd - d);
    }
  }
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
    T* values = reinterpret_cast<T*>(kv.data) + page * 2 * plane + plane + (h * kBlock + p % kBlock) * hd;
    const T *from_k = row<T>(key, i) + h * hd, *from_v = row<T>(value, i) + h * hd;
    for (i64 d = 0; d < hd; ++d) {
      keys[d * kBlock] = from_k[d];
      values[d] = from_v[d];
    }
  }
}

// The training form: keys and values are rows of this run. A sequence is a stretch of rows whose positions ascend by one from 0.
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
static inline void transpose(const TensorArg& x, i64 begin, i64 length, i64 col, i64 hd, i64 padded, T* out) {
  for (i64 d = 0; d < hd; ++d)
    for (i64 j = length; j < padded; ++j) out[d * padded + j] = 0;
  for (i64 j = 0; j < length; ++j) {
    const T* from = row<T>(x, begin + j) + col;
    for (i64 d = 0; d < hd; ++d) out[d * padded + j] = from[d];
  }
}

// scratch: [hd][padded] keys, [padded] m, 128 e, [padded] k.
template <class T>
static void attention_rows(const KernelArgs& a) {
  const TensorArg &q = a.t[0], &key = a.t[1], &value = a.t[2], &pos = a.t[3], &y = a.t[4], &stats = a.t[5];
  const i64 heads = a.ints[0], kv_heads = a.ints[1], hd = a.ints[2], window = a.ints[3];
  const bool causal = a.ints[4] != 0;
  const T scale = static_cast<T>(a.reals[0]);
  i64 task = 0;
  for (Stretch s{0, 0}; next_sequence(pos, s);) {
    const i64 padded = (s.length + kBlock - 1) / kBlock * kBlock;
    T* keys = reinterpret_cast<T*>(a.scratch);
    T* m = keys + hd * padded;
    T* e = m + padded;
    int* k = reinterpret_cast<int*>(e + 2 * kBlock);
    for (i64 kvh = 0; kvh < kv_heads; ++kvh) {
      if (task++ % a.workers != a.worker) continue;
      transpose(key, s.begin, s.length, kvh * hd, hd, padded, keys);
      for (i64 h = kvh * (heads / kv_heads); h < (kvh + 1) * (heads / kv_heads); ++h) {
        for (i64 p = 0; p < s.length; ++p) {
          const i64 i = s.begin + p;
          const i64 first = window > 0 && p - window + 1 > 0 ? (p - window + 1) / kBlock : 0, last = (causal ? p : s.length - 1) / kBlock;
          int top = kLowest;
          for (i64 b = first; b <= last; ++b) {
            block_scores(row<T>(q, i) + h * hd, keys + b * kBlock, padded, hd, scale, e);
            top = score_parts(e, seen(b, p, window, causal, s.length), m + b * kBlock, k + b * kBlock, top);
          }
          T den = 0;
          for (i64 b = first; b <= last; ++b) {
            den = den + block_weights(m + b * kBlock, k + b * kBlock, top, e);
            for (i64 j = 0; j < kBlock; ++j) m[b * kBlock + j] = e[j];
          }
          const T inverse = T(1) / den;
          for (i64 d = 0; d < hd; d += 16) {
            V<T> num = {};
            for (i64 b = first; b <= last; ++b) {
              V<T> c[1][1] = {};
              multiply<T, 1, 1>(least(kBlock, s.length - b * kBlock), m + b * kBlock, 0, 1, row<T>(value, s.begin + b * kBlock) + kvh * hd + d, 0, value.stride, c);
              num += c[0][0];
            }
            put_lanes(row<T>(y, i) + h * hd + d, num * inverse, hd - d);
          }
          row<T>(stats, i)[2 * h] = static_cast<T>(top);
          row<T>(stats, i)[2 * h + 1] = inverse;
        }
      }
    }
  }
}

// Gradients of attention_rows. With P = e / den: gv_j = sum_i P_ij gy_i; dP_ij = gy_i . v_j; dS = P (dP - gy_i . y_i);
// gq_i = scale sum_j dS_ij k_j; gk_j = scale sum_i dS_ij q_i. Sums by rule 4 over positions from 0; per KV head one chain through its query heads.
// scratch: keys and values [hd][padded], P and dS [length][padded].
template <class T>
static void attention_back(const KernelArgs& a) {
  const TensorArg &q = a.t[0], &key = a.t[1], &value = a.t[2], &pos = a.t[3], &y = a.t[4], &stats = a.t[5], &gy = a.t[6], &gq = a.t[7], &gk = a.t[8], &gv = a.t[9];
  const i64 heads = a.ints[0], kv_heads = a.ints[1], hd = a.ints[2], window = a.ints[3];
  const bool causal = a.ints[4] != 0;
  const T scale = static_cast<T>(a.reals[0]);
  i64 task = 0;
  for (Stretch s{0, 0}; next_sequence(pos, s);) {
    const i64 n = s.length, padded = (n + kBlock - 1) / kBlock * kBlock;
    T* keys = reinterpret_cast<T*>(a.scratch);
    T* values = keys + hd * padded;
    T* probability = values + hd * padded;
    T* slope = probability + n * padded;
    for (i64 kvh = 0; kvh < kv_heads; ++kvh) {
      if (task++ % a.workers != a.worker) continue;
      transpose(key, s.begin, n, kvh * hd, hd, padded, keys);
      transpose(value, s.begin, n, kvh * hd, hd, padded, values);
      bool more = false;  // later heads of the group continue the chains
      for (i64 h = kvh * (heads / kv_heads); h < (kvh + 1) * (heads / kv_heads); ++h, more = true) {
        for (i64 p = 0; p < n; ++p) {
          const i64 i = s.begin + p, end = causal ? p : n - 1, blocks = end / kBlock + 1;
          const T *query = row<T>(q, i) + h * hd, *g = row<T>(gy, i) + h * hd, *out = row<T>(y, i) + h * hd;
          const int top = static_cast<int>(row<T>(stats, i)[2 * h]);
          const T inverse = row<T>(stats, i)[2 * h + 1];
          T even = 0, odd = 0, dot = 0;
          for (i64 d = 0; d < hd; ++d) {
            if (d & 1) odd = odd + g[d] * out[d]; else even = even + g[d] * out[d];
            if ((d & 31) == 31 || d == hd - 1) { dot = dot + (even + odd); even = odd = 0; }
          }
          T *prow = probability + p * padded, *srow = slope + p * padded;
          for (i64 b = 0; b < blocks; ++b) {
            T scores[64], dp[64];
            block_scores(query, keys + b * kBlock, padded, hd, scale, scores);
            block_scores(g, values + b * kBlock, padded, hd, T(1), dp);
            const Seen see = seen(b, p, window, causal, n);
            for (i64 j = 0; j < kBlock; ++j) {
              const auto parts = exact::exp_parts(scores[j]);
              const bool visible = j >= see.first && j <= see.last;
              const T w = visible ? stored(rescale(parts.m, parts.k, top) * inverse) : T(0);
              prow[b * kBlock + j] = w;
              srow[b * kBlock + j] = stored(w * (dp[j] - dot));
            }
          }
          for (i64 d = 0; d < hd; d += 16) {
            V<T> c[1][1] = {};
            multiply<T, 1, 1>(end + 1, srow, 0, 1, row<T>(key, s.begin) + kvh * hd + d, 0, key.stride, c);
            put_lanes(row<T>(gq, i) + h * hd + d, c[0][0] * scale, hd - d);
          }
        }
        for (i64 j = 0; j < n; ++j) {
          // Queries before j see nothing of it when causal; their chunk positions still count from 0.
          const i64 from = causal ? j / 32 * 32 : 0;
          if (causal)
            for (i64 p = from; p < j; ++p) probability[p * padded + j] = slope[p * padded + j] = 0;
          for (i64 d = 0; d < hd; d += 16) {
            T *to_v = row<T>(gv, s.begin + j) + kvh * hd + d, *to_k = row<T>(gk, s.begin + j) + kvh * hd + d;
            V<T> cv[1][1] = {{more ? load_lanes(to_v, hd - d) : V<T>{}}}, ck[1][1] = {{more ? load_lanes(to_k, hd - d) : V<T>{}}};
            multiply<T, 1, 1>(n - from, probability + from * padded + j, 0, padded, row<T>(gy, s.begin + from) + h * hd + d, 0, gy.stride, cv);
            multiply<T, 1, 1>(n - from, slope + from * padded + j, 0, padded, row<T>(q, s.begin + from) + h * hd + d, 0, q.stride, ck);
            store_lanes(to_v, cv[0][0], hd - d);
            store_lanes(to_k, ck[0][0], hd - d);
          }
        }
      }
      for (i64 j = 0; j < n; ++j) {
        T *to_k = row<T>(gk, s.begin + j) + kvh * hd, *to_v = row<T>(gv, s.begin + j) + kvh * hd;
        for (i64 d = 0; d < hd; ++d) {
          to_k[d] = stored(to_k[d] * scale);
          to_v[d] = stored(to_v[d]);
        }
      }
    }
  }
}

}  // namespace loom::cpu::LOOM_ISA
