#include "formats/decode.h"

#include "base/files/bytes.h"
#include "numeric/codec.h"
#include "numeric/gguf/gguf_blocks.h"

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
    case StorageType::q4_0: return each([](const std::byte* p, T* o) { decode_gguf_block(Layout::q4_0, p, o); });
    case StorageType::q8_0: return each([](const std::byte* p, T* o) { decode_gguf_block(Layout::q8_0, p, o); });
    case StorageType::q4_k: return each([](const std::byte* p, T* o) { decode_gguf_block(Layout::q4_k, p, o); });
    case StorageType::q6_k: return each([](const std::byte* p, T* o) { decode_gguf_block(Layout::q6_k, p, o); });
  }
}

template void decode_blocks<float>(StorageType, const std::byte*, std::size_t, float*);
template void decode_blocks<double>(StorageType, const std::byte*, std::size_t, double*);

}  // namespace loom
