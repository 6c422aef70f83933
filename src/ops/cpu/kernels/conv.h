// Convolutions without unfolded rows (cpu/windows.h): products that read the values under a window where they lie, and a fold that follows its product
// place by place. Every element is the sum that unfold, matmul, matmul_t, outer_add and fold give, in the same order.

// The input with its padding, as far as windows reach.
struct Padded {
  i64 size[3], plane;
  explicit Padded(const Spatial& s) {
    for (int d = 0; d < 3; ++d) size[d] = (s.out[d] - 1) * s.stride[d] + (s.kernel[d] - 1) * s.dilation[d] + 1;
    plane = size[0] * size[1] * size[2];
  }
};

// In place of unfold: a row of y per item, each channel with its padding.
template <class T>
static void unfold_padded(const KernelArgs& k) {
  const Spatial s(k);
  const Padded padded(s);
  const TensorArg &x = k.t[0], &y = k.t[1];
  const Range r = share(y.rows * s.channels, 1, k.worker, k.workers);
  const i64 width = least(s.in[2], padded.size[2] - s.pad[2]);
  for (i64 u = r.begin; u < r.end; ++u) {
    const T* from = row<T>(x, u / s.channels) + u % s.channels * s.inputs();
    T* to = row<T>(y, u / s.channels) + u % s.channels * padded.plane;
    for (i64 i = 0; i < padded.plane; ++i) to[i] = 0;
    for (i64 z = 0; z < s.in[0] && z + s.pad[0] < padded.size[0]; ++z)
      for (i64 line = 0; line < s.in[1] && line + s.pad[1] < padded.size[1]; ++line) {
        const T* a = from + (z * s.in[1] + line) * s.in[2];
        T* b = to + ((z + s.pad[0]) * padded.size[1] + line + s.pad[1]) * padded.size[2] + s.pad[2];
        for (i64 i = 0; i < width; ++i) b[i] = a[i];
      }
  }
}

// Where the taps stand, from the place of the first one.
static inline void tap_table(const Spatial& s, const Padded& padded, int* table) {
  for (i64 c = 0; c < s.channels; ++c)
    for (i64 z = 0; z < s.kernel[0]; ++z)
      for (i64 y = 0; y < s.kernel[1]; ++y)
        for (i64 x = 0; x < s.kernel[2]; ++x)
          *table++ = static_cast<int>(c * padded.plane + (z * s.dilation[0] * padded.size[1] + y * s.dilation[1]) * padded.size[2] + x * s.dilation[2]);
}
// Where the first tap stands for rows [begin, end) (a row is a place of an item), from the item of row `begin`.
static inline void place_table(const Spatial& s, const Padded& padded, i64 item_stride, i64 begin, i64 end, int* table) {
  const i64 places = s.outputs();
  i64 item = 0, at[3] = {begin % places / (s.out[2] * s.out[1]), begin / s.out[2] % s.out[1], begin % s.out[2]};
  for (i64 r = begin; r < end; ++r) {
    *table++ = static_cast<int>(item * item_stride + (at[0] * s.stride[0] * padded.size[1] + at[1] * s.stride[1]) * padded.size[2] + at[2] * s.stride[2]);
    if (++at[2] < s.out[2]) continue;
    at[2] = 0;
    if (++at[1] < s.out[1]) continue;
    at[1] = 0;
    if (++at[0] < s.out[0]) continue;
    at[0] = 0;
    ++item;
  }
}

