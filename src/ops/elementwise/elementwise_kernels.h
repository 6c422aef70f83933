// Ops that treat each element by itself.
#pragma once

#include "ops/cpu/vectors/rows.h"
#include "ops/cpu/vectors/simd.h"
#include "ops/elementwise/activation_ids.h"

namespace loom::cpu::LOOM_ISA {

template <class T>
static void add(const KernelArgs& k) {
  const TensorArg &x = k.t[0], &z = k.t[1], &y = k.t[2];
  each_element<T>(k, y, [&](i64 r, i64 c0, i64 c1) {
    const T *a = row<T>(x, r), *b = row<T>(z, r);
    T* o = row<T>(y, r);
    for (i64 c = c0; c < c1; ++c) o[c] = stored(a[c] + b[c]);
  });
}
template <class T>
static void mul(const KernelArgs& k) {
  const TensorArg &x = k.t[0], &z = k.t[1], &y = k.t[2];
  each_element<T>(k, y, [&](i64 r, i64 c0, i64 c1) {
    const T *a = row<T>(x, r), *b = row<T>(z, r);
    T* o = row<T>(y, r);
    for (i64 c = c0; c < c1; ++c) o[c] = stored(a[c] * b[c]);
  });
}
template <class T>
static void scale(const KernelArgs& k) {
  const TensorArg &x = k.t[0], &y = k.t[1];
  const T f = static_cast<T>(k.reals[0]);
  each_element<T>(k, y, [&](i64 r, i64 c0, i64 c1) {
    const T* a = row<T>(x, r);
    T* o = row<T>(y, r);
    for (i64 c = c0; c < c1; ++c) o[c] = stored(a[c] * f);
  });
}

// Activations; derivatives are taken at the input x. A NaN goes through, and so does the gradient
// at one, as in PyTorch.
template <class T>
static constexpr T kSqrt2OverPi = static_cast<T>(0.7978845608028653558799);
template <class T>
static constexpr T kInvSqrt2 = static_cast<T>(0.7071067811865475244008);
template <class T>
static constexpr T kInvSqrt2Pi = static_cast<T>(0.3989422804014326779399);
template <class T>
static constexpr T kGeluCube = static_cast<T>(0.044715);

template <class T, Activation A>
static inline T act(T x) {
  if constexpr (A == Activation::relu) return x <= 0 ? T(0) : x;
  else if constexpr (A == Activation::relu2) return x <= 0 ? T(0) : x * x;
  else if constexpr (A == Activation::leaky_relu)
    return x > 0 ? x : static_cast<T>(kLeakySlope) * x;
  else if constexpr (A == Activation::silu) return x * exact::sigmoid(x);
  else if constexpr (A == Activation::gelu_tanh)
    return (T(0.5) * x) * (T(1) + exact::tanh(kSqrt2OverPi<T> * (x + kGeluCube<T> * (x * x * x))));
  else if constexpr (A == Activation::gelu_erf)
    return (T(0.5) * x) * (T(1) + exact::erf(x * kInvSqrt2<T>));
  else if constexpr (A == Activation::tanh) return exact::tanh(x);
  else if constexpr (A == Activation::sigmoid) return exact::sigmoid(x);
  else if constexpr (A == Activation::softplus) return exact::softplus(x);
  else if constexpr (A == Activation::mish) return x * exact::tanh(exact::softplus(x));
  else return x;
}
template <class T, Activation A>
static inline T act_slope(T x) {
  if constexpr (A == Activation::relu) return x <= 0 ? T(0) : T(1);
  else if constexpr (A == Activation::relu2) return x <= 0 ? T(0) : x + x;
  else if constexpr (A == Activation::leaky_relu) return x > 0 ? T(1) : static_cast<T>(kLeakySlope);
  else if constexpr (A == Activation::silu) {
    const T s = exact::sigmoid(x);
    return s * (T(1) + x * (T(1) - s));
  } else if constexpr (A == Activation::gelu_tanh) {
    const T t = exact::tanh(kSqrt2OverPi<T> * (x + kGeluCube<T> * (x * x * x)));
    return T(0.5) * (T(1) + t) + (T(0.5) * x) * (T(1) - t * t) *
                                     (kSqrt2OverPi<T> * (T(1) + (T(3) * kGeluCube<T>)*(x * x)));
  } else if constexpr (A == Activation::gelu_erf) {
    return T(0.5) * (T(1) + exact::erf(x * kInvSqrt2<T>)) +
           x * (kInvSqrt2Pi<T> * exact::exp(T(-0.5) * (x * x)));
  } else if constexpr (A == Activation::tanh) {
    const T t = exact::tanh(x);
    return T(1) - t * t;
  } else if constexpr (A == Activation::sigmoid) {
    const T s = exact::sigmoid(x);
    return s * (T(1) - s);
  } else if constexpr (A == Activation::softplus) {
    return exact::sigmoid(x);
  } else if constexpr (A == Activation::mish) {
    const T t = exact::tanh(exact::softplus(x));
    return t + x * ((T(1) - t * t) * exact::sigmoid(x));
  } else {
    return T(1);
  }
}

template <class T, Activation A>
LOOM_FLATTEN static inline void act_rows(const KernelArgs& k) {
  const TensorArg &x = k.t[0], &y = k.t[1];
  each_element<T>(k, y, [&](i64 r, i64 c0, i64 c1) {
    const T* a = row<T>(x, r);
    T* o = row<T>(y, r);
    for (i64 c = c0; c < c1; ++c) o[c] = stored(act<T, A>(a[c]));
  });
}
template <class T, Activation A>
LOOM_FLATTEN static inline void act_back_rows(const KernelArgs& k) {
  const TensorArg &x = k.t[0], &gy = k.t[1], &gx = k.t[2];
  each_element<T>(k, gx, [&](i64 r, i64 c0, i64 c1) {
    const T *a = row<T>(x, r), *g = row<T>(gy, r);
    T* o = row<T>(gx, r);
    for (i64 c = c0; c < c1; ++c) o[c] = stored(g[c] * act_slope<T, A>(a[c]));
  });
}
#define LOOM_ACTIVATION(id, name) \
  case Activation::name: return LOOM_ROWS<T, Activation::name>(k);
template <class T>
static void activation(const KernelArgs& k) {
  switch (static_cast<Activation>(k.ints[0])) {
#define LOOM_ROWS act_rows
#include "ops/elementwise/activations.def"
#undef LOOM_ROWS
  }
}
template <class T>
static void activation_back(const KernelArgs& k) {
  switch (static_cast<Activation>(k.ints[0])) {
#define LOOM_ROWS act_back_rows
#include "ops/elementwise/activations.def"
#undef LOOM_ROWS
  }
}
#undef LOOM_ACTIVATION

template <class T>
LOOM_FLATTEN static void silu_mul(const KernelArgs& k) {
  const TensorArg &gate = k.t[0], &up = k.t[1], &y = k.t[2];
  each_element<T>(k, y, [&](i64 r, i64 c0, i64 c1) {
    const T *a = row<T>(gate, r), *b = row<T>(up, r);
    T* o = row<T>(y, r);
    for (i64 c = c0; c < c1; ++c) o[c] = stored(act<T, Activation::silu>(a[c]) * b[c]);
  });
}
template <class T>
static void silu_mul_back(const KernelArgs& k) {
  const TensorArg &gate = k.t[0], &up = k.t[1], &gy = k.t[2], &ggate = k.t[3], &gup = k.t[4];
  each_element<T>(k, gy, [&](i64 r, i64 c0, i64 c1) {
    const T *a = row<T>(gate, r), *b = row<T>(up, r), *g = row<T>(gy, r);
    T *oa = row<T>(ggate, r), *ob = row<T>(gup, r);
    for (i64 c = c0; c < c1; ++c) {
      const T s = exact::sigmoid(a[c]), silu = a[c] * s, slope = s * (T(1) + a[c] * (T(1) - s));
      const T da = (g[c] * b[c]) * slope, db = g[c] * silu;
      oa[c] = stored(da);
      ob[c] = stored(db);
    }
  });
}

// y = (x - mean) * scale by columns; with `missing`, what is not a number becomes 0.
template <class T>
static void standardize(const KernelArgs& k) {
  const TensorArg &x = k.t[0], &y = k.t[3];
  const T *mean = row<T>(k.t[1], 0), *factor = row<T>(k.t[2], 0);
  const bool missing = k.ints[0] != 0;
  each_element<T>(k, y, [&](i64 r, i64 c0, i64 c1) {
    const T* a = row<T>(x, r);
    T* o = row<T>(y, r);
    for (i64 c = c0; c < c1; ++c)
      o[c] = missing && a[c] != a[c] ? T(0) : stored((a[c] - mean[c]) * factor[c]);
  });
}
template <class T>
static void standardize_back(const KernelArgs& k) {
  const TensorArg &x = k.t[0], &gy = k.t[2], &gx = k.t[3];
  const T* factor = row<T>(k.t[1], 0);
  const bool missing = k.ints[0] != 0;
  each_element<T>(k, gx, [&](i64 r, i64 c0, i64 c1) {
    const T *a = row<T>(x, r), *g = row<T>(gy, r);
    T* o = row<T>(gx, r);
    for (i64 c = c0; c < c1; ++c) o[c] = missing && a[c] != a[c] ? T(0) : stored(g[c] * factor[c]);
  });
}

}  // namespace loom::cpu::LOOM_ISA
