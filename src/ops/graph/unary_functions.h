// The elementwise functions of graphs and their slopes, for kernels. Kinds: kinds.h.
#pragma once

#include "ops/cpu/vectors/rows.h"
#include "ops/cpu/vectors/simd.h"
#include "ops/graph/kind_ids.h"

namespace loom::cpu::LOOM_ISA {

template <class T>
static constexpr T kInvSqrtPi = static_cast<T>(0.5641895835477562869481);

// Toward zero; numbers this large have no fraction.
template <class T>
static inline T truncated(T x) {
  constexpr T kWhole = sizeof(T) == 8 ? T(4503599627370496.0) : T(8388608.0);
  if (!(x < kWhole && x > -kWhole)) return x;
  return static_cast<T>(static_cast<i64>(x));
}
template <class T>
static inline T floored(T x) {
  const T t = truncated(x);
  return t > x ? t - T(1) : t;
}
// To nearest, ties to even.
template <class T>
static inline T rounded(T x) {
  const T low = floored(x), rest = x - low;
  if (rest != T(0.5)) return rest > T(0.5) ? low + T(1) : low;
  return low - T(2) * floored(low * T(0.5)) != T(0) ? low + T(1) : low;
}

static inline unsigned bits_of(float x) { return __builtin_bit_cast(unsigned, x); }
static inline unsigned long long bits_of(double x) {
  return __builtin_bit_cast(unsigned long long, x);
}
// To the nearest number with so many bits of mantissa, ties to even; below 2^least the steps no
// longer shrink. Magnitudes beyond `limit` count as it; NaN stays. Without branches: adding the
// number whose last bit is a step of x rounds to steps, and it is x's power of two shifted.
template <int kBits, int kMin, class T>
static inline T to_few_bits(T x, T limit) {
  using Bits = decltype(bits_of(x));
  constexpr int kMantissa = sizeof(T) == 8 ? 52 : 23;
  constexpr Bits kSign = Bits(1) << (8 * sizeof(T) - 1), kExponent = kSign - (Bits(1) << kMantissa);
  const Bits sign = bits_of(x) & kSign;
  T a = __builtin_bit_cast(T, bits_of(x) ^ sign);
  a = a < limit ? a : limit;
  T power = __builtin_bit_cast(T, bits_of(a) & kExponent);
  constexpr T kNormal = T(1) / static_cast<T>(1 << -kMin);
  power = power > kNormal ? power : kNormal;
  const T steps = power * static_cast<T>(Bits(1) << (kMantissa - kBits));
  a = (a + steps) - steps;
  a = __builtin_bit_cast(T, bits_of(a) | sign);
  return x == x ? a : x;
}
template <class T>
static inline T to_fp8e4m3(T x) {
  return to_few_bits<3, -6>(x, T(448));
}
template <class T>
static inline T to_fp8e5m2(T x) {
  const T y = to_few_bits<2, -14>(x, T(131072)), inf = __builtin_inff();
  return y > T(57344) ? inf : y < T(-57344) ? -inf : y;
}

template <class T>
static inline T unary_of(Unary kind, T x, T a, T b) {
  switch (kind) {
    case Unary::abs: return x < 0 ? -x : x;
    case Unary::neg: return -x;
    case Unary::sqrt: return exact::sqrt(x);
    case Unary::reciprocal: return T(1) / x;
    case Unary::exp: return exact::exp(x);
    case Unary::log: return exact::log(x);
    case Unary::floor: return floored(x);
    case Unary::ceil: return -floored(-x);
    case Unary::round: return rounded(x);
    case Unary::sign: return x > 0 ? T(1) : x < 0 ? T(-1) : x;
    case Unary::erf: return exact::erf(x);
    case Unary::elu: return x > 0 ? x : a * (exact::exp(x) - T(1));
    case Unary::selu: return b * (x > 0 ? x : a * (exact::exp(x) - T(1)));
    case Unary::celu: return x > 0 ? x : a * (exact::exp(x / a) - T(1));
    case Unary::hard_sigmoid: {
      const T y = a * x + b;
      return y < 0 ? T(0) : y > 1 ? T(1) : y;
    }
    case Unary::hard_swish: {
      const T y = x / T(6) + T(0.5);
      return x * (y < 0 ? T(0) : y > 1 ? T(1) : y);
    }
    case Unary::softsign: return x / (T(1) + (x < 0 ? -x : x));
    case Unary::thresholded_relu: return x <= a ? T(0) : x;
    case Unary::clip: return x < a ? a : x > b ? b : x;
    case Unary::logical_not: return x == 0 ? T(1) : T(0);
    case Unary::is_nan: return x != x ? T(1) : T(0);
    case Unary::is_inf: return x == x && x - x != 0 && (x > 0 ? b : a) != 0 ? T(1) : T(0);
    case Unary::leaky_relu: return x > 0 ? x : a * x;
    case Unary::shrink: return x < -a ? x + b : x <= a ? T(0) : x - b;
    case Unary::trunc: return truncated(x);
    case Unary::swish: return x * exact::sigmoid(a * x);
    case Unary::square: return x * x;
    case Unary::fp8e4m3: return to_fp8e4m3(x);
    case Unary::fp8e5m2: return to_fp8e5m2(x);
    case Unary::sin: return exact::sin(x);
    case Unary::cos: return exact::cos(x);
  }
  return x;
}
template <class T>
static inline T unary_slope(Unary kind, T x, T a, T b) {
  switch (kind) {
    case Unary::abs: return x > 0 ? T(1) : x < 0 ? T(-1) : T(0);
    case Unary::neg: return T(-1);
    case Unary::sqrt: return T(0.5) / exact::sqrt(x);
    case Unary::reciprocal: {
      const T y = T(1) / x;
      return -(y * y);
    }
    case Unary::exp: return exact::exp(x);
    case Unary::log: return T(1) / x;
    case Unary::erf: return T(2) * (kInvSqrtPi<T> * exact::exp(-(x * x)));
    case Unary::elu: return x > 0 ? T(1) : a * exact::exp(x);
    case Unary::selu: return b * (x > 0 ? T(1) : a * exact::exp(x));
    case Unary::celu: return x > 0 ? T(1) : exact::exp(x / a);
    case Unary::hard_sigmoid: {
      const T y = a * x + b;
      return y > 0 && y < 1 ? a : T(0);
    }
    case Unary::hard_swish: {
      const T y = x / T(6) + T(0.5);
      return y <= 0 ? T(0) : y >= 1 ? T(1) : x / T(3) + T(0.5);
    }
    case Unary::softsign: {
      const T y = T(1) / (T(1) + (x < 0 ? -x : x));
      return y * y;
    }
    case Unary::thresholded_relu: return x <= a ? T(0) : T(1);
    case Unary::clip: return x < a || x > b ? T(0) : T(1);
    case Unary::leaky_relu: return x > 0 ? T(1) : a;
    case Unary::shrink: return x >= -a && x <= a ? T(0) : T(1);
    case Unary::swish: {
      const T s = exact::sigmoid(a * x);
      return s + (a * x) * (s * (T(1) - s));
    }
    case Unary::square: return x + x;
    case Unary::fp8e4m3: return x < T(-448) || x > T(448) ? T(0) : T(1);
    case Unary::fp8e5m2: return T(1);
    case Unary::sin: return exact::cos(x);
    case Unary::cos: return -exact::sin(x);
    default: return T(0);
  }
}

}  // namespace loom::cpu::LOOM_ISA
