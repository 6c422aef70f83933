// Products of class I: u8 codes with one correction per output, exact int32 sums in any order, scale after the sum. One and two rows of
// activations (decoding) multiply straight from the packed stream; more rows share the codes of a few panels, unpacked once.

static inline Ints plus(Ints a, Ints b) {  // modulo 2^32
  const Dwords sum = reinterpret_cast<Dwords&>(a) + reinterpret_cast<Dwords&>(b);
  return reinterpret_cast<const Ints&>(sum);
}

#if defined(__AVX512VNNI__) || defined(__AVXVNNI__)
#include "ops/cpu/kernels/vectors/dot_vnni.h"
#elif defined(__AVX2__)
#include "ops/cpu/kernels/vectors/dot_avx2.h"
#elif defined(__ARM_FEATURE_DOTPROD)
#include "ops/cpu/kernels/vectors/dot_neon.h"
#elif defined(__wasm_relaxed_simd__)
#include "ops/cpu/kernels/vectors/dot_relaxed.h"
#else
#include "ops/cpu/kernels/vectors/dot_generic.h"
#endif

// Four consecutive activations, for every output.
static inline Ints repeat_four(const signed char* x) {
  int v;
  __builtin_memcpy(&v, x, 4);
  return Ints{} + v;
}

// Products of unpacked codes: `Small` where none has more than 7 bits, else every code loses kCodeBias<Small>.
template <bool Small>
static constexpr i64 kCodeBias = Small ? 0 : kFullBias;
template <bool Small>
static inline Ints dot(Ints acc, Bytes codes, Ints x) {
  return Small ? dot_small(acc, codes, x) : dot_full(acc, codes, x);
}
// Calls f.template operator()<Small>() for the codes of w.
template <class F>
static inline void with_small(const WeightArg& w, F f) {
  if constexpr (kSmallIsFaster)
    if (w.layout == kPlain && w.dtype != kI8 && w.dtype != kU8) return f.template operator()<true>();
  f.template operator()<false>();
}

// Sixteen sums of (code - kCodeBias) * x: add() takes a byte row of codes and the activations of its four k.
template <bool Small = false>
struct Sums16 {
  Ints s[kParts] = {};
  void add(const unsigned char* codes, Ints x) {
    LOOM_UNROLL for (i64 p = 0; p < kParts; ++p) s[p] = dot<Small>(s[p], load_bytes(codes + p * LOOM_VECTOR_BYTES), x);
  }
  void get(int* out) const { __builtin_memcpy(out, s, 64); }
};

// A quantized row: hi plane, lo plane, each padded to 64, then the scale and the sums of both planes.
struct Q15Row {
  const signed char* plane[2];
  float scale;
  int sum[2];
};
static inline Q15Row q15_row(const TensorArg& x, i64 r, i64 padded) {
  const signed char* p = reinterpret_cast<const signed char*>(x.data) + r * x.stride;
  Q15Row q{{p, p + padded}, 0, {}};
  __builtin_memcpy(&q.scale, p + 2 * padded, 4);
  __builtin_memcpy(q.sum, p + 2 * padded + 4, 8);
  return q;
}

// The outputs of one panel: what all rows share.
struct PanelOutputs {
  i64 first, lanes;
  const float* bias_from;
  V<float> scale, bias;
  Dwords offset[kParts];
};
// bias_of_sum: what the sums hold in each code beside its value and the offset, negated.
static inline PanelOutputs panel_outputs(const KernelArgs& k, i64 panel, bool offset, i64 bias_of_sum) {
  const WeightArg& w = *k.weight;
  PanelOutputs o;
  o.first = panel * 16;
  o.lanes = least(16, w.rows - o.first);
  o.scale = load_lanes(w.scales + o.first, o.lanes);
  if (w.dtype == kFp4) o.scale = 0.5f * o.scale;  // the codes are twice the values
  o.bias_from = k.has[2] ? row<float>(k.t[2], 0) : nullptr;
  o.bias = o.bias_from ? load_lanes(o.bias_from + o.first, o.lanes) : V<float>{};
  unsigned offsets[16] = {};
  for (i64 n = 0; n < o.lanes; ++n) offsets[n] = static_cast<unsigned>((offset ? code_offset(w, o.first + n) : 0) - bias_of_sum);
  __builtin_memcpy(o.offset, offsets, 64);
  return o;
}

// f(S) of numerics rule 0: rounds once.
static inline auto sum_to_f32(Ints sum) {
  using F = V<float>::Native;
  return __builtin_convertvector(sum >> 12, F) * 4096.0f + __builtin_convertvector(sum & 4095, F);
}

// y = ((f(S_hi) * 128 + f(S_lo)) * 2^e) * row scale [+ bias]
static inline void finish(const PanelOutputs& o, const Ints (&sum)[2][kParts], const Q15Row& q, float* y) {
  V<float> v;
  for (i64 p = 0; p < kParts; ++p) {
    Ints s[2];
    for (int plane = 0; plane < 2; ++plane) {
      const Dwords corrected = reinterpret_cast<const Dwords&>(sum[plane][p]) - o.offset[p] * static_cast<unsigned>(q.sum[plane]);
      s[plane] = reinterpret_cast<const Ints&>(corrected);
    }
    v.part[p] = ((sum_to_f32(s[0]) * 128.0f + sum_to_f32(s[1])) * q.scale) * o.scale.part[p];
  }
  put_lanes(y + o.first, o.bias_from ? v + o.bias : v, o.lanes);
}

