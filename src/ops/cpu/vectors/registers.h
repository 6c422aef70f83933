// One register of the instruction set at a time, for micro-kernels: load, multiply, park. What a
// compiler would schedule badly is settled here, so that an algorithm on top reads as what it
// computes.
#pragma once

#include "ops/cpu/vectors/simd.h"

namespace loom::cpu::LOOM_ISA {

template <class T>
using Register = typename V<T>::Native;

// Loaded once and kept: gcc would read it again from memory for each instruction that uses it.
template <class T>
__attribute__((always_inline)) static inline Register<T> load_register(const T* p) {
  Register<T> r;
  __builtin_memcpy(&r, p, sizeof r);
#ifdef __x86_64__
  __asm__("" : "+v"(r));
#endif
  return r;
}

// value * r, lane by lane, rounded before anything is added to it.
template <class T>
__attribute__((always_inline)) static inline Register<T> times(const T& value, Register<T> r) {
#if defined(__AVX512F__) && LOOM_VECTOR_BYTES == 64 && !defined(LOOM_FUSED) && !defined(__clang__)
  if constexpr (sizeof(T) == 4) {
    // The product spreads the value itself: to do so into a register first takes one of the units
    // that sums keep busy (Zen 4: 38 and 54 GMAC/s).
    Register<T> product;
    __asm__("vmulps %2%{1to16%}, %1, %0" : "=v"(product) : "v"(r), "m"(value));
    return product;
  }
#endif
  return value * r;
}

// A tile of registers, which waits in memory from here to its next use: gcc would keep some of it
// and send sums of the loop between there instead, at every step.
template <class N, int M, int Q>
__attribute__((always_inline)) static inline void park(N (&tile)[M][Q]) {
  __asm__("" : "+m"(tile));
}

// A separate address: gcc would add a base and offsets at each step.
template <class T>
__attribute__((always_inline)) static inline const T* settled(const T* p) {
  __asm__("" : "+r"(p));
  return p;
}

template <class N, int M, int Q>
__attribute__((always_inline)) static inline void clear(N (&tile)[M][Q]) {
  LOOM_UNROLL for (int m = 0; m < M; ++m) LOOM_UNROLL for (int q = 0; q < Q; ++q) tile[m][q] = N{};
}

}  // namespace loom::cpu::LOOM_ISA
