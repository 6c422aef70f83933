// Elementary functions made of + - * / sqrt and integer work on the bits only, in the arithmetic of
// their type, so that they return the same bits on every target (numerics rule 2). No libm, no
// tables except the digits of 2/pi, no state: any thread.
//
// Each comes for float and double from one template; only the coefficients differ (near-minimax
// fits). The largest errors, measured over all 2^32 floats, are in docs/reference/exact-math.md: at
// most 2 ulp. NaN in gives the canonical quiet NaN, infinities give the limits, and results below
// the smallest normal number are 0. exp, log, sigmoid, tanh, erf and softplus are branch-free
// except for selects: loops over them vectorize.
#pragma once

#include <cstdint>

#include "base/math/exact_math_detail.h"

namespace loom::exact::inline LOOM_EXACT_NAMESPACE {

// exp(x - top) for x <= top, of the exact difference: normalized exponentials take it from the
// largest of their numbers (numerics rule 6). Below 2^-60 (f32) or 2^-900 (f64) it is 0. -inf below
// anything gives 0, beside a top of -inf 1; a top of +inf gives NaN.
inline float exp_difference(float x, float top) { return detail::exp_difference(x, top); }
inline double exp_difference(double x, double top) { return detail::exp_difference(x, top); }

// m * 2^k; 0 below the smallest normal number, infinite above the largest. m: finite, normal, not
// zero. |k| <= 2^30.
inline float scale(float m, std::int32_t k) { return detail::scale(m, k); }
inline double scale(double m, std::int32_t k) { return detail::scale(m, k); }

inline float exp(float x) { return detail::exp(x); }
inline double exp(double x) { return detail::exp(x); }

// Natural logarithm; log(0) = -inf, log of a negative number is NaN. Subnormal arguments are taken
// at their value.
inline float log(float x) { return detail::log(x); }
inline double log(double x) { return detail::log(x); }

// 1 / (1 + exp(-x))
inline float sigmoid(float x) { return detail::sigmoid(x); }
inline double sigmoid(double x) { return detail::sigmoid(x); }

inline float tanh(float x) { return detail::tanh(x); }
inline double tanh(double x) { return detail::tanh(x); }

inline float erf(float x) { return detail::erf(x); }
inline double erf(double x) { return detail::erf(x); }

// log(1 + exp(x))
inline float softplus(float x) { return detail::softplus(x); }
inline double softplus(double x) { return detail::softplus(x); }

// Any finite argument: the reduction by pi/2 is done in integers with as many digits of 2/pi as it
// takes (Payne and Hanek).
inline float sin(float x) { return detail::sin_cos(x, 0); }
inline double sin(double x) { return detail::sin_cos(x, 0); }
inline float cos(float x) { return detail::sin_cos(x, 1); }
inline double cos(double x) { return detail::sin_cos(x, 1); }

// x^y for x >= 0; a negative x gives NaN. pow(x, 0) = 1 and pow(1, y) = 1 unless an argument is
// NaN.
inline float pow(float x, float y) { return detail::pow(x, y); }
inline double pow(double x, double y) { return detail::pow(x, y); }

// Correctly rounded, as IEEE wants it; the builtin is one instruction.
inline float sqrt(float x) { return detail::canonical(__builtin_sqrtf(x)); }
inline double sqrt(double x) { return detail::canonical(__builtin_sqrt(x)); }

// 1 / sqrt(x), two IEEE operations. rsqrt(0) = inf.
inline float rsqrt(float x) { return detail::canonical(1.0f / __builtin_sqrtf(x)); }
inline double rsqrt(double x) { return detail::canonical(1.0 / __builtin_sqrt(x)); }

}  // namespace loom::exact::inline LOOM_EXACT_NAMESPACE
