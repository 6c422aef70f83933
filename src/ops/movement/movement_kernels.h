// Values that change places: filled, copied, converted, gathered, scattered, transposed.
#pragma once

#include "ops/cpu/vectors/rows.h"
#include "ops/cpu/vectors/simd.h"

namespace loom::cpu::LOOM_ISA {

template <class T>
static void fill(const KernelArgs& k) {
  const TensorArg& y = k.t[0];
  const T v = stored(static_cast<T>(k.reals[0]));
  each_element<T>(k, y, [&](i64 r, i64 c0, i64 c1) {
    for (i64 c = c0; c < c1; ++c) row<T>(y, r)[c] = v;
  });
}
template <class T>
static void copy(const KernelArgs& k) {
  const TensorArg &x = k.t[0], &y = k.t[1];
  each_element<T>(k, y, [&](i64 r, i64 c0, i64 c1) {
    const T* a = row<T>(x, r);
    T* o = row<T>(y, r);
    for (i64 c = c0; c < c1; ++c) o[c] = a[c];
  });
}
// From the other type of float.
template <class T>
struct OtherFloat {
  using type = float;
};
template <>
struct OtherFloat<float> {
  using type = double;
};
template <class To>
static void convert(const KernelArgs& k) {
  using From = typename OtherFloat<To>::type;
  const TensorArg &x = k.t[0], &y = k.t[1];
  each_element<To>(k, y, [&](i64 r, i64 c0, i64 c1) {
    const From* a = row<From>(x, r);
    To* o = row<To>(y, r);
    for (i64 c = c0; c < c1; ++c) o[c] = stored(static_cast<To>(a[c]));
  });
}
template <class T>
static void to_ids(const KernelArgs& k) {
  const TensorArg &x = k.t[0], &ids = k.t[1];
  const T last = static_cast<T>(k.ints[0] - 1);
  const Range r = share(ids.rows, 1, k.worker, k.workers);
  for (i64 i = r.begin; i < r.end; ++i) {
    const T v = *row<T>(x, i);
    *row<unsigned>(ids, i) = static_cast<unsigned>(v > 0 ? (v < last ? v : last) : T(0));
  }
}
template <class T>
static void gather_rows(const KernelArgs& k) {
  const TensorArg &x = k.t[0], &index = k.t[1], &y = k.t[2];
  each_element<T>(k, y, [&](i64 r, i64 c0, i64 c1) {
    const i64 from = *row<unsigned>(index, r);
    const T* a = row<T>(x, from < x.rows ? from : x.rows - 1);
    T* o = row<T>(y, r);
    for (i64 c = c0; c < c1; ++c) o[c] = a[c];
  });
}
// y = 0, then y[index[r]] = x[r]; indices are distinct.
template <class T>
static void scatter_rows(const KernelArgs& k) {
  const TensorArg &x = k.t[0], &index = k.t[1], &y = k.t[2];
  const Range c = share(y.cols, 16, k.worker, k.workers);
  for (i64 r = 0; r < y.rows; ++r)
    for (i64 i = c.begin; i < c.end; ++i) row<T>(y, r)[i] = 0;
  for (i64 r = 0; r < x.rows; ++r) {
    const i64 to = *row<unsigned>(index, r);
    if (to >= y.rows) continue;
    for (i64 i = c.begin; i < c.end; ++i) row<T>(y, to)[i] = row<T>(x, r)[i];
  }
}

static constexpr i64 kTransposed = 8;
// y = the values of x, each block of d0 x .. x d4 with its dimensions in the order given (four bits
// each, the first highest).
template <class T>
static void reorder(const KernelArgs& k) {
  const TensorArg &x = k.t[0], &y = k.t[1];
  i64 steps[5], sizes[5], step[5], block = 1;
  for (int d = 5; d-- > 0;) {
    steps[d] = block;
    block *= k.ints[d];
  }
  for (int d = 0; d < 5; ++d) {
    const i64 from = k.ints[5] >> (4 * (4 - d)) & 15;
    sizes[d] = k.ints[from];
    step[d] = steps[from];
  }
  // A reshape: rows that are parts of others lie together there.
  const i64 shorter = min(x.cols, y.cols), longer = x.cols + y.cols - shorter;
  if (k.ints[5] == 0x01234 && longer % shorter == 0) block = sizes[4] = shorter;
  const i64 lines = y.rows * y.cols / sizes[4], per_block = block / sizes[4];
  const i64 rows = step[4] / x.cols,
            cols = step[4] % x.cols;  // a step along a line, as rows and columns of x
  const Range r = share(lines, 1, k.worker, k.workers);
  for (i64 line = r.begin; line < r.end; ++line) {
    i64 rest = line % per_block, from = line / per_block * block;
    for (int d = 4; d-- > 0;) {
      from += rest % sizes[d] * step[d];
      rest /= sizes[d];
    }
    i64 xr = from / x.cols, xc = from % x.cols;
    i64 yr = line * sizes[4] / y.cols, yc = line * sizes[4] % y.cols;
    // Mostly a line lies in one row of y, and in one row or column of x.
    const bool in_row = xc + (sizes[4] - 1) * step[4] < x.cols;
    if (yc + sizes[4] <= y.cols && (in_row || cols == 0)) {
      const i64 apart = in_row ? step[4] : rows * x.stride;
      const T* a = row<T>(x, xr) + xc;
      T* b = row<T>(y, yr) + yc;
      // Lines of a transposition are neighbors in x: eight of them at once read whole cache lines.
      const i64 next = yc + sizes[4] < y.cols ? sizes[4] : y.stride - yc;
      if (step[3] == 1 && line % sizes[3] + kTransposed <= sizes[3] &&
          line + kTransposed <= r.end && xc + kTransposed <= x.cols &&
          (sizes[4] == y.cols || yc + kTransposed * sizes[4] <= y.cols)) {
        transpose(a, apart, sizes[4], kTransposed, b, next);
        line += kTransposed - 1;
        continue;
      }
      if (apart == 1) __builtin_memcpy(b, a, static_cast<unsigned long>(sizes[4]) * sizeof(T));
      else
        for (i64 i = 0; i < sizes[4]; ++i) b[i] = a[i * apart];
      continue;
    }
    for (i64 i = 0; i < sizes[4]; ++i) {
      row<T>(y, yr)[yc] = row<T>(x, xr)[xc];
      xr += rows;
      if ((xc += cols) >= x.cols) xc -= x.cols, ++xr;
      if (++yc == y.cols) yc = 0, ++yr;
    }
  }
}

}  // namespace loom::cpu::LOOM_ISA
