// Losses per row, and the gradients of their sum over rows.
#pragma once

#include "ops/cpu/vectors/exp_sum.h"
#include "ops/cpu/vectors/rows.h"

namespace loom::cpu::LOOM_ISA {

// -log softmax(logits)[target]; 0 for a target below 0.
template <class T>
static void cross_entropy(const KernelArgs& k) {
  const TensorArg &logits = k.t[0], &target = k.t[1], &loss = k.t[2];
  const Range r = share(logits.rows, 1, k.worker, k.workers);
  for (i64 i = r.begin; i < r.end; ++i) {
    const i64 t = *row<int>(target, i);
    if (t < 0 || t >= logits.cols) {
      *row<T>(loss, i) = 0;
      continue;
    }
    const T* x = row<T>(logits, i);
    const ExpSum<T> s = exp_sum(x, logits.cols);
    *row<T>(loss, i) = stored(T(0) - log_share(x[t], s.top, s.logarithm()));
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
    const T inverse = T(1) / exp_sum(x, n, o).sum;
    for (i64 c = 0; c < n; ++c) o[c] = stored(o[c] * inverse);
    o[t] = stored(o[t] - T(1));
  }
}

// -sum of target * log softmax(logits); a target of 0 adds nothing, whatever its logit.
template <class T>
static void soft_cross_entropy(const KernelArgs& k) {
  const TensorArg &logits = k.t[0], &target = k.t[1], &loss = k.t[2];
  const Range r = share(logits.rows, 1, k.worker, k.workers);
  for (i64 i = r.begin; i < r.end; ++i) {
    const T *x = row<T>(logits, i), *p = row<T>(target, i);
    const ExpSum<T> s = exp_sum(x, logits.cols);
    const T logarithm = s.logarithm();
    const T sum = reduce_row<T>(logits.cols, [&](i64 c, i64 lanes) {
      T e[16];
      for (i64 j = 0; j < 16; ++j)
        e[j] = j < lanes && p[c + j] != 0 ? p[c + j] * log_share(x[c + j], s.top, logarithm) : T(0);
      return load(e);
    });
    *row<T>(loss, i) = stored(T(0) - sum);
  }
}
// softmax(logits) * (sum of the targets) - target.
template <class T>
static void soft_cross_entropy_back(const KernelArgs& k) {
  const TensorArg &logits = k.t[0], &target = k.t[1], &g = k.t[2];
  const Range r = share(logits.rows, 1, k.worker, k.workers);
  for (i64 i = r.begin; i < r.end; ++i) {
    const i64 n = logits.cols;
    const T* p = row<T>(target, i);
    T* o = row<T>(g, i);
    const T total = reduce_row<T>(n, [&](i64 c, i64 lanes) { return load_lanes(p + c, lanes); });
    const T inverse = total / exp_sum(row<T>(logits, i), n, o).sum;
    for (i64 c = 0; c < n; ++c) o[c] = stored(stored(o[c] * inverse) - p[c]);
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

// Losses that are a mean over the columns of a term of (y, target), and their slopes. `Term` has
// `value`, which is `times` the term, and `slope`.
template <class T, template <class> class Term>
static void column_loss(const KernelArgs& k) {
  const TensorArg &y = k.t[0], &target = k.t[1], &loss = k.t[2];
  const T delta = static_cast<T>(k.reals[0]);
  const Range r = share(y.rows, 1, k.worker, k.workers);
  for (i64 i = r.begin; i < r.end; ++i) {
    const T *a = row<T>(y, i), *b = row<T>(target, i);
    const T sum = reduce_row<T>(y.cols, [&](i64 c, i64 lanes) {
      T e[16];
      for (i64 j = 0; j < 16; ++j)
        e[j] = j < lanes ? Term<T>::value(a[c + j], b[c + j], delta) : T(0);
      return load(e);
    });
    *row<T>(loss, i) = stored(sum / (Term<T>::times * static_cast<T>(y.cols)));
  }
}
template <class T, template <class> class Term>
static void column_loss_back(const KernelArgs& k) {
  const TensorArg &y = k.t[0], &target = k.t[1], &g = k.t[2];
  const T f = T(1) / static_cast<T>(y.cols), delta = static_cast<T>(k.reals[0]);
  each_row<T>(k, y, [&](i64 i) {
    const T *a = row<T>(y, i), *b = row<T>(target, i);
    T* o = row<T>(g, i);
    for (i64 c = 0; c < y.cols; ++c) o[c] = stored(f * Term<T>::slope(a[c], b[c], delta));
  });
}

// |y - target|; the slope at 0 is 0, as torch.nn.L1Loss.
template <class T>
struct MaeTerm {
  static constexpr T times = T(1);
  static inline T value(T y, T target, T) {
    const T d = y - target;
    return d < 0 ? -d : d;
  }
  static inline T slope(T y, T target, T) {
    const T d = y - target;
    return d > 0 ? T(1) : d < 0 ? T(-1) : d;
  }
};
// d^2 / 2 up to |d| = delta, from there on delta * (|d| - delta / 2), as torch.nn.HuberLoss. Twice
// that: halves of squares would be subnormal.
template <class T>
struct HuberTerm {
  static constexpr T times = T(2);
  static inline T value(T y, T target, T delta) {
    const T d = y - target, a = d < 0 ? -d : d;
    return a > delta ? delta * ((a + a) - delta) : d * d;
  }
  static inline T slope(T y, T target, T delta) {
    const T d = y - target;
    return d > delta ? delta : d < -delta ? -delta : d;
  }
};
// -target log(s) - (1 - target) log(1 - s) with s = sigmoid(y), written so that nothing overflows,
// as torch.nn.BCEWithLogitsLoss.
template <class T>
struct BceTerm {
  static constexpr T times = T(1);
  static inline T value(T y, T target, T) {
    return ((y > 0 ? y : T(0)) - y * target) + exact::softplus(y > 0 ? -y : y);
  }
  static inline T slope(T y, T target, T) { return exact::sigmoid(y) - target; }
};
template <class T>
static void mae(const KernelArgs& k) {
  column_loss<T, MaeTerm>(k);
}
template <class T>
static void mae_back(const KernelArgs& k) {
  column_loss_back<T, MaeTerm>(k);
}
template <class T>
static void huber(const KernelArgs& k) {
  column_loss<T, HuberTerm>(k);
}
template <class T>
static void huber_back(const KernelArgs& k) {
  column_loss_back<T, HuberTerm>(k);
}
template <class T>
static void bce(const KernelArgs& k) {
  column_loss<T, BceTerm>(k);
}
template <class T>
static void bce_back(const KernelArgs& k) {
  column_loss_back<T, BceTerm>(k);
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

}  // namespace loom::cpu::LOOM_ISA
