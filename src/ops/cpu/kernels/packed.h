// Products with packed weights: each worker unpacks a panel of 16 outputs into its scratch (it stays in the first cache level) and
// multiplies it with all rows. Class I: u8 codes with one correction per output, exact int32 sums. Classes F and B: f32 values.

// What is taken off per unit of activation: the unpacked code is value + offset.
static inline int code_offset(const WeightArg& w, i64 n) {
  switch (w.dtype) {
    case kI8: return 128;
    case kI4: return w.layout == kPlain ? 8 : 128;
    case kI2: return 2;
    case kFp4: return 12;
    case kTernary: case kBinary: return 1;
    default: return w.zeros ? static_cast<int>(w.zeros[n]) : 0;
  }
}

// Codes of one panel for k in [0, padded), as [k/4][16 outputs][4]. padded is a multiple of 64.
static inline void unpack_codes(const WeightArg& w, const unsigned char* panel, i64 padded, unsigned char* out) {
  const i64 rows = padded / 4;  // byte rows of the result
  static const unsigned char twice[16] = {12, 13, 14, 15, 16, 18, 20, 24, 12, 11, 10, 9, 8, 6, 4, 0};  // fp4: 12 + twice the value
  if (w.layout == kA4) {
    for (i64 super = 0; super < padded / 64; ++super) {
      const unsigned char *codes = panel + super * 576, *sub = codes + 512;
      for (i64 r = 0; r < 8; ++r) {
        unsigned char* o = out + (super * 16 + 2 * r) * 64;
        for (i64 n = 0; n < 16; ++n) {
          const unsigned scale = sub[n * 4 + r / 2] & 15u, minus = (sub[n * 4 + r / 2] >> 4) * 8u;
          for (i64 i = 0; i < 4; ++i) {
            const unsigned byte = codes[r * 64 + n * 4 + i];
            o[n * 4 + i] = static_cast<unsigned char>((byte & 15u) * scale - minus + 128u);
            o[64 + n * 4 + i] = static_cast<unsigned char>((byte >> 4) * scale - minus + 128u);
          }
        }
      }
    }
  } else if (w.layout == kS4) {
    for (i64 r = 0; r < padded / 8; ++r) {
      const i64 super = r / 32, in_super = least(32, padded / 8 - super * 32), block = (r % 32) / 4;
      const unsigned char *codes = panel + super * 2112 + r % 32 * 64, *sub = panel + super * 2112 + in_super * 64;
      unsigned char* o = out + r * 128;
      for (i64 n = 0; n < 16; ++n) {
        const unsigned byte = sub[n * 4 + block % 4], scale = block < 4 ? byte & 15u : byte >> 4;
        for (i64 i = 0; i < 4; ++i) {
          const unsigned c = codes[n * 4 + i];
          o[n * 4 + i] = static_cast<unsigned char>(((c & 15u) - 8u) * scale + 128u);
          o[64 + n * 4 + i] = static_cast<unsigned char>(((c >> 4) - 8u) * scale + 128u);
        }
      }
    }
  } else if (w.dtype == kI8 || w.dtype == kU8) {
    __builtin_memcpy(out, panel, static_cast<unsigned long>(padded * 16));
  } else if (w.dtype == kTernary) {
    for (i64 r = 0; r * 5 < rows; ++r)
      for (i64 j = 0; j < 64; ++j) {
        unsigned y = r * 20 < w.padded_cols ? panel[r * 64 + j] : 0;
        for (i64 p = 0; p < 5 && r * 5 + p < rows; ++p) {
          y *= 3;
          out[(r * 5 + p) * 64 + j] = static_cast<unsigned char>(y >> 8);
          y &= 255u;
        }
      }
  } else {
    const int bits = w.dtype == kI4 || w.dtype == kU4 || w.dtype == kFp4 ? 4 : w.dtype == kBinary ? 1 : 2, planes = 8 / bits;
    const unsigned mask = (1u << bits) - 1;
    for (i64 r = 0; r < rows; ++r)
      for (i64 j = 0; j < 64; ++j) {
        const unsigned code = panel[r / planes * 64 + j] >> (r % planes * bits) & mask;
        out[r * 64 + j] = w.dtype == kFp4 ? twice[code] : static_cast<unsigned char>(w.dtype == kBinary ? 2 * code : code);
      }
  }
}

static inline float sum_to_f32(int sum) { return static_cast<float>(sum >> 12) * 4096.0f + static_cast<float>(sum & 4095); }

// A quantized row: hi plane, lo plane, each padded to 64, then the scale and the sums of both planes.
struct Q15Row {
  const signed char *hi, *lo;
  float scale;
  int sum_hi, sum_lo;
};
static inline Q15Row q15_row(const TensorArg& x, i64 r, i64 padded) {
  const char* p = x.data + r * x.stride;
  Q15Row q{reinterpret_cast<const signed char*>(p), reinterpret_cast<const signed char*>(p) + padded, 0, 0, 0};
  __builtin_memcpy(&q.scale, p + 2 * padded, 4);
  __builtin_memcpy(&q.sum_hi, p + 2 * padded + 4, 4);
  __builtin_memcpy(&q.sum_lo, p + 2 * padded + 8, 4);
  return q;
}