// y = bias + unfolded x W^T. scratch: a table of the taps, one of the rows of a block.
template <class T>
static void matmul_window(const KernelArgs& k) {
  constexpr i64 kRowBlock = 16 * kTileRows;
  const Spatial s(k);
  const Padded padded(s);
  const WeightArg& w = *k.weight;
  const TensorArg &x = k.t[1], &y = k.t[3];
  int *rows = reinterpret_cast<int*>(k.scratch), *taps = rows + kRowBlock;
  tap_table(s, padded, taps);
  const i64 places = s.outputs(), panels = (w.rows + 15) / 16, groups = (panels + kTilePanels - 1) / kTilePanels, blocks = (y.rows + kRowBlock - 1) / kRowBlock;
  const Range r = share(groups * blocks, 1, k.worker, k.workers);
  for (i64 u = r.begin; u < r.end; ++u) {
    const i64 first = u / groups * kRowBlock, count = least(kRowBlock, y.rows - first);
    if (u == r.begin || u % groups == 0) place_table(s, padded, x.stride, first, first + count, rows);
    const Product<T, Tabled<T>> g{w.cols, {row<T>(x, first / places), rows, taps}, static_cast<const T*>(w.panels), w.padded_cols * 16, 16, row<T>(y, first), y.stride, w.rows,
                                  k.has[2] ? row<T>(k.t[2], 0) : nullptr, false};
    i64 panel = u % groups * kTilePanels;
    if (panel + kTilePanels <= panels) tile_rows<T, kTilePanels>(g, count, panel);
    else for (; panel < panels; ++panel) tile_rows<T, 1>(g, count, panel);
  }
}

// gw (+)= gy^T times unfolded x: NP times 16 filters of some taps at a time. gy is taken kWindowRows rows at once, as a copy that stays in the nearest cache
// while all these taps meet it; their sums wait in `sums` (16 * NP values a tap), and those of whole blocks of 1,024 rows at the levels of a binary counter behind it.
template <class T, int MR, int NP>
__attribute__((noinline)) static void window_tile(const Tabled<T> x, i64 count, const T* lanes, T* sums, bool begins) {
  using N = typename V<T>::Native;
  constexpr int kParts = V<T>::kParts, W = 16 / kParts;
  V<T> c[MR][NP];
  LOOM_UNROLL for (int i = 0; i < MR * NP * kParts; ++i) {
    N& part = c[i / (NP * kParts)][i / kParts % NP].part[i % kParts];
    if (begins) part = N{};
    else __builtin_memcpy(&part, sums + i * W, sizeof part);
  }
  multiply<T, MR, NP>(count, x, lanes, 16, 16 * NP, c);
  LOOM_UNROLL for (int i = 0; i < MR * NP * kParts; ++i) __builtin_memcpy(sums + i * W, &c[i / (NP * kParts)][i / kParts % NP].part[i % kParts], sizeof(N));
}
template <class T, int NP>
struct WindowSums {
  const int *taps, *rows;  // of all taps; of the rows of a block
  T *lanes, *sums;
  i64 level;               // values of `sums`, from one level to the next

