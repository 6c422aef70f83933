// Matrices turned in squares of four by four, on the 16-byte vectors that every machine has. Included inside of a namespace, by kernels (simd.h) and where
// weights are prepared for them.
#if defined(__clang__)
#define LOOM_UNROLL _Pragma("clang loop unroll(full)")
#else
#define LOOM_UNROLL _Pragma("GCC unroll 16")
#endif

#if defined(__clang__)
#define LOOM_PICK(a, b, i, j, k, l) __builtin_shufflevector(a, b, i, j, k, l)
#else
#define LOOM_PICK(a, b, i, j, k, l) __builtin_shuffle(a, b, FourBits{i, j, k, l})
#endif
// to[c * to_step + r] = from[r * from_step + c], of floats in squares of four by four, which `pass` sees as vectors (none of the others).
template <class T, class Pass>
__attribute__((noinline)) static void turn(const T* from, i64 from_step, i64 rows, i64 cols, T* to, i64 to_step, Pass pass) {
  const i64 whole_rows = sizeof(T) == 4 ? rows / 4 * 4 : 0, whole_cols = cols / 4 * 4;
  if constexpr (sizeof(T) == 4) {
    typedef float Four __attribute__((vector_size(16)));
    [[maybe_unused]] typedef int FourBits __attribute__((vector_size(16)));
    for (i64 r = 0; r < whole_rows; r += 4)
      for (i64 c = 0; c < whole_cols; c += 4) {
        Four v[4];
        LOOM_UNROLL for (int i = 0; i < 4; ++i) {
          __builtin_memcpy(&v[i], from + (r + i) * from_step + c, sizeof v[i]);
          v[i] = pass(v[i]);
        }
        const Four low01 = LOOM_PICK(v[0], v[1], 0, 4, 1, 5), high01 = LOOM_PICK(v[0], v[1], 2, 6, 3, 7);
        const Four low23 = LOOM_PICK(v[2], v[3], 0, 4, 1, 5), high23 = LOOM_PICK(v[2], v[3], 2, 6, 3, 7);
        const Four turned[4] = {LOOM_PICK(low01, low23, 0, 1, 4, 5), LOOM_PICK(low01, low23, 2, 3, 6, 7), LOOM_PICK(high01, high23, 0, 1, 4, 5), LOOM_PICK(high01, high23, 2, 3, 6, 7)};
        LOOM_UNROLL for (int i = 0; i < 4; ++i) __builtin_memcpy(to + (c + i) * to_step + r, &turned[i], sizeof turned[i]);
      }
  }
  for (i64 r = 0; r < rows; ++r)
    for (i64 c = r < whole_rows ? whole_cols : 0; c < cols; ++c) to[c * to_step + r] = from[r * from_step + c];
}
#undef LOOM_PICK
template <class T>
static void turn(const T* from, i64 from_step, i64 rows, i64 cols, T* to, i64 to_step) {
  turn(from, from_step, rows, cols, to, to_step, [](auto v) __attribute__((always_inline)) { return v; });
}

// Weights as a product reads them where they have not been stored(): small ones are 0. A NaN may be any, since that of the result is the canonical one.
template <class N>
static inline N flushed(N x) {
  typedef int Bits __attribute__((vector_size(sizeof(N))));
  const Bits bits = (Bits)x;
  return (N)(bits & ((bits & 0x7FFFFFFF) >= (127 - 40) << 23));
}