#include "ops/cpu/kernels/integers/integer_gemv.h"

#define LOOM_OPAQUE(value) asm("" : "+r"(value))

// Rows x registers of codes; as many sums of two planes as the registers hold.
#if LOOM_VECTOR_BYTES == 64
static constexpr int kIntegerRows = 6, kIntegerPanels = 2;
#elif defined(__AVXVNNI__)
static constexpr int kIntegerRows = 3, kIntegerPanels = 1;
#else
static constexpr int kIntegerRows = 2, kIntegerPanels = 1;
#endif

// Rows [first, first + R) of P panels, whose codes follow one another.
template <bool Small, int R, int P>
static inline void integer_tile(const KernelArgs& k, const PanelOutputs* outputs, const unsigned char* codes, i64 padded, i64 first) {
  constexpr int Q = P * static_cast<int>(kParts);
  const TensorArg &x = k.t[1], &y = k.t[3];
  const signed char* from[R];
  LOOM_UNROLL for (int r = 0; r < R; ++r) from[r] = reinterpret_cast<const signed char*>(x.data) + (first + r) * x.stride;
  Ints acc[R][2][Q];
  LOOM_UNROLL for (int r = 0; r < R; ++r)
    LOOM_UNROLL for (int q = 0; q < Q; ++q) acc[r][0][q] = acc[r][1][q] = Ints{};
  i64 at[2] = {0, padded};  // hi and lo of the same row
  LOOM_OPAQUE(at[1]);       // two indices for all rows, or the compiler keeps a pointer for each plane of each row and runs out of registers
  for (const unsigned char *c_at = codes, *end = codes + padded * 16; c_at != end; c_at += 64, at[0] += 4, at[1] += 4) {
    Bytes c[Q];
    LOOM_UNROLL for (int q = 0; q < Q; ++q) c[q] = load_bytes(c_at + q / kParts * padded * 16 + q % kParts * LOOM_VECTOR_BYTES);
    LOOM_UNROLL for (int r = 0; r < R; ++r)
      LOOM_UNROLL for (int plane = 0; plane < 2; ++plane) {
        const Ints a = repeat_four(from[r] + at[plane]);
        LOOM_UNROLL for (int q = 0; q < Q; ++q) acc[r][plane][q] = dot<Small>(acc[r][plane][q], c[q], a);
      }
  }
  for (int r = 0; r < R; ++r) {
    const Q15Row row_q = q15_row(x, first + r, padded);
    for (int p = 0; p < P; ++p) {
      Ints sum[2][kParts];
      for (int plane = 0; plane < 2; ++plane)
        for (int q = 0; q < kParts; ++q) sum[plane][q] = acc[r][plane][p * kParts + q];
      finish(outputs[p], sum, row_q, row<float>(y, first + r));
    }
  }
}

template <bool Small, int P>
static inline void integer_panels(const KernelArgs& k, unsigned char* codes, i64 padded, i64 panel, Range rows) {
  const WeightArg& w = *k.weight;
  PanelOutputs outputs[P];
  for (int p = 0; p < P; ++p) {
    unpack_codes(w, static_cast<const unsigned char*>(w.panels) + (panel + p) * w.panel_bytes, padded, codes + p * padded * 16);
    outputs[p] = panel_outputs(k, panel + p, true, kCodeBias<Small>);
  }
  i64 i = rows.begin;
  for (; i + kIntegerRows <= rows.end; i += kIntegerRows) integer_tile<Small, kIntegerRows, P>(k, outputs, codes, padded, i);
  for (; i + 2 <= rows.end; i += 2) integer_tile<Small, 2, P>(k, outputs, codes, padded, i);
  if (i < rows.end) integer_tile<Small, 1, P>(k, outputs, codes, padded, i);
}

// scratch: 32 * padded bytes, codes of kIntegerPanels panels or sums of the activations' blocks.
static void matmul_integer(const KernelArgs& k) {
  const WeightArg& w = *k.weight;
  const i64 rows = k.t[3].rows, padded = (w.cols + 63) / 64 * 64, panels = (w.rows + 15) / 16;
  if (rows <= kGemvRows) {
    const Range r = share(panels, 1, k.worker, k.workers);
    return rows == 1 ? integer_gemv<1>(k, padded, r) : integer_gemv<2>(k, padded, r);
  }
  // Activations of a block of rows stay in the second cache while all panels pass.
  const i64 block = kIntegerRows * (1 + (384 << 10) / (2 * padded * kIntegerRows)), blocks = (rows + block - 1) / block;
  const i64 groups = (panels + kIntegerPanels - 1) / kIntegerPanels;
  const bool by_panels = groups >= 2 * k.workers;
  const Range r = share(by_panels ? groups : groups * blocks, 1, k.worker, k.workers);
  unsigned char* codes = reinterpret_cast<unsigned char*>(k.scratch);
  with_small(w, [&]<bool Small>() {
    for (i64 b = 0; b < (by_panels ? blocks : 1); ++b)
      for (i64 u = r.begin; u < r.end; ++u) {
        const i64 at = by_panels ? b : u / groups, panel = (by_panels ? u : u % groups) * kIntegerPanels;
        const Range some{at * block, least(rows, (at + 1) * block)};
        if (panel + kIntegerPanels <= panels) integer_panels<Small, kIntegerPanels>(k, codes, padded, panel, some);
        else integer_panels<Small, 1>(k, codes, padded, panel, some);
      }
  });
}
