// Activations as kernels of classes I and B read them (numerics rule 5). Reference functions:
// portable, without branches in their loops, any thread. Fast kernels give the same bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace loom {

// A row as two int8 planes: x = (128 * hi + lo) * scale up to rounding, scale = 2^exponent.
struct Q15Scale {
  std::int32_t exponent = 0;
  float scale = 1;  // 2^exponent; 0 for a row of zeros, so that it never sets the scale of a block;
                    // NaN where the row holds a NaN or infinity
};

// exponent is the least e with max|x| <= 16256 * 2^e (0 for a row of zeros), q = rne(x * 2^-e), hi
// = (q + 64) >> 7 in -127..127, lo = q - 128*hi in -64..63. |x| < 2^-100 count as 0. hi, lo:
// x.size() values each; planes of a non-finite row are 0.
Q15Scale quantize_q15(std::span<const float> x, std::int8_t* hi, std::int8_t* lo);

// The same of one plane: hi = rne(x * 2^-(e + 7)), and lo is 0.
Q15Scale quantize_i8(std::span<const float> x, std::int8_t* hi);

// An int32 sum as a float, rounded once: both products are exact, so nothing a compiler contracts
// changes it.
inline float sum_to_f32(std::int32_t sum) {
  return static_cast<float>(sum >> 12) * 4096.0f + static_cast<float>(sum & 4095);
}

// The output of a row of weights from the exact sums of the two planes: ((f(hi)*128 + f(lo)) * 2^e)
// * row_scale.
inline float join_q15(std::int32_t sum_hi, std::int32_t sum_lo, float activation_scale,
                      float row_scale) {
  return ((sum_to_f32(sum_hi) * 128.0f + sum_to_f32(sum_lo)) * activation_scale) * row_scale;
}

// x = hi + lo up to 2^-17 |x|: hi = bf16(x), lo = bf16(x - hi), each to nearest even, 0 below
// 2^-56. Values whose bf16 would overflow take the largest finite one in hi; an infinity or NaN has
// lo = 0. hi, lo: bf16 codes, x.size() each.
void split_bf16(std::span<const float> x, std::uint16_t* hi, std::uint16_t* lo);

}  // namespace loom
