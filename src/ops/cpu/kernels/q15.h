// Rows of f32 as q15 (numerics rule 0): x = (128 * hi + lo) * 2^e up to rounding, as quantize_q15 of numeric/q15.h.

struct Q15 {
  float scale = 0;  // 2^e; 0 for a row of zeros; NaN for a row that holds a NaN or infinity, whose planes are 0
  int sum_hi = 0, sum_lo = 0;
};

// Writes n values of each plane.
static inline Q15 quantize_row(const float* x, i64 n, signed char* hi, signed char* lo) {
  Q15 q;
  int largest = 0;
  for (i64 c = 0; c < n; ++c) {
    const int m = __builtin_bit_cast(int, x[c]) & 0x7FFFFFFF;
    largest = m > largest ? m : largest;
  }
  if (largest >= 0x7F800000 || largest < (27 << 23)) {  // not finite, or all below 2^-100
    if (largest >= 0x7F800000) q.scale = __builtin_nanf("");
    for (i64 c = 0; c < n; ++c) hi[c] = lo[c] = 0;
    return q;
  }
  // 16256 = 1.984375 * 2^13: the least e with max <= 16256 * 2^e is the exponent minus 13, one more where the mantissa is larger.
  const int e = (largest >> 23) - 127 - 13 + ((largest & 0x7FFFFF) > 0x7E0000);
  q.scale = __builtin_bit_cast(float, (e + 127) << 23);
  const float inverse = __builtin_bit_cast(float, (127 - e) << 23);
  int sum_hi = 0, sum_lo = 0;
  for (i64 c = 0; c < n; ++c) {
    // Adding 1.5 * 2^23 rounds to an integer, ties to even.
    const int v = __builtin_bit_cast(int, x[c] * inverse + 12582912.0f) - 0x4B400000;
    const int h = (v + 64) >> 7, l = v - 128 * h;
    hi[c] = static_cast<signed char>(h);
    lo[c] = static_cast<signed char>(l);
    sum_hi += h;
    sum_lo += l;
  }
  q.sum_hi = sum_hi;
  q.sum_lo = sum_lo;
  return q;
}

// Sixteen int32 sums; add() takes sixteen outputs' codes for four k (u8) and the activations of these k (s8).
struct Sums16 {
#if defined(__AVX512VNNI__)
  typedef int I __attribute__((vector_size(64)));
  I s = {};
  void add(const unsigned char* codes, const signed char* x) {
    I w;
    int four;
    __builtin_memcpy(&w, codes, 64);
    __builtin_memcpy(&four, x, 4);
    asm("vpdpbusd %2, %1, %0" : "+v"(s) : "v"(w), "v"(I{} + four));  // u8 times s8 in groups of four, added without saturation
  }
  void get(int* out) const { __builtin_memcpy(out, &s, 64); }
#else
  int s[16] = {};
  void add(const unsigned char* codes, const signed char* x) {
    for (int n = 0; n < 16; ++n) s[n] += codes[4 * n] * x[0] + codes[4 * n + 1] * x[1] + codes[4 * n + 2] * x[2] + codes[4 * n + 3] * x[3];
  }
  void get(int* out) const { __builtin_memcpy(out, s, 64); }
#endif
};
