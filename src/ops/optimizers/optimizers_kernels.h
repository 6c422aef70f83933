// Gradient accumulation, clipping and the optimizers. `scale` is 1/N times the clip factor, as a
// one-element tensor.
#pragma once

#include "ops/cpu/vectors/rows.h"
#include "ops/cpu/vectors/simd.h"

namespace loom::cpu::LOOM_ISA {

// Micro-batch number `micro` joins the binary counter of sums (rule 3): level l of `levels` holds a
// pending sum of 2^l micro-batches. The last one folds what is pending into `total`, which the
// optimizer reads.
template <class T>
static void grad_merge(const KernelArgs& k) {
  const TensorArg &g = k.t[0], &levels = k.t[1], &total = k.t[2];
  const i64 rows = g.rows, count = k.ints[0];
  const unsigned micro = k.u32s[0];
  const Range r = share(rows, 1, k.worker, k.workers);
  for (i64 i = r.begin; i < r.end; ++i) {
    for (i64 c = 0; c < g.cols; ++c) {
      T v = row<T>(g, i)[c];
      int level = 0;
      for (; micro >> level & 1; ++level) v = row<T>(levels, level * rows + i)[c] + v;
      if (micro + 1 < count) {
        row<T>(levels, level * rows + i)[c] = stored(v);
      } else {
        // The sums pending above are older, so they stand to the left, the youngest first.
        for (++level; micro >> level != 0; ++level)
          if (micro >> level & 1) v = row<T>(levels, level * rows + i)[c] + v;
        row<T>(total, i)[c] = stored(v);
      }
    }
  }
}

// total (+)= sum of squares of all elements by rule 4 over the row-major index.
template <class T>
static void sum_squares(const KernelArgs& k) {
  if (k.worker != 0) return;
  const TensorArg &g = k.t[0], &total = k.t[1];
  const i64 n = g.rows * g.cols;
  i64 r = 0, c = 0;  // where element i lies
  const T sum = reduce_row<T>(n, [&](i64, i64 lanes) {
    V<T> v = {};
    if (c + 16 <= g.cols) {
      v = load(row<T>(g, r) + c);
      c += 16;
      if (c == g.cols) {
        c = 0;
        ++r;
      }
    } else {
      for (i64 j = 0; j < min(16, lanes); ++j) {
        v.lane(j) = row<T>(g, r)[c];
        if (++c == g.cols) {
          c = 0;
          ++r;
        }
      }
    }
    return v * v;
  });
  T* to = row<T>(total, 0);
  *to = k.ints[0] ? *to + sum : sum;
}

// scale = 1/N, times max_norm / (norm + 1e-6) where the mean gradient's norm is above max_norm (0:
// no clipping), as torch.nn.utils.clip_grad_norm_.
template <class T>
static void clip_scale(const KernelArgs& k) {
  if (k.worker != 0) return;
  const T inv_n = static_cast<T>(k.register_reals[0]), limit = static_cast<T>(k.reals[0]);
  T s = inv_n;
  if (k.has[0] && limit > 0) {
    const T norm = exact::sqrt(*row<T>(k.t[0], 0)) * inv_n,
            factor = limit / (norm + static_cast<T>(1e-6));
    if (factor < T(1)) s = inv_n * factor;
  }
  *row<T>(k.t[1], 0) = s;
}

// Weights and moments are finer than other values: f32 is kept down to 2^-100, and a gradient that
// is squared down to 2^-50 (rule 8).
template <class T>
static inline T kept(T x) {
  return stored_above<-100>(x);
}

// velocity = momentum * velocity + (g + weight_decay * w); w -= lr * velocity (torch.optim.SGD).
// Not inlined: gcc forgets __restrict then, and does not vectorize.
template <class T>
__attribute__((noinline)) static void sgd_run(const T* __restrict g, i64 n, T s, T decay, T lr,
                                              T* __restrict w) {
  for (i64 c = 0; c < n; ++c) w[c] = kept(w[c] - lr * (stored_above<-50>(g[c] * s) + decay * w[c]));
}
template <class T>
__attribute__((noinline)) static void sgd_run(const T* __restrict g, i64 n, T s, T decay, T lr,
                                              T momentum, T* __restrict w, T* __restrict velocity) {
  for (i64 c = 0; c < n; ++c) {
    const T v = kept(momentum * velocity[c] + (stored_above<-50>(g[c] * s) + decay * w[c]));
    velocity[c] = v;
    w[c] = kept(w[c] - lr * v);
  }
}
template <class T>
static void sgd(const KernelArgs& k) {
  const TensorArg &g = k.t[0], &w = k.t[2], &velocity = k.t[3];
  const T s = *row<T>(k.t[1], 0), momentum = static_cast<T>(k.reals[0]),
          decay = static_cast<T>(k.reals[1]), lr = static_cast<T>(k.register_reals[0]);
  each_element<T>(k, w, [&](i64 r, i64 c0, i64 c1) {
    if (k.has[3])
      sgd_run(row<T>(g, r) + c0, c1 - c0, s, decay, lr, momentum, row<T>(w, r) + c0,
              row<T>(velocity, r) + c0);
    else sgd_run(row<T>(g, r) + c0, c1 - c0, s, decay, lr, row<T>(w, r) + c0);
  });
}

// AdamW (Loshchilov and Hutter, arXiv 1711.05101; torch.optim.AdamW): correction1 = 1/(1 -
// beta1^t), correction2 = 1/(1 - beta2^t).
template <class T>
static void adamw(const KernelArgs& k) {
  const TensorArg &g = k.t[0], &w = k.t[2], &first = k.t[3], &second = k.t[4];
  const T s = *row<T>(k.t[1], 0), b1 = static_cast<T>(k.reals[0]), b2 = static_cast<T>(k.reals[1]),
          eps = static_cast<T>(k.reals[2]);
  const T lr = static_cast<T>(k.register_reals[0]), c1 = static_cast<T>(k.register_reals[1]),
          c2 = static_cast<T>(k.register_reals[2]);
  const T keep = T(1) - lr * static_cast<T>(k.reals[3]), r1 = T(1) - b1, r2 = T(1) - b2;
  each_element<T>(k, w, [&](i64 r, i64 from, i64 to) {
    const T* a = row<T>(g, r);
    T *o = row<T>(w, r), *m = row<T>(first, r), *v = row<T>(second, r);
    for (i64 c = from; c < to; ++c) {
      const T d = stored_above<-50>(a[c] * s), mean = kept(b1 * m[c] + r1 * d),
              square = kept(b2 * v[c] + r2 * (d * d));
      m[c] = mean;
      v[c] = square;
      o[c] = kept(o[c] * keep - lr * ((mean * c1) / (exact::sqrt(square * c2) + eps)));
    }
  });
}

// Adam (Kingma and Ba, arXiv 1412.6980). ints: coupled: weight_decay * w is added to the gradient
// (torch.optim.Adam), else taken from w as in AdamW; uncorrected: eps stands beside the root of the
// second moment as it is, the paper's "epsilon hat" (keras.optimizers.Adam).
template <class T>
static void adam(const KernelArgs& k) {
  const TensorArg &g = k.t[0], &w = k.t[2], &first = k.t[3], &second = k.t[4];
  const T s = *row<T>(k.t[1], 0), b1 = static_cast<T>(k.reals[0]), b2 = static_cast<T>(k.reals[1]),
          decay = static_cast<T>(k.reals[3]);
  const T lr = static_cast<T>(k.register_reals[0]), c1 = static_cast<T>(k.register_reals[1]),
          c2 = static_cast<T>(k.register_reals[2]);
  const bool coupled = k.ints[0] != 0;
  const T eps = static_cast<T>(k.reals[2]) * (k.ints[1] ? exact::sqrt(c2) : T(1));
  const T keep = coupled ? T(1) : T(1) - lr * decay, r1 = T(1) - b1, r2 = T(1) - b2;
  each_element<T>(k, w, [&](i64 r, i64 from, i64 to) {
    const T* a = row<T>(g, r);
    T *o = row<T>(w, r), *m = row<T>(first, r), *v = row<T>(second, r);
    for (i64 c = from; c < to; ++c) {
      T d = stored_above<-50>(a[c] * s);
      if (coupled) d = stored_above<-50>(d + decay * o[c]);
      const T mean = kept(b1 * m[c] + r1 * d), square = kept(b2 * v[c] + r2 * (d * d));
      m[c] = mean;
      v[c] = square;
      o[c] = kept(o[c] * keep - lr * ((mean * c1) / (exact::sqrt(square * c2) + eps)));
    }
  });
}

// Nesterov's momentum as torch.optim.SGD(nesterov=True): w -= lr * (d + momentum * velocity), d
// with its decay.
template <class T>
static void sgd_nesterov(const KernelArgs& k) {
  const TensorArg &g = k.t[0], &w = k.t[2], &velocity = k.t[3];
  const T s = *row<T>(k.t[1], 0), momentum = static_cast<T>(k.reals[0]),
          decay = static_cast<T>(k.reals[1]), lr = static_cast<T>(k.register_reals[0]);
  each_element<T>(k, w, [&](i64 r, i64 from, i64 to) {
    const T* a = row<T>(g, r);
    T *o = row<T>(w, r), *u = row<T>(velocity, r);
    for (i64 c = from; c < to; ++c) {
      const T d = stored_above<-50>(a[c] * s) + decay * o[c];
      u[c] = kept(momentum * u[c] + d);
      o[c] = kept(o[c] - lr * kept(d + momentum * u[c]));
    }
  });
}

// RMSProp (Hinton, Coursera lecture 6e; Graves, arXiv 1308.0850, for the centered form;
// torch.optim.RMSprop). The centered variance is kept from going below 0.
template <class T>
static void rmsprop(const KernelArgs& k) {
  const TensorArg &g = k.t[0], &w = k.t[2], &second = k.t[3], &first = k.t[4], &velocity = k.t[5];
  const T s = *row<T>(k.t[1], 0), alpha = static_cast<T>(k.reals[0]),
          eps = static_cast<T>(k.reals[1]), momentum = static_cast<T>(k.reals[2]),
          decay = static_cast<T>(k.reals[3]);
  const T lr = static_cast<T>(k.register_reals[0]), rest = T(1) - alpha;
  each_element<T>(k, w, [&](i64 r, i64 from, i64 to) {
    const T* a = row<T>(g, r);
    T *o = row<T>(w, r), *v = row<T>(second, r), *m = k.has[4] ? row<T>(first, r) : nullptr,
      *u = k.has[5] ? row<T>(velocity, r) : nullptr;
    for (i64 c = from; c < to; ++c) {
      const T d = stored_above<-50>(stored_above<-50>(a[c] * s) + decay * o[c]);
      T variance = v[c] = kept(alpha * v[c] + rest * (d * d));
      if (m) {
        const T mean = m[c] = kept(alpha * m[c] + rest * d);
        variance = variance - mean * mean;
        variance = variance < 0 ? T(0) : variance;
      }
      T step = kept(d / (exact::sqrt(variance) + eps));
      if (u) u[c] = step = kept(momentum * u[c] + step);
      o[c] = kept(o[c] - lr * step);
    }
  });
}

// Lion (Chen et al., arXiv 2302.06675, algorithm 2): the sign of an interpolation of momentum and
// gradient, decay apart from it.
template <class T>
static void lion(const KernelArgs& k) {
  const TensorArg &g = k.t[0], &w = k.t[2], &first = k.t[3];
  const T s = *row<T>(k.t[1], 0), b1 = static_cast<T>(k.reals[0]), b2 = static_cast<T>(k.reals[1]),
          lr = static_cast<T>(k.register_reals[0]);
  const T keep = T(1) - lr * static_cast<T>(k.reals[2]), r1 = T(1) - b1, r2 = T(1) - b2;
  each_element<T>(k, w, [&](i64 r, i64 from, i64 to) {
    const T* a = row<T>(g, r);
    T *o = row<T>(w, r), *m = row<T>(first, r);
    for (i64 c = from; c < to; ++c) {
      const T d = stored_above<-50>(a[c] * s), way = kept(b1 * m[c] + r1 * d);
      m[c] = kept(b2 * m[c] + r2 * d);
      o[c] = kept(o[c] * keep - (way > 0 ? lr : way < 0 ? -lr : way));
    }
  });
}

}  // namespace loom::cpu::LOOM_ISA
