// Float products: y = bias + x W^T, gx = gy W, gw (+)= gy^T x, and rows of a weight taken and added
// to.
#pragma once

#include "ops/cpu/vectors/simd.h"
#include "ops/products/gemm.h"
#include "ops/products/integers/unpack.h"

namespace loom::cpu::LOOM_ISA {

// y = bias + x W^T with W in float panels.
template <class T>
static void matmul(const KernelArgs& k) {
  const WeightArg& w = *k.weight;
  const Product<T> g = product_of(k, static_cast<const T*>(w.panels), w.padded_cols * 16);
  if constexpr (sizeof(T) == 4) product(g, k.t[3].rows, k, w.master ? pack_transposed : nullptr);
  else product(g, k.t[3].rows, k);
}

// 16 columns of rows k of a weight of class I, as [k][16]: copies of a product with W read row by
// row. k begins at a panel of codes, of which 64 columns are unpacked at once.
template <class T>
__attribute__((noinline)) static void copy_codes(const WeightArg& w, i64 panel, Range k, T* to) {
  const i64 window = panel / 4, first = panel % 4 * 16, block = w.blocks ? panel * 16 / w.block : 0;
  WeightArg part = w;
  part.padded_cols -= window * 64;
  alignas(64) unsigned char codes[1024], own[16];
  for (i64 r = k.begin; r < k.end; ++r, to += 16) {
    const i64 of = r / 16, n = r % 16;
    if (n == 0)
      unpack_codes(part,
                   static_cast<const unsigned char*>(w.panels) + of * w.panel_bytes +
                       window * (w.layout == kA4 ? 576 : 128 * w.bits),
                   64, codes);
    for (i64 q = 0; q < 4; ++q)
      __builtin_memcpy(own + 4 * q, codes + (first / 4 + q) * 64 + n * 4, 4);
    const i64 at = w.blocks ? (of * w.blocks + block) * 16 + n : r;
    const int offset = w.blocks ? block_offset(w, of, block, n) : code_offset(w, r);
    const float scale = w.scales ? (w.dtype == kFp4 ? 0.5f * w.scales[at] : w.scales[at]) : 1.0f,
                minimum = w.minima ? w.minima[at] : 0.0f;
    for (i64 i = 0; i < 16; ++i) {
      const float v = static_cast<float>(static_cast<int>(own[i]) - offset) * scale;
      to[i] = stored(w.minima ? v - minimum : v);
    }
    for (i64 i = w.cols - panel * 16; i < 16; ++i) to[i] = 0;
  }
}

// gx = gy W with W row-major, or its codes.
template <class T>
static void matmul_t(const KernelArgs& k) {
  const WeightArg& w = *k.weight;
  const TensorArg &gy = k.t[1], &gx = k.t[2];
  const Product<T> g{w.rows,
                     {row<T>(gy, 0), gy.stride, 1},
                     static_cast<const T*>(w.dense),
                     16,
                     w.dense_stride,
                     row<T>(gx, 0),
                     gx.stride,
                     w.cols,
                     nullptr,
                     false};
  if constexpr (sizeof(T) == 4)
    if (!w.dense && !w.master) return product(g, gx.rows, k, copy_codes<T>);
  product(g, gx.rows, k, w.master || gx.rows >= kPackedRows ? copy_rows<T> : nullptr);
}

template <class T, int MR, int NP>
struct Tile {
  V<T> c[MR][NP];
  Tile operator+(const Tile& o) const {
    Tile t;
    for (int i = 0; i < MR; ++i)
      for (int p = 0; p < NP; ++p) t.c[i][p] = c[i][p] + o.c[i][p];
    return t;
  }
};
// t = blocks of 1,024 of a sum over n, as a binary counter adds them; add(first, count, c) adds one
// to c.
template <class T, int MR, int NP, class F>
static inline void sum_blocks(i64 n, Tile<T, MR, NP>& t, F add) {
  auto block = [&](i64 k) __attribute__((always_inline)) {
    LOOM_UNROLL for (int i = 0; i < MR; ++i) LOOM_UNROLL for (int p = 0; p < NP; ++p)
        LOOM_UNROLL for (int q = 0; q < V<T>::kParts; ++q) t.c[i][p]
            .part[q] = typename V<T>::Native{};
    add(k, min(1024, n - k), t.c);
  };
  block(0);
  if (n <= 1024) return;
  BinaryCounter<Tile<T, MR, NP>> blocks;
  blocks.push(t);
  for (i64 k = 1024; k < n; k += 1024) {
    block(k);
    blocks.push(t);
  }
  t = blocks.total();
}
// A part of the sums, as it is.
template <class T>
__attribute__((noinline)) static void keep_part(T* p, const V<T>& v, i64 n, bool add) {
  store_lanes(p, add ? load_lanes(p, n) + v : v, n);
}
// A tile of a weight gradient: sums over all rows from +0 in blocks of 1,024, added once to what is
// there.
template <class T, int MR, int NP>
static inline void outer_tile(const Product<T>& g, i64 m, i64 panel) {
  prefetch_output<MR, NP>(g, m, panel);
  Tile<T, MR, NP> t;
  sum_blocks<T, MR, NP>(g.k, t, [&](i64 k, i64 n, auto& c) {
    micro_kernel<T, MR, NP>(n, g.a.from(m, k), g.b + panel * g.bp + k * g.bk, g.bp, g.bk, c);
  });
  for (int i = 0; i < MR; ++i)
    for (int p = 0; p < NP; ++p) {
      const i64 col = (panel + p) * 16;
      T* const to = g.c + (m + i) * g.cm + col;
      if (g.partial) keep_part(to, t.c[i][p], g.lanes - col, g.accumulate);
      else store_tile(to, t.c[i][p], g.lanes - col, g.accumulate);
    }
}

template <class T, int NP>
static inline void outer_rows(const Product<T>& g, Range r, i64 panel) {
  constexpr bool kTwo = kTileRows * kTilePanels > 4 && NP == kTilePanels;
  each_tile<kRowsOf<T>, kTwo>(r.begin, r.end,
                              [&]<int N>(i64 m, Count<N>) { outer_tile<T, N, NP>(g, m, panel); });
}

// Some columns of gy, a tile after the other, and the panels of x that they meet lie in copies: in
// place the values of one sum are a whole row apart, often a multiple of the cache's own period.
template <class T, int NP>
static inline void outer_packed(const Product<T>& g, i64 panel, i64 tiles, const T* columns,
                                T* lanes) {
  for (i64 k = 0; k < g.k; ++k) {
    __builtin_prefetch(g.b + min(k + 16, g.k - 1) * g.bk + panel * 16);
    if (NP > 1) __builtin_prefetch(g.b + min(k + 16, g.k - 1) * g.bk + panel * 16 + 16);
    for (int p = 0; p < NP; ++p)
      store(lanes + (k * NP + p) * 16,
            load_lanes(g.b + k * g.bk + (panel + p) * 16, g.lanes - (panel + p) * 16));
  }
  Product<T> part = g;
  part.b = lanes - panel * 16;
  part.bk = NP * 16;
  for (i64 t = 0; t < tiles; ++t) {
    part.a = {columns + t * g.k * kRowsOf<T>, 1, kRowsOf<T>};
    part.c = g.c + t * kRowsOf<T> * g.cm;
    outer_tile<T, kRowsOf<T>, NP>(part, 0, panel);
  }
}

// gw (+)= gy^T x. scratch: kPackedOuterValues of gy, then the rows of kPackedPanels panels of x.
template <class T>
static void weight_grad(const KernelArgs& k) {
  constexpr i64 kRows = kRowsOf<T>;
  const TensorArg &gy = k.t[0], &x = k.t[1], &gw = k.t[2];
  const i64 all_panels = (x.cols + 15) / 16;
  // By rows; by columns where there are too few for the team.
  const bool by_rows = gw.rows >= 2 * kTileRows * k.workers || gw.rows > x.cols;
  Range r = by_rows ? share(gw.rows, kTileRows, k.worker, k.workers) : Range{0, gw.rows};
  const Range panels =
      by_rows ? Range{0, all_panels} : share(all_panels, kTilePanels, k.worker, k.workers);
  const Product<T> g{gy.rows,      {row<T>(gy, 0), 1, gy.stride},
                     row<T>(x, 0), 16,
                     x.stride,     row<T>(gw, 0),
                     gw.stride,    x.cols,
                     nullptr,      k.ints[0] != 0,
                     nullptr,      k.partial};
  if (gy.rows <= kPackedOuter) {
    T *columns = reinterpret_cast<T*>(k.scratch), *lanes = columns + kPackedOuterValues;
    const i64 max = kPackedOuterValues / (gy.rows > 1 ? gy.rows * kRows : kRows);
    for (; r.end - r.begin >= 4 * kRows; r.begin += kRows * min(max, (r.end - r.begin) / kRows)) {
      const i64 tiles = min(max, (r.end - r.begin) / kRows);
      // Some rows at a time, whose lines the cache holds: rows, and tiles, lie periods of it apart.
      for (i64 some = 0; some < gy.rows; some += 8)
        for (i64 t = 0; t < tiles; ++t)
          for (i64 i = some; i < min(some + 8, gy.rows); ++i)
            __builtin_memcpy(columns + (t * gy.rows + i) * kRows,
                             row<T>(gy, i) + r.begin + t * kRows, kRows * sizeof(T));
      Product<T> part = g;
      part.c += r.begin * g.cm;
      i64 p = panels.begin;
      for (; p + kTilePanels <= panels.end; p += kTilePanels)
        outer_packed<T, kTilePanels>(part, p, tiles, columns, lanes);
      for (; p < panels.end; ++p) outer_packed<T, 1>(part, p, tiles, columns, lanes);
    }
  }
  // Some columns of gy at once, which all panels of x read.
  for (i64 m = r.begin; m < r.end; m += 16 * kTileRows) {
    const Range some{m, min(m + 16 * kTileRows, r.end)};
    i64 p = panels.begin;
    for (; p + kTilePanels <= panels.end; p += kTilePanels) outer_rows<T, kTilePanels>(g, some, p);
    for (; p < panels.end; ++p) outer_rows<T, 1>(g, some, p);
  }
}

// gb (+)= column sums of gy.
template <class T>
static void bias_grad(const KernelArgs& k) {
  const TensorArg &gy = k.t[0], &gb = k.t[1];
  const Range r = share(gy.cols, 16, k.worker, k.workers);
  for (i64 c = r.begin; c < r.end; c += 16) {
    const i64 n = min(16, r.end - c);
    RowSum<V<T>> sum;
    for (i64 i = 0; i < gy.rows; ++i) sum.push(load_lanes(row<T>(gy, i) + c, n));
    const V<T> s = sum.total();
    T* to = row<T>(gb, 0) + c;
    if (k.partial) keep_part(to, s, n, k.ints[0] != 0);
    else put_lanes(to, k.ints[0] ? load_lanes(to, n) + s : s, n);
  }
}

// y[r] = row ids[r] of W
template <class T>
static void gather(const KernelArgs& k) {
  const WeightArg& w = *k.weight;
  const TensorArg &ids = k.t[1], &y = k.t[2];
  const Range r = share(y.rows, 1, k.worker, k.workers);
  for (i64 i = r.begin; i < r.end; ++i) {
    i64 id = *row<unsigned>(ids, i);
    if (id >= w.rows)
      id = w.rows - 1;  // the executor has refused such ids; a kernel still never reads outside
    const T* panel = static_cast<const T*>(w.panels) + (id / 16) * w.padded_cols * 16 + id % 16;
    T* out = row<T>(y, i);
    for (i64 c = 0; c < w.cols; ++c) out[c] = panel[c * 16];
  }
}

// gw (+)= per id the sum of its rows of gy, rows ascending from +0. scratch: next row of the same
// id, and the last seen row per id.
template <class T>
static void embedding_grad(const KernelArgs& k) {
  const TensorArg &gy = k.t[0], &ids = k.t[1], &gw = k.t[2];
  const Range r = share(gw.cols, 16, k.worker, k.workers);
  if (r.begin == r.end) return;
  int* last = reinterpret_cast<int*>(k.scratch);
  int* next = last + gw.rows;
  char* first = reinterpret_cast<char*>(next + gy.rows);
  for (i64 v = 0; v < gw.rows; ++v) last[v] = -1;
  for (i64 i = 0; i < gy.rows; ++i) {
    i64 id = *row<unsigned>(ids, i);
    if (id >= gw.rows) id = gw.rows - 1;
    first[i] = last[id] < 0;
    next[i] = -1;
    if (last[id] >= 0) next[last[id]] = static_cast<int>(i);
    last[id] = static_cast<int>(i);
  }
  if (!k.ints[0])
    for (i64 v = 0; v < gw.rows; ++v)
      for (i64 c = r.begin; c < r.end; ++c) row<T>(gw, v)[c] = 0;
  for (i64 i = 0; i < gy.rows; ++i) {
    if (!first[i]) continue;
    i64 id = *row<unsigned>(ids, i);
    if (id >= gw.rows) id = gw.rows - 1;
    for (i64 c = r.begin; c < r.end; c += 16) {
      const i64 n = min(16, r.end - c);
      V<T> sum = {};
      for (i64 j = i; j >= 0; j = next[j]) sum += load_lanes(row<T>(gy, j) + c, n);
      T* to = row<T>(gw, id) + c;
      put_lanes(to, load_lanes(to, n) + sum, n);
    }
  }
}

}  // namespace loom::cpu::LOOM_ISA
