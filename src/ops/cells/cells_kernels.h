// Dense cells side by side: each lane of a vector is a cell, so that a sum has the order that the
// product of the cell alone has (products/gemm.h).
#pragma once

#include "ops/cpu/vectors/registers.h"
#include "ops/elementwise/elementwise_kernels.h"

namespace loom::cpu::LOOM_ISA {

// What the cells of a block read, lane by lane: to[k][16]. `rows` is room for 16 rows of it.
template <class T>
static inline void gather_lanes(const T* x, const int* at, i64 lanes, i64 last, i64 inputs, T* rows,
                                T* to) {
  const T* from = x + min(static_cast<unsigned>(at[0]), last);
  bool regular = lanes == 16;
  for (i64 i = 1; i < lanes; ++i) regular &= at[i] == at[0] + i * inputs;
  // A table that a host wrote names no column outside of the row.
  regular =
      regular && static_cast<unsigned>(at[0]) <= last && static_cast<unsigned>(at[15]) <= last;
  if (!regular) {
    for (i64 i = 0; i < 16; ++i) {
      const T* cell = x + min(static_cast<unsigned>(at[i < lanes ? i : 0]), last);
      for (i64 k = 0; k < inputs; ++k) rows[i * inputs + k] = cell[k];
    }
    from = rows;
  }
  transpose(from, inputs, 16, inputs, to, 16);
}

// O outputs of a block: to[o][16] = bias[o] + sum over k of x[k] * w[o][k], in chunks of 32 k with
// a chain of the even k and one of the odd.
template <class T, int O>
static inline void cell_tile(const T* x, const T* w, const T* bias, i64 inputs, T* to) {
  using N = Register<T>;
  constexpr int kParts = V<T>::kParts, W = 16 / kParts;
  for (int q = 0; q < kParts; ++q) {
    N sum[O];
    LOOM_UNROLL for (int o = 0; o < O; ++o) {
      sum[o] = N{};
      if (bias) __builtin_memcpy(&sum[o], bias + o * 16 + q * W, sizeof sum[o]);
    }
    const auto add = [&](i64 k, N(&chain)[O]) __attribute__((always_inline)) {
      const N value = load_register(x + k * 16 + q * W);
      LOOM_UNROLL for (int o = 0; o < O; ++o) {
        N weight;
        __builtin_memcpy(&weight, w + (o * inputs + k) * 16 + q * W, sizeof weight);
        chain[o] += value * weight;
      }
    };
    for (i64 k0 = 0; k0 < inputs; k0 += 32) {
      const i64 k1 = min(k0 + 32, inputs);
      N even[O], odd[O];
      LOOM_UNROLL for (int o = 0; o < O; ++o) even[o] = odd[o] = N{};
      i64 k = k0;
      for (; k + 1 < k1; k += 2) {
        add(k, even);
        add(k + 1, odd);
      }
      if (k < k1) add(k, even);
      LOOM_UNROLL for (int o = 0; o < O; ++o) sum[o] += even[o] + odd[o];
    }
    LOOM_UNROLL for (int o = 0; o < O; ++o) {
      sum[o] = stored_part<T>(sum[o]);
      __builtin_memcpy(to + o * 16 + q * W, &sum[o], sizeof sum[o]);
    }
  }
}

template <class T>
static void cell_products(const KernelArgs& k) {
  const TensorArg &x = k.t[0], &at = k.t[2], &y = k.t[4];
  const i64 inputs = k.ints[0], outputs = k.ints[1], cells = at.cols, blocks = (cells + 15) / 16;
  T *rows = reinterpret_cast<T*>(k.scratch), *lanes = rows + 16 * inputs,
    *results = lanes + 16 * inputs;
  // The activation's own kernel, of the results of a block.
  KernelArgs act;
  act.t[0] = act.t[1] = {reinterpret_cast<char*>(results), 1, outputs * 16, outputs * 16};
  act.ints[0] = k.ints[2];
  const Range r = share(blocks * y.rows, 1, k.worker, k.workers);
  for (i64 u = r.begin; u < r.end; ++u) {
    const i64 block = u / y.rows, count = min(16, cells - block * 16);
    gather_lanes(row<T>(x, u % y.rows), row<int>(at, 0) + block * 16, count, x.cols - inputs,
                 inputs, rows, lanes);
    const T *w = reinterpret_cast<const T*>(k.t[1].data) + block * outputs * inputs * 16,
            *bias =
                k.has[3] ? reinterpret_cast<const T*>(k.t[3].data) + block * outputs * 16 : nullptr;
    i64 o = 0;
    for (; o + 4 <= outputs; o += 4)
      cell_tile<T, 4>(lanes, w + o * inputs * 16, bias ? bias + o * 16 : nullptr, inputs,
                      results + o * 16);
    for (; o < outputs; ++o)
      cell_tile<T, 1>(lanes, w + o * inputs * 16, bias ? bias + o * 16 : nullptr, inputs,
                      results + o * 16);
    if (k.ints[2] != 0) activation<T>(act);
    transpose(results, 16, outputs, count, row<T>(y, u % y.rows) + block * 16 * outputs, outputs);
  }
}

}  // namespace loom::cpu::LOOM_ISA
