#include "bridge/values.h"

#include <bit>
#include <cmath>
#include <cstdint>

#include "base/files/bytes.h"

namespace loom::bridge {
namespace {

float from_f16(std::uint16_t bits) {
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000u) << 16;
  const std::uint32_t exponent = (bits >> 10) & 31, mantissa = bits & 1023;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000u | (mantissa << 13));
  if (exponent != 0)
    return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
  const float small = std::ldexp(static_cast<float>(mantissa), -24);
  return sign != 0 ? -small : small;
}

template <class T>
void decode_to(std::string_view bytes, std::string_view dtype, T* values) {
  const auto* p = reinterpret_cast<const std::uint8_t*>(bytes.data());
  const auto each = [&]<class Item>(Item, auto value_of) {
    for (std::size_t i = 0; i < bytes.size() / sizeof(Item); ++i)
      values[i] = static_cast<T>(value_of(load_le<Item>(p + i * sizeof(Item))));
  };
  if (dtype == "f32")
    each(std::uint32_t{}, [](std::uint32_t bits) { return std::bit_cast<float>(bits); });
  else if (dtype == "f64")
    each(std::uint64_t{}, [](std::uint64_t bits) { return std::bit_cast<double>(bits); });
  else if (dtype == "f16") each(std::uint16_t{}, from_f16);
  else
    each(std::uint16_t{}, [](std::uint16_t bits) {
      return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
    });
}

}  // namespace

void decode(std::string_view bytes, std::string_view dtype, float* values) {
  decode_to(bytes, dtype, values);
}
void decode(std::string_view bytes, std::string_view dtype, double* values) {
  decode_to(bytes, dtype, values);
}

}  // namespace loom::bridge
