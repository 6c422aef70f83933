// One group of weights that shares a scale (a tensor, a row or a block): how the scale is chosen,
// and values to codes and back. What differs between dtypes is in their rows of dtypes.def.
//
// value = (code - zero) * scale. Codes are the bits as they are stored: integers of up to 8 bits
// are stored unsigned (i8 + 128, i4 + 8, i2 + 2, ternary + 1, binary 0 for -1 and 1 for +1), wider
// ones in two's complement, floats as their own bits. Rules of scales, all deterministic:
//   largest       largest magnitude / largest code; of unsigned types the range with 0 in it, the
//                 zero point within
//   power_of_two  the same, rounded up to a power of two: scaling is exact
//   min_error     the least squared error over shrunken scales 0.96^j of the first, j ascending,
//                 ties to the first
//   mean          mean magnitude (BitNet b1.58, arXiv:2402.17764, eq. 1-3)
// Pure functions, any thread.
#pragma once

#include <cstdint>
#include <span>

#include "numeric/dtype.h"

namespace loom {

struct GroupScale {
  double scale =
      0;  // an f32 except for class D; 1 for the types without scales; 0 for a group of zeros
  std::uint64_t zero = 0;  // unsigned types
};

// Magnitudes below become 0 when packed, so that no product or partial sum of a kernel is subnormal
// on any device (numerics rule 8): f32 2^-40, bf16 2^-56, class D none, all others 2^-100.
double flush_floor(DType dtype);

// Whether all are numbers of at most this magnitude. T: float or double.
template <class T>
bool within(std::span<const T> values, T limit);

// out[i] = values[i], finite, with those below flush_floor as +0: what the functions below take. T:
// float or double, and so is Out.
template <class T, class Out>
void flush(DType dtype, std::span<const T> values, Out* out);

GroupScale choose_scale(DType dtype, std::span<const double> flushed);
// The same for values as they come, of which there are many. T: float or double.
template <class T>
GroupScale choose_tensor_scale(DType dtype, std::span<const T> values);

// out[i] = the stored code of flushed[i]. U: the unsigned integer of the size of a code, of a byte
// for smaller ones.
template <class U>
void encode_group(DType dtype, std::span<const double> flushed, const GroupScale& group, U* out);
// What models come in, without a detour over double: flush and encode_group of bf16.
void encode_bf16(std::span<const float> values, std::uint16_t* out);

// out[i] = code - zero as a number, without the scale: exact up to 53 bits; fp4 at its value.
void decode_group(DType dtype, std::span<const std::uint64_t> codes, std::uint64_t zero,
                  double* out);

// The code that stands for zero (binary has none: 0).
std::uint64_t zero_code(DType dtype, std::uint64_t zero);

}  // namespace loom
