// The GGUF block layouts, row-major as they lie in the file (github.com/ggml-org/ggml,
// ggml-common.h): a row is whole blocks, each with its f16 scales. Bytes are little-endian. Pure
// functions, any thread.
//
//   q4_0  32 weights, 18 bytes: f16 d, 16 bytes (weight i low, i + 16 high nibble)         (q - 8)
//   * d q8_0  32 weights, 34 bytes: f16 d, 32 int8                                             q *
//   d q4_k 256 weights, 144 bytes: f16 d, f16 dmin, 12 bytes of 6-bit scales, 128 of nibbles q *
//   (d*sc) - dmin*m q6_k 256 weights, 210 bytes: 128 low nibbles, 64 high pairs, 16 int8 scales,
//   f16 d     (q - 32) * (d*sc)
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "numeric/weight_format.h"

namespace loom {

struct GgufBlock {
  int weights, bytes;
};
constexpr GgufBlock gguf_block(Layout layout) {
  switch (layout) {
    case Layout::q4_0: return {32, 18};
    case Layout::q8_0: return {32, 34};
    case Layout::q4_k: return {256, 144};
    case Layout::q6_k: return {256, 210};
    default: return {0, 0};
  }
}

// out[i] = the value of weight i of the block, each operation of the definition above rounded in T:
// float, as ggml's own arithmetic, or double, which is exact.
template <class T>
void decode_gguf_block(Layout layout, const std::byte* block, T* out);
// out[i] = the integer that is multiplied: q - 8, q, q (q4_k, 0..15), q - 32.
void decode_gguf_codes(Layout layout, const std::byte* block, std::int32_t* out);
// The f32 factors of the block's codes, one per sub-block (q6_k: 16 of 16 weights, q4_k: 8 of 32,
// else one), and what q4_k takes off.
void gguf_block_scales(Layout layout, const std::byte* block, float* scale, float* minimum);

// Encodes one block of q4_0 or q8_0, the bits that ggml's reference quantizer writes. values: 32.
void encode_gguf_block(Layout layout, const float* values, std::byte* block);

}  // namespace loom
