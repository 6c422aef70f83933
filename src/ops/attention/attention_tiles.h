// Attention of cells of classes I and B in tiles (AMX): up to 16 queries of one head, rows that
// follow one another in one sequence, against the planes of a block as they lie. The sums of planes
// are exact and all else is done row by row as attention_q15_kernels.h does it: the same bits.
#pragma once

#include "ops/attention/attention_q15_kernels.h"
#include "ops/attention/attention_sizes.h"
#include "ops/cpu/vectors/tiles.h"

namespace loom::cpu::LOOM_ISA {

// Three sums of products of planes for 16 rows and 16 columns: hi hi, hi lo + lo hi, lo lo.
static constexpr i64 kSums = 3 * kRowsOfTile * 16;

// x: rows of `padded` signed bytes; planes: u8, a row of `stride` bytes for each four k.
static inline void sum_planes(const signed char* const (&x)[2], i64 padded, i64 k_of_tile,
                              const unsigned char* const (&planes)[2], i64 stride, int* sums) {
  LOOM_TILE_ZERO(0);
  LOOM_TILE_ZERO(1);
  LOOM_TILE_ZERO(2);
  for (i64 k = 0; k < padded; k += k_of_tile) {
    const i64 at = k / 4 * stride;
    LOOM_TILE_LOAD(4, x[0] + k, padded);
    LOOM_TILE_LOAD(6, planes[0] + at, stride);
    LOOM_TILE_DOT(0, 4, 6);
    LOOM_TILE_LOAD(7, planes[1] + at, stride);
    LOOM_TILE_DOT(1, 4, 7);
    LOOM_TILE_LOAD(5, x[1] + k, padded);
    LOOM_TILE_DOT(2, 5, 7);
    LOOM_TILE_DOT(1, 5, 6);
  }
  LOOM_TILE_STORE(0, sums, 64);
  LOOM_TILE_STORE(1, sums + kSums / 3, 64);
  LOOM_TILE_STORE(2, sums + 2 * kSums / 3, 64);
}

// join_planes of row r of 16 columns; q: of that row.
static inline V<float> joined_row(const int* sums, i64 r, const Q15& q) {
  using F = V<float>::Native;
  const int off[3] = {128 * q.sum_hi, 128 * (q.sum_hi + q.sum_lo), 128 * q.sum_lo};
  V<float> v;
  for (i64 p = 0; p < kParts; ++p) {
    F part[3];
    for (int i = 0; i < 3; ++i) {
      Ints s;
      __builtin_memcpy(&s, sums + i * (kSums / 3) + r * 16 + p * (LOOM_VECTOR_BYTES / 4), sizeof s);
      part[i] = __builtin_convertvector(s - off[i], F);
    }
    v.part[p] = (part[0] * 128.0f + part[1]) * 128.0f + part[2];
  }
  return v;
}

// Of up to 16 queries; scratch (tile_attention_bytes): scores of all positions, the
// sums of a block of keys, weighted values, planes of the queries and of a block's weights.
struct TileQueries {
  i64 count, head, kv_head, padded, k_of_tile, first, last;  // blocks that one of them sees
  const unsigned* pages;
  float* scores;
  int* sums;
  float* num;
  signed char *hi, *lo, *weight_hi, *weight_lo;
  i64 capacity;
  QueryHead of[kRowsOfTile];
  Q15 q[kRowsOfTile];
  float top[kRowsOfTile], den[kRowsOfTile];
};

static inline TileQueries tile_queries(const KernelArgs& a, i64 row_of_first, i64 count, i64 h) {
  const i64 heads = a.ints[0], hd = a.ints[2];
  TileQueries t;
  t.count = count;
  t.head = h;
  t.padded = kv_padded(hd);
  t.k_of_tile = 64;
  while (t.padded % t.k_of_tile) t.k_of_tile -= 16;
  t.capacity = a.pages_per_sequence * kBlock;
  t.scores = reinterpret_cast<float*>(a.scratch);
  t.sums = reinterpret_cast<int*>(t.scores + kRowsOfTile * t.capacity);
  t.num = reinterpret_cast<float*>(t.sums + 4 * kSums);
  t.hi = reinterpret_cast<signed char*>(t.num + kRowsOfTile * t.padded);
  t.lo = t.hi + kRowsOfTile * t.padded;
  t.weight_hi = t.lo + kRowsOfTile * t.padded;
  t.weight_lo = t.weight_hi + kRowsOfTile * kBlock;
  for (i64 r = 0; r < count; ++r) {
    t.of[r] = query_head(a, (row_of_first + r) * heads + h);
    signed char *hi = t.hi + r * t.padded, *lo = t.lo + r * t.padded;
    t.q[r] = quantize_row(row<float>(a.t[0], row_of_first + r) + h * hd, hd, hi, lo);
    for (i64 d = hd; d < t.padded; ++d) hi[d] = lo[d] = 0;
    t.first = r == 0 || t.of[r].first < t.first ? t.of[r].first : t.first;
    t.last = r == 0 || t.of[r].last > t.last ? t.of[r].last : t.last;
    t.den[r] = 0;
  }
  t.kv_head = t.of[0].kv_head;
  t.pages = t.of[0].pages;
  return t;
}

// Scores of all queries with the keys they see, then the largest of each.
static inline void tile_scores(const KernelArgs& a, TileQueries& t, RowTiles& tiles, float slope) {
  const float scale = static_cast<float>(a.reals[0]);
  ScoreWalk<float> walk[kRowsOfTile];
  tiles.shape(t.count, t.k_of_tile);
  for (i64 b = t.first; b <= t.last; ++b) {
    const KvPart part = kv_part(a.t[1], t.pages[b], t.kv_head, a.ints[1], a.ints[2]);
    for (i64 j = 0; j < 4; ++j)
      sum_planes({t.hi, t.lo}, t.padded, t.k_of_tile, {part.key[0] + 64 * j, part.key[1] + 64 * j},
                 4 * kBlock, t.sums + j * kSums);
    for (i64 r = 0; r < t.count; ++r) {
      const QueryHead& of = t.of[r];
      if (b < of.first || b > of.last) continue;
      float* s = t.scores + r * t.capacity + b * kBlock;
      for (i64 j = 0; j < 4; ++j)
        store(s + 16 * j, (joined_row(t.sums + j * kSums, r, t.q[r]) *
                           (t.q[r].scale * load(part.key_scale + 16 * j))) *
                              scale);
      prefer_near(s, slope, of.position - b * kBlock);
      walk[r].take(s, seen(b, of.position, a.ints[3], true, 0));
    }
  }
  for (i64 r = 0; r < t.count; ++r) {
    const QueryHead& of = t.of[r];
    float top = walk[r].largest();
    if (!walk[r].finite()) {
      const Query15 query{t.hi + r * t.padded, t.lo + r * t.padded, t.q[r], scale, t.padded, slope,
                          of.position};
      top = -kInfinite<float>;
      for (i64 b = of.first; b <= of.last; ++b)
        top = query.settle(kv_part(a.t[1], t.pages[b], t.kv_head, a.ints[1], a.ints[2]), b,
                           seen(b, of.position, a.ints[3], true, 0), top,
                           t.scores + r * t.capacity + b * kBlock);
    }
    t.top[r] = top + kHeadroom;
  }
}

// Of a block: its weights and their sums.
static inline void tile_weights(const KernelArgs& a, TileQueries& t, const KvPart& part, i64 b,
                                Q15 (&weights)[kRowsOfTile]) {
  for (i64 r = 0; r < t.count; ++r) {
    const QueryHead& of = t.of[r];
    if (b < of.first || b > of.last) continue;
    const Seen see = seen(b, of.position, a.ints[3], true, 0);
    float *s = t.scores + r * t.capacity + b * kBlock, e[kBlock];
    t.den[r] = t.den[r] + block_weights(s, see, t.top[r]);
    for (i64 j = 0; j < kBlock; ++j) e[j] = s[j] * part.value_scale[j];
    hide(e, see, 0.0f);
    weights[r] = quantize_row(e, kBlock, t.weight_hi + r * kBlock, t.weight_lo + r * kBlock);
  }
}

static inline void tile_values(const KernelArgs& a, TileQueries& t, RowTiles& tiles) {
  for (i64 i = 0; i < t.count * t.padded; ++i) t.num[i] = 0;
  tiles.shape(t.count);
  for (i64 b = t.first; b <= t.last; ++b) {
    const KvPart part = kv_part(a.t[1], t.pages[b], t.kv_head, a.ints[1], a.ints[2]);
    Q15 weights[kRowsOfTile];
    tile_weights(a, t, part, b, weights);
    for (i64 d = 0; d < t.padded; d += 16) {
      sum_planes({t.weight_hi, t.weight_lo}, kBlock, kBlock,
                 {part.value[0] + 4 * d, part.value[1] + 4 * d}, 4 * t.padded, t.sums);
      for (i64 r = 0; r < t.count; ++r) {
        if (b < t.of[r].first || b > t.of[r].last) continue;
        float* num = t.num + r * t.padded + d;
        store(num, load(num) + joined_row(t.sums, r, weights[r]) * weights[r].scale);
      }
    }
  }
}

// Whether rows of one sequence follow one another often enough: those that decode many sequences,
// a row of each, do not.
static inline bool attends_in_tiles(const KernelArgs& a, i64 rows) {
  if (!loom::cpu::attends_in_tiles(rows, a.pages_per_sequence * kBlock)) return false;
  i64 runs = 1;
  for (i64 i = 1; i < rows; ++i) runs += *row<unsigned>(a.t[2], i) != *row<unsigned>(a.t[2], i - 1);
  return rows >= kTileRowsOfSequence * runs;
}

// The rows among the 16 from `from` on, those of one sequence at once.
static inline void attend_rows(const KernelArgs& a, const TensorArg& y, const float* slopes,
                               i64 from, i64 h, RowTiles& tiles) {
  const i64 end = min(from + kRowsOfTile, y.rows), hd = a.ints[2];
  const auto sequence = [&](i64 i) { return *row<unsigned>(a.t[2], i); };
  for (i64 first = from, next = first; first < end; first = next) {
    while (next < end && sequence(next) == sequence(first)) ++next;
    TileQueries t = tile_queries(a, first, next - first, h);
    tile_scores(a, t, tiles, slopes ? slopes[h] : 0.0f);
    tile_values(a, t, tiles);
    for (i64 r = 0; r < t.count; ++r) {
      const float inverse = 1.0f / t.den[r];
      float* out = row<float>(y, first + r) + h * hd;
      for (i64 d = 0; d < hd; ++d) out[d] = stored(t.num[r * t.padded + d] * inverse);
    }
  }
}

// Blocks of 16 rows by heads: workers take them in turn, since later rows see more positions.
static inline void attend_tiles(const KernelArgs& a, const TensorArg& y, const float* slopes) {
  const i64 heads = a.ints[0], units = (y.rows + kRowsOfTile - 1) / kRowsOfTile * heads;
  RowTiles tiles;
  for (i64 u = a.worker; u < units; u += a.workers)
    attend_rows(a, y, slopes, u / heads * kRowsOfTile, u % heads, tiles);
}

}  // namespace loom::cpu::LOOM_ISA
