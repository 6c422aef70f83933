// Float matrix products in the canonical order (numerics rule 4, "AMX32"): chunks of 32 k; in a chunk one chain over even k and one
// over odd k, each from +0; chunks are added in ascending order to C. Vectorized across outputs, so every tile shape gives the same bits.

static constexpr int kTileRows = LOOM_TILE_ROWS, kTilePanels = LOOM_TILE_PANELS;  // what the registers hold twice over

// c[m][p] += sum over k in [0, n) of A(m, k) * B(k, p): A(m, k) = a[m*am + k*ak], B(k, p) = 16 lanes at b + p*bp + k*bk.
// Written on the registers' own vectors, all loops over them unrolled: the sums of a chunk never leave the registers.
template <class T, int MR, int NP>
static inline void multiply(i64 n, const T* a, i64 am, i64 ak, const T* b, i64 bp, i64 bk, V<T> (&c)[MR][NP]) {
  using N = typename V<T>::Native;
  constexpr int kParts = V<T>::kParts, Q = NP * kParts, W = 16 / kParts;
  auto load_part = [&](i64 k, int q) {
    N v;
    __builtin_memcpy(&v, b + q / kParts * bp + q % kParts * W + k * bk, sizeof v);
    return v;
  };
  for (i64 k0 = 0; k0 < n; k0 += 32) {
    const i64 k1 = least(k0 + 32, n);
    N even[MR][Q], odd[MR][Q];
    LOOM_UNROLL for (int m = 0; m < MR; ++m)
      LOOM_UNROLL for (int q = 0; q < Q; ++q) even[m][q] = odd[m][q] = N{};
    i64 k = k0;
    for (; k + 1 < k1; k += 2) {
      N b0[Q], b1[Q];
      LOOM_UNROLL for (int q = 0; q < Q; ++q) { b0[q] = load_part(k, q); b1[q] = load_part(k + 1, q); }
      LOOM_UNROLL for (int m = 0; m < MR; ++m) {
        const T x = a[m * am + k * ak], y = a[m * am + (k + 1) * ak];
        LOOM_UNROLL for (int q = 0; q < Q; ++q) { even[m][q] += x * b0[q]; odd[m][q] += y * b1[q]; }
      }
    }
    if (k < k1) {
      LOOM_UNROLL for (int m = 0; m < MR; ++m)
        LOOM_UNROLL for (int q = 0; q < Q; ++q) even[m][q] += a[m * am + k * ak] * load_part(k, q);
    }
    LOOM_UNROLL for (int m = 0; m < MR; ++m)
      LOOM_UNROLL for (int q = 0; q < Q; ++q) c[m][q / kParts].part[q % kParts] += even[m][q] + odd[m][q];
  }
}

// The operands of one product C[m][16 lanes of p] = init + A B, and where a tile of it begins.
template <class T>
struct Product {
  i64 k;                     // length of the sums
  const T* a; i64 am, ak;
  const T* b; i64 bp, bk;
  T* c; i64 cm; i64 lanes;   // valid outputs per row of C
  const T* bias;             // init: null is zero
  bool accumulate;           // init: what C holds
};

template <class T, int MR, int NP>
static inline void tile(const Product<T>& g, i64 m, i64 panel) {
  V<T> c[MR][NP];
  for (int i = 0; i < MR; ++i)
    for (int p = 0; p < NP; ++p) {
      const i64 col = (panel + p) * 16, n = g.lanes - col;
      c[i][p] = g.accumulate ? load_lanes(g.c + (m + i) * g.cm + col, n) : g.bias ? load_lanes(g.bias + col, n) : V<T>{};
    }
  multiply<T, MR, NP>(g.k, g.a + m * g.am, g.am, g.ak, g.b + panel * g.bp, g.bp, g.bk, c);
  for (int i = 0; i < MR; ++i)
    for (int p = 0; p < NP; ++p) {
      const i64 col = (panel + p) * 16;
      put_lanes(g.c + (m + i) * g.cm + col, c[i][p], g.lanes - col);
    }
}

template <class T, int NP>
static inline void tile_rows(const Product<T>& g, i64 rows, i64 panel) {
  i64 m = 0;
  for (; m + kTileRows <= rows; m += kTileRows) tile<T, kTileRows, NP>(g, m, panel);
  for (; m < rows; ++m) tile<T, 1, NP>(g, m, panel);
}

// The worker's part of C: panels first, and rows too where there are few panels. Any cut gives the same bits.
template <class T>
static inline void product(const Product<T>& g, i64 rows, const KernelArgs& k) {
  constexpr i64 kRowBlock = 16 * kTileRows;
  const i64 panels = (g.lanes + 15) / 16, groups = (panels + kTilePanels - 1) / kTilePanels;
  const i64 blocks = groups >= 4 * k.workers ? 1 : (rows + kRowBlock - 1) / kRowBlock;
  const Range r = share(groups * blocks, 1, k.worker, k.workers);
  for (i64 u = r.begin; u < r.end; ++u) {
    const i64 first = u % blocks * kRowBlock, count = blocks == 1 ? rows : least(kRowBlock, rows - first);
    Product<T> part = g;
    part.a += first * g.am;
    part.c += first * g.cm;
    i64 panel = u / blocks * kTilePanels;
    if (panel + kTilePanels <= panels) tile_rows<T, kTilePanels>(part, count, panel);
    else for (; panel < panels; ++panel) tile_rows<T, 1>(part, count, panel);
  }
}