// acc[n] += sum over k of codes(k, n) * a[k], modulo 2^32 (the correction brings it back into range).
static inline void dot_panel(const unsigned char* codes, const signed char* a, i64 padded, int* acc) {
#if defined(__AVX512VNNI__)
  typedef int I __attribute__((vector_size(64)));
  I even = {}, odd = {};
  for (i64 g = 0; g < padded / 4; g += 2) {
    int a0, a1;
    __builtin_memcpy(&a0, a + 4 * g, 4);
    __builtin_memcpy(&a1, a + 4 * g + 4, 4);
    I c0, c1;
    __builtin_memcpy(&c0, codes + g * 64, 64);
    __builtin_memcpy(&c1, codes + g * 64 + 64, 64);
    // vpdpbusd: u8 times s8, groups of four, without saturation
    asm("vpdpbusd %2, %1, %0" : "+v"(even) : "v"(c0), "v"(I{} + a0));
    asm("vpdpbusd %2, %1, %0" : "+v"(odd) : "v"(c1), "v"(I{} + a1));
  }
  even += odd;
  __builtin_memcpy(acc, &even, 64);
#else
  unsigned sum[16] = {};
  for (i64 g = 0; g < padded / 4; ++g) {
    const unsigned char* c = codes + g * 64;
    for (i64 n = 0; n < 16; ++n) {
      int s = 0;
      for (i64 i = 0; i < 4; ++i) s += static_cast<int>(c[n * 4 + i]) * a[4 * g + i];
      sum[n] += static_cast<unsigned>(s);
    }
  }
  __builtin_memcpy(acc, sum, 64);
#endif
}

// y = ((f(S_hi) * 128 + f(S_lo)) * 2^e) * row scale + bias. scratch: 16 * padded bytes.
static void matmul_integer(const KernelArgs& k) {
  const WeightArg& w = *k.weight;
  const TensorArg &x = k.t[1], &y = k.t[3];
  const i64 padded = (w.cols + 63) / 64 * 64;
  unsigned char* codes = reinterpret_cast<unsigned char*>(k.scratch);
  const float* bias = k.has[2] ? row<float>(k.t[2], 0) : nullptr;
  const Range r = share((w.rows + 15) / 16, 1, k.worker, k.workers);
  for (i64 panel = r.begin; panel < r.end; ++panel) {
    unpack_codes(w, static_cast<const unsigned char*>(w.panels) + panel * w.panel_bytes, padded, codes);
    const i64 outputs = least(16, w.rows - panel * 16);
    for (i64 i = 0; i < y.rows; ++i) {
      const Q15Row q = q15_row(x, i, padded);
      int hi[16], lo[16];
      dot_panel(codes, q.hi, padded, hi);
      dot_panel(codes, q.lo, padded, lo);
      float* out = row<float>(y, i) + panel * 16;
      for (i64 n = 0; n < outputs; ++n) {
        const i64 o = panel * 16 + n;
        const unsigned offset = static_cast<unsigned>(code_offset(w, o));
        const int s_hi = static_cast<int>(static_cast<unsigned>(hi[n]) - offset * static_cast<unsigned>(q.sum_hi));
        const int s_lo = static_cast<int>(static_cast<unsigned>(lo[n]) - offset * static_cast<unsigned>(q.sum_lo));
        const float scale = w.dtype == kFp4 ? 0.5f * w.scales[o] : w.scales[o];
        const float v = ((sum_to_f32(s_hi) * 128.0f + sum_to_f32(s_lo)) * q.scale) * scale;
        out[n] = bias ? v + bias[o] : v;
      }
    }
  }
}

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

// f32 values of one panel of classes F and B, without the row scale, as [k][16].
static inline void unpack_values(const WeightArg& w, const unsigned char* panel, i64 first_row, float* out) {
  if (w.dtype == kFp8e4m3 || w.dtype == kFp8e5m2) {
    for (i64 g = 0; g < (w.cols + 3) / 4; ++g)
      for (i64 n = 0; n < 16; ++n)
        for (i64 i = 0; i < 4; ++i) out[(4 * g + i) * 16 + n] = w.table[panel[g * 64 + n * 4 + i]];
    return;
  }
  for (i64 g = 0; g < (w.cols + 1) / 2; ++g)
    for (i64 n = 0; n < 16; ++n)
      for (i64 i = 0; i < 2; ++i) {
        const unsigned char* p = panel + g * 64 + (n * 2 + i) * 2;
        const unsigned code = p[0] | static_cast<unsigned>(p[1]) << 8;
        float v;
        if (w.dtype == kBf16) v = __builtin_bit_cast(float, code << 16);
        else if (w.dtype == kF16) v = w.table[code];
        else if (w.dtype == kI16) v = static_cast<float>(static_cast<short>(code));
        else v = static_cast<float>(static_cast<int>(code) - (first_row + n < w.rows ? static_cast<int>(w.zeros[first_row + n]) : 0));
        out[(2 * g + i) * 16 + n] = v;
      }
}

