// Integer dot products of AArch64 with the dotprod extension (names: dot_vnni.h). sdot multiplies
// signed by signed bytes, so codes lose 128 first.
#pragma once

#include "ops/cpu/vectors/integer_vectors.h"

namespace loom::cpu::LOOM_ISA {

static constexpr i64 kFullBias = 128;
static constexpr bool kSmallIsFaster = false;

static inline Ints sdot(Ints acc, Bytes codes, Ints x) {
  asm("sdot %0.4s, %1.16b, %2.16b" : "+w"(acc) : "w"(codes), "w"(x));
  return acc;
}
static inline Ints dot_full(Ints acc, Bytes codes, Ints x) { return sdot(acc, codes ^ 0x80, x); }
static inline Ints dot_small(Ints acc, Bytes codes, Ints x) { return sdot(acc, codes, x); }
static inline Ints dot_words(Ints acc, Ints a, Ints b) {
  return acc + (a << 16 >> 16) * (b << 16 >> 16) + (a >> 16) * (b >> 16);
}

struct Block {  // as of VNNI, but the scale is a whole integer
  Ints sum = {};
  void add(Bytes codes, Ints x) { sum = sdot(sum, codes, x); }
  static Ints scales(Ints s) { return s; }
  Ints into(Ints acc, Ints scales) const { return acc + sum * scales; }
};

}  // namespace loom::cpu::LOOM_ISA
