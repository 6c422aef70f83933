// Rows go to some of several branches: the largest values of a row, the rows that have a share, and
// rows added where they came from.
#pragma once

#include "ops/cpu/vectors/rows.h"
#include "ops/cpu/vectors/simd.h"

namespace loom::cpu::LOOM_ISA {

template <class T>
static void top_k(const KernelArgs& k) {
  const TensorArg &x = k.t[0], &y = k.t[1];
  each_row<T>(k, y, [&](i64 r) {
    const T* a = row<T>(x, r);
    T* o = row<T>(y, r);
    for (i64 c = 0; c < y.cols; ++c) {
      i64 before = 0;
      for (i64 j = 0; j < y.cols; ++j) {
        const bool equal = a[j] == a[c] || (a[j] != a[j] && a[c] != a[c]);
        before += equal ? j < c : a[j] > a[c] || a[j] != a[j];
      }
      o[c] = before < k.ints[0] ? a[c] : -static_cast<T>(__builtin_inff());
    }
  });
}
// Places are few and follow one another: one worker writes them.
template <class T>
static void route_rows(const KernelArgs& k) {
  if (k.worker != 0) return;
  const TensorArg &share = k.t[0], &places = k.t[1];
  unsigned count = 0;
  for (i64 r = 0; r < share.rows; ++r)
    if (*row<T>(share, r) != 0) *row<unsigned>(places, count++) = static_cast<unsigned>(r);
  *k.dynamic_rows = count;
}
template <class T>
static void scatter_add(const KernelArgs& k) {
  const TensorArg &x = k.t[0], &index = k.t[2], &y = k.t[3];
  each_element<T>(k, x, [&](i64 r, i64 c0, i64 c1) {
    const i64 to = *row<unsigned>(index, r);
    if (to >= y.rows) return;
    const T *a = row<T>(x, r), *scale = k.has[1] ? row<T>(k.t[1], r) : nullptr;
    T* o = row<T>(y, to);
    for (i64 c = c0; c < c1; ++c) o[c] = stored(o[c] + (scale ? stored(a[c] * *scale) : a[c]));
  });
}

}  // namespace loom::cpu::LOOM_ISA
