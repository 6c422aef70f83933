// Losses per row, and the gradients of their sum over rows.

template <class T>
static constexpr T kLn2 = static_cast<T>(0.693147180559945309417);

// The largest k of a row and the sum of m * 2^(k - top) by rule 5.
template <class T>
struct ExpSum {
  int top;
  T sum;
};
template <class T>
static inline ExpSum<T> exp_sum(const T* x, i64 n) {
  int top = -1000000;
  for (i64 i = 0; i < n; ++i) {
    const int k = exact::exp_parts(x[i]).k;
    top = k > top ? k : top;
  }
  const T sum = reduce_row<T>(n, [&](i64 i, i64 lanes) {
    T e[16];
    for (i64 j = 0; j < 16; ++j) e[j] = 0;
    for (i64 j = 0; j < least(16, lanes); ++j) {
      const auto parts = exact::exp_parts(x[i + j]);
      e[j] = rescale(parts.m, parts.k, top);
    }
    return load(e);
  });
  return {top, sum};
}

// -log softmax(logits)[target]; 0 for a target below 0.
template <class T>
static void cross_entropy(const KernelArgs& k) {
  const TensorArg &logits = k.t[0], &target = k.t[1], &loss = k.t[2];
  const Range r = share(logits.rows, 1, k.worker, k.workers);
  for (i64 i = r.begin; i < r.end; ++i) {
    const i64 t = *row<int>(target, i);
    if (t < 0 || t >= logits.cols) { *row<T>(loss, i) = 0; continue; }
    const ExpSum<T> s = exp_sum(row<T>(logits, i), logits.cols);
    *row<T>(loss, i) = stored((exact::log(s.sum) + static_cast<T>(s.top) * kLn2<T>) - row<T>(logits, i)[t]);
  }
}
template <class T>
static void cross_entropy_back(const KernelArgs& k) {
  const TensorArg &logits = k.t[0], &target = k.t[1], &g = k.t[2];
  const Range r = share(logits.rows, 1, k.worker, k.workers);
  for (i64 i = r.begin; i < r.end; ++i) {
    const i64 t = *row<int>(target, i), n = logits.cols;
    const T* x = row<T>(logits, i);
    T* o = row<T>(g, i);
    if (t < 0 || t >= n) {
      for (i64 c = 0; c < n; ++c) o[c] = 0;
      continue;
    }
    const ExpSum<T> s = exp_sum(x, n);
    const T inverse = T(1) / s.sum;
    for (i64 c = 0; c < n; ++c) {
      const auto parts = exact::exp_parts(x[c]);
      o[c] = stored(rescale(parts.m, parts.k, s.top) * inverse);
    }
    o[t] = stored(o[t] - T(1));
  }
}

// Mean over the columns of (y - target)^2.
template <class T>
static void mse(const KernelArgs& k) {
  const TensorArg &y = k.t[0], &target = k.t[1], &loss = k.t[2];
  const Range r = share(y.rows, 1, k.worker, k.workers);
  for (i64 i = r.begin; i < r.end; ++i) {
    const T *a = row<T>(y, i), *b = row<T>(target, i);
    const T sum = reduce_row<T>(y.cols, [&](i64 c, i64 lanes) {
      const V<T> d = load_lanes(a + c, lanes) - load_lanes(b + c, lanes);
      return d * d;
    });
    *row<T>(loss, i) = stored(sum / static_cast<T>(y.cols));
  }
}
template <class T>
static void mse_back(const KernelArgs& k) {
  const TensorArg &y = k.t[0], &target = k.t[1], &g = k.t[2];
  const T f = T(2) / static_cast<T>(y.cols);
  each_row<T>(k, y, [&](i64 i) {
    const T *a = row<T>(y, i), *b = row<T>(target, i);
    T* o = row<T>(g, i);
    for (i64 c = 0; c < y.cols; ++c) o[c] = stored(f * (a[c] - b[c]));
  });
}

template <class T>
static void sum_rows(const KernelArgs& k) {
  if (k.worker != 0) return;
  const TensorArg& x = k.t[0];
  *row<T>(k.t[1], 0) = reduce_row<T>(x.rows, [&](i64 i, i64 lanes) {
    T e[16];
    for (i64 j = 0; j < 16; ++j) e[j] = j < lanes ? *row<T>(x, i + j) : T(0);
    return load(e);
  });
}
