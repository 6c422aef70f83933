// Integer dot products in plain vectors (names: dot_vnni.h), on the bytes at even and at odd places
// of words: a product of u8 and s8 fits 16 bits, sums of two are made in 32.
#pragma once

#include "ops/cpu/vectors/integer_vectors.h"

namespace loom::cpu::LOOM_ISA {

static constexpr i64 kFullBias = 0;
static constexpr bool kSmallIsFaster = false;

typedef short Shorts __attribute__((vector_size(LOOM_VECTOR_BYTES)));

static inline Ints pairs(Shorts a, Shorts b) {
#if defined(__SSE2__)
  return reinterpret_cast<Ints>(__builtin_ia32_pmaddwd128(a, b));
#elif defined(__wasm_simd128__)
  return __builtin_wasm_dot_s_i32x4_i16x8(a, b);
#else
  const Ints p = reinterpret_cast<Ints>(a), q = reinterpret_cast<Ints>(b);
  return (p << 16 >> 16) * (q << 16 >> 16) + (p >> 16) * (q >> 16);
#endif
}
static inline Ints dot_full(Ints acc, Bytes codes, Ints x) {
  const Words c = reinterpret_cast<Words>(codes);
  const Shorts s = reinterpret_cast<Shorts>(x);
  return acc + pairs(reinterpret_cast<Shorts>(c & 0xFF), s << 8 >> 8) +
         pairs(reinterpret_cast<Shorts>(c >> 8), s >> 8);
}
static inline Ints dot_small(Ints acc, Bytes codes, Ints x) { return dot_full(acc, codes, x); }
static inline Ints dot_words(Ints acc, Ints a, Ints b) {
  return acc + pairs(reinterpret_cast<Shorts>(a), reinterpret_cast<Shorts>(b));
}

struct Block {  // as of VNNI: |sum| fits 16 bits
  Ints sum = {};
  void add(Bytes codes, Ints x) { sum = dot_full(sum, codes, x); }
  static Ints scales(Ints s) { return s; }
  Ints into(Ints acc, Ints scales) const { return dot_words(acc, sum, scales); }
};

}  // namespace loom::cpu::LOOM_ISA