// Classes F (planes = 1: x is f32) and B (planes = 2: x is its hi and lo parts). scratch: [padded_cols][16] f32.
template <int Planes>
static void matmul_decoded(const KernelArgs& k) {
  const WeightArg& w = *k.weight;
  const TensorArg &x = k.t[1], &y = k.t[3];
  float* values = reinterpret_cast<float*>(k.scratch);
  const float* bias = k.has[2] ? row<float>(k.t[2], 0) : nullptr;
  const i64 plane = (w.cols + 31) / 32 * 32;  // of x, class B
  const Range r = share((w.rows + 15) / 16, 1, k.worker, k.workers);
  for (i64 panel = r.begin; panel < r.end; ++panel) {
    const i64 first = panel * 16, outputs = least(16, w.rows - first);
    unpack_values(w, static_cast<const unsigned char*>(w.panels) + panel * w.panel_bytes, first, values);
    const V<float> start = bias ? load_lanes(bias + first, outputs) : V<float>{};
    const V<float> scale = w.scales ? load_lanes(w.scales + first, outputs) : V<float>{};
    for (i64 i = 0; i < y.rows; ++i) {
      const float* a = Planes == 2 ? reinterpret_cast<const float*>(x.data + i * x.stride) : row<float>(x, i);
      // Without scales the sum starts from the bias; with them the bias is added after scaling.
      V<float> c[1][1] = {{w.scales ? V<float>{} : start}};
      multiply<float, 1, 1>(w.cols, a, 0, 1, values, 0, 16, c);
      if constexpr (Planes == 2) {
        V<float> low[1][1] = {};
        multiply<float, 1, 1>(w.cols, a + plane, 0, 1, values, 0, 16, low);
        c[0][0] += low[0][0];
      }
      const V<float> v = w.scales ? (bias ? c[0][0] * scale + start : c[0][0] * scale) : c[0][0];
      store_lanes(row<float>(y, i) + first, v, outputs);
    }
  }
}

// x = hi + lo in bf16, both kept as f32 values (split_bf16 of numeric/q15.h).
static inline float to_bf16(float x) {
  const unsigned bits = __builtin_bit_cast(unsigned, x), magnitude = bits & 0x7FFFFFFFu;
  if (magnitude >= 0x7F800000u) return x;
  unsigned rounded = (bits + 0x7FFFu + (bits >> 16 & 1u)) & 0xFFFF0000u;
  if ((rounded & 0x7FFFFFFFu) >= 0x7F800000u) rounded = (bits & 0x80000000u) | 0x7F7F0000u;
  if (magnitude < (71u << 23)) rounded = bits & 0x80000000u;  // below 2^-56
  return __builtin_bit_cast(float, rounded);
}
static void split_bf16(const KernelArgs& k) {
  const TensorArg &x = k.t[0], &y = k.t[1];
  const i64 n = x.cols, plane = (n + 31) / 32 * 32;
  const Range r = share(x.rows, 1, k.worker, k.workers);
  for (i64 i = r.begin; i < r.end; ++i) {
    const float* a = row<float>(x, i);
    float* hi = reinterpret_cast<float*>(y.data + i * y.stride);
    for (i64 c = 0; c < n; ++c) {
      const float h = to_bf16(a[c]), rest = a[c] - h;
      hi[c] = h;
      hi[plane + c] = rest == rest ? to_bf16(rest) : 0.0f;
    }
  }
}

// y[r] = value of row ids[r]: code times row scale, rounded once. scratch: an unpacked panel.
static void gather_packed(const KernelArgs& k) {
  const WeightArg& w = *k.weight;
  const TensorArg &ids = k.t[1], &y = k.t[2];
  const bool integer = w.form == kIntegerForm;
  const i64 padded = (w.cols + 63) / 64 * 64;
  const Range r = share(y.rows, 1, k.worker, k.workers);
  for (i64 i = r.begin; i < r.end; ++i) {
    i64 id = *row<unsigned>(ids, i);
    if (id >= w.rows) id = w.rows - 1;
    const unsigned char* panel = static_cast<const unsigned char*>(w.panels) + id / 16 * w.panel_bytes;
    float* out = row<float>(y, i);
    const float scale = w.scales ? (w.dtype == kFp4 ? 0.5f * w.scales[id] : w.scales[id]) : 1.0f;
    if (integer) {
      unsigned char* codes = reinterpret_cast<unsigned char*>(k.scratch);
      unpack_codes(w, panel, padded, codes);
      const int offset = code_offset(w, id);
      for (i64 c = 0; c < w.cols; ++c) out[c] = static_cast<float>(static_cast<int>(codes[c / 4 * 64 + id % 16 * 4 + c % 4]) - offset) * scale;
    } else {
      float* values = reinterpret_cast<float*>(k.scratch);
      unpack_values(w, panel, id / 16 * 16, values);
      for (i64 c = 0; c < w.cols; ++c) out[c] = values[c * 16 + id % 16] * scale;
    }
  }
}