  void add_rows(const T* x, const T* gy, i64 stride, i64 lanes_left, i64 first, i64 count, i64 tap, i64 some) {
    for (i64 k = 0; k < count; ++k)
      for (int p = 0; p < NP; ++p) store(lanes + (k * NP + p) * 16, load_lanes(gy + k * stride + 16 * p, lanes_left - 16 * p));
    i64 t = 0;
    for (; t + kTileRows <= some; t += kTileRows) window_tile<T, kTileRows, NP>({x, taps + tap + t, rows + first}, count, lanes, sums + t * 16 * NP, first == 0);
    for (; t < some; ++t) window_tile<T, 1, NP>({x, taps + tap + t, rows + first}, count, lanes, sums + t * 16 * NP, first == 0);
  }
  // The sums of a block join those of the blocks before it, of which there are `before`, as BinaryCounter adds them.
  void close(i64 before, i64 values) {
    int depth = __builtin_popcountll(static_cast<unsigned long long>(before));
    for (i64 c = before; c & 1; c >>= 1) gather(depth--, values);
    const T* from = sums;
    T* to = sums + (depth + 1) * level;
    for (i64 i = 0; i < values; i += 16) store(to + i, load(from + i));
  }
  // What the levels of `blocks` blocks hold in all.
  void total(i64 blocks, i64 values) {
    int depth = __builtin_popcountll(static_cast<unsigned long long>(blocks));
    for (i64 i = 0; i < values; i += 16) store(sums + i, depth > 0 ? load(sums + depth * level + i) : V<T>{});
    while (--depth > 0) gather(depth, values);
  }
  void gather(int at, i64 values) {
    for (i64 i = 0; i < values; i += 16) store(sums + i, load(sums + at * level + i) + load(sums + i));
  }
};
template <class T, int NP>
static inline void outer_window_taps(const KernelArgs& k, Range r, i64 places, const int* taps, const int* rows, T* scratch, i64 filter) {
  const TensorArg &gy = k.t[0], &x = k.t[1], &gw = k.t[2];
  WindowSums<T, NP> w{taps, rows, scratch, scratch + kWindowRows * 16 * NP, kWindowTaps * 16 * NP};
  const i64 left = gw.rows - filter;
  for (i64 tap = r.begin; tap < r.end; tap += kWindowTaps) {
    const i64 some = least(kWindowTaps, r.end - tap), values = some * 16 * NP;
    i64 blocks = 0;
    for (i64 b = 0; b < gy.rows; b += 1024, ++blocks) {
      const i64 end = least(b + 1024, gy.rows);
      w.rows = rows + b;
      for (i64 i = b; i < end; i += kWindowRows) w.add_rows(row<T>(x, b / places), row<T>(gy, i) + filter, gy.stride, left, i - b, least(kWindowRows, end - i), tap, some);
      w.close(blocks, values);
    }
    w.total(blocks, values);
    for (i64 t = 0; t < some; ++t)
      for (i64 n = 0; n < least(16 * NP, left); ++n) {
        T& to = row<T>(gw, filter + n)[tap + t];
        const T sum = w.sums[t * 16 * NP + n];
        to = stored(k.ints[0] ? to + sum : sum);
      }
  }
}
// scratch: a table of the taps, one of all rows in blocks of 1,024, then the WindowSums.
template <class T>
static void outer_add_window(const KernelArgs& k) {
  const Spatial s(k.ints + 1);
  const Padded padded(s);
  const TensorArg &gy = k.t[0], &gw = k.t[2];
  const i64 places = s.outputs();
  int *taps = reinterpret_cast<int*>(k.scratch), *rows = taps + gw.cols;
  T* scratch = reinterpret_cast<T*>(taps + (gw.cols + gy.rows + 15) / 16 * 16);
  const Range r = share(gw.cols, kTileRows, k.worker, k.workers);
  if (r.begin == r.end) return;
  tap_table(s, padded, taps);
  for (i64 b = 0; b < gy.rows; b += 1024) place_table(s, padded, k.t[1].stride, b, least(b + 1024, gy.rows), rows + b);
  i64 filter = 0;
  if constexpr (kTilePanels > 1)
    for (; filter + 16 * (kTilePanels - 1) < gw.rows; filter += 16 * kTilePanels) outer_window_taps<T, kTilePanels>(k, r, places, taps, rows, scratch, filter);
  for (; filter < gw.rows; filter += 16) outer_window_taps<T, 1>(k, r, places, taps, rows, scratch, filter);
}

template <class T>
static inline void add_to_run(const T* __restrict from, i64 begin, i64 end, T* __restrict to, i64 step) {
  if (step == 1) {
    for (i64 i = begin; i < end; ++i) to[i] += from[i];
  } else {
    for (i64 i = begin; i < end; ++i) to[i * step] += from[i];
  }
}
// Adds rows of `values` (a row per tap of a channel, a column per place from `first`) where the taps stand in the channel. Of the places under which a value lies
// the later one has the earlier tap, so taps descend.
template <class T>
static inline void fold_block(const Spatial& s, i64 first, i64 count, const T* values, i64 stride, T* to) {
  const i64 begin_z = first / (s.out[2] * s.out[1]), begin_y = first / s.out[2] % s.out[1], begin_x = first % s.out[2];
  for (i64 z = s.kernel[0]; z-- > 0;)
    for (i64 y = s.kernel[1]; y-- > 0;)
      for (i64 x = s.kernel[2]; x-- > 0;) {
        const T* from = values + ((z * s.kernel[1] + y) * s.kernel[2] + x) * stride;
        const i64 shift = x * s.dilation[2] - s.pad[2];
        // Places of a line whose value is inside: those with 0 <= place * step + shift < width.
        const i64 step = s.stride[2], low = shift >= 0 ? 0 : (step - 1 - shift) / step, high = shift >= s.in[2] ? 0 : (s.in[2] - shift + step - 1) / step;
        i64 oz = begin_z, oy = begin_y, ox = begin_x;
        for (i64 o = 0; o < count;) {
          const i64 n = least(s.out[2] - ox, count - o);
          const i64 iz = oz * s.stride[0] + z * s.dilation[0] - s.pad[0], iy = oy * s.stride[1] + y * s.dilation[1] - s.pad[1];
          if (iz >= 0 && iz < s.in[0] && iy >= 0 && iy < s.in[1]) {
            add_to_run(from + (o - ox), ox > low ? ox : low, least(ox + n, high), to + (iz * s.in[1] + iy) * s.in[2] + shift, step);
          }
          o += n;
          ox = 0;
          if (++oy == s.out[1]) oy = 0, ++oz;
        }
      }
}

