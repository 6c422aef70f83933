// Vectors of integers as wide as the registers: 64 bytes are kParts of them.
#pragma once

#include "ops/cpu/prelude.h"

namespace loom::cpu::LOOM_ISA {

typedef unsigned char Bytes __attribute__((vector_size(LOOM_VECTOR_BYTES)));
typedef unsigned short Words __attribute__((vector_size(LOOM_VECTOR_BYTES)));
typedef unsigned Dwords __attribute__((vector_size(LOOM_VECTOR_BYTES)));
typedef int Ints __attribute__((vector_size(LOOM_VECTOR_BYTES)));
static constexpr i64 kParts = 64 / LOOM_VECTOR_BYTES;  // registers of a byte row, and of 16 sums

static inline Bytes load_bytes(const unsigned char* p) {
  Bytes v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}
static inline void store_bytes(unsigned char* p, Bytes v) { __builtin_memcpy(p, &v, sizeof v); }

static inline Dwords load_words(const unsigned char* p) {  // of four bytes, the lowest first
  Dwords v;
  __builtin_memcpy(&v, p, sizeof v);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  for (i64 i = 0; i < LOOM_VECTOR_BYTES / 4; ++i) v[i] = __builtin_bswap32(v[i]);
#endif
  return v;
}

static inline Ints plus(Ints a, Ints b) {  // modulo 2^32
  const Dwords sum = reinterpret_cast<Dwords&>(a) + reinterpret_cast<Dwords&>(b);
  return reinterpret_cast<const Ints&>(sum);
}

}  // namespace loom::cpu::LOOM_ISA