// y = bias + x W^T with W in float panels.
template <class T>
static void matmul(const KernelArgs& k) {
  const WeightArg& w = *k.weight;
  const TensorArg &x = k.t[1], &y = k.t[3];
  const Product<T> g{w.cols, row<T>(x, 0), x.stride, 1, static_cast<const T*>(w.panels), w.padded_cols * 16, 16, row<T>(y, 0), y.stride, w.rows,
                     k.has[2] ? row<T>(k.t[2], 0) : nullptr, false};
  product(g, y.rows, k);
}

// gx = gy W with W row-major.
template <class T>
static void matmul_t(const KernelArgs& k) {
  const WeightArg& w = *k.weight;
  const TensorArg &gy = k.t[1], &gx = k.t[2];
  const Product<T> g{w.rows, row<T>(gy, 0), gy.stride, 1, static_cast<const T*>(w.dense), 16, w.dense_stride, row<T>(gx, 0), gx.stride, w.cols, nullptr, false};
  product(g, gx.rows, k);
}

// A tile of a weight gradient: sums over all rows from +0 in blocks of 1,024, added once to what is there.
template <class T, int MR, int NP>
static inline void outer_tile(const Product<T>& g, i64 m, i64 panel) {
  struct Tile {
    V<T> c[MR][NP];
    Tile operator+(const Tile& o) const {
      Tile t;
      for (int i = 0; i < MR; ++i)
        for (int p = 0; p < NP; ++p) t.c[i][p] = c[i][p] + o.c[i][p];
      return t;
    }
  };
  BinaryCounter<Tile> blocks;
  for (i64 k = 0; k < g.k; k += 1024) {
    Tile t = {};
    multiply<T, MR, NP>(least(1024, g.k - k), g.a + m * g.am + k * g.ak, g.am, g.ak, g.b + panel * g.bp + k * g.bk, g.bp, g.bk, t.c);
    blocks.push(t);
  }
  const Tile t = blocks.total();
  for (int i = 0; i < MR; ++i)
    for (int p = 0; p < NP; ++p) {
      const i64 col = (panel + p) * 16, n = g.lanes - col;
      T* c = g.c + (m + i) * g.cm + col;
      put_lanes(c, g.accumulate ? load_lanes(c, n) + t.c[i][p] : t.c[i][p], n);
    }
}

template <class T, int NP>
static inline void outer_rows(const Product<T>& g, Range r, i64 panel) {
  i64 m = r.begin;
  for (; m + kTileRows <= r.end; m += kTileRows) outer_tile<T, kTileRows, NP>(g, m, panel);
  for (; m < r.end; ++m) outer_tile<T, 1, NP>(g, m, panel);
}

// gw (+)= gy^T x
template <class T>
static void outer_add(const KernelArgs& k) {
  const TensorArg &gy = k.t[0], &x = k.t[1], &gw = k.t[2];
  const Range r = share(gw.rows, kTileRows, k.worker, k.workers);
  const Product<T> g{gy.rows, row<T>(gy, 0), 1, gy.stride, row<T>(x, 0), 16, x.stride, row<T>(gw, 0), gw.stride, x.cols, nullptr, k.ints[0] != 0};
  const i64 panels = (x.cols + 15) / 16;
  i64 p = 0;
  for (; p + kTilePanels <= panels; p += kTilePanels) outer_rows<T, kTilePanels>(g, r, p);
  for (; p < panels; ++p) outer_rows<T, 1>(g, r, p);
}

// gb (+)= column sums of gy
template <class T>
static void col_sum(const KernelArgs& k) {
  const TensorArg &gy = k.t[0], &gb = k.t[1];
  const Range r = share(gy.cols, 16, k.worker, k.workers);
  for (i64 c = r.begin; c < r.end; c += 16) {
    const i64 n = least(16, r.end - c);
    RowSum<V<T>> sum;
    for (i64 i = 0; i < gy.rows; ++i) sum.push(load_lanes(row<T>(gy, i) + c, n));
    const V<T> s = sum.total();
    T* to = row<T>(gb, 0) + c;
    put_lanes(to, k.ints[0] ? load_lanes(to, n) + s : s, n);
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
    if (id >= w.rows) id = w.rows - 1;  // the executor has refused such ids; a kernel still never reads outside
    const T* panel = static_cast<const T*>(w.panels) + (id / 16) * w.padded_cols * 16 + id % 16;
    T* out = row<T>(y, i);
    for (i64 c = 0; c < w.cols; ++c) out[c] = panel[c * 16];
  }
}

// gw (+)= per id the sum of its rows of gy, rows ascending from +0. scratch: next row of the same id, and the last seen row per id.
template <class T>
static void gather_add(const KernelArgs& k) {
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
      const i64 n = least(16, r.end - c);
      V<T> sum = {};
      for (i64 j = i; j >= 0; j = next[j]) sum += load_lanes(row<T>(gy, j) + c, n);
      T* to = row<T>(gw, id) + c;
      put_lanes(to, load_lanes(to, n) + sum, n);
    }
  }
}
