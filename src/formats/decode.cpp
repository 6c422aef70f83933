#include "formats/decode.h"

#include "base/bytes.h"
#include "numeric/codec.h"

namespace loom {
namespace {

template <class Stored, class T>
void convert(const std::byte* from, std::size_t count, T* out) {
  for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<T>(load_le<Stored>(from + i * sizeof(Stored)));
}

template <class Code, class T, class Decode>
void convert_codes(const std::byte* from, std::size_t count, T* out, Decode decode) {
  for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<T>(decode(load_le<Code>(from + i * sizeof(Code))));
}

inline int byte_at(const std::byte* p, std::size_t i) { return std::to_integer<int>(p[i]); }

// 18 bytes: f16 scale d, 16 bytes of nibbles; element i is the low nibble of byte i, element 16 + i its high nibble; d * (q - 8).
template <class T>
void decode_q4_0(const std::byte* p, T* out) {
  const T d = f16_to_f32(load_le<std::uint16_t>(p));
  for (std::size_t i = 0; i < 16; ++i) {
    const int q = byte_at(p, 2 + i);
    out[i] = d * static_cast<T>((q & 15) - 8);
    out[16 + i] = d * static_cast<T>((q >> 4) - 8);
  }
}

// 34 bytes: f16 scale d, 32 signed bytes; d * q.
template <class T>
void decode_q8_0(const std::byte* p, T* out) {
  const T d = f16_to_f32(load_le<std::uint16_t>(p));
  for (std::size_t i = 0; i < 32; ++i) out[i] = d * static_cast<T>(load_le<std::int8_t>(p + 2 + i));
}

// 144 bytes: f16 d, f16 dmin, 12 bytes with eight 6-bit scales and eight 6-bit minima, 128 bytes of nibbles.
// Sub-block s of 32 elements: (d * scale[s]) * q - dmin * min[s]. Sub-blocks 2k and 2k + 1 are the low and high nibbles of 32 bytes.
template <class T>
void decode_q4_k(const std::byte* p, T* out) {
  const T d = f16_to_f32(load_le<std::uint16_t>(p)), dmin = f16_to_f32(load_le<std::uint16_t>(p + 2));
  const std::byte* packed = p + 4;
  for (std::size_t s = 0; s < 8; ++s) {
    int scale, min;
    if (s < 4) {  // six low bits of bytes s and s + 4
      scale = byte_at(packed, s) & 63;
      min = byte_at(packed, s + 4) & 63;
    } else {  // four bits in byte s + 4, the upper two in the top of bytes s - 4 and s
      scale = (byte_at(packed, s + 4) & 15) | (byte_at(packed, s - 4) >> 6) << 4;
      min = byte_at(packed, s + 4) >> 4 | (byte_at(packed, s) >> 6) << 4;
    }
    const T step = d * static_cast<T>(scale), base = dmin * static_cast<T>(min);
    const std::byte* codes = p + 16 + s / 2 * 32;
    const int shift = s % 2 == 0 ? 0 : 4;
    for (std::size_t i = 0; i < 32; ++i) out[s * 32 + i] = step * static_cast<T>((byte_at(codes, i) >> shift) & 15) - base;
  }
}

// 210 bytes: 128 bytes of low nibbles, 64 bytes of upper bit pairs, 16 signed scales of 16 elements each, f16 d; d * scale * (q - 32).
// Each half of 128 elements is four groups of 32: groups 0 and 1 are the low nibbles of 64 bytes, 2 and 3 their high nibbles,
// and group g takes bits 2g and 2g + 1 of 32 upper bytes.
template <class T>
void decode_q6_k(const std::byte* p, T* out) {
  const T d = f16_to_f32(load_le<std::uint16_t>(p + 208));
  for (std::size_t e = 0; e < 256; ++e) {
    const std::size_t half = e / 128, group = e % 128 / 32, i = e % 32;
    const int low = byte_at(p, half * 64 + group % 2 * 32 + i) >> (group / 2 * 4) & 15;
    const int high = byte_at(p, 128 + half * 32 + i) >> (group * 2) & 3;
    out[e] = d * static_cast<T>(load_le<std::int8_t>(p + 192 + e / 16)) * static_cast<T>((low | high << 4) - 32);
  }
}

}  // namespace

template <class T>
void decode_blocks(StorageType type, const std::byte* from, std::size_t blocks, T* out) {
  const auto each = [&](auto decode) {
    const StorageTypeInfo& row = info(type);
    for (std::size_t b = 0; b < blocks; ++b) decode(from + b * row.block_bytes, out + b * row.block);
  };
  switch (type) {
    case StorageType::f64: return convert<double>(from, blocks, out);
    case StorageType::f32: return convert<float>(from, blocks, out);
    case StorageType::i64: return convert<std::int64_t>(from, blocks, out);
    case StorageType::i32: return convert<std::int32_t>(from, blocks, out);
    case StorageType::i16: return convert<std::int16_t>(from, blocks, out);
    case StorageType::i8: return convert<std::int8_t>(from, blocks, out);
    case StorageType::u64: return convert<std::uint64_t>(from, blocks, out);
    case StorageType::u32: return convert<std::uint32_t>(from, blocks, out);
    case StorageType::u16: return convert<std::uint16_t>(from, blocks, out);
    case StorageType::u8: return convert<std::uint8_t>(from, blocks, out);
    case StorageType::boolean: return convert_codes<std::uint8_t>(from, blocks, out, [](std::uint8_t c) { return c != 0 ? 1.0f : 0.0f; });
    case StorageType::f16: return convert_codes<std::uint16_t>(from, blocks, out, f16_to_f32);
    case StorageType::bf16: return convert_codes<std::uint16_t>(from, blocks, out, bf16_to_f32);
    case StorageType::f8_e4m3: return convert_codes<std::uint8_t>(from, blocks, out, fp8e4m3_to_f32);
    case StorageType::f8_e5m2: return convert_codes<std::uint8_t>(from, blocks, out, fp8e5m2_to_f32);
    case StorageType::f4:  // the lower nibble comes first
      return each([](const std::byte* p, T* o) {
        o[0] = static_cast<T>(fp4_to_f32(static_cast<std::uint8_t>(byte_at(p, 0) & 15)));
        o[1] = static_cast<T>(fp4_to_f32(static_cast<std::uint8_t>(byte_at(p, 0) >> 4)));
      });
    case StorageType::q4_0: return each(decode_q4_0<T>);
    case StorageType::q8_0: return each(decode_q8_0<T>);
    case StorageType::q4_k: return each(decode_q4_k<T>);
    case StorageType::q6_k: return each(decode_q6_k<T>);
  }
}

template void decode_blocks<float>(StorageType, const std::byte*, std::size_t, float*);
template void decode_blocks<double>(StorageType, const std::byte*, std::size_t, double*);

}  // namespace loom
