// Gradient accumulation, clipping and the optimizers. `scale` is 1/N times the clip factor, as a one-element tensor.

// Micro-batch number `micro` joins the binary counter of sums (rule 4): level l of `levels` holds a pending sum of 2^l micro-batches.
// The last one folds what is pending into `total`, which the optimizer reads.
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

// total (+)= sum of squares of all elements by rule 5 over the row-major index.
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
      if (c == g.cols) { c = 0; ++r; }
    } else {
      for (i64 j = 0; j < least(16, lanes); ++j) {
        v.lane(j) = row<T>(g, r)[c];
        if (++c == g.cols) { c = 0; ++r; }
      }
    }
    return v * v;
  });
  T* to = row<T>(total, 0);
  *to = k.ints[0] ? *to + sum : sum;
}

// scale = 1/N, times max_norm / (norm + 1e-6) where the mean gradient's norm is above max_norm (0: no clipping), as torch.nn.utils.clip_grad_norm_.
template <class T>
static void clip_scale(const KernelArgs& k) {
  if (k.worker != 0) return;
  const T inv_n = static_cast<T>(k.f32s[0]), limit = static_cast<T>(k.reals[0]);
  T s = inv_n;
  if (k.has[0] && limit > 0) {
    const T norm = exact::sqrt(*row<T>(k.t[0], 0)) * inv_n, factor = limit / (norm + static_cast<T>(1e-6));
    if (factor < T(1)) s = inv_n * factor;
  }
  *row<T>(k.t[1], 0) = s;
}

// Weights and moments are finer than other values: f32 is kept down to 2^-100, and a gradient that is squared down to 2^-50 (rule 9).
template <class T>
static inline T kept(T x) { return stored_above<-100>(x); }

// velocity = momentum * velocity + (g + weight_decay * w); w -= lr * velocity (torch.optim.SGD).
template <class T>
static void sgd(const KernelArgs& k) {
  const TensorArg &g = k.t[0], &w = k.t[2], &velocity = k.t[3];
  const T s = *row<T>(k.t[1], 0), momentum = static_cast<T>(k.reals[0]), decay = static_cast<T>(k.reals[1]), lr = static_cast<T>(k.f32s[0]);
  each_element<T>(k, w, [&](i64 r, i64 c0, i64 c1) {
    const T* a = row<T>(g, r);
    T *o = row<T>(w, r), *u = k.has[3] ? row<T>(velocity, r) : nullptr;
    for (i64 c = c0; c < c1; ++c) {
      T d = stored_above<-50>(a[c] * s) + decay * o[c];
      if (u) u[c] = d = kept(momentum * u[c] + d);
      o[c] = kept(o[c] - lr * d);
    }
  });
}

// AdamW (Loshchilov and Hutter, arXiv 1711.05101; torch.optim.AdamW): correction1 = 1/(1 - beta1^t), correction2 = 1/(1 - beta2^t).
template <class T>
static void adamw(const KernelArgs& k) {
  const TensorArg &g = k.t[0], &w = k.t[2], &first = k.t[3], &second = k.t[4];
  const T s = *row<T>(k.t[1], 0), b1 = static_cast<T>(k.reals[0]), b2 = static_cast<T>(k.reals[1]), eps = static_cast<T>(k.reals[2]);
  const T lr = static_cast<T>(k.f32s[0]), c1 = static_cast<T>(k.f32s[1]), c2 = static_cast<T>(k.f32s[2]);
  const T keep = T(1) - lr * static_cast<T>(k.reals[3]), r1 = T(1) - b1, r2 = T(1) - b2;
  each_element<T>(k, w, [&](i64 r, i64 from, i64 to) {
    const T* a = row<T>(g, r);
    T *o = row<T>(w, r), *m = row<T>(first, r), *v = row<T>(second, r);
    for (i64 c = from; c < to; ++c) {
      const T d = stored_above<-50>(a[c] * s), mean = kept(b1 * m[c] + r1 * d), square = kept(b2 * v[c] + r2 * (d * d));
      m[c] = mean;
      v[c] = square;
      o[c] = kept(o[c] * keep - lr * ((mean * c1) / (exact::sqrt(square * c2) + eps)));
    }
  });
}
