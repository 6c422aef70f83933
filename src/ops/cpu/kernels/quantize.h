// The activations of class I.

// A row of f32 as q15 (numerics rule 0), as quantize_q15 of numeric/q15.h.
static void quantize(const KernelArgs& k) {
  const TensorArg &x = k.t[0], &y = k.t[1];
  const i64 n = x.cols, padded = (n + 63) / 64 * 64;
  const Range r = share(x.rows, 1, k.worker, k.workers);
  for (i64 i = r.begin; i < r.end; ++i) {
    const float* a = row<float>(x, i);
    char* p = y.data + i * y.stride;
    signed char *hi = reinterpret_cast<signed char*>(p), *lo = hi + padded;
    unsigned largest = 0;
    for (i64 c = 0; c < n; ++c) {
      const unsigned m = __builtin_bit_cast(unsigned, a[c]) & 0x7FFFFFFFu;
      largest = m > largest ? m : largest;
    }
    float scale = 1;
    int sum_hi = 0, sum_lo = 0;
    for (i64 c = 0; c < 2 * padded; ++c) hi[c] = 0;
    if (largest >= 0x7F800000u) {
      scale = __builtin_bit_cast(float, 0x7FC00000u);
    } else if (largest >= (27u << 23)) {  // 2^-100
      // 16256 = 1.984375 * 2^13: the least e with max <= 16256 * 2^e is the exponent minus 13, one more where the mantissa is larger.
      const int e = static_cast<int>(largest >> 23) - 127 - 13 + ((largest & 0x7FFFFFu) > 0x7E0000u);
      scale = __builtin_bit_cast(float, static_cast<unsigned>(e + 127) << 23);
      const float inverse = __builtin_bit_cast(float, static_cast<unsigned>(127 - e) << 23);
      for (i64 c = 0; c < n; ++c) {
        // Adding 1.5 * 2^23 rounds to an integer, ties to even.
        const int q = __builtin_bit_cast(int, a[c] * inverse + 12582912.0f) - 0x4B400000;
        const int h = (q + 64) >> 7, l = q - 128 * h;
        hi[c] = static_cast<signed char>(h);
        lo[c] = static_cast<signed char>(l);
        sum_hi += h;
        sum_lo += l;
      }
    }
    __builtin_memcpy(p + 2 * padded, &scale, 4);
    __builtin_memcpy(p + 2 * padded + 4, &sum_hi, 4);
    __builtin_memcpy(p + 2 * padded + 8, &sum_lo, 4);
  }
}
