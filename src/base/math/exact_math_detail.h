// The algorithms of exact_math.h, one template each for float and double, and their coefficients.
//
// Coefficients are our own near-minimax fits (weighted least squares driven to equal ripple,
// 200-bit arithmetic), rounded one after the other, lowest power first, each fit again after the
// one before was rounded. The reductions are the classical ones: Cody and Waite, "Software Manual
// for the Elementary Functions", 1980; Payne and Hanek, SIGNUM Newsletter 18, 1983; Dekker, "A
// floating-point technique for extending the available precision", 1971.
#pragma once

#include <cstdint>

// Kernel files are compiled once per instruction set and give each its own copy of these functions;
// everybody else shares one. (An inline function compiled for AVX-512 must never be the copy that
// the linker keeps for all.) For the same reason: no std functions here.
#ifndef LOOM_EXACT_NAMESPACE
#define LOOM_EXACT_NAMESPACE portable
#endif

namespace loom::exact::inline LOOM_EXACT_NAMESPACE::detail {

template <class T>
struct Constants;

template <>
struct Constants<float> {
  using Bits = std::uint32_t;
  using Int = std::int32_t;
  static constexpr int kMantissa = 23;
  static constexpr Int kBias = 127;
  static constexpr Bits kNan = 0x7FC00000u;
  static constexpr Bits kSplit = 0xFFFFF000u;  // keeps the upper half of the significand
  static constexpr Bits kSqrtHalf = 0x3F3504F3u;
  static constexpr float kRound = 0x1.8p23f;  // adding it rounds to an integer
  static constexpr float kLog2e = 0x1.715476p+0f;
  static constexpr float kLog2eLow = 0x1.4ae0cp-26f;
  static constexpr float kLn2 = 0x1.62e43p-1f;
  static constexpr float kLn2Low = -0x1.05c61p-29f;
  static constexpr float kLn2High12 =
      0x1.62ep-1f;  // ln 2 = high + rest; k * high is exact for |k| < 2^12
  static constexpr float kLn2Rest = 0x1.0bfbe8p-15f;
  static constexpr float kMinDifference = -0x1.4cb5ecp+5f;  // -60 ln 2
  static constexpr float kTanhSmall = 0.625f;
  static constexpr float kErfTop = 4.0f;  // erf is 1 from here
  static constexpr float kErfCenter = 2.0f;
  static constexpr int kPowTerms = 6;
  // (exp(r) - 1 - r) / r^2 on |r| <= ln(2)/2
  static constexpr float kExp[] = {0x1.fffffcp-2f, 0x1.55549p-3f, 0x1.55589ep-5f, 0x1.123abcp-7f,
                                   0x1.6a6238p-10f};
  // (atanh(s) * 2/s - 2) / s^2 in s^2
  static constexpr float kLog[] = {0x1.555554p-1f, 0x1.999c1cp-2f, 0x1.23d806p-2f, 0x1.f0760ap-3f};
  // (sin(r) - r) / r^3 and (cos(r) - 1 + r^2/2) / r^4 in r^2 on |r| <= pi/4
  static constexpr float kSin[] = {-0x1.555556p-3f, 0x1.111172p-7f, -0x1.a056c6p-13f,
                                   0x1.7b74acp-19f};
  static constexpr float kCos[] = {0x1.555556p-5f, -0x1.6c176p-10f, 0x1.a073d8p-16f,
                                   -0x1.36a0ap-22f};
  // (tanh(x) - x) / x^3 in x^2 on |x| <= 0.625
  static constexpr float kTanh[] = {-0x1.555532p-2f, 0x1.1106fep-3f, -0x1.b83792p-5f, 0x1.520a3p-6f,
                                    -0x1.756caep-8f};
  // erf(x)/x - 1 in x^2 on |x| <= 1; log(erfc(x)) in x - 2 on [1, 4]
  static constexpr float kErfSmall[] = {0x1.06eba8p-3f,  -0x1.81273ep-2f, 0x1.ce2cfp-4f,
                                        -0x1.b7f858p-6f, 0x1.53ff92p-8f,  -0x1.a3c95cp-11f,
                                        0x1.48edeep-14f};
  static constexpr float kErfLarge[] = {-0x1.575b32p+2f, -0x1.1ac324p+2f, -0x1.d8f654p-1f,
                                        -0x1.0df4fp-6f,  0x1.d3acdap-9f,  -0x1.742c2ep-11f,
                                        0x1.41e812p-13f, -0x1.cadd3p-16f, -0x1.9bfe5p-18f};
};

template <>
struct Constants<double> {
  using Bits = std::uint64_t;
  using Int = std::int64_t;
  static constexpr int kMantissa = 52;
  static constexpr Int kBias = 1023;
  static constexpr Bits kNan = 0x7FF8000000000000u;
  static constexpr Bits kSplit = 0xFFFFFFFFF8000000u;
  static constexpr Bits kSqrtHalf = 0x3FE6A09E667F3BCDu;
  static constexpr double kRound = 0x1.8p52;
  static constexpr double kLog2e = 0x1.71547652b82fep+0;
  static constexpr double kLog2eLow = 0x1.777d0ffda0d24p-56;
  static constexpr double kLn2 = 0x1.62e42fefa39efp-1;
  static constexpr double kLn2Low = 0x1.abc9e3b39803fp-56;
  static constexpr double kLn2High12 = 0x1.62e42feep-1;  // 31 bits here: exact for |k| < 2^22
  static constexpr double kLn2Rest = 0x1.a39ef35793c76p-33;
  static constexpr double kMinDifference = -0x1.37ea8e219ecebp+9;  // -900 ln 2
  static constexpr double kTanhSmall = 0.55;
  static constexpr double kErfTop = 6.0;
  static constexpr double kErfCenter = 1.0;
  static constexpr int kPowTerms = 12;
  static constexpr double kExp[] = {0x1p-1,
                                    0x1.555555555555cp-3,
                                    0x1.5555555555541p-5,
                                    0x1.111111110e9ffp-7,
                                    0x1.6c16c16c1fa9fp-10,
                                    0x1.a01a01b442833p-13,
                                    0x1.a01a0176ebd4p-16,
                                    0x1.71ddee783f9a4p-19,
                                    0x1.27e540b265b05p-22,
                                    0x1.af6e7814b1f6p-26,
                                    0x1.1ed9b8bf42296p-29};
  static constexpr double kLog[] = {
      0x1.5555555555593p-1, 0x1.999999997fb1cp-2, 0x1.249249420ff1fp-2, 0x1.c71c51f338b5p-3,
      0x1.746643159f669p-3, 0x1.39a154f3c6c84p-3, 0x1.2f093e793c6dcp-3};
  static constexpr double kSin[] = {-0x1.5555555555548p-3,  0x1.111111110f75cp-7,
                                    -0x1.a01a019bf1fc4p-13, 0x1.71de355ee5043p-19,
                                    -0x1.ae5e545b758bcp-26, 0x1.5d8e2f8d91d3p-33};
  static constexpr double kCos[] = {0x1.555555555554cp-5,  -0x1.6c16c16c15222p-10,
                                    0x1.a01a019cbfcaep-16, -0x1.27e4f81307d8fp-22,
                                    0x1.1ee9f188f6e17p-29, -0x1.8fb14b4ffdcc3p-37};
  static constexpr double kTanh[] = {
      -0x1.555555555554fp-2,  0x1.1111111110788p-3,  -0x1.ba1ba1b97c0f5p-5,  0x1.664f485917364p-6,
      -0x1.226e2f08c1c31p-7,  0x1.d6d299b9a38dbp-9,  -0x1.7d8fbbb2268cep-10, 0x1.3482ea69140dcp-11,
      -0x1.e9680b1501125p-13, 0x1.5d5e6d00951bbp-14, -0x1.46db834e89555p-16};
  static constexpr double kErfSmall[] = {
      0x1.06eba8214db69p-3,  -0x1.812746b0379fdp-2,  0x1.ce2f21a04361p-4,   -0x1.b82ce312ab114p-6,
      0x1.565bcd126eb03p-8,  -0x1.c02db49267ac7p-11, 0x1.f9a334289efeap-14, -0x1.f4d31e13b86f4p-17,
      0x1.b9ed791a90f17p-20, -0x1.5f8e89288ca2ap-23, 0x1.fc0fdaf91b897p-27, -0x1.453261200b184p-30,
      0x1.2600810671331p-34};
  // in x - 1 on [1, 6]
  static constexpr double kErfLarge[] = {
      -0x1.d97fbf27aa2a1p+0,  -0x1.51c9b0006c23cp+1,  -0x1.afabc11a2928bp-1,
      -0x1.5477f09c3d7bfp-5,  0x1.48c9d3f3a4c29p-7,   -0x1.033f66763da15p-9,
      0x1.f1b3b947ade97p-13,  0x1.b8da9a9ea9601p-16,  -0x1.c79fc32bb7c75p-16,
      0x1.4255e8b59c599p-17,  -0x1.1418cef946051p-19, 0x1.2e42764ed0125p-23,
      0x1.a85d5e1123d5p-24,   -0x1.c3c23ebd36499p-25, 0x1.033d7629f3e24p-26,
      -0x1.8f397883bbfdfp-29, 0x1.9bbd2a1ed226dp-32,  -0x1.027e11b7cba88p-35,
      0x1.2b2c3cde2b62ap-40};
};

template <class T>
using Bits = typename Constants<T>::Bits;
template <class T>
using Int = typename Constants<T>::Int;
template <class T>
inline Bits<T> bits(T x) {
  return __builtin_bit_cast(Bits<T>, x);
}
template <class T>
inline T from_bits(Bits<T> b) {
  return __builtin_bit_cast(T, b);
}
template <class T>
inline T nan() {
  return from_bits<T>(Constants<T>::kNan);
}
template <class T>
inline T canonical(T x) {
  return x == x ? x : nan<T>();
}
template <class T>
inline T infinity() {
  return static_cast<T>(__builtin_inf());
}
template <class T>
inline T magnitude(T x) {
  return from_bits<T>(bits(x) & ~(Bits<T>{1} << (sizeof(T) * 8 - 1)));
}
template <class T>
inline T with_sign(T x, T sign) {
  return from_bits<T>(bits(x) | (bits(sign) & (Bits<T>{1} << (sizeof(T) * 8 - 1))));
}

// c[0] + x*c[1] + ... by Horner's rule.
template <class T, int N>
inline T polynomial(T x, const T (&c)[N]) {
  T y = c[N - 1];
  for (int i = N - 2; i >= 0; --i) y = y * x + c[i];
  return y;
}

// exp(x) = m * 2^k, m in [0.7, 1.42]. Beyond +-2^20, where exp has long been 0 or infinite, k no
// longer follows x.
template <class T>
struct ExpParts {
  T m;
  std::int32_t k;
};

template <class T>
inline ExpParts<T> exp_parts(T x) {
  using C = Constants<T>;
  const T limit = T{1 << 20};
  T c = x > limit ? limit : x;
  c = c >= -limit ? c : -limit;  // NaN too: no integer is made of it
  const T t = c * C::kLog2e + C::kRound;
  std::int32_t k = static_cast<std::int32_t>(static_cast<Int<T>>(bits(t)) -
                                             static_cast<Int<T>>(bits(C::kRound)));
  const T n = t - C::kRound;
  const T r = (c - n * C::kLn2High12) - n * C::kLn2Rest;
  T m = T{1} + (r + r * r * polynomial(r, C::kExp));
  k = x < -limit ? -(1 << 30) : k;
  m = x < -limit ? T{1} : m;
  const bool odd = !(x < infinity<T>());  // +inf or NaN
  k = odd ? 0 : k;
  m = odd ? (x == x ? infinity<T>() : nan<T>()) : m;
  return {m, k};
}

template <class T>
inline T scale(T m, std::int32_t k) {
  using C = Constants<T>;
  const Bits<T> sign = Bits<T>{1} << (sizeof(T) * 8 - 1);
  const Bits<T> b = bits(m) & ~sign;
  const Int<T> e = static_cast<Int<T>>(b >> C::kMantissa) + k;
  const Bits<T> shifted = b + (static_cast<Bits<T>>(static_cast<Int<T>>(k)) << C::kMantissa);
  const Bits<T> finite = e <= 0 ? Bits<T>{0} : shifted;
  return from_bits<T>((e > 2 * C::kBias ? bits(infinity<T>()) : finite) | (bits(m) & sign));
}

template <class T>
inline T exp(T x) {
  const ExpParts<T> p = exp_parts(x);
  const T y = scale(p.m, p.k);
  return p.m < T{2} ? y : p.m;  // inf and NaN pass
}

// x - y and what rounding it lost (Knuth's two-sum, of x and -y). Where one is infinite, the second
// number means nothing.
template <class T>
struct Difference {
  T high, low;
};
template <class T>
inline Difference<T> difference(T x, T y) {
  const T d = x - y, v = d - x;
  return {d, (x - (d - v)) - (y + v)};
}

// exp_difference where top is not -inf.
template <class T>
inline T exp_below(T x, T top) {
  using C = Constants<T>;
  const Difference<T> d = difference(x, top);
  const bool none = d.high < C::kMinDifference;
  const T c = none ? C::kMinDifference : d.high;
  const T t = c * C::kLog2e + C::kRound;
  const T n = t - C::kRound;
  // |d.low| is at most 2^-19 here, so it may be added where the reduction rounds anyway.
  const T r = (c - n * C::kLn2High12) + (d.low - n * C::kLn2Rest);
  const T m = T{1} + (r + r * r * polynomial(r, C::kExp));
  const Bits<T> k = bits(t) - bits(C::kRound) + static_cast<Bits<T>>(C::kBias);
  const T y = m * from_bits<T>(k << C::kMantissa);
  return none ? T{0} : y;
}
template <class T>
inline T exp_difference(T x, T top) {
  if (top == -infinity<T>()) return x == x ? T{1} : nan<T>();
  return canonical(exp_below(x, top));
}

// x > 0, finite: x = m * 2^k, m in [sqrt(1/2), sqrt(2)).
template <class T>
struct Split {
  T m;
  Int<T> k;
};
template <class T>
inline Split<T> split(T x) {
  using C = Constants<T>;
  const Bits<T> raw = bits(x);
  // A subnormal is its fraction bits as an integer, times 2^(1 - bias - mantissa).
  const bool tiny = raw < (Bits<T>{1} << C::kMantissa);
  const Bits<T> b = tiny ? bits(static_cast<T>(static_cast<Int<T>>(raw))) : raw;
  const Int<T> shift = tiny ? 1 - C::kBias - C::kMantissa : 0;
  const Bits<T> d = b - C::kSqrtHalf;
  const Int<T> k = static_cast<Int<T>>(d) >> C::kMantissa;
  return {from_bits<T>((d & ((Bits<T>{1} << C::kMantissa) - 1)) + C::kSqrtHalf), k + shift};
}

template <class T>
inline T log(T x) {
  using C = Constants<T>;
  const Split<T> p = split(x);
  const T n = static_cast<T>(p.k), f = p.m - T{1};
  const T half_square = T{0.5} * f * f;
  const T s = f / (T{2} + f), z = s * s;
  T y = n * C::kLn2High12 -
        ((half_square - (s * (half_square + z * polynomial(z, C::kLog)) + n * C::kLn2Rest)) - f);
  y = x < infinity<T>() ? y : x;
  y = x > T{0} ? y : (x == T{0} ? -infinity<T>() : nan<T>());
  return y;
}

// `e`: exp(-|x|).
template <class T>
inline T sigmoid_by(T x, T e) {
  const T d = T{1} + e;
  const T lost = e - (d - T{1});  // what rounding d lost, exactly
  const T q = (x >= T{0} ? T{1} : e) / d;
  const T inverse = x >= T{0} ? q : T{1} - q;  // of d, as well as the correction needs it
  return q - q * (lost * inverse);
}

// exp(x) for |x| <= 64, whose result needs no care for its range: the same bits in less time.
template <class T>
inline T exp_within(T x) {
  using C = Constants<T>;
  const T t = x * C::kLog2e + C::kRound;
  const T n = t - C::kRound;
  const T r = (x - n * C::kLn2High12) - n * C::kLn2Rest;
  const T m = T{1} + (r + r * r * polynomial(r, C::kExp));
  return from_bits<T>(bits(m) + ((bits(t) - bits(C::kRound)) << C::kMantissa));
}

// exp(x) for x <= 0, likewise; NaN is taken for -inf.
template <class T>
inline T exp_falling(T x) {
  using C = Constants<T>;
  const T zero = sizeof(T) == 4 ? T{-100} : T{-1000};  // where exp has long been 0
  const T y = exp_within(x >= zero ? x : zero);
  return static_cast<Int<T>>(bits(y)) < (Int<T>{1} << C::kMantissa) ? T{0} : y;
}

template <class T>
inline T sigmoid(T x) {
  const T y = sigmoid_by(x, exp_falling(-magnitude(x)));
  return x == x ? y : nan<T>();
}

// sigmoid(x) for |x| <= 64, likewise.
template <class T>
inline T sigmoid_within(T x) {
  return sigmoid_by(x, exp_within(-magnitude(x)));
}

template <class T>
inline T tanh(T x) {
  using C = Constants<T>;
  const T a = magnitude(x), z = a * a;
  const T small = a + a * z * polynomial(z, C::kTanh);
  const T twice = a + a < T{64} ? a + a : T{64};  // from 64 on the result is 1
  const T large = T{1} - T{2} / (exp_within(twice) + T{1});
  const T y = with_sign(a < C::kTanhSmall ? small : large, x);
  return x == x ? y : nan<T>();
}

template <class T>
inline T erf(T x) {
  using C = Constants<T>;
  const T a = magnitude(x), z = a * a;
  const T small = a + a * polynomial(z, C::kErfSmall);
  const T c = a < C::kErfTop ? a : C::kErfTop;
  const T large = T{1} - exp(polynomial(c - C::kErfCenter, C::kErfLarge));
  const T y = with_sign(a < T{1} ? small : large, x);
  return x == x ? y : nan<T>();
}

template <class T>
inline T softplus(T x) {
  const T u = exp(-magnitude(x));
  const T w = T{1} + u;
  const T lost = u - (w - T{1});
  const T y = (x > T{0} ? x : T{0}) + (log(w) + lost / w);
  return canonical(y);
}

// The upper 64 bits of a * b.
inline std::uint64_t multiply_high(std::uint64_t a, std::uint64_t b, std::uint64_t* low) {
  const std::uint64_t a0 = a & 0xFFFFFFFFu, a1 = a >> 32, b0 = b & 0xFFFFFFFFu, b1 = b >> 32;
  const std::uint64_t p00 = a0 * b0, p01 = a0 * b1, p10 = a1 * b0;
  const std::uint64_t middle = (p00 >> 32) + (p01 & 0xFFFFFFFFu) + (p10 & 0xFFFFFFFFu);
  *low = (middle << 32) | (p00 & 0xFFFFFFFFu);
  return a1 * b1 + (p01 >> 32) + (p10 >> 32) + (middle >> 32);
}

// |x| = quarter * pi/2 + r with |r| <= pi/4, for |x| = mantissa * 2^exponent with mantissa < 2^53,
// exponent in [-54, 971]. r = fraction * 2^-shift, fraction < 2^63 or negative.
struct QuarterTurns {
  std::uint32_t quarter;
  std::int64_t fraction;
  int shift;
};
inline QuarterTurns quarter_turns(std::uint64_t mantissa, int exponent) {
  // 2/pi after 64 zero bits.
  static constexpr std::uint64_t kTwoOverPi[] = {
      0x0000000000000000, 0xA2F9836E4E441529, 0xFC2757D1F534DDC0, 0xDB6295993C439041,
      0xFE5163ABDEBBC561, 0xB7246E3A424DD2E0, 0x06492EEA09D1921C, 0xFE1DEB1CB129A73E,
      0xE88235F52EBB4484, 0xE99C7026B45F7E41, 0x3991D639835339F4, 0x9C845F8BBDF9283B,
      0x1FF897FFDE05980F, 0xEF2F118B5A0A6D1F, 0x6D367ECF27CB09B7, 0x4F463F669E5FEA2D,
      0x7527BAC7EBE5F17B, 0x3D0739F78A5292EA, 0x6BFB5FB11F8D5D08, 0x56033046FC7B6BAB};
  // Digits above weight 2^(1 - exponent) make multiples of 4 and drop out; the next 192 are enough
  // for every double.
  const int first = exponent - 2 + 64, word = first / 64, shift = first % 64;
  const auto digits = [&](int i) {
    return shift == 0
               ? kTwoOverPi[word + i]
               : (kTwoOverPi[word + i] << shift) | (kTwoOverPi[word + i + 1] >> (64 - shift));
  };
  // The product modulo 2^192: two bits of quarter turns, then the fraction.
  std::uint64_t low, middle, lost;
  std::uint64_t carry = multiply_high(mantissa, digits(2), &low);
  std::uint64_t high = multiply_high(mantissa, digits(1), &middle);
  middle += carry;
  high += middle < carry ? 1u : 0u;
  multiply_high(mantissa, digits(0), &lost);
  high += lost;
  const std::uint32_t quarter =
      static_cast<std::uint32_t>((high + (std::uint64_t{1} << 61)) >> 62) & 3u;
  // The fraction as a signed number in [-1/2, 1/2) quarter turns.
  std::uint64_t w[3] = {high << 2 | middle >> 62, middle << 2 | low >> 62, low << 2};
  const bool negative = (w[0] >> 63) != 0;
  if (negative)
    for (auto& part : w) part = ~part;
  int zeros = 0;
  for (; w[0] == 0 && zeros < 128; zeros += 64) {
    w[0] = w[1];
    w[1] = w[2];
    w[2] = 0;
  }
  if (w[0] == 0) return {quarter, 0, 0};
  const int lead = (w[0] == 0 ? 64 : __builtin_clzll(w[0]));
  const std::uint64_t top = lead == 0 ? w[0] : w[0] << lead | w[1] >> (64 - lead);
  // Times pi/2 in fixed point; one sticky bit, so that the conversion to a float rounds once.
  std::uint64_t rest;
  const std::uint64_t product = multiply_high(top, 0xC90FDAA22168C234u, &rest);
  const std::int64_t fraction = static_cast<std::int64_t>(product >> 1 | (product & 1));
  return {quarter, negative ? -fraction : fraction, 62 + zeros + lead};
}

template <class T>
inline T sin_cos(T x, std::uint32_t add_quarters) {
  using C = Constants<T>;
  const T a = magnitude(x);
  if (!(a < infinity<T>())) return nan<T>();
  T r = a;
  std::uint32_t quarter = add_quarters;
  if (a > static_cast<T>(0.78539816)) {
    const Bits<T> b = bits(a);
    const QuarterTurns t = quarter_turns(
        (b & ((Bits<T>{1} << C::kMantissa) - 1)) | Bits<T>{1} << C::kMantissa,
        static_cast<int>(b >> C::kMantissa) - static_cast<int>(C::kBias) - C::kMantissa);
    r = static_cast<T>(t.fraction) *
        from_bits<T>(static_cast<Bits<T>>(C::kBias - t.shift) << C::kMantissa);
    quarter += t.quarter;
  }
  const T z = r * r;
  T y;
  if ((quarter & 1) == 0) {
    y = r + r * z * polynomial(z, C::kSin);
  } else {
    const T half = T{0.5} * z, w = T{1} - half;
    y = w + (((T{1} - w) - half) + z * z * polynomial(z, C::kCos));
  }
  if ((quarter & 2) != 0) y = -y;
  return add_quarters == 0 && (bits(x) >> (sizeof(T) * 8 - 1)) != 0 ? -y : y;
}

// A number of twice the precision: high + low, |low| <= half an ulp of high.
template <class T>
struct Pair {
  T high, low;
};
template <class T>
inline Pair<T> sum_ordered(T a, T b) {  // |a| >= |b| or a == 0
  const T s = a + b;
  return {s, b - (s - a)};
}
template <class T>
inline Pair<T> product(T a, T b) {
  const T ah = from_bits<T>(bits(a) & Constants<T>::kSplit), al = a - ah;
  const T bh = from_bits<T>(bits(b) & Constants<T>::kSplit), bl = b - bh;
  const T p = a * b;
  return {p, ((ah * bh - p) + ah * bl + al * bh) + al * bl};
}
template <class T>
inline Pair<T> multiply(Pair<T> a, Pair<T> b) {
  const Pair<T> p = product(a.high, b.high);
  return sum_ordered(p.high, p.low + (a.high * b.low + a.low * b.high));
}

template <class T>
inline T pow(T x, T y) {
  using C = Constants<T>;
  if (x != x || y != y || x < T{0}) return nan<T>();
  if (y == T{0} || x == T{1}) return T{1};
  if (x == T{0} || x == infinity<T>()) return (x == T{0}) == (y > T{0}) ? T{0} : infinity<T>();
  // |log2 x| is at least 2^-54, so a greater |y| changes nothing, and no product below overflows.
  const T limit = static_cast<T>(0x1p100);
  y = y > limit ? limit : (y < -limit ? -limit : y);

  // log2(m) = 2/ln2 * (s + s^3/3 + s^5/5 + ...), s = (m - 1) / (m + 1), all that matters in pairs.
  const Split<T> p = split(x);
  const T f = p.m - T{1};
  const Pair<T> d = sum_ordered(T{2}, f);
  const T s_high = f / d.high;
  const Pair<T> back = product(s_high, d.high);
  const Pair<T> s = sum_ordered(s_high, (((f - back.high) - back.low) - s_high * d.low) / d.high);
  const Pair<T> z = multiply(s, s);
  T tail = T{0};
  for (int n = C::kPowTerms; n >= 2; --n) tail = tail * z.high + T{1} / static_cast<T>(2 * n + 1);
  const T third = T{1} / T{3};
  const Pair<T> z3 = multiply(
      z, Pair<T>{third, -(product(third, T{3}).high - T{1} + product(third, T{3}).low) / T{3}});
  const Pair<T> t = sum_ordered(z3.high, z3.low + z.high * z.high * tail);
  const Pair<T> one = sum_ordered(T{1}, t.high);
  const Pair<T> series = sum_ordered(one.high, one.low + t.low);
  const Pair<T> log2_m =
      multiply(multiply(s, series), Pair<T>{T{2} * C::kLog2e, T{2} * C::kLog2eLow});
  const Pair<T> whole = sum_ordered(static_cast<T>(p.k), log2_m.high);
  const Pair<T> log2_x = sum_ordered(whole.high, whole.low + log2_m.low);

  const Pair<T> e = multiply(log2_x, Pair<T>{y, T{0}});
  if (e.high > T{2} * C::kBias) return infinity<T>();
  if (e.high < T{-2} * C::kBias) return T{0};
  const T k = (e.high + C::kRound) - C::kRound;
  const Pair<T> r = multiply(sum_ordered(e.high - k, e.low), Pair<T>{C::kLn2, C::kLn2Low});
  const T q = r.high * r.high * polynomial(r.high, C::kExp);
  return scale(T{1} + (r.high + (q + (r.low + r.high * r.low))), static_cast<std::int32_t>(k));
}

}  // namespace loom::exact::inline LOOM_EXACT_NAMESPACE::detail
