// Statistics of channels over all rows: a channel is `inner` consecutive columns. Sums within a row
// by rule 4, over rows by rule 3.
#pragma once

#include "ops/cpu/vectors/rows.h"
#include "ops/cpu/vectors/simd.h"

namespace loom::cpu::LOOM_ISA {

// y = x * gain[c / inner] + bias[c / inner]
template <class T>
static void channel_affine(const KernelArgs& k) {
  const TensorArg &x = k.t[0], &y = k.t[3];
  const T *gain = k.has[1] ? row<T>(k.t[1], 0) : nullptr,
          *bias = k.has[2] ? row<T>(k.t[2], 0) : nullptr;
  const i64 inner = k.ints[0];
  each_element<T>(k, y, [&](i64 r, i64 c0, i64 c1) {
    const T* a = row<T>(x, r);
    T* o = row<T>(y, r);
    for (i64 c = c0; c < c1;) {
      const i64 channel = c / inner, end = min(c1, (channel + 1) * inner);
      const T g = gain ? gain[channel] : T(1), b = bias ? bias[channel] : T(0);
      for (; c < end; ++c) {
        T v = a[c];
        if (gain) v = v * g;
        if (bias) v = v + b;
        o[c] = stored(v);
      }
    }
  });
}

// Sum over rows of the sum within a row of f(first column, lanes).
template <class T, class F>
static inline T channel_sum(i64 rows, i64 inner, F f) {
  RowSum<T> sum;
  for (i64 r = 0; r < rows; ++r)
    sum.push(reduce_row<T>(inner, [&](i64 i, i64 lanes) { return f(r, i, lanes); }));
  return sum.total();
}

// Per channel: means, then biased variances, then unbiased variances (divided by one less).
template <class T>
static void channel_moments(const KernelArgs& k) {
  const TensorArg& x = k.t[0];
  const i64 inner = k.ints[0], channels = x.cols / inner, n = x.rows * inner;
  T* y = row<T>(k.t[1], 0);
  const Range c = share(channels, 16, k.worker, k.workers);
  for (i64 ch = c.begin; ch < c.end; ++ch) {
    auto value = [&](i64 r, i64 i, i64 lanes) {
      return load_lanes(row<T>(x, r) + ch * inner + i, lanes);
    };
    const T mean = stored(channel_sum<T>(x.rows, inner, value) / static_cast<T>(n));
    const T squares = channel_sum<T>(x.rows, inner, [&](i64 r, i64 i, i64 lanes) {
      V<T> v = value(r, i, lanes) - mean;
      if (lanes < 16)
        for (i64 j = lanes; j < 16; ++j) v.lane(j) = 0;
      return v * v;
    });
    y[ch] = mean;
    y[channels + ch] = stored(squares / static_cast<T>(n));
    y[2 * channels + ch] = stored(squares / static_cast<T>(n > 1 ? n - 1 : 1));
  }
}

// Per channel: sums of g, sums of g * x, then the means of both.
template <class T>
static void channel_sums(const KernelArgs& k) {
  const TensorArg &g = k.t[0], &x = k.t[1];
  const i64 inner = k.ints[0], channels = x.cols / inner, n = x.rows * inner;
  T* y = row<T>(k.t[2], 0);
  const Range c = share(channels, 16, k.worker, k.workers);
  for (i64 ch = c.begin; ch < c.end; ++ch) {
    auto value = [&](const TensorArg& t, i64 r, i64 i, i64 lanes) {
      return load_lanes(row<T>(t, r) + ch * inner + i, lanes);
    };
    const T sum = channel_sum<T>(x.rows, inner,
                                 [&](i64 r, i64 i, i64 lanes) { return value(g, r, i, lanes); });
    const T product = channel_sum<T>(x.rows, inner, [&](i64 r, i64 i, i64 lanes) {
      return value(g, r, i, lanes) * value(x, r, i, lanes);
    });
    y[ch] = stored(sum);
    y[channels + ch] = stored(product);
    y[2 * channels + ch] = stored(sum / static_cast<T>(n));
    y[3 * channels + ch] = stored(product / static_cast<T>(n));
  }
}

// (x - mean) / sqrt(variance + eps) * gain + bias as x * scale + shift.
template <class T>
static void fold_norm(const KernelArgs& k) {
  const T *mean = row<T>(k.t[0], 0), *variance = row<T>(k.t[1], 0),
          *gain = k.has[2] ? row<T>(k.t[2], 0) : nullptr,
          *bias = k.has[3] ? row<T>(k.t[3], 0) : nullptr;
  T *scale = row<T>(k.t[4], 0), *shift = row<T>(k.t[5], 0);
  const Range c = share(k.t[0].cols, 16, k.worker, k.workers);
  for (i64 i = c.begin; i < c.end; ++i) {
    T s = exact::rsqrt(variance[i] + static_cast<T>(k.reals[0]));
    if (gain) s = s * gain[i];
    scale[i] = stored(s);
    shift[i] = stored((bias ? bias[i] : T(0)) - mean[i] * s);
  }
}

// w += momentum * (value - w)
template <class T>
static void moving_average(const KernelArgs& k) {
  const T* value = row<T>(k.t[0], 0);
  T* w = row<T>(k.t[1], 0);
  const T momentum = static_cast<T>(k.reals[0]);
  const Range c = share(k.t[0].cols, 16, k.worker, k.workers);
  for (i64 i = c.begin; i < c.end; ++i) w[i] = stored(w[i] + momentum * (value[i] - w[i]));
}

}  // namespace loom::cpu::LOOM_ISA
