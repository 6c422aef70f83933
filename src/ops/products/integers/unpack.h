// Codes of class I weights as unsigned bytes (numeric/packed/packed_matrix.h,
// docs/reference/packing.md): a panel is 16 outputs, a byte row 16 outputs x 4 consecutive k, in
// layers of bits where codes are small. An unpacked code is value + offset.
#pragma once

#include "ops/cpu/vectors/dot.h"
#include "ops/cpu/vectors/simd.h"

namespace loom::cpu::LOOM_ISA {

// What is taken off per unit of activation.
static inline int code_offset(const WeightArg& w, i64 n) {
  return w.zeros ? static_cast<int>(w.zeros[n]) : w.offset;
}

// The same where zero points are per block.
static inline int block_offset(const WeightArg& w, i64 panel, i64 block, i64 n) {
  return w.zeros ? static_cast<int>(w.zeros[(panel * w.blocks + block) * 16 + n])
                 : code_offset(w, 0);
}

// Codes below 16 times a scale below 16 that all bytes of a word share: no product leaves its byte.
static inline Bytes scale_codes(Bytes codes, Bytes scale) {
  const Words low = {}, product = reinterpret_cast<Words&>(codes) *
                                  ((low + 0x00FF) & reinterpret_cast<Words&>(scale));
  return reinterpret_cast<const Bytes&>(product);
}

// Byte `index` of every output's four, repeated in all four.
static inline Bytes repeat_byte(Bytes v, i64 index) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  const int shift = static_cast<int>(8 * index);
#else
  const int shift = static_cast<int>(24 - 8 * index);
#endif
  Dwords d = (reinterpret_cast<Dwords&>(v) >> shift) & 0xFF;
  d |= d << 8;
  d |= d << 16;
  return reinterpret_cast<Bytes&>(d);
}

// The plain layouts by what a byte holds.
enum class Plain { byte, nibbles, fp4, pairs, trits, bits };
static constexpr int kLayers[] = {1, 2, 2, 4, 5, 8};
template <Plain P>
static constexpr int layers() {
  return kLayers[static_cast<int>(P)];
}

// Codes of layer p of a byte row; layers are taken in ascending order. `row` may be used up.
template <Plain P>
static inline Bytes layer_codes(Bytes& row, int p) {
  if constexpr (P == Plain::byte) return row;
  else if constexpr (P == Plain::nibbles) return p == 0 ? row & 15 : row >> 4;
  else if constexpr (P == Plain::pairs) return (row >> (2 * p)) & 3;
  else if constexpr (P == Plain::bits) return ((row >> p) & 1) << 1;
  else if constexpr (P == Plain::trits) {  // the next digit of y is (3 * y) div 256: y above 85, y
                                           // above 170
    const Bytes code = ((row > 85) & 1) + ((row > 170) & 1);
    row = row + row + row;
    return code;
  } else {  // 12 + twice the value: magnitudes 0 1 2 3 4 6 8 12
    const Bytes code = p == 0 ? row & 15 : row >> 4, m = code & 7;
    const Bytes twice = m + ((m > 4) & 1) + ((m > 5) & 1) + ((m > 6) & 3);
    const Bytes negative = code > 7;
    return 12 + ((twice ^ negative) - negative);
  }
}

// Calls f.template operator()<P>() for the plain layout of w.
template <class F>
static inline void with_plain(const WeightArg& w, F f) {
  if (w.dtype == kFp4) return f.template operator()<Plain::fp4>();
  if (w.dtype == kTernary) return f.template operator()<Plain::trits>();
  switch (w.bits) {
    case 8: return f.template operator()<Plain::byte>();
    case 4: return f.template operator()<Plain::nibbles>();
    case 1: return f.template operator()<Plain::bits>();
    default: return f.template operator()<Plain::pairs>();
  }
}

template <Plain P>
static inline void unpack_plain(const unsigned char* panel, i64 groups, unsigned char* out) {
  constexpr int n = layers<P>();
  for (i64 first = 0; first < groups; first += n) {
    const i64 count = min(n, groups - first);
    for (i64 j = 0; j < 64; j += LOOM_VECTOR_BYTES) {
      Bytes row = load_bytes(panel + first / n * 64 + j);
      if (count == n) {
        LOOM_UNROLL for (int p = 0; p < n; ++p)
            store_bytes(out + (first + p) * 64 + j, layer_codes<P>(row, p));
      } else {
        for (int p = 0; p < count; ++p)
          store_bytes(out + (first + p) * 64 + j, layer_codes<P>(row, p));
      }
    }
  }
}

// w8 + 128 = code * s - 8 * m4 + 128
static inline void unpack_a4(const unsigned char* panel, i64 groups, unsigned char* out) {
  for (i64 super = 0; super < groups / 16; ++super, panel += 576, out += 1024) {
    for (i64 j = 0; j < 64; j += LOOM_VECTOR_BYTES) {
      const Bytes sub = load_bytes(panel + 512 + j);
      LOOM_UNROLL for (i64 b = 0; b < 4; ++b) {
        const Bytes both = repeat_byte(sub, b), scale = both & 15, minus = 128 - ((both >> 4) << 3);
        LOOM_UNROLL for (i64 r = 2 * b; r < 2 * b + 2; ++r) {
          const Bytes row = load_bytes(panel + r * 64 + j);
          store_bytes(out + r * 128 + j, scale_codes(row & 15, scale) + minus);
          store_bytes(out + r * 128 + 64 + j, scale_codes(row >> 4, scale) + minus);
        }
      }
    }
  }
}

// w8 + 128 = (code - 8) * s + 128; the scales of 32 byte rows follow them, of fewer at the end.
static inline void unpack_s4(const unsigned char* panel, i64 groups, unsigned char* out) {
  for (i64 r = 0; r < groups / 2; ++r) {
    const i64 super = r / 32, in_super = min(32, groups / 2 - super * 32), block = r % 32 / 4;
    const unsigned char* base = panel + super * 2112;
    for (i64 j = 0; j < 64; j += LOOM_VECTOR_BYTES) {
      const Bytes both = repeat_byte(load_bytes(base + in_super * 64 + j), block % 4),
                  scale = block < 4 ? both & 15 : both >> 4, minus = 128 - (scale << 3);
      const Bytes row = load_bytes(base + r % 32 * 64 + j);
      store_bytes(out + r * 128 + j, scale_codes(row & 15, scale) + minus);
      store_bytes(out + r * 128 + 64 + j, scale_codes(row >> 4, scale) + minus);
    }
  }
}

// Codes of one panel for k in [0, padded), as [k/4][16 outputs][4]. padded is a multiple of 64; the
// panel may end before (ternary).
static inline void unpack_codes(const WeightArg& w, const unsigned char* panel, i64 padded,
                                unsigned char* out) {
  const i64 groups = min(padded, w.padded_cols) / 4;
  if (w.layout == kA4) unpack_a4(panel, groups, out);
  else if (w.layout == kS4) unpack_s4(panel, groups, out);
  else with_plain(w, [&]<Plain P>() { unpack_plain<P>(panel, groups, out); });
  for (i64 i = groups * 64; i < padded * 16; ++i) out[i] = 0;
}

}  // namespace loom::cpu::LOOM_ISA
