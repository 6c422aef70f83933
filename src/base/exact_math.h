// Elementary functions made of + - * and integer work on the bits only, so that they give the same bits on every target.
// Each states its largest error in ulp, measured against a correctly rounded reference (docs/reference/exact-math.md).
// Inline and branch-light: loops over them vectorize. Division and square root of the hardware are IEEE and allowed.
#pragma once

#include <bit>
#include <cstdint>

namespace loom::exact {

// exp(x) = m * 2^k with m near 1, k an integer; m depends on x alone (numerics rule 6). For x < -150 (f32): k = -1000, m = 1.
struct ExpParts32 { float m; std::int32_t k; };
ExpParts32 exp_parts(float x);

float exp(float x);
float log(float x);
float tanh(float x);
float sigmoid(float x);
float erf(float x);
float sin(float x);
float cos(float x);
float pow(float x, float y);   // x > 0
float rsqrt(float x);          // 1 / sqrt(x), two IEEE operations
float softplus(float x);

double exp(double x);
double log(double x);
double tanh(double x);
double sigmoid(double x);
double erf(double x);
double sin(double x);
double cos(double x);
double pow(double x, double y);
double rsqrt(double x);
double softplus(double x);

}  // namespace loom::exact
