// Scalar conversions between floats and the small float types of dtypes.def: one integer routine
// each way for all of them. Pure functions.
//
// Encoding rounds to nearest, ties to even, once, from f32 or straight from f64. Beyond the largest
// finite value (the row's code of what is too large):
//   f16, bf16          to infinity, as IEEE 754 says
//   fp8e4m3, fp8e5m2   to the largest finite value (448, 57344), infinities too: the saturating
//                      mode of the OCP OFP8 1.0 table
//   fp4 (e2m1)         to 6, infinities too
// NaN becomes the canonical NaN code of the type, without sign; fp4 has none and takes +6, as
// saturation would.
// Decoding is exact. A NaN code decodes to 0x7fc00000.
#pragma once

#include <bit>
#include <cstdint>

#include "numeric/dtype.h"

namespace loom {

// The forms that code names; all are rows of dtypes.def.
inline constexpr SmallFloat kF16 = info(DType::f16).codec.small_float;
inline constexpr SmallFloat kBf16 = info(DType::bf16).codec.small_float;
inline constexpr SmallFloat kFp8e4m3 = info(DType::fp8e4m3).codec.small_float;
inline constexpr SmallFloat kFp8e5m2 = info(DType::fp8e5m2).codec.small_float;
inline constexpr SmallFloat kFp4 = info(DType::fp4).codec.small_float;

namespace detail {

// Source: uint32_t or uint64_t bits of a float or double with M mantissa bits and the given bias.
template <class U, int M, int Bias>
inline std::uint32_t encode_small(U b, const SmallFloat& f) {
  constexpr U kSignBit = U{1} << (sizeof(U) * 8 - 1);
  constexpr U kInf = (kSignBit - 1) & ~((U{1} << M) - 1);
  const std::uint32_t sign = (b & kSignBit) != 0 ? std::uint32_t{1} << (f.bits() - 1) : 0;
  const U magnitude = b & (kSignBit - 1);
  if (magnitude > kInf) return f.nan_code;
  if (magnitude == kInf) return sign | f.over_code;
  // Exponent of the value and significand with its leading bit; a subnormal source has none and the
  // least exponent.
  int e = static_cast<int>(magnitude >> M);
  U significand = magnitude & ((U{1} << M) - 1);
  if (e != 0) significand |= U{1} << M;
  else e = 1;
  e -= Bias;
  const int min = 1 - f.bias;  // exponent of the target's subnormals
  int drop = M - f.mantissa_bits + (e < min ? min - e : 0);
  if (drop > M + 2) drop = M + 2;  // all such values round to zero
  const U half = U{1} << (drop - 1), rest = significand & ((half << 1) - 1);
  U kept = significand >> drop;
  if (rest > half || (rest == half && (kept & 1) != 0)) ++kept;
  // A carry out of the significand steps the exponent field, which is what the sum does.
  const std::int64_t field = e < min ? 0 : e - min;
  const std::uint64_t code = (static_cast<std::uint64_t>(field) << f.mantissa_bits) + kept;
  return sign | (code > f.max_code ? f.over_code : static_cast<std::uint32_t>(code));
}

}  // namespace detail

inline std::uint32_t encode_small_float(float x, const SmallFloat& f) {
  return detail::encode_small<std::uint32_t, 23, 127>(std::bit_cast<std::uint32_t>(x), f);
}
inline std::uint32_t encode_small_float(double x, const SmallFloat& f) {
  return detail::encode_small<std::uint64_t, 52, 1023>(std::bit_cast<std::uint64_t>(x), f);
}

inline float decode_small_float(std::uint32_t code, const SmallFloat& f) {
  const std::uint32_t sign = (code >> (f.bits() - 1) & 1) << 31;
  const std::uint32_t magnitude = code & ((1u << (f.bits() - 1)) - 1);
  if (magnitude > f.max_code)
    return std::bit_cast<float>(magnitude == f.infinity_code ? sign | 0x7F800000u : 0x7FC00000u);
  const std::uint32_t field = magnitude >> f.mantissa_bits;
  std::uint32_t fraction = magnitude & ((1u << f.mantissa_bits) - 1);
  int e = static_cast<int>(field) - f.bias;
  if (field == 0) {
    if (fraction == 0) return std::bit_cast<float>(sign);
    // Subnormal: the leading bit moves to its place. Those of bf16 are subnormal in f32 as well.
    if (f.bias == 127) return std::bit_cast<float>(sign | fraction << (23 - f.mantissa_bits));
    const int shift = std::countl_zero(fraction) - (31 - f.mantissa_bits);
    fraction = (fraction << shift) & ((1u << f.mantissa_bits) - 1);
    e = 1 - f.bias - shift;
  }
  return std::bit_cast<float>(sign | static_cast<std::uint32_t>(e + 127) << 23 |
                              fraction << (23 - f.mantissa_bits));
}

inline std::uint16_t f32_to_f16(float x) {
  return static_cast<std::uint16_t>(encode_small_float(x, kF16));
}
inline std::uint16_t f32_to_bf16(float x) {
  return static_cast<std::uint16_t>(encode_small_float(x, kBf16));
}
inline std::uint8_t f32_to_fp8e4m3(float x) {
  return static_cast<std::uint8_t>(encode_small_float(x, kFp8e4m3));
}
inline std::uint8_t f32_to_fp8e5m2(float x) {
  return static_cast<std::uint8_t>(encode_small_float(x, kFp8e5m2));
}
inline std::uint8_t f32_to_fp4(float x) {
  return static_cast<std::uint8_t>(encode_small_float(x, kFp4));
}

inline float f16_to_f32(std::uint16_t code) { return decode_small_float(code, kF16); }
inline float bf16_to_f32(std::uint16_t code) {
  const std::uint32_t b = static_cast<std::uint32_t>(code) << 16;
  return std::bit_cast<float>((b & 0x7FFFFFFFu) > 0x7F800000u ? 0x7FC00000u : b);
}
inline float fp8e4m3_to_f32(std::uint8_t code) { return decode_small_float(code, kFp8e4m3); }
inline float fp8e5m2_to_f32(std::uint8_t code) { return decode_small_float(code, kFp8e5m2); }
inline float fp4_to_f32(std::uint8_t code) { return decode_small_float(code, kFp4); }

// What makes whole numbers of all values of a form: the integers that class I multiplies are values
// times this (of fp4 twice: 0, 1, 2, 3, 4, 6, 8, 12 and their negatives).
constexpr int integer_factor(const SmallFloat& f) { return 1 << (f.bias + f.mantissa_bits - 1); }

// The nearest integer, ties to even, for |x| < 2^51; both operations are IEEE additions.
inline double round_even(double x) { return (x + 0x1.8p52) - 0x1.8p52; }
// The same for |x| < 2^22.
inline float round_even(float x) { return (x + 0x1.8p23f) - 0x1.8p23f; }

}  // namespace loom
