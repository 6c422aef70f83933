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

static inline Ints plus(Ints a, Ints b) {  // modulo 2^32
  const Dwords sum = reinterpret_cast<Dwords&>(a) + reinterpret_cast<Dwords&>(b);
  return reinterpret_cast<const Ints&>(sum);
}

}  // namespace loom::cpu::LOOM_ISA
