// Matrices turned in squares, of the kernels' own vectors or of the 16 bytes that every machine
// has. Included inside of a namespace, by kernels (simd.h) and where weights are prepared for them.
#pragma once

#include "ops/cpu/kernel_args.h"

namespace loom::cpu::LOOM_ISA {

#if defined(__clang__)
#define LOOM_UNROLL _Pragma("clang loop unroll(full)")
#else
#define LOOM_UNROLL _Pragma("GCC unroll 16")
#endif

#if defined(__clang__)
#define LOOM_PICK(lanes, a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
typedef int Places4 __attribute__((vector_size(16)));
typedef int Places8 __attribute__((vector_size(32)));
typedef int Places16 __attribute__((vector_size(64)));
#define LOOM_PICK(lanes, a, b, ...) __builtin_shuffle(a, b, Places##lanes{__VA_ARGS__})
#endif
// Floats a[0], b[0], a[1], b[1], ... of the first halves of two vectors, or of the others.
template <bool Others, class N>
static inline N interleaved(N a, N b) {
  constexpr int kLanes = sizeof(N) / sizeof(float);
  if constexpr (kLanes == 4)
    return Others ? LOOM_PICK(4, a, b, 2, 6, 3, 7) : LOOM_PICK(4, a, b, 0, 4, 1, 5);
  else if constexpr (kLanes == 8)
    return Others ? LOOM_PICK(8, a, b, 4, 12, 5, 13, 6, 14, 7, 15)
                  : LOOM_PICK(8, a, b, 0, 8, 1, 9, 2, 10, 3, 11);
  else
    return Others
               ? LOOM_PICK(16, a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31)
               : LOOM_PICK(16, a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
}
#undef LOOM_PICK
// to[c * to_step + r] = from[r * from_step + c] of whole squares as wide as N: interleaving rows
// with those half a square away moves one bit of the row's number into the column's and back, as
// often as there are bits.
template <class N, class Pass>
__attribute__((always_inline)) static inline void transpose_squares(const float* from,
                                                                    i64 from_step, i64 rows,
                                                                    i64 cols, float* to,
                                                                    i64 to_step, Pass pass) {
  constexpr int kLanes = sizeof(N) / sizeof(float);
  for (i64 r = 0; r + kLanes <= rows; r += kLanes)
    for (i64 c = 0; c + kLanes <= cols; c += kLanes) {
      N v[kLanes], next[kLanes];
      LOOM_UNROLL for (int i = 0; i < kLanes; ++i) {
        __builtin_memcpy(&v[i], from + (r + i) * from_step + c, sizeof v[i]);
        v[i] = pass(v[i]);
      }
      LOOM_UNROLL for (int bits = kLanes; bits > 1; bits /= 2) {
        LOOM_UNROLL for (int i = 0; i < kLanes / 2; ++i) {
          next[2 * i] = interleaved<false>(v[i], v[i + kLanes / 2]);
          next[2 * i + 1] = interleaved<true>(v[i], v[i + kLanes / 2]);
        }
        LOOM_UNROLL for (int i = 0; i < kLanes; ++i) v[i] = next[i];
      }
      LOOM_UNROLL for (int i = 0; i < kLanes; ++i)
          __builtin_memcpy(to + (c + i) * to_step + r, &v[i], sizeof v[i]);
    }
}
// The same of any sizes, floats by squares, which `pass` sees as vectors (none of the others).
template <class T, class Pass>
__attribute__((noinline)) static void transpose(const T* from, i64 from_step, i64 rows, i64 cols,
                                                T* to, i64 to_step, Pass pass) {
  const i64 whole_rows = sizeof(T) == 4 ? rows / 4 * 4 : 0, whole_cols = cols / 4 * 4;
  if constexpr (sizeof(T) == 4) {
    typedef float Four __attribute__((vector_size(16)));
    i64 wide_rows = 0, wide_cols = 0;
#ifdef LOOM_VECTOR_BYTES
    typedef float Wide __attribute__((vector_size(LOOM_VECTOR_BYTES)));
    if constexpr (sizeof(Wide) > sizeof(Four)) {
      constexpr i64 kWide = LOOM_VECTOR_BYTES / 4;
      wide_rows = rows / kWide * kWide;
      wide_cols = cols / kWide * kWide;
      transpose_squares<Wide>(from, from_step, wide_rows, wide_cols, to, to_step, pass);
      if (wide_cols == 0) wide_rows = 0;
    }
#endif
    transpose_squares<Four>(from + wide_cols, from_step, wide_rows, whole_cols - wide_cols,
                            to + wide_cols * to_step, to_step, pass);
    transpose_squares<Four>(from + wide_rows * from_step, from_step, whole_rows - wide_rows,
                            whole_cols, to + wide_rows, to_step, pass);
  }
  for (i64 r = 0; r < rows; ++r)
    for (i64 c = r < whole_rows ? whole_cols : 0; c < cols; ++c)
      to[c * to_step + r] = from[r * from_step + c];
}
template <class T>
static void transpose(const T* from, i64 from_step, i64 rows, i64 cols, T* to, i64 to_step) {
  transpose(from, from_step, rows, cols, to, to_step,
            [](auto v) __attribute__((always_inline)) { return v; });
}

// Weights as a product reads them where they have not been stored(): small ones are 0. A NaN may be
// any, since that of the result is the canonical one.
template <class N>
static inline N flushed(N x) {
  typedef int Bits __attribute__((vector_size(sizeof(N))));
  const Bits bits = (Bits)x;
  return (N)(bits & ((bits & 0x7FFFFFFF) >= (127 - 40) << 23));
}

}  // namespace loom::cpu::LOOM_ISA
