// One or two rows of activations times class I weights, straight from the packed bytes in
// registers: memory is the limit, so a code costs a few instructions and the stream is fetched
// ahead.
#pragma once

#include "ops/products/integers/sums.h"

namespace loom::cpu::LOOM_ISA {

static constexpr i64 kAhead = 2048;  // bytes

static inline void fetch_ahead(const unsigned char* p) { __builtin_prefetch(p + kAhead); }

template <int N>
static inline void zero(Ints (&v)[N]) {
  LOOM_UNROLL for (int i = 0; i < N; ++i) v[i] = Ints{};
}

// Sums of one register of outputs with X planes of activations; `panel` points to the register's
// bytes in the first byte row.
template <Plain P, int X>
static inline void plain_sums(const unsigned char* panel, i64 groups,
                              const signed char* const (&x)[X], Ints (&total)[X]) {
  constexpr int n = layers<P>(), kRows = n >= 4 ? 1 : 4 / n, kStep = n * kRows;
  Ints odd[X];
  zero(total);
  zero(odd);
  auto multiply_codes = [&](Ints(&acc)[X], Bytes codes, i64 g) {
    LOOM_UNROLL for (int i = 0; i < X; ++i) {
      const Ints a = repeat_four(x[i] + 4 * g);
      acc[i] = P == Plain::byte ? dot_full(acc[i], codes, a) : dot_small(acc[i], codes, a);
    }
  };
  i64 g = 0;
  for (; g + kStep <= groups; g += kStep) {
    LOOM_UNROLL for (int r = 0; r < kRows; ++r, panel += 64) {
      fetch_ahead(panel);
      Bytes row = load_bytes(panel);
      LOOM_UNROLL for (int p = 0; p < n; ++p) {
        const Bytes codes = layer_codes<P>(row, p);
        if ((r * n + p) & 1) multiply_codes(odd, codes, g + r * n + p);
        else multiply_codes(total, codes, g + r * n + p);
      }
    }
  }
  for (; g < groups; panel += 64) {
    Bytes row = load_bytes(panel);
    for (int p = 0; p < n && g < groups; ++p, ++g) multiply_codes(total, layer_codes<P>(row, p), g);
  }
  LOOM_UNROLL for (int i = 0; i < X; ++i) total[i] = plus(total[i], odd[i]);
}

// Two byte rows of codes below 16: sixteen k.
template <int X>
static inline void block_of_sixteen(const unsigned char* rows, const signed char* const (&x)[X],
                                    i64 k, Ints scales, Ints (&acc)[X]) {
  Block sum[X];
  LOOM_UNROLL for (int r = 0; r < 2; ++r) {
    fetch_ahead(rows + r * 64);
    const Bytes row = load_bytes(rows + r * 64), low = row & 15, high = row >> 4;
    LOOM_UNROLL for (int i = 0; i < X; ++i) {
      sum[i].add(low, repeat_four(x[i] + k + 8 * r));
      sum[i].add(high, repeat_four(x[i] + k + 8 * r + 4));
    }
  }
  LOOM_UNROLL for (int i = 0; i < X; ++i) acc[i] = sum[i].into(acc[i], scales);
}

// Sub-scales: byte b of an output's four in bits 8b and up.
static inline Ints load_sub_scales(const unsigned char* p) {
  Ints v;
  __builtin_memcpy(&v, p, sizeof v);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  for (i64 i = 0; i < LOOM_VECTOR_BYTES / 4; ++i)
    v[i] = static_cast<int>(__builtin_bswap32(static_cast<unsigned>(v[i])));
#endif
  return v;
}

// sum of code * s * x - 8 * m4 * x. blocks[i]: per 64 k four words, -8 times the sums of x over the
// blocks 0, 2, 1, 3.
template <int X>
static inline void a4_sums(const unsigned char* panel, i64 groups, const signed char* const (&x)[X],
                           const int* const (&blocks)[X], Ints (&total)[X]) {
  Ints minus[X];
  zero(total);
  zero(minus);
  for (i64 super = 0; super < groups / 16; ++super, panel += 576) {
    const Ints sub = load_sub_scales(panel + 512);
    fetch_ahead(panel + 512);
    LOOM_UNROLL for (int b = 0; b < 4; ++b) block_of_sixteen<X>(
        panel + b * 128, x, super * 64 + b * 16, Block::scales((sub >> (8 * b)) & 15), total);
    LOOM_UNROLL for (int odd = 0; odd < 2; ++odd) {
      const Ints m4 = (sub >> (4 + 8 * odd)) & 0x000F000F;
      LOOM_UNROLL for (int i = 0; i < X; ++i) minus[i] =
          dot_words(minus[i], m4, Ints{} + blocks[i][2 * super + odd]);
    }
  }
  LOOM_UNROLL for (int i = 0; i < X; ++i) total[i] = plus(total[i], minus[i]);
}

// sum of (code - 8) * s * x. blocks[i]: -8 times the sum of x over each block of 32.
template <int X>
static inline void s4_sums(const unsigned char* panel, i64 groups, const signed char* const (&x)[X],
                           const int* const (&blocks)[X], Ints (&total)[X]) {
  Ints minus[X];
  zero(total);
  zero(minus);
  for (i64 first = 0; first < groups / 8; first += 8, panel += 2112) {
    const i64 count = min(8, groups / 8 - first);
    const Ints sub = load_sub_scales(panel + count * 256);
    fetch_ahead(panel + count * 256);
    for (int b = 0; b < count; ++b) {
      const Ints s = (sub >> (8 * (b & 3) + (b & 4))) & 15, scales = Block::scales(s);
      block_of_sixteen<X>(panel + b * 256, x, (first + b) * 32, scales, total);
      block_of_sixteen<X>(panel + b * 256 + 128, x, (first + b) * 32 + 16, scales, total);
      LOOM_UNROLL for (int i = 0; i < X; ++i) minus[i] =
          dot_words(minus[i], s, Ints{} + blocks[i][first + b]);
    }
  }
  LOOM_UNROLL for (int i = 0; i < X; ++i) total[i] = plus(total[i], minus[i]);
}

static inline int minus_eight_sum(const signed char* x, int n) {
  int s = 0;
  for (int i = 0; i < n; ++i) s += x[i];
  return -8 * s;
}
// As the kernels above want them; returns the end.
static inline int* block_sums(int layout, const signed char* x, i64 padded, int* out) {
  auto two_words = [](int low, int high) {
    return static_cast<int>((static_cast<unsigned>(low) & 0xFFFF) | static_cast<unsigned>(high)
                                                                        << 16);
  };
  for (i64 k = 0; k < padded; k += 64, x += 64) {
    if (layout == kA4) {
      *out++ = two_words(minus_eight_sum(x, 16), minus_eight_sum(x + 32, 16));
      *out++ = two_words(minus_eight_sum(x + 16, 16), minus_eight_sum(x + 48, 16));
    } else {
      *out++ = two_words(minus_eight_sum(x, 32), 0);
      *out++ = two_words(minus_eight_sum(x + 32, 32), 0);
    }
  }
  return out;
}

template <int R, class F>
static inline void gemv_panels(const KernelArgs& k, i64 padded, Range panels, bool offset,
                               i64 bias_of_sum, F sums) {
  const WeightArg& w = *k.weight;
  Q15Row q[R];
  const signed char* x[2 * R];
  for (int i = 0; i < R; ++i) {
    q[i] = q15_row(k.t[1], i, padded);
    x[2 * i] = q[i].plane[0];
    x[2 * i + 1] = q[i].plane[1];
  }
  for (i64 panel = panels.begin; panel < panels.end; ++panel) {
    const unsigned char* bytes =
        static_cast<const unsigned char*>(w.panels) + panel * w.panel_bytes;
    const PanelOutputs o = panel_outputs(k, panel, offset, bias_of_sum);
    Ints sum[R][2][kParts];
    for (i64 p = 0; p < kParts; ++p) {
      Ints total[2 * R];
      sums(bytes + p * LOOM_VECTOR_BYTES, x, total);
      for (int i = 0; i < R; ++i) {
        sum[i][0][p] = total[2 * i];
        sum[i][1][p] = total[2 * i + 1];
      }
    }
    for (int i = 0; i < R; ++i) finish(o, sum[i], q[i], row<float>(k.t[3], i));
  }
}

template <int R>
static inline void integer_gemv(const KernelArgs& k, i64 padded, Range panels) {
  const WeightArg& w = *k.weight;
  const i64 groups = min(padded, w.padded_cols) / 4;
  if (w.layout == kPlain) {
    with_plain(w, [&]<Plain P>() {
      gemv_panels<R>(k, padded, panels, true, P == Plain::byte ? kFullBias : 0,
                     [&](const unsigned char* panel, const auto& x, auto& total) {
                       plain_sums<P>(panel, groups, x, total);
                     });
    });
    return;
  }
  int* at = reinterpret_cast<int*>(k.scratch);
  const int* blocks[2 * R];
  for (int i = 0; i < 2 * R; ++i) {
    blocks[i] = at;
    at = block_sums(w.layout, q15_row(k.t[1], i / 2, padded).plane[i % 2], padded, at);
  }
  if (w.layout == kA4)
    gemv_panels<R>(k, padded, panels, false, 0,
                   [&](const unsigned char* panel, const auto& x, auto& total) {
                     a4_sums(panel, groups, x, blocks, total);
                   });
  else
    gemv_panels<R>(k, padded, panels, false, 0,
                   [&](const unsigned char* panel, const auto& x, auto& total) {
                     s4_sums(panel, groups, x, blocks, total);
                   });
}

}  // namespace loom::cpu::LOOM_ISA