// gx = fold(gy W), a block of places and some channels at a time. scratch: kFoldPlaces columns of gy transposed, then of the product.
template <class T, int MR>
static inline void fold_tiles(const WeightArg& w, const T* weight, i64 columns, const T* gy, T* pack, T* to) {
  for (i64 n = 0; n < w.rows; ++n)
    for (int m = 0; m < MR; ++m) pack[n * MR + m] = weight[n * w.dense_stride + m];
  const Product<T> g{w.rows, {pack, 1, MR}, gy, 16, kFoldPlaces, to, kFoldPlaces, columns, nullptr, false};
  i64 panel = 0;
  const i64 panels = (columns + 15) / 16;
  for (; panel + kTilePanels <= panels; panel += kTilePanels) tile<T, MR, kTilePanels>(g, 0, panel);
  for (; panel < panels; ++panel) tile<T, MR, 1>(g, 0, panel);
}
template <class T>
static void matmul_t_fold(const KernelArgs& k) {
  const Spatial s(k);
  const WeightArg& w = *k.weight;
  const TensorArg &gy = k.t[1], &gx = k.t[2];
  const i64 places = s.outputs(), taps = s.taps(), inputs = s.inputs();
  T *turned = reinterpret_cast<T*>(k.scratch), *pack = turned + w.rows * kFoldPlaces, *values = pack + w.rows * kTileRows;
  const i64 at_once = fold_channels(taps, s.channels), parts = gx.rows >= k.workers ? 1 : least(k.workers, s.channels);
  const Range r = share(gx.rows * parts, 1, k.worker, k.workers);
  for (i64 u = r.begin; u < r.end; ++u) {
    const i64 item = u / parts;
    const Range channels = share(s.channels, 1, static_cast<int>(u % parts), static_cast<int>(parts));
    T* to = row<T>(gx, item);
    for (i64 i = channels.begin * inputs; i < channels.end * inputs; ++i) to[i] = 0;
    for (i64 o = 0; o < places; o += kFoldPlaces) {
      const i64 count = least(kFoldPlaces, places - o), columns = (count + 15) / 16 * 16;
      turn(row<T>(gy, item * places + o), gy.stride, count, w.rows, turned, kFoldPlaces);
      for (i64 n = 0; n < w.rows; ++n)
        for (i64 p = count; p < columns; ++p) turned[n * kFoldPlaces + p] = 0;
      for (i64 c = channels.begin; c < channels.end; c += at_once) {
        const i64 some = least(at_once, channels.end - c), rows = some * taps;
        const T* weight = static_cast<const T*>(w.dense) + c * taps;
        i64 m = 0;
        for (; m + kTileRows <= rows; m += kTileRows) fold_tiles<T, kTileRows>(w, weight + m, columns, turned, pack, values + m * kFoldPlaces);
        for (; m < rows; ++m) fold_tiles<T, 1>(w, weight + m, columns, turned, pack, values + m * kFoldPlaces);
        for (i64 i = 0; i < some; ++i) fold_block(s, o, count, values + i * taps * kFoldPlaces, kFoldPlaces, to + (c + i) * inputs);
      }
    }
    for (i64 i = channels.begin * inputs; i < channels.end * inputs; ++i) to[i] = stored(to[i]);
  }
}
