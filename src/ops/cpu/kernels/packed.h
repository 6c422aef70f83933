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

// Byte rows are unpacked on registers' own vectors of bytes, words and double words.
typedef unsigned char Bytes __attribute__((vector_size(LOOM_VECTOR_BYTES)));
typedef unsigned short Words __attribute__((vector_size(LOOM_VECTOR_BYTES)));
typedef unsigned Dwords __attribute__((vector_size(LOOM_VECTOR_BYTES)));

static inline Bytes load_bytes(const unsigned char* p) {
  Bytes v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}
static inline void store_bytes(unsigned char* p, Bytes v) { __builtin_memcpy(p, &v, sizeof v); }

// Byte-wise product; no product exceeds 255.
static inline Bytes multiply_bytes(Bytes a, Bytes b) {
  const Words x = reinterpret_cast<Words&>(a), y = reinterpret_cast<Words&>(b);
  Words low = (x & 0x00FF) * (y & 0x00FF), high = ((x >> 8) * (y >> 8)) << 8;
  low |= high;
  return reinterpret_cast<Bytes&>(low);
}

// Byte `index` of every output's four, repeated in all four.
static inline Bytes repeat_byte(Bytes v, i64 index) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  const int shift = static_cast<int>(8 * index);
#else
  const int shift = static_cast<int>(24 - 8 * index);
#endif
  Dwords d = (reinterpret_cast<Dwords&>(v) >> shift) & 0xFF;
  d |= d << 8;
  d |= d << 16;
  return reinterpret_cast<Bytes&>(d);
}

