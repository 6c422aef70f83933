#include "numeric/q15.h"

#include <bit>

namespace loom {
namespace {

constexpr std::uint32_t kMagnitude = 0x7FFFFFFFu;
constexpr std::uint32_t kInfinity = 0x7F800000u;

float power_of_two(std::int32_t e) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(e + 127) << 23);
}

// bf16 of a finite float, as the bits of a float; 0 below 2^-56, the largest finite value on
// overflow.
std::uint32_t to_bf16(std::uint32_t b) {
  const std::uint32_t magnitude = b & kMagnitude;
  std::uint32_t rounded = (magnitude + 0x7FFFu + (magnitude >> 16 & 1u)) & 0xFFFF0000u;
  rounded = rounded >= kInfinity ? 0x7F7F0000u : rounded;
  rounded = magnitude < 0x23800000u ? 0u : rounded;  // 2^-56
  return rounded | (b & ~kMagnitude);
}

Q15Scale scale_of(std::span<const float> x) {
  std::uint32_t peak = 0;  // magnitudes order like their bits
  for (const float v : x) {
    const std::uint32_t b = std::bit_cast<std::uint32_t>(v) & kMagnitude;
    peak = b > peak ? b : peak;
  }
  if (peak >= kInfinity) return {0, std::bit_cast<float>(0x7FC00000u)};
  if (peak < 0x0D800000u) return {0, 0.0f};  // 2^-100
  // 16256 = 0x1.fc * 2^13: a significand above 0x1.fc carries into the next exponent.
  const std::int32_t e = static_cast<std::int32_t>((peak + 0x1FFFFu) >> 23) - 127 - 13;
  return {e, power_of_two(e)};
}

std::int32_t to_nearest(float x) {  // ties to even, |x| < 2^22
  return static_cast<std::int32_t>(std::bit_cast<std::uint32_t>(x + 0x1.8p23f) - 0x4B400000u);
}

}  // namespace

Q15Scale quantize_q15(std::span<const float> x, std::int8_t* hi, std::int8_t* lo) {
  const Q15Scale s = scale_of(x);
  const float inverse = s.scale > 0 ? power_of_two(-s.exponent) : 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::int32_t q = inverse > 0 ? to_nearest(x[i] * inverse) : 0, h = (q + 64) >> 7;
    hi[i] = static_cast<std::int8_t>(h);
    lo[i] = static_cast<std::int8_t>(q - 128 * h);
  }
  return s;
}

Q15Scale quantize_i8(std::span<const float> x, std::int8_t* hi) {
  const Q15Scale s = scale_of(x);
  const float inverse = s.scale > 0 ? power_of_two(-s.exponent - 7) : 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    hi[i] = static_cast<std::int8_t>(inverse > 0 ? to_nearest(x[i] * inverse) : 0);
  return s;
}

void split_bf16(std::span<const float> x, std::uint16_t* hi, std::uint16_t* lo) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::uint32_t b = std::bit_cast<std::uint32_t>(x[i]), magnitude = b & kMagnitude;
    const bool finite = magnitude < kInfinity;
    std::uint32_t h = to_bf16(b);
    const std::uint32_t rest =
        to_bf16(std::bit_cast<std::uint32_t>(x[i] - std::bit_cast<float>(h)));
    h = finite ? h : (magnitude == kInfinity ? b : 0x7FC00000u);
    hi[i] = static_cast<std::uint16_t>(h >> 16);
    lo[i] = static_cast<std::uint16_t>(finite ? rest >> 16 : 0u);
  }
}

}  // namespace loom
