// Integer dot products of WebAssembly's relaxed SIMD (names: dot_vnni.h). Its products of bytes are
// exact, and the same on every machine, where the second factor has 7 bits; codes of 8 bits are
// multiplied as words, as in dot_generic.h.
#pragma once

#include "ops/cpu/vectors/integer_vectors.h"

namespace loom::cpu::LOOM_ISA {

static constexpr i64 kFullBias = 0;
static constexpr bool kSmallIsFaster = true;

typedef signed char Chars __attribute__((vector_size(16)));
typedef short Shorts __attribute__((vector_size(16)));

static inline Ints pairs(Shorts a, Shorts b) { return __builtin_wasm_dot_s_i32x4_i16x8(a, b); }
static inline Ints dot_full(Ints acc, Bytes codes, Ints x) {
  const Words c = reinterpret_cast<Words>(codes);
  const Shorts s = reinterpret_cast<Shorts>(x);
  return acc + pairs(reinterpret_cast<Shorts>(c & 0xFF), s << 8 >> 8) +
         pairs(reinterpret_cast<Shorts>(c >> 8), s >> 8);
}
static inline Ints dot_small(Ints acc, Bytes codes, Ints x) {
  return __builtin_wasm_relaxed_dot_i8x16_i7x16_add_s_i32x4(reinterpret_cast<Chars>(x),
                                                            reinterpret_cast<Chars>(codes), acc);
}
static inline Ints dot_words(Ints acc, Ints a, Ints b) {
  return acc + pairs(reinterpret_cast<Shorts>(a), reinterpret_cast<Shorts>(b));
}

// Words hold 4 * 2 * 15 * 127.
struct Block {
  Shorts sum = {};
  void add(Bytes codes, Ints x) {
    sum += __builtin_wasm_relaxed_dot_i8x16_i7x16_s_i16x8(reinterpret_cast<Chars>(x),
                                                          reinterpret_cast<Chars>(codes));
  }
  static Ints scales(Ints s) { return s | s << 16; }
  Ints into(Ints acc, Ints scales) const {
    return acc + pairs(sum, reinterpret_cast<Shorts>(scales));
  }
};

}  // namespace loom::cpu::LOOM_ISA
