// Products of groups, and of decoded weights with rows apart.
#pragma once

#include "ops/products/gemm.h"

namespace loom::cpu::LOOM_ISA {

// y = bias + x W^T by groups, W row-major. Sums in the order of gemm.h.
template <class T>
static void group_matmul(const KernelArgs& k) {
  const WeightArg& w = *k.weight;
  const TensorArg &x = k.t[1], &y = k.t[3];
  const i64 outputs = w.rows / k.ints[0];
  each_element<T>(k, y, [&](i64 r, i64 c0, i64 c1) {
    for (i64 n = c0; n < c1; ++n) {
      const T *a = row<T>(x, r) + n / outputs * w.cols,
              *b = static_cast<const T*>(w.dense) + n * w.dense_stride;
      T sum = k.has[2] ? row<T>(k.t[2], 0)[n] : T(0);
      for (i64 k0 = 0; k0 < w.cols; k0 += 32) {
        T even = 0, odd = 0;
        const i64 end = min(k0 + 32, w.cols);
        for (i64 i = k0; i < end; i += 2) {
          even += a[i] * b[i];
          if (i + 1 < end) odd += a[i + 1] * b[i + 1];
        }
        sum += even + odd;
      }
      row<T>(y, r)[n] = stored(sum);
    }
  });
}
template <class T>
static void group_matmul_t(const KernelArgs& k) {
  const WeightArg& w = *k.weight;
  const TensorArg &gy = k.t[1], &gx = k.t[2];
  const i64 outputs = w.rows / k.ints[0];
  for (i64 g = 0; g < k.ints[0]; ++g)
    product(Product<T>{outputs,
                       {row<T>(gy, 0) + g * outputs, gy.stride, 1},
                       static_cast<const T*>(w.dense) + g * outputs * w.dense_stride,
                       16,
                       w.dense_stride,
                       row<T>(gx, 0) + g * w.cols,
                       gx.stride,
                       w.cols,
                       nullptr,
                       false},
            gx.rows, k);
}
template <class T>
static void group_weight_grad(const KernelArgs& k) {
  const TensorArg &gy = k.t[0], &x = k.t[1], &gw = k.t[2];
  const i64 outputs = gw.rows / k.ints[0], panels = (gw.cols + 15) / 16;
  const Range r = share(gw.rows, 1, k.worker, k.workers);
  for (i64 n = r.begin; n < r.end;) {
    const i64 group = n / outputs, end = min(r.end, (group + 1) * outputs);
    const Product<T> g{gy.rows,
                       {row<T>(gy, 0), 1, gy.stride},
                       row<T>(x, 0) + group * gw.cols,
                       16,
                       x.stride,
                       row<T>(gw, 0),
                       gw.stride,
                       gw.cols,
                       nullptr,
                       k.ints[1] != 0};
    for (i64 p = 0; p < panels; ++p) outer_rows<T, 1>(g, {n, end}, p);
    n = end;
  }
}

}  // namespace loom::cpu::LOOM_ISA
