// Stored elements to float or double, whole blocks at a time. Internal to this module; the block layouts are ggml's, described in
// docs/reference/formats.md and checked against tests/parity/gguf_blocks.py.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "formats/tensor_file.h"

namespace loom {

inline float f16_value(std::uint16_t code) {
  const std::uint32_t sign = std::uint32_t{code & 0x8000u} << 16;
  const std::uint32_t exponent = (code >> 10) & 31, mantissa = code & 0x3ff;
  if (exponent == 0) {  // zero or subnormal: mantissa * 2^-24 is exact in f32
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(static_cast<float>(mantissa) * 0x1p-24f) | sign);
  }
  const std::uint32_t rebased = exponent == 31 ? 255 : exponent + 112;
  return std::bit_cast<float>(sign | rebased << 23 | mantissa << 13);
}

inline float bf16_value(std::uint16_t code) { return std::bit_cast<float>(std::uint32_t{code} << 16); }

// OCP E4M3: bias 7, no infinities, NaN at magnitude 0x7f.
inline float f8_e4m3_value(std::uint8_t code) {
  const std::uint32_t sign = std::uint32_t{code & 0x80u} << 24;
  const std::uint32_t exponent = (code >> 3) & 15, mantissa = code & 7;
  if ((code & 0x7f) == 0x7f) return std::bit_cast<float>(sign | 0x7fc00000u);
  if (exponent == 0) return std::bit_cast<float>(std::bit_cast<std::uint32_t>(static_cast<float>(mantissa) * 0x1p-9f) | sign);
  return std::bit_cast<float>(sign | (exponent + 120) << 23 | mantissa << 20);
}

// OCP E5M2 is the upper byte of an f16.
inline float f8_e5m2_value(std::uint8_t code) { return f16_value(static_cast<std::uint16_t>(code << 8)); }

// OCP E2M1.
inline float f4_value(std::uint8_t code) {
  constexpr float kMagnitude[8] = {0.0f, 0.5f, 1.0f, 1.5f, 2.0f, 3.0f, 4.0f, 6.0f};
  return (code & 8) ? -kMagnitude[code & 7] : kMagnitude[code & 7];
}

// Writes blocks * info(type).block values. T is float or double.
template <class T>
void decode_blocks(StorageType type, const std::byte* from, std::size_t blocks, T* out);

}  // namespace loom
