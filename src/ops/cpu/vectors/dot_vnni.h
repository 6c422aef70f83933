// Integer dot products of AVX-512 VNNI and AVX-VNNI. Every dot_<isa>.h gives the same few names,
// over the registers' own vectors:
//   dot_full     acc + sum of four (code - kFullBias) * x, codes 0..255
//   dot_small    acc + sum of four code * x, codes 0..127; kSmallIsFaster: worth kernels of their
//   own Block        sums of sixteen code * x, codes 0..15, joined with a scale below 16 dot_words
//   acc + sum of two 16-bit products
// x are signed bytes, -128 excluded; sums wrap modulo 2^32.
#pragma once

#include "ops/cpu/vectors/integer_vectors.h"

namespace loom::cpu::LOOM_ISA {

static constexpr i64 kFullBias = 0;
static constexpr bool kSmallIsFaster = false;

// u8 times s8 in groups of four, added without saturation.
static inline Ints dot_full(Ints acc, Bytes codes, Ints x) {
#if !defined(__AVX512VNNI__)
  asm("%{vex%} vpdpbusd %2, %1, %0" : "+x"(acc) : "x"(codes), "x"(x));
  return acc;
#elif defined(__clang__)
  return __builtin_ia32_vpdpbusd512(acc, reinterpret_cast<Ints&>(codes), x);
#else
  return __builtin_ia32_vpdpbusd_v16si(acc, reinterpret_cast<Ints&>(codes), x);
#endif
}
static inline Ints dot_small(Ints acc, Bytes codes, Ints x) { return dot_full(acc, codes, x); }
static inline Ints dot_words(Ints acc, Ints a, Ints b) {
#if !defined(__AVX512VNNI__)
  asm("%{vex%} vpdpwssd %2, %1, %0" : "+x"(acc) : "x"(a), "x"(b));
  return acc;
#elif defined(__clang__)
  return __builtin_ia32_vpdpwssd512(acc, a, b);
#else
  return __builtin_ia32_vpdpwssd_v16si(acc, a, b);
#endif
}

// |sum| <= 15 * 127 * 16 fits 16 bits, so a product of words scales it: the upper word of the scale
// is 0.
struct Block {
  Ints sum = {};
  void add(Bytes codes, Ints x) { sum = dot_full(sum, codes, x); }
  static Ints scales(Ints s) { return s; }
  Ints into(Ints acc, Ints scales) const { return dot_words(acc, sum, scales); }
};

}  // namespace loom::cpu::LOOM_ISA
