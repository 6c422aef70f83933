// Little-endian loads and stores, and checked size arithmetic. Files and hashes are little-endian
// on every host.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>

namespace loom {

template <std::size_t Size>
struct UintOfSize;
template <>
struct UintOfSize<1> {
  using type = std::uint8_t;
};
template <>
struct UintOfSize<2> {
  using type = std::uint16_t;
};
template <>
struct UintOfSize<4> {
  using type = std::uint32_t;
};
template <>
struct UintOfSize<8> {
  using type = std::uint64_t;
};

template <class U>
constexpr U byte_swap(U value) {
  static_assert(std::is_unsigned_v<U>);
  if constexpr (sizeof(U) == 1) return value;
  else if constexpr (sizeof(U) == 2) return static_cast<U>(__builtin_bswap16(value));
  else if constexpr (sizeof(U) == 4) return __builtin_bswap32(value);
  else return __builtin_bswap64(value);
}

// T is any integer or float of 1, 2, 4 or 8 bytes.
template <class T>
T load_le(const void* from) {
  using U = typename UintOfSize<sizeof(T)>::type;
  U bits;
  std::memcpy(&bits, from, sizeof bits);
  if constexpr (std::endian::native == std::endian::big) bits = byte_swap(bits);
  return std::bit_cast<T>(bits);
}

template <class T>
void store_le(void* to, T value) {
  using U = typename UintOfSize<sizeof(T)>::type;
  U bits = std::bit_cast<U>(value);
  if constexpr (std::endian::native == std::endian::big) bits = byte_swap(bits);
  std::memcpy(to, &bits, sizeof bits);
}

// a * b and a + b, or nothing when the result does not fit. Sizes from files go through these
// before anything is allocated.
inline std::optional<std::uint64_t> checked_mul(std::uint64_t a, std::uint64_t b) {
  std::uint64_t r;
  if (__builtin_mul_overflow(a, b, &r)) return std::nullopt;
  return r;
}
inline std::optional<std::uint64_t> checked_add(std::uint64_t a, std::uint64_t b) {
  std::uint64_t r;
  if (__builtin_add_overflow(a, b, &r)) return std::nullopt;
  return r;
}

constexpr std::uint64_t align_up(std::uint64_t value, std::uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

inline std::span<const std::byte> as_bytes(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}
inline std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace loom
