#include "formats/decode.h"

#include <bit>
#include <cstring>
#include <type_traits>

#include "base/files/bytes.h"
#include "numeric/codec.h"
#include "numeric/gguf/gguf_blocks.h"

namespace loom {
namespace {

template <class Stored, class T>
void convert(const std::byte* from, std::size_t count, T* out) {
  for (std::size_t i = 0; i < count; ++i)
    out[i] = static_cast<T>(load_le<Stored>(from + i * sizeof(Stored)));
}

template <class Code, class T, class Decode>
void convert_codes(const std::byte* from, std::size_t count, T* out, Decode decode) {
  for (std::size_t i = 0; i < count; ++i)
    out[i] = static_cast<T>(decode(load_le<Code>(from + i * sizeof(Code))));
}

// Each is the upper half of an f32.
template <class T>
void convert_bf16(const std::byte* from, std::size_t count, T* out) {
  std::size_t done = 0;
  if constexpr (sizeof(T) == sizeof(float) && std::endian::native == std::endian::little) {
    typedef std::uint16_t Eight __attribute__((vector_size(16)));
    for (; done + 8 <= count; done += 8) {
      Eight v;
      std::memcpy(&v, from + 2 * done, sizeof v);
      const Eight halves[2] = {__builtin_shufflevector(Eight{}, v, 0, 8, 1, 9, 2, 10, 3, 11),
                               __builtin_shufflevector(Eight{}, v, 4, 12, 5, 13, 6, 14, 7, 15)};
      std::memcpy(out + done, halves, sizeof halves);
    }
  }
  convert_codes<std::uint16_t>(from + 2 * done, count - done, out + done, bf16_to_f32);
}

// Codes below a byte: the lowest bits come first.
template <class T>
void convert_packed(const DTypeInfo& type, const std::byte* from, std::size_t bytes, T* out) {
  const int mask = (1 << type.bits) - 1;
  for (std::size_t i = 0; i < bytes; ++i)
    for (int bit = 0; bit < 8; bit += type.bits) {
      const int code = std::to_integer<int>(from[i]) >> bit & mask;
      *out++ = static_cast<T>(file_value(type, static_cast<std::uint32_t>(code)));
    }
}

// The unsigned or signed integer of a size.
template <int Bits, bool Signed>
auto integer_of_size() {
  if constexpr (Bits == 64) return std::conditional_t<Signed, std::int64_t, std::uint64_t>();
  else if constexpr (Bits == 32) return std::conditional_t<Signed, std::int32_t, std::uint32_t>();
  else if constexpr (Bits == 16) return std::conditional_t<Signed, std::int16_t, std::uint16_t>();
  else return std::conditional_t<Signed, std::int8_t, std::uint8_t>();
}

template <DType D, class T>
void decode_dtype(const std::byte* from, std::size_t blocks, T* out) {
  constexpr const DTypeInfo& type = info(D);
  if constexpr (type.bits < 8) {
    convert_packed(type, from, blocks, out);
  } else if constexpr (type.codec.family == CodecFamily::ieee) {
    convert<std::conditional_t<type.bits == 64, double, float>>(from, blocks, out);
  } else if constexpr (type.codec.family == CodecFamily::integer) {
    convert<decltype(integer_of_size<type.bits, type.is_signed>())>(from, blocks, out);
  } else if constexpr (D == DType::bf16) {
    convert_bf16(from, blocks, out);
  } else {
    convert_codes<decltype(integer_of_size<type.bits, false>())>(from, blocks, out, [](auto code) {
      return decode_small_float(code, type.codec.small_float);
    });
  }
}

}  // namespace

float file_value(const DTypeInfo& type, std::uint32_t code) {
  switch (type.codec.family) {
    case CodecFamily::small_float: return decode_small_float(code, type.codec.small_float);
    case CodecFamily::sign: return code != 0 ? 1.0f : -1.0f;
    default: break;
  }
  const std::int32_t sign = type.is_signed ? 1 << (type.bits - 1) : 0;
  return static_cast<float>((static_cast<std::int32_t>(code) ^ sign) - sign);
}

template <class T>
void decode_blocks(StorageType type, const std::byte* from, std::size_t blocks, T* out) {
  const auto each = [&](Layout layout) {
    const StorageTypeInfo& row = info(type);
    for (std::size_t b = 0; b < blocks; ++b)
      decode_gguf_block(layout, from + b * row.block_bytes, out + b * row.block);
  };
  switch (type) {
#define LOOM_DTYPE(id, name, ...) \
  case StorageType::name: return decode_dtype<DType::name>(from, blocks, out);
#include "numeric/dtypes.def"
    case StorageType::boolean:
      return convert_codes<std::uint8_t>(from, blocks, out,
                                         [](std::uint8_t c) { return c != 0 ? 1.0f : 0.0f; });
    case StorageType::q4_0: return each(Layout::q4_0);
    case StorageType::q8_0: return each(Layout::q8_0);
    case StorageType::q4_k: return each(Layout::q4_k);
    case StorageType::q6_k: return each(Layout::q6_k);
  }
}

template void decode_blocks<float>(StorageType, const std::byte*, std::size_t, float*);
template void decode_blocks<double>(StorageType, const std::byte*, std::size_t, double*);

}  // namespace loom
