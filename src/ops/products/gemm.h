// Float matrix products in the canonical order (numerics rule 3, "AMX32"): chunks of 32 k; in a
// chunk one chain over even k and one over odd k, each from +0; chunks are added in ascending order
// to C. Vectorized across outputs, so every tile shape gives the same bits.
#pragma once

#include "ops/cpu/vectors/registers.h"
#include "ops/products/product_sizes.h"

namespace loom::cpu::LOOM_ISA {

#if LOOM_VECTOR_BYTES == 64 || defined(__aarch64__)
static constexpr int kRegisters = 32;
#else
static constexpr int kRegisters = 16;
#endif
// What they hold of sums; half as many rows of doubles.
static constexpr int kTileRows = LOOM_TILE_ROWS, kTilePanels = LOOM_TILE_PANELS;
#ifdef LOOM_FUSED
static constexpr int kWidePanels = 4;  // of a single row: one chain for each register
#else
static constexpr int kWidePanels =
    2 * LOOM_TILE_PANELS;  // of a single row, whose registers have two chains
#endif
template <class T>
static constexpr int kRowsOf = sizeof(T) == 4 || kTileRows == 1 ? kTileRows : kTileRows / 2;

// A(m, k) of a product: at fixed steps, or where two tables say. rows<MR>(): the first MR rows, as
// a tile reads them.
template <class T>
struct Strided {
  const T* a;
  i64 m_step, k_step;
  Strided from(i64 m, i64 k) const { return {a + m * m_step + k * k_step, m_step, k_step}; }
  template <int MR>
  Strided rows() const {
    return *this;
  }
  const T& at(i64 m, i64 k) const { return a[m * m_step + k * k_step]; }
};
template <class T>
struct Tabled {
  const T* a;
  const int *m_at, *k_at;
  Tabled from(i64 m, i64 k) const { return {a, m_at + m, k_at + k}; }
  template <int MR>
  struct Rows {
    const T* row[MR];
    const int* k_at;
    const T& at(i64 m, i64 k) const { return row[m][k_at[k]]; }
  };
  template <int MR>
  Rows<MR> rows() const {
    Rows<MR> r;
    r.k_at = k_at;
    LOOM_UNROLL for (int m = 0; m < MR; ++m) r.row[m] = settled(a + m_at[m]);
    return r;
  }
};

// The micro-kernel: c[m][p] += sum over k in [0, n) of A(m, k) * B(k, p), B(k, p) = 16 lanes at b +
// p*bp + k*bk.
//
//            b: one row k of NP panels, 16 lanes each, in Q registers
//               [q0][q1] ...
//   A(0, k)   [ sum[0][0]  sum[0][1] ... ]      sum[m][q] += A(m, k) * b[q]
//   A(1, k)   [ sum[1][0]  sum[1][1] ... ]
//   ...         MR x Q registers; all loops over them are unrolled, so that a chain never leaves
//   its own
template <class T, int MR, int NP>
struct TileShape {
  static constexpr int kParts = V<T>::kParts, Q = NP * kParts, W = 16 / kParts;
  // A chunk has two chains. They grow at once where there are registers for both, otherwise one
  // after the other: a tile of twice the size reads half as much for each product.
  static constexpr bool kBoth = 2 * MR * Q <= kRegisters * 3 / 4;
  using Sums = Register<T>[MR][Q];
};

// `Begins`: the sums are none yet. In f32 the first products are what they begin with: to add them
// to +0 would change the sign of zeros alone, which stored() drops.
template <class T, int MR, int NP, bool Begins = false, class R>
__attribute__((always_inline)) static inline void add_products(
    const R& rows, i64 k, const T* b, i64 bp, i64 bk, typename TileShape<T, MR, NP>::Sums& sum) {
  using G = TileShape<T, MR, NP>;
  Register<T> values[G::Q];
  LOOM_UNROLL for (int q = 0; q < G::Q; ++q) values[q] =
      load_register(b + q / G::kParts * bp + q % G::kParts * G::W + k * bk);
  LOOM_UNROLL for (int m = 0; m < MR; ++m) LOOM_UNROLL for (int q = 0; q < G::Q; ++q) {
    if constexpr (!Begins) sum[m][q] += times(rows.at(m, k), values[q]);
    else if constexpr (sizeof(T) == 4) sum[m][q] = times(rows.at(m, k), values[q]);
    else sum[m][q] = Register<T>{} + times(rows.at(m, k), values[q]);
  }
}

#ifdef LOOM_FUSED
template <class T, int MR, int NP, class A>
__attribute__((always_inline)) static inline void micro_kernel(i64 n, const A a, const T* b, i64 bp,
                                                               i64 bk, V<T> (&c)[MR][NP]) {
  using G = TileShape<T, MR, NP>;
  const auto rows = a.template rows<MR>();
  typename G::Sums sum;
  LOOM_UNROLL for (int m = 0; m < MR; ++m) LOOM_UNROLL for (int q = 0; q < G::Q; ++q) sum[m][q] =
      c[m][q / G::kParts].part[q % G::kParts];
  i64 k = 0;
  for (; k + 1 < n; k += 2) {
    add_products<T, MR, NP>(rows, k, b, bp, bk, sum);
    add_products<T, MR, NP>(rows, k + 1, b, bp, bk, sum);
  }
  if (k < n) add_products<T, MR, NP>(rows, k, b, bp, bk, sum);
  LOOM_UNROLL for (int m = 0; m < MR; ++m) LOOM_UNROLL for (int q = 0; q < G::Q; ++q)
      c[m][q / G::kParts]
          .part[q % G::kParts] = sum[m][q];
}
#else
template <class T, int MR, int NP, class A>
__attribute__((always_inline)) static inline void micro_kernel(i64 n, const A a, const T* b, i64 bp,
                                                               i64 bk, V<T> (&c)[MR][NP]) {
  using G = TileShape<T, MR, NP>;
  const auto rows = a.template rows<MR>();
  for (i64 k0 = 0; k0 < n; k0 += 32) {
    const i64 k1 = min(k0 + 32, n);
    typename G::Sums even, odd;
    add_products<T, MR, NP, true>(rows, k0, b, bp, bk, even);
    const auto begin_odd = [&]() __attribute__((always_inline)) {
      if (k0 + 1 < k1) add_products<T, MR, NP, true>(rows, k0 + 1, b, bp, bk, odd);
      else clear(odd);
    };
    i64 k = k0 + 2;
    if constexpr (G::kBoth) {
      begin_odd();
      for (; k + 1 < k1; k += 2) {
        add_products<T, MR, NP>(rows, k, b, bp, bk, even);
        add_products<T, MR, NP>(rows, k + 1, b, bp, bk, odd);
      }
      if (k < k1) add_products<T, MR, NP>(rows, k, b, bp, bk, even);
    } else {
      for (; k < k1; k += 2) add_products<T, MR, NP>(rows, k, b, bp, bk, even);
      typename G::Sums first;
      LOOM_UNROLL for (int m = 0; m < MR; ++m) LOOM_UNROLL for (int q = 0; q < G::Q; ++q)
          first[m][q] = even[m][q];
      park(first);
      begin_odd();
      for (k = k0 + 3; k < k1; k += 2) add_products<T, MR, NP>(rows, k, b, bp, bk, odd);
      LOOM_UNROLL for (int m = 0; m < MR; ++m) LOOM_UNROLL for (int q = 0; q < G::Q; ++q)
          even[m][q] = first[m][q];
    }
    LOOM_UNROLL for (int m = 0; m < MR; ++m) LOOM_UNROLL for (int q = 0; q < G::Q; ++q)
        c[m][q / G::kParts]
            .part[q % G::kParts] += even[m][q] + odd[m][q];
  }
}
#endif

template <class T, int MR, int NP>
static inline void micro_kernel(i64 n, const T* a, i64 am, i64 ak, const T* b, i64 bp, i64 bk,
                                V<T> (&c)[MR][NP]) {
  micro_kernel<T, MR, NP>(n, Strided<T>{a, am, ak}, b, bp, bk, c);
}

// The operands of one product C[m][16 lanes of p] = init + A B, and where a tile of it begins.
template <class T, class A = Strided<T>>
struct Product {
  i64 k;  // length of the sums
  A a;
  const T* b;
  i64 bp, bk;
  T* c;
  i64 cm;
  i64 lanes;                    // valid outputs per row of C
  const T* bias;                // init: null is zero
  bool accumulate;              // init: what C holds
  const T* row_bias = nullptr;  // init: one value for each row of C
  bool partial = false;         // more of the sums follows: C keeps them as they are
  T floor = -static_cast<T>(__builtin_inff());  // below which no result is: of a relu, 0
};

// y = bias + x W^T, operands 3, 2, 1 and 0; panels of B are `bp` apart.
template <class T>
static inline Product<T> product_of(const KernelArgs& k, const T* panels, i64 bp) {
  const WeightArg& w = *k.weight;
  const TensorArg &x = k.t[1], &y = k.t[3];
  return {w.cols,
          {row<T>(x, 0), x.stride, 1},
          panels,
          bp,
          16,
          row<T>(y, 0),
          y.stride,
          w.rows,
          k.has[2] ? row<T>(k.t[2], 0) : nullptr,
          false};
}

// The lines that the results of a tile go to, rows apart, are on their way meanwhile: all stores,
// to the stack too, would wait behind them.
template <int MR, int NP, class G>
static inline void prefetch_output(const G& g, i64 m, i64 panel) {
  if constexpr (MR > 2)
    LOOM_UNROLL for (int i = 0; i < MR * NP; ++i)
        __builtin_prefetch(g.c + (m + i / NP) * g.cm + (panel + i % NP) * 16, 1);
}
template <class T, int MR, int NP, class A>
static inline void compute_tile(const Product<T, A>& g, i64 m, i64 panel) {
  prefetch_output<MR, NP>(g, m, panel);
  V<T> c[MR][NP];
  LOOM_UNROLL for (int i = 0; i < MR; ++i) LOOM_UNROLL for (int p = 0; p < NP; ++p) {
    const i64 col = (panel + p) * 16, n = g.lanes - col;
    if (g.accumulate) c[i][p] = load_lanes(g.c + (m + i) * g.cm + col, n);
    else if (g.bias) c[i][p] = load_lanes(g.bias + col, n);
    else if (g.row_bias)
      LOOM_UNROLL for (int q = 0; q < V<T>::kParts; ++q) c[i][p].part[q] =
          g.row_bias[m + i] - typename V<T>::Native{};  // -0 stays
    else
      LOOM_UNROLL for (int q = 0; q < V<T>::kParts; ++q) c[i][p].part[q] =
          typename V<T>::Native{};  // gcc fills a whole V<T>{} by a slow instruction
  }
  micro_kernel<T, MR, NP>(g.k, g.a.from(m, 0), g.b + panel * g.bp, g.bp, g.bk, c);
  for (int i = 0; i < MR; ++i)
    for (int p = 0; p < NP; ++p) {
      const i64 col = (panel + p) * 16;
      T* const to = g.c + (m + i) * g.cm + col;
      if (g.partial) {
        store_lanes(to, c[i][p], g.lanes - col);
        continue;
      }
      LOOM_UNROLL for (int q = 0; q < V<T>::kParts; ++q) {
        const typename V<T>::Native x = c[i][p].part[q], floor = g.floor + typename V<T>::Native{};
        c[i][p].part[q] = floor > x ? floor : x;
      }
      store_tile(to, c[i][p], g.lanes - col);
    }
}

template <int N>
struct Count {
  static constexpr int value = N;
};
// f(row, Count of them) for tiles that cover rows [m, end): of Rows, then of two where large tiles
// leave many rows, then single ones.
template <int Rows, bool Two = (kTileRows * kTilePanels > 4), class F>
__attribute__((always_inline)) static inline void each_tile(i64 m, i64 end, F f) {
  for (; m + Rows <= end; m += Rows) f(m, Count<Rows>{});
  if constexpr (Two)
    for (; m + 2 <= end; m += 2) f(m, Count<2>{});
  for (; m < end; ++m) f(m, Count<1>{});
}

// Not inlined, for size: its many tiles are made once.
template <class T, int NP>
__attribute__((noinline)) static void tile_rows(const Product<T>& g, i64 rows, i64 panel) {
  each_tile<kRowsOf<T>>(0, rows,
                        [&]<int N>(i64 m, Count<N>) { compute_tile<T, N, NP>(g, m, panel); });
}

// Copies of a part of a panel, [k][16]. W row by row is B of gx = gy W, and column by column that
// of y = x W^T.
template <class T>
static void copy_rows(const WeightArg& w, i64 panel, Range k, T* to) {
  const i64 col = panel * 16, n = w.cols - col;
  const T* from = sizeof(T) == 4 && w.master ? reinterpret_cast<const T*>(w.master)
                                             : static_cast<const T*>(w.dense);
  const i64 step = from == w.dense ? w.dense_stride : w.cols;
  for (i64 r = k.begin; r < k.end; ++r, to += 16) {
    __builtin_prefetch(from + min(r + 32, w.rows - 1) * step + col);  // rows lie pages apart
    if (from != w.dense && n < 16) {
      for (i64 c = 0; c < 16; ++c) to[c] = c < n ? stored(from[r * step + col + c]) : T(0);
      continue;
    }
    LOOM_UNROLL for (int q = 0; q < V<T>::kParts; ++q) {
      typename V<T>::Native v;
      __builtin_memcpy(&v, from + r * step + col + q * (16 / V<T>::kParts), sizeof v);
      if constexpr (sizeof(T) == 4) v = flushed(v);
      __builtin_memcpy(to + q * (16 / V<T>::kParts), &v, sizeof v);
    }
  }
}
static void pack_transposed(const WeightArg& w, i64 panel, Range k, float* to) {
  const i64 first = panel * 16, count = min(16, w.rows - first), n = k.end - k.begin;
  const float* from = w.master + first * w.cols + k.begin;
  const i64 whole_rows = count / 4 * 4, whole = n / 4 * 4;
  transpose(from, w.cols, whole_rows, whole, to, 16,
            [](auto v) __attribute__((always_inline)) { return flushed(v); });
  for (i64 c = 0; c < n; ++c)
    for (i64 r = c < whole ? whole_rows : 0; r < 16; ++r)
      to[c * 16 + r] = r < count ? stored(from[r * w.cols + c]) : 0;
}

// The worker's part of C: panels first, and rows too where there are few panels. Any cut gives the
// same bits. With `copy` panels of B come by it, into the scratch, kPackedSums of their rows at a
// time.
template <class T>
static inline void product(const Product<T>& g, i64 rows, const KernelArgs& k,
                           void (*copy)(const WeightArg&, i64 panel, Range k, T* to) = nullptr) {
  if (rows == 0) return;  // none may have come
  const i64 panels = (g.lanes + 15) / 16;
  if (rows == 1 && !copy) {
    // Few chains in a row's panel: several panels at once keep the units busy.
    const Range r = share((panels + kWidePanels - 1) / kWidePanels, 1, k.worker, k.workers);
    for (i64 panel = r.begin * kWidePanels; panel < min(r.end * kWidePanels, panels);) {
      if (panel + kWidePanels <= panels)
        compute_tile<T, 1, kWidePanels>(g, 0, panel), panel += kWidePanels;
      else compute_tile<T, 1, 1>(g, 0, panel), ++panel;
    }
    return;
  }
  const i64 groups = (panels + kTilePanels - 1) / kTilePanels;
  const bool in_parts = copy && g.k > kPackedSums;  // whose copies serve one block of rows only
  i64 block = rows;
  if (groups < 4 * k.workers) {
    if (in_parts) block = (rows + k.workers - 1) / k.workers;
    else
      block = min(rows, groups * rows >= 16 * kTileRows * k.workers ? 16 * kTileRows : kTileRows);
  }
  const i64 blocks = (rows + block - 1) / block;
  const Range r = share(groups * blocks, 1, k.worker, k.workers);
  for (i64 u = r.begin; u < r.end; ++u) {
    const i64 first = u % blocks * block, count = min(block, rows - first),
              panel = u / blocks * kTilePanels, end = min(panel + kTilePanels, panels);
    Product<T> part = g;
    part.c += first * g.cm;
    for (i64 at = 0; at < g.k || at == 0; at += part.k) {
      part.a = g.a.from(first, at);
      if (copy) {
        T* const to = reinterpret_cast<T*>(k.scratch);
        part.k = min(g.k - at, kPackedSums);
        part.bp = part.k * 16;
        part.bk = 16;
        part.b = to - panel * part.bp;
        part.partial = at + part.k < g.k;
        part.accumulate = g.accumulate || at > 0;
        if (in_parts || u == r.begin || u % blocks == 0)
          for (i64 p = panel; p < end; ++p)
            copy(*k.weight, p, {at, at + part.k}, to + (p - panel) * part.bp);
      }
      if (end - panel == kTilePanels) tile_rows<T, kTilePanels>(part, count, panel);
      else
        for (i64 p = panel; p < end; ++p) tile_rows<T, 1>(part, count, p);
    }
  }
}

}  // namespace loom::cpu::LOOM_ISA
