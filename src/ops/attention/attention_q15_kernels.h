// Attention of cells of classes I and B (numerics rule 6): keys, values and queries are q15, all
// sums over head_dim and over the 64 positions of a block are exact integers. Per block the weights
// e_j * 2^eV_j become one q15 row; blocks are added in ascending order.
#pragma once

#include "ops/attention/attention_kernels.h"
#include "ops/products/integers/integer_kernels.h"
#include "ops/quantization/quantization_kernels.h"

namespace loom::cpu::LOOM_ISA {

// One KV head's part of a page of 64 positions. Planes hold value + 128, so that they are the
// unsigned side of a dot product.
struct KvPart {
  unsigned char *key[2], *value[2];  // hi, lo: keys as [padded/4][64 positions][4], values as
                                     // [16][padded dims][4 positions]
  float *key_scale, *value_scale;    // 2^e per position
};
static inline i64 kv_padded(i64 head_dim) { return (head_dim + 15) / 16 * 16; }
static inline KvPart kv_part(const TensorArg& kv, i64 page, i64 kv_head, i64 kv_heads,
                             i64 head_dim) {
  const i64 plane = kBlock * kv_padded(head_dim), bytes = 4 * plane + 8 * kBlock;
  unsigned char* p =
      reinterpret_cast<unsigned char*>(kv.data) + (page * kv_heads + kv_head) * bytes;
  float* scales = reinterpret_cast<float*>(p + 4 * plane);
  return {{p, p + plane}, {p + 2 * plane, p + 3 * plane}, scales, scales + kBlock};
}

// Sums of four plane products joined: ((hh * 128 + mid) * 128 + ll) * scale. Up to head_dim 1,024
// each sum is exact in f32, and products by 128 are exact, so contraction changes nothing.
static inline float join_planes(int hh, int mid, int ll) {
  return (static_cast<float>(hh) * 128.0f + static_cast<float>(mid)) * 128.0f +
         static_cast<float>(ll);
}

// out[16 * Tiles] = joined sums over k in [0, n) of planes (u8, rows of `stride` bytes per four k)
// times x (s8). Four chains of sums a tile, so that two tiles hide the latency of the dot products.
template <int Tiles>
static inline void dot_planes(const unsigned char* hi, const unsigned char* lo, i64 stride, i64 n,
                              const signed char* xh, const signed char* xl, Q15 x, float* out) {
  Sums16<> hh[Tiles], hl[Tiles], lh[Tiles], ll[Tiles];
  for (i64 g = 0; g < n / 4; ++g) {
    const Ints h = repeat_four(xh + 4 * g), l = repeat_four(xl + 4 * g);
    LOOM_UNROLL for (int t = 0; t < Tiles; ++t) {
      hh[t].add(hi + g * stride + 64 * t, h);
      hl[t].add(hi + g * stride + 64 * t, l);
      lh[t].add(lo + g * stride + 64 * t, h);
      ll[t].add(lo + g * stride + 64 * t, l);
    }
  }
  constexpr int kOffset = 128 - static_cast<int>(kFullBias);
  for (int t = 0; t < Tiles; ++t) {
    int a[16], b[16], c[16], d[16];
    hh[t].get(a);
    hl[t].get(b);
    lh[t].get(c);
    ll[t].get(d);
    for (int i = 0; i < 16; ++i)
      out[16 * t + i] =
          join_planes(a[i] - kOffset * x.sum_hi, (b[i] + c[i]) - kOffset * (x.sum_hi + x.sum_lo),
                      d[i] - kOffset * x.sum_lo);
  }
}

static void kv_append_q15(const KernelArgs& a) {
  const TensorArg &key = a.t[0], &value = a.t[1], &seq = a.t[2], &pos = a.t[3], &kv = a.t[4];
  const i64 kv_heads = a.ints[0], hd = a.ints[1], padded = kv_padded(hd);
  signed char *hi = reinterpret_cast<signed char*>(a.scratch), *lo = hi + padded;
  for (i64 d = hd; d < padded; ++d) hi[d] = lo[d] = 0;
  const Range r = share(key.rows * kv_heads, 1, a.worker, a.workers);
  for (i64 u = r.begin; u < r.end; ++u) {
    const i64 i = u / kv_heads, h = u % kv_heads, p = *row<unsigned>(pos, i), j = p % kBlock;
    if (p >= a.pages_per_sequence * kBlock) continue;
    const KvPart part =
        kv_part(kv, a.page_table[*row<unsigned>(seq, i) * a.pages_per_sequence + p / kBlock], h,
                kv_heads, hd);
    part.key_scale[j] = quantize_row(row<float>(key, i) + h * hd, hd, hi, lo).scale;
    for (i64 d = 0; d < padded; ++d) {
      const i64 at = d / 4 * 4 * kBlock + j * 4 + d % 4;
      part.key[0][at] = static_cast<unsigned char>(hi[d] + 128);
      part.key[1][at] = static_cast<unsigned char>(lo[d] + 128);
    }
    part.value_scale[j] = quantize_row(row<float>(value, i) + h * hd, hd, hi, lo).scale;
    for (i64 d = 0; d < padded; ++d) {
      const i64 at = (j / 4 * padded + d) * 4 + j % 4;
      part.value[0][at] = static_cast<unsigned char>(hi[d] + 128);
      part.value[1][at] = static_cast<unsigned char>(lo[d] + 128);
    }
  }
}

// Weights are exponentials of differences to this much above the largest score: at most 16256 /
// 2^14, so that a row of them does not need a coarser scale for its largest.
static constexpr float kHeadroom = 0x1.02p-7f;

// (joined * (query * key)) * scale where that is not finite: the scales of rows that are make the
// largest number of its sign.
__attribute__((noinline, cold)) static float far_score_q15(float joined, float query, float key,
                                                           float scale) {
  if (query != query || key != key) return query + key;
  return bounded(((joined * scale) * (query < key ? query : key)) * (query < key ? key : query));
}
// The scores of a query with a block: sums over head_dim, exact, then scaled.
struct Query15 {
  const signed char *hi, *lo;
  Q15 q;
  float scale;
  i64 padded;
  float slope;
  i64 position;
  void sums(const KvPart& part, float* s) const {
    for (i64 j = 0; j < kBlock; j += 32)
      dot_planes<2>(part.key[0] + 4 * j, part.key[1] + 4 * j, 4 * kBlock, padded, hi, lo, q, s + j);
  }
  void scores(const KvPart& part, i64 b, float* s) const {
    sums(part, s);
    for (i64 j = 0; j < kBlock; ++j) s[j] = (s[j] * (q.scale * part.key_scale[j])) * scale;
    prefer_near(s, slope, position - b * kBlock);
  }
  __attribute__((noinline, cold)) float settle(const KvPart& part, i64 b, Seen see, float top,
                                               float* s) const {
    float joined[kBlock];
    sums(part, joined);
    return settle_scores(s, see, top, [&](i64 j, float) {
      const float far = far_score_q15(joined[j], q.scale, part.key_scale[j], scale);
      return nearer(far, slope, position - b * kBlock - j);
    });
  }
};

// Unit u of rows x heads. scratch: per position a score, then a block's weights, the sums over
// positions, the query's planes.
static inline void attend_query_q15(const KernelArgs& a, const TensorArg& y, const float* slopes,
                                    i64 u) {
  const TensorArg &q = a.t[0], &kv = a.t[1];
  const i64 kv_heads = a.ints[1], hd = a.ints[2], window = a.ints[3], padded = kv_padded(hd);
  float* scores = reinterpret_cast<float*>(a.scratch);
  float* e = scores + a.pages_per_sequence * kBlock;
  float* num = e + kBlock;
  signed char* query_hi = reinterpret_cast<signed char*>(num + padded);
  signed char* query_lo = query_hi + padded;
  for (i64 d = hd; d < padded; ++d) query_hi[d] = query_lo[d] = 0;
  const auto [i, h, kv_head, p, first, last, table] = query_head(a, u);
  const Q15 planes = quantize_row(row<float>(q, i) + h * hd, hd, query_hi, query_lo);
  const Query15 query{
      query_hi, query_lo, planes, static_cast<float>(a.reals[0]), padded, slopes ? slopes[h] : 0.0f,
      p};
  auto part_of = [&, head = kv_head, table = table](i64 b) {
    return kv_part(kv, table[b], head, kv_heads, hd);
  };
  auto seen_of = [&, p = p](i64 b) { return seen(b, p, window, true, 0); };
  ScoreWalk<float> walk;
  for (i64 b = first; b <= last; ++b) {
    query.scores(part_of(b), b, scores + b * kBlock);
    walk.take(scores + b * kBlock, seen_of(b));
  }
  float top = walk.largest(), den = 0;
  if (!walk.finite()) {
    top = -kInfinite<float>;
    for (i64 b = first; b <= last; ++b)
      top = query.settle(part_of(b), b, seen_of(b), top, scores + b * kBlock);
  }
  top = top + kHeadroom;
  for (i64 d = 0; d < padded; ++d) num[d] = 0;
  for (i64 b = first; b <= last; ++b) {
    const KvPart part = part_of(b);
    const Seen see = seen_of(b);
    const float* weight = scores + b * kBlock;
    den = den + block_weights(scores + b * kBlock, see, top);
    for (i64 j = 0; j < kBlock; ++j) e[j] = weight[j] * part.value_scale[j];
    hide(e, see, 0.0f);
    signed char hi[kBlock], lo[kBlock];
    const Q15 weights = quantize_row(e, kBlock, hi, lo);
    for (i64 d = 0; d < padded; d += 32) {
      float joined[32];
      const bool two = d + 16 < padded;
      (two ? dot_planes<2> : dot_planes<1>)(part.value[0] + 4 * d, part.value[1] + 4 * d,
                                            4 * padded, kBlock, hi, lo, weights, joined);
      for (int n = 0; n < (two ? 32 : 16); ++n) num[d + n] = num[d + n] + joined[n] * weights.scale;
    }
  }
  const float inverse = 1.0f / den;
  float* out = row<float>(y, i) + h * hd;
  for (i64 d = 0; d < hd; ++d) out[d] = stored(num[d] * inverse);
}

static inline void attend_cache_q15(const KernelArgs& a, const TensorArg& y, const float* slopes) {
  each_query(a, y.rows, [&](i64 u) { attend_query_q15(a, y, slopes, u); });
}

static void attention_q15(const KernelArgs& a) { attend_cache_q15(a, a.t[4], nullptr); }
static void attention_alibi_q15(const KernelArgs& a) {
  attend_cache_q15(a, a.t[5], row<float>(a.t[4], 0));
}

}  // namespace loom::cpu::LOOM_ISA
