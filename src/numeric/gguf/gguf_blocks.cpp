#include "numeric/gguf/gguf_blocks.h"

#include "base/files/bytes.h"
#include "numeric/codec.h"

namespace loom {
namespace {

unsigned byte_at(const std::byte* p, int i) { return static_cast<unsigned>(p[i]); }
float half_at(const std::byte* p) { return f16_to_f32(load_le<std::uint16_t>(p)); }

// Scale and minimum of sub-block j of q4_k: 6 bits each, the upper two of the last four stored with
// the first four.
template <class T>
struct ScaleMin {
  T scale, min;
};
template <class T>
ScaleMin<T> q4_k_scale(const std::byte* block, int j) {
  const std::byte* s = block + 4;
  unsigned scale, min;
  if (j < 4) {
    scale = byte_at(s, j) & 63;
    min = byte_at(s, j + 4) & 63;
  } else {
    scale = (byte_at(s, j + 4) & 15) | (byte_at(s, j - 4) >> 6) << 4;
    min = byte_at(s, j + 4) >> 4 | (byte_at(s, j) >> 6) << 4;
  }
  return {T{half_at(block)} * static_cast<T>(scale), T{half_at(block + 2)} * static_cast<T>(min)};
}

// The nearest integer, halves away from zero, as C's roundf.
int round_away(float x) {
  const int whole = static_cast<int>(x);
  const float rest = x - static_cast<float>(whole);
  return whole + (rest >= 0.5f ? 1 : rest <= -0.5f ? -1 : 0);
}

}  // namespace

void decode_gguf_codes(Layout layout, const std::byte* block, std::int32_t* out) {
  switch (layout) {
    case Layout::q4_0:
      for (int i = 0; i < 16; ++i) {
        out[i] = static_cast<int>(byte_at(block, 2 + i) & 15) - 8;
        out[i + 16] = static_cast<int>(byte_at(block, 2 + i) >> 4) - 8;
      }
      return;
    case Layout::q8_0:
      for (int i = 0; i < 32; ++i) out[i] = static_cast<std::int8_t>(byte_at(block, 2 + i));
      return;
    case Layout::q4_k:
      for (int i = 0; i < 256; ++i)
        out[i] =
            static_cast<int>(byte_at(block, 16 + i / 64 * 32 + i % 32) >> (i / 32 % 2 * 4) & 15);
      return;
    case Layout::q6_k:
      for (int i = 0; i < 256; ++i) {
        const int half = i / 128, quarter = i / 32 % 4, l = i % 32;
        const unsigned low =
            byte_at(block, half * 64 + quarter % 2 * 32 + l) >> (quarter / 2 * 4) & 15;
        const unsigned high = byte_at(block, 128 + half * 32 + l) >> (quarter * 2) & 3;
        out[i] = static_cast<int>(low | high << 4) - 32;
      }
      return;
    default: return;
  }
}

template <class T>
void decode_gguf_block(Layout layout, const std::byte* block, T* out) {
  std::int32_t codes[256];
  decode_gguf_codes(layout, block, codes);
  switch (layout) {
    case Layout::q4_0:
    case Layout::q8_0:
      for (int i = 0; i < 32; ++i) out[i] = T{half_at(block)} * static_cast<T>(codes[i]);
      return;
    case Layout::q4_k:
      for (int j = 0; j < 8; ++j) {
        const ScaleMin<T> s = q4_k_scale<T>(block, j);
        for (int i = 32 * j; i < 32 * j + 32; ++i)
          out[i] = s.scale * static_cast<T>(codes[i]) - s.min;
      }
      return;
    case Layout::q6_k:
      for (int j = 0; j < 16; ++j) {
        const T scale = T{half_at(block + 208)} *
                        static_cast<T>(static_cast<std::int8_t>(byte_at(block, 192 + j)));
        for (int i = 16 * j; i < 16 * j + 16; ++i) out[i] = scale * static_cast<T>(codes[i]);
      }
      return;
    default: return;
  }
}

void gguf_block_scales(Layout layout, const std::byte* block, float* scale, float* minimum) {
  switch (layout) {
    case Layout::q4_k:
      for (int j = 0; j < 8; ++j) {
        const ScaleMin<float> s = q4_k_scale<float>(block, j);
        scale[j] = s.scale;
        minimum[j] = s.min;
      }
      return;
    case Layout::q6_k:
      for (int j = 0; j < 16; ++j)
        scale[j] = half_at(block + 208) *
                   static_cast<float>(static_cast<std::int8_t>(byte_at(block, 192 + j)));
      return;
    default: scale[0] = half_at(block); return;
  }
}

template void decode_gguf_block<float>(Layout, const std::byte*, float*);
template void decode_gguf_block<double>(Layout, const std::byte*, double*);

void encode_gguf_block(Layout layout, const float* values, std::byte* block) {
  float peak = 0, signed_peak = 0;
  for (int i = 0; i < 32; ++i) {
    const float a = values[i] < 0 ? -values[i] : values[i];
    if (a > peak) {
      peak = a;
      signed_peak = values[i];
    }
  }
  const float d = layout == Layout::q4_0 ? signed_peak / -8 : peak / 127;
  const float inverse = d != 0 ? 1 / d : 0;
  store_le(block, f32_to_f16(d));
  if (layout == Layout::q8_0) {
    for (int i = 0; i < 32; ++i)
      block[2 + i] = static_cast<std::byte>(round_away(values[i] * inverse));
    return;
  }
  const auto nibble = [&](float x) {
    const int q = static_cast<int>(x * inverse + 8.5f);
    return q < 15 ? q : 15;
  };
  for (int i = 0; i < 16; ++i)
    block[2 + i] = static_cast<std::byte>(nibble(values[i]) | nibble(values[i + 16]) << 4);
}

}  // namespace loom
