// Integer dot products of AVX2 (names: dot_vnni.h). vpmaddubsw saturates where two products leave
// 16 bits, so codes above 7 bits lose 128 first and multiply as magnitudes, their signs moved to x:
// 2 * 128 * 127 fits.
#pragma once

#include "ops/cpu/vectors/integer_vectors.h"

namespace loom::cpu::LOOM_ISA {

static constexpr i64 kFullBias = 128;
static constexpr bool kSmallIsFaster = true;

typedef char Chars __attribute__((vector_size(32)));
typedef short Shorts __attribute__((vector_size(32)));

static inline Ints pairs(Shorts words, Shorts by) {
  return reinterpret_cast<Ints>(__builtin_ia32_pmaddwd256(words, by));
}
static inline Ints dot_full(Ints acc, Bytes codes, Ints x) {
  const Chars w = reinterpret_cast<Chars>(codes ^ 0x80);
  const Chars magnitude = reinterpret_cast<Chars>(__builtin_ia32_psignb256(w, w)),
              signed_x =
                  reinterpret_cast<Chars>(__builtin_ia32_psignb256(reinterpret_cast<Chars>(x), w));
  return acc + pairs(__builtin_ia32_pmaddubsw256(magnitude, signed_x), Shorts{} + 1);
}
static inline Ints dot_small(Ints acc, Bytes codes, Ints x) {
  return acc + pairs(__builtin_ia32_pmaddubsw256(reinterpret_cast<Chars>(codes),
                                                 reinterpret_cast<Chars>(x)),
                     Shorts{} + 1);
}
static inline Ints dot_words(Ints acc, Ints a, Ints b) {
  return acc + pairs(reinterpret_cast<Shorts>(a), reinterpret_cast<Shorts>(b));
}

// Words hold 4 * 2 * 15 * 127.
struct Block {
  Shorts sum = {};
  void add(Bytes codes, Ints x) {
    sum += __builtin_ia32_pmaddubsw256(reinterpret_cast<Chars>(codes), reinterpret_cast<Chars>(x));
  }
  static Ints scales(Ints s) { return s | s << 16; }
  Ints into(Ints acc, Ints scales) const {
    return acc + pairs(sum, reinterpret_cast<Shorts>(scales));
  }
};

}  // namespace loom::cpu::LOOM_ISA