// Codes of one panel for k in [0, padded), as [k/4][16 outputs][4]. padded is a multiple of 64.
static inline void unpack_codes(const WeightArg& w, const unsigned char* panel, i64 padded, unsigned char* out) {
  const i64 rows = padded / 4;  // byte rows of the result
  if (w.dtype == kI8 || w.dtype == kU8) {
    __builtin_memcpy(out, panel, static_cast<unsigned long>(padded * 16));
    return;
  }
  for (i64 j = 0; j < 64; j += LOOM_VECTOR_BYTES) {
    if (w.layout == kA4) {  // w8 + 128 = code * s - 8 * m4 + 128
      for (i64 super = 0; super < padded / 64; ++super) {
        const unsigned char* codes = panel + super * 576 + j;
        const Bytes sub = load_bytes(codes + 512);
        for (i64 r = 0; r < 8; ++r) {
          const Bytes both = repeat_byte(sub, r / 2), scale = both & 15, minus = 128 - ((both >> 4) << 3), byte = load_bytes(codes + r * 64);
          unsigned char* o = out + (super * 16 + 2 * r) * 64 + j;
          store_bytes(o, multiply_bytes(byte & 15, scale) + minus);
          store_bytes(o + 64, multiply_bytes(byte >> 4, scale) + minus);
        }
      }
    } else if (w.layout == kS4) {  // w8 + 128 = (code - 8) * s + 128
      for (i64 r = 0; r < padded / 8; ++r) {
        const i64 super = r / 32, in_super = least(32, padded / 8 - super * 32), block = (r % 32) / 4;
        const unsigned char* base = panel + super * 2112 + j;
        const Bytes both = repeat_byte(load_bytes(base + in_super * 64), block % 4), scale = block < 4 ? both & 15 : both >> 4, minus = 128 - (scale << 3);
        const Bytes byte = load_bytes(base + r % 32 * 64);
        store_bytes(out + r * 128 + j, multiply_bytes(byte & 15, scale) + minus);
        store_bytes(out + r * 128 + 64 + j, multiply_bytes(byte >> 4, scale) + minus);
      }
    } else if (w.dtype == kTernary) {  // the next digit of y is (3 * y) div 256: y above 85, y above 170
      for (i64 r = 0; r * 5 < rows; ++r) {
        Bytes y = r * 20 < w.padded_cols ? load_bytes(panel + r * 64 + j) : Bytes{};
        for (i64 p = 0; p < 5 && r * 5 + p < rows; ++p) {
          store_bytes(out + (r * 5 + p) * 64 + j, ((y > 85) & 1) + ((y > 170) & 1));
          y = y + y + y;
        }
      }
    } else {
      const int bits = w.dtype == kI4 || w.dtype == kU4 || w.dtype == kFp4 ? 4 : w.dtype == kBinary ? 1 : 2, planes = 8 / bits;
      const unsigned char mask = static_cast<unsigned char>((1 << bits) - 1);
      for (i64 r = 0; r < rows; r += planes) {
        const Bytes byte = load_bytes(panel + r / planes * 64 + j);
        for (int p = 0; p < planes && r + p < rows; ++p) {
          Bytes code = (byte >> (p * bits)) & mask;
          if (w.dtype == kBinary) code = code + code;
          store_bytes(out + (r + p) * 64 + j, code);
        }
      }
    }
  }
  if (w.dtype == kFp4) {
    static const unsigned char twice[16] = {12, 13, 14, 15, 16, 18, 20, 24, 12, 11, 10, 9, 8, 6, 4, 0};  // 12 + twice the value
    for (i64 i = 0; i < padded * 16; ++i) out[i] = twice[out[i]];
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

// acc[r][n] = sum over k of codes(k, n) * a[r][k], modulo 2^32 (the correction brings it back into range). The codes are loaded once for
// all R planes of activations.
template <int R>
static inline void dot_panel(const unsigned char* codes, const signed char* const (&a)[R], i64 padded, int (&acc)[R][16]) {
#if defined(__AVX512VNNI__)
  typedef int I __attribute__((vector_size(64)));
  constexpr int kChains = R <= 2 ? 2 : 1;  // enough independent sums to hide the latency
  I sum[kChains][R] = {};
  for (i64 g = 0; g < padded / 4; g += kChains) {
    LOOM_UNROLL for (int c = 0; c < kChains; ++c) {
      I w;
      __builtin_memcpy(&w, codes + (g + c) * 64, 64);
      LOOM_UNROLL for (int r = 0; r < R; ++r) {
        int x;
        __builtin_memcpy(&x, a[r] + 4 * (g + c), 4);
        // u8 times s8 in groups of four, added without saturation
        asm("vpdpbusd %2, %1, %0" : "+v"(sum[c][r]) : "v"(w), "v"(I{} + x));
      }
    }
  }
  LOOM_UNROLL for (int r = 0; r < R; ++r) {
    I total = sum[0][r];
    if constexpr (kChains == 2) total += sum[1][r];
    __builtin_memcpy(acc[r], &total, 64);
  }
#else
  // Words: a product of u8 and s8 fits 16 bits; pairs of them are added in 32.
  for (int r = 0; r < R; ++r) {
    unsigned sum[16] = {};
    for (i64 g = 0; g < padded / 4; ++g) {
      const unsigned char* c = codes + g * 64;
      const signed char* x = a[r] + 4 * g;
      for (i64 n = 0; n < 16; ++n) {
        int s = 0;
        for (i64 i = 0; i < 4; ++i) s += static_cast<int>(c[n * 4 + i]) * x[i];
        sum[n] += static_cast<unsigned>(s);
      }
    }
    __builtin_memcpy(acc[r], sum, 64);
  }
#endif
}

// Rows [first, first + Rows) of one panel's outputs.
template <int Rows>
static inline void integer_rows(const KernelArgs& k, const unsigned char* codes, i64 padded, i64 panel, i64 first) {
  const WeightArg& w = *k.weight;
  Q15Row q[Rows];
  const signed char* planes[2 * Rows];
  for (int i = 0; i < Rows; ++i) {
    q[i] = q15_row(k.t[1], first + i, padded);
    planes[2 * i] = q[i].hi;
    planes[2 * i + 1] = q[i].lo;
  }
  int acc[2 * Rows][16];
  dot_panel<2 * Rows>(codes, planes, padded, acc);
  const i64 outputs = least(16, w.rows - panel * 16);
  const float* bias = k.has[2] ? row<float>(k.t[2], 0) : nullptr;
  for (int i = 0; i < Rows; ++i) {
    float* out = row<float>(k.t[3], first + i) + panel * 16;
    for (i64 n = 0; n < outputs; ++n) {
      const i64 o = panel * 16 + n;
      const unsigned offset = static_cast<unsigned>(code_offset(w, o));
      const int hi = static_cast<int>(static_cast<unsigned>(acc[2 * i][n]) - offset * static_cast<unsigned>(q[i].sum_hi));
      const int lo = static_cast<int>(static_cast<unsigned>(acc[2 * i + 1][n]) - offset * static_cast<unsigned>(q[i].sum_lo));
      const float scale = w.dtype == kFp4 ? 0.5f * w.scales[o] : w.scales[o];
      const float v = ((sum_to_f32(hi) * 128.0f + sum_to_f32(lo)) * q[i].scale) * scale;
      out[n] = stored(bias ? v + bias[o] : v);
    }
  }
}

// y = ((f(S_hi) * 128 + f(S_lo)) * 2^e) * row scale + bias. scratch: 16 * padded bytes.
static void matmul_integer(const KernelArgs& k) {
  const WeightArg& w = *k.weight;
  const TensorArg& y = k.t[3];
  const i64 padded = (w.cols + 63) / 64 * 64;
  unsigned char* codes = reinterpret_cast<unsigned char*>(k.scratch);
  const Range r = share((w.rows + 15) / 16, 1, k.worker, k.workers);
  for (i64 panel = r.begin; panel < r.end; ++panel) {
    unpack_codes(w, static_cast<const unsigned char*>(w.panels) + panel * w.panel_bytes, padded, codes);
    i64 i = 0;
    for (; i + 4 <= y.rows; i += 4) integer_rows<4>(k, codes, padded, panel, i);
    for (; i < y.rows; ++i) integer_rows<1>(k, codes, padded, panel, i);
  }
}

// Rows of x as q15: hi plane, lo plane, each padded to 64, then the scale and the sums of both planes.
static void quantize(const KernelArgs& k) {
  const TensorArg &x = k.t[0], &y = k.t[1];
  const i64 n = x.cols, padded = (n + 63) / 64 * 64;
  const Range r = share(x.rows, 1, k.worker, k.workers);
  for (i64 i = r.begin; i < r.end; ++i) {
    char* p = y.data + i * y.stride;
    signed char *hi = reinterpret_cast<signed char*>(p), *lo = hi + padded;
    const Q15 q = quantize_row(row<float>(x, i), n, hi, lo);
    for (i64 c = n; c < padded; ++c) hi[c] = lo[c] = 0;
    __builtin_memcpy(p + 2 * padded, &q.scale, 4);
    __builtin_memcpy(p + 2 * padded + 4, &q.sum_hi, 4);
    __builtin_memcpy(p + 2 * padded + 8, &q.sum_lo, 4);
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
      put_lanes(row<float>(y, i) + first, v, outputs);
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
      for (i64 c = 0; c < w.cols; ++c) out[c] = stored(static_cast<float>(static_cast<int>(codes[c / 4 * 64 + id % 16 * 4 + c % 4]) - offset) * scale);
    } else {
      float* values = reinterpret_cast<float*>(k.scratch);
      unpack_values(w, panel, id / 16 * 16, values);
      for (i64 c = 0; c < w.cols; ++c) out[c] = stored(values[c * 16 + id % 16] * scale);
    }
  }
}
