// Ops that treat each element, or each row's place, by itself.

template <class T, class F>
static inline void each_row(const KernelArgs& k, const TensorArg& y, F f) {
  const Range r = share(y.rows, 1, k.worker, k.workers);
  for (i64 i = r.begin; i < r.end; ++i) f(i);
}
// Few rows, many columns (decoding) are split by columns, so that all workers have work. schedule.cpp relies on the cut.
template <class T, class F>
static inline void each_element(const KernelArgs& k, const TensorArg& y, F f) {
  const bool by_rows = y.rows >= k.workers;  // one call of f: it is inlined once
  const Range r = by_rows ? share(y.rows, 1, k.worker, k.workers) : Range{0, y.rows}, c = by_rows ? Range{0, y.cols} : share(y.cols, 16, k.worker, k.workers);
  for (i64 i = r.begin; i < r.end; ++i) f(i, c.begin, c.end);
}

template <class T>
static void fill(const KernelArgs& k) {
  const TensorArg& y = k.t[0];
  const T v = stored(static_cast<T>(k.reals[0]));
  each_element<T>(k, y, [&](i64 r, i64 c0, i64 c1) { for (i64 c = c0; c < c1; ++c) row<T>(y, r)[c] = v; });
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
// y = x * gain[c / inner] + bias[c / inner]
template <class T>
static void channel_affine(const KernelArgs& k) {
  const TensorArg &x = k.t[0], &y = k.t[3];
  const T *gain = k.has[1] ? row<T>(k.t[1], 0) : nullptr, *bias = k.has[2] ? row<T>(k.t[2], 0) : nullptr;
  const i64 inner = k.ints[0];
  each_element<T>(k, y, [&](i64 r, i64 c0, i64 c1) {
    const T* a = row<T>(x, r);
    T* o = row<T>(y, r);
    for (i64 c = c0; c < c1;) {
      const i64 channel = c / inner, end = least(c1, (channel + 1) * inner);
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
template <class From, class To>
static void convert(const KernelArgs& k) {
  const TensorArg &x = k.t[0], &y = k.t[1];
  each_element<To>(k, y, [&](i64 r, i64 c0, i64 c1) {
    const From* a = row<From>(x, r);
    To* o = row<To>(y, r);
    for (i64 c = c0; c < c1; ++c) o[c] = stored(static_cast<To>(a[c]));
  });
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

// Activations; derivatives are taken at the input x.
enum class Act { linear, relu, relu2, leaky_relu, silu, gelu_tanh, gelu_erf, tanh, sigmoid, softplus, mish };

template <class T>
static constexpr T kSqrt2OverPi = static_cast<T>(0.7978845608028653558799);
template <class T>
static constexpr T kInvSqrt2 = static_cast<T>(0.7071067811865475244008);
template <class T>
static constexpr T kInvSqrt2Pi = static_cast<T>(0.3989422804014326779399);
template <class T>
static constexpr T kGeluCube = static_cast<T>(0.044715);

template <class T, Act A>
static inline T act(T x) {
  if constexpr (A == Act::relu) return x > 0 ? x : T(0);
  else if constexpr (A == Act::relu2) return x > 0 ? x * x : T(0);
  else if constexpr (A == Act::leaky_relu) return x > 0 ? x : static_cast<T>(0.01f) * x;
  else if constexpr (A == Act::silu) return x * exact::sigmoid(x);
  else if constexpr (A == Act::gelu_tanh) return (T(0.5) * x) * (T(1) + exact::tanh(kSqrt2OverPi<T> * (x + kGeluCube<T> * (x * x * x))));
  else if constexpr (A == Act::gelu_erf) return (T(0.5) * x) * (T(1) + exact::erf(x * kInvSqrt2<T>));
  else if constexpr (A == Act::tanh) return exact::tanh(x);
  else if constexpr (A == Act::sigmoid) return exact::sigmoid(x);
  else if constexpr (A == Act::softplus) return exact::softplus(x);
  else if constexpr (A == Act::mish) return x * exact::tanh(exact::softplus(x));
  else return x;
}
template <class T, Act A>
static inline T act_slope(T x) {
  if constexpr (A == Act::relu) return x > 0 ? T(1) : T(0);
  else if constexpr (A == Act::relu2) return x > 0 ? x + x : T(0);
  else if constexpr (A == Act::leaky_relu) return x > 0 ? T(1) : static_cast<T>(0.01f);
  else if constexpr (A == Act::silu) {
    const T s = exact::sigmoid(x);
    return s * (T(1) + x * (T(1) - s));
  } else if constexpr (A == Act::gelu_tanh) {
    const T t = exact::tanh(kSqrt2OverPi<T> * (x + kGeluCube<T> * (x * x * x)));
    return T(0.5) * (T(1) + t) + (T(0.5) * x) * (T(1) - t * t) * (kSqrt2OverPi<T> * (T(1) + (T(3) * kGeluCube<T>) * (x * x)));
  } else if constexpr (A == Act::gelu_erf) {
    return T(0.5) * (T(1) + exact::erf(x * kInvSqrt2<T>)) + x * (kInvSqrt2Pi<T> * exact::exp(T(-0.5) * (x * x)));
  } else if constexpr (A == Act::tanh) {
    const T t = exact::tanh(x);
    return T(1) - t * t;
  } else if constexpr (A == Act::sigmoid) {
    const T s = exact::sigmoid(x);
    return s * (T(1) - s);
  } else if constexpr (A == Act::softplus) {
    return exact::sigmoid(x);
  } else if constexpr (A == Act::mish) {
    const T t = exact::tanh(exact::softplus(x));
    return t + x * ((T(1) - t * t) * exact::sigmoid(x));
  } else {
    return T(1);
  }
}

template <class T, Act A>
LOOM_FLATTEN static inline void act_rows(const KernelArgs& k) {
  const TensorArg &x = k.t[0], &y = k.t[1];
  each_element<T>(k, y, [&](i64 r, i64 c0, i64 c1) {
    const T* a = row<T>(x, r);
    T* o = row<T>(y, r);
    for (i64 c = c0; c < c1; ++c) o[c] = stored(act<T, A>(a[c]));
  });
}
template <class T, Act A>
LOOM_FLATTEN static inline void act_back_rows(const KernelArgs& k) {
  const TensorArg &x = k.t[0], &gy = k.t[1], &gx = k.t[2];
  each_element<T>(k, gx, [&](i64 r, i64 c0, i64 c1) {
    const T *a = row<T>(x, r), *g = row<T>(gy, r);
    T* o = row<T>(gx, r);
    for (i64 c = c0; c < c1; ++c) o[c] = stored(g[c] * act_slope<T, A>(a[c]));
  });
}
#define LOOM_ACT_SWITCH(function)                                        \
  switch (static_cast<Act>(k.ints[0])) {                                 \
    case Act::linear: return function<T, Act::linear>(k);                \
    case Act::relu: return function<T, Act::relu>(k);                    \
    case Act::relu2: return function<T, Act::relu2>(k);                  \
    case Act::leaky_relu: return function<T, Act::leaky_relu>(k);        \
    case Act::silu: return function<T, Act::silu>(k);                    \
    case Act::gelu_tanh: return function<T, Act::gelu_tanh>(k);          \
    case Act::gelu_erf: return function<T, Act::gelu_erf>(k);            \
    case Act::tanh: return function<T, Act::tanh>(k);                    \
    case Act::sigmoid: return function<T, Act::sigmoid>(k);              \
    case Act::softplus: return function<T, Act::softplus>(k);            \
    case Act::mish: return function<T, Act::mish>(k);                    \
  }
template <class T>
static void activation(const KernelArgs& k) { LOOM_ACT_SWITCH(act_rows) }
template <class T>
static void activation_back(const KernelArgs& k) { LOOM_ACT_SWITCH(act_back_rows) }
#undef LOOM_ACT_SWITCH

template <class T>
LOOM_FLATTEN static void silu_mul(const KernelArgs& k) {
  const TensorArg &gate = k.t[0], &up = k.t[1], &y = k.t[2];
  each_element<T>(k, y, [&](i64 r, i64 c0, i64 c1) {
    const T *a = row<T>(gate, r), *b = row<T>(up, r);
    T* o = row<T>(y, r);
    for (i64 c = c0; c < c1; ++c) o[c] = stored(act<T, Act::silu>(a[c]) * b[c]);
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
    for (i64 c = c0; c < c1; ++c) o[c] = missing && a[c] != a[c] ? T(0) : stored((a[c] - mean[c]) * factor[c]);
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

// Pairs (i, i + head_dim/2) of each head turn by the angle of the row's position; inverse turns back (the gradient).
template <class T>
static void rope(const KernelArgs& k) {
  const TensorArg &x = k.t[0], &pos = k.t[1], &table = k.t[2], &y = k.t[3];
  const i64 hd = k.ints[0], half = hd / 2, heads = y.cols / hd;
  const T sign = k.ints[1] ? T(-1) : T(1);
  const Range r = share(y.rows * heads, 1, k.worker, k.workers);
  for (i64 u = r.begin; u < r.end; ++u) {
    const i64 i = u / heads, h = u % heads;
    i64 p = *row<unsigned>(pos, i);
    if (p >= table.rows) p = table.rows - 1;
    const T *cosine = row<T>(table, p), *sine = cosine + half, *a = row<T>(x, i) + h * hd;
    T* o = row<T>(y, i) + h * hd;
    for (i64 j = 0; j < half; ++j) {
      const T s = sign * sine[j], lo = a[j], hi = a[j + half];
      o[j] = stored(lo * cosine[j] - hi * s);
      o[j + half] = stored(hi * cosine[j] + lo * s);
    }
  }
}
