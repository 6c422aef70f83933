// One or two rows of activations times class I weights, straight from the packed bytes in
// registers: memory is the limit, so a code costs a few instructions, and several panels that lie
// far apart are read at once, each fetched ahead. One stream alone leaves memory waiting whenever
// it enters another page.
#pragma once

#include "ops/products/integers/sums.h"

namespace loom::cpu::LOOM_ISA {

static constexpr i64 kAhead = 4096;  // bytes

// Into the second cache: the first one has places for some 24 lines on their way, too few for the
// time that memory takes (Zen 4, one thread: 12 GB/s through those, 20 GB/s so).
static inline void fetch_ahead(const unsigned char* p) { __builtin_prefetch(p + kAhead, 0, 2); }

// Streams of panels at once, for X planes of activations: what the registers hold.
template <int X>
static constexpr int kStreams = LOOM_VECTOR_BYTES == 64 ? 8 / X : 1;

// Sums of one register of outputs of S panels with X planes of activations; panels[s] points to the
// register's bytes in the first byte row.
template <Plain P, int S, int X>
static inline void plain_sums(const unsigned char* (&panels)[S], i64 groups,
                              const signed char* const (&x)[X], Ints (&total)[S][X]) {
  constexpr int n = layers<P>(), kRows = n >= 4 ? 1 : 4 / n, kStep = n * kRows;
  constexpr int kChains = S == 1 ? 2 : 1;  // of sums of a stream, or a dot waits for the one before
  Ints sum[kChains][S][X] = {};
  auto multiply_codes = [&](Ints(&acc)[X], Bytes codes, i64 g) {
    LOOM_UNROLL for (int i = 0; i < X; ++i) {
      const Ints a = repeat_four(x[i] + 4 * g);
      acc[i] = P == Plain::byte ? dot_full(acc[i], codes, a) : dot_small(acc[i], codes, a);
    }
  };
  i64 g = 0;
  for (; g + kStep <= groups; g += kStep)
    LOOM_UNROLL for (int s = 0; s < S; ++s)
        LOOM_UNROLL for (int r = 0; r < kRows; ++r, panels[s] += 64) {
      fetch_ahead(panels[s]);
      Bytes row = load_bytes(panels[s]);
      LOOM_UNROLL for (int p = 0; p < n; ++p)
          multiply_codes(sum[(r * n + p) % kChains][s], layer_codes<P>(row, p), g + r * n + p);
    }
  for (i64 first = g; first < groups; first += n)
    for (int s = 0; s < S; ++s, panels[s - 1] += 64) {
      Bytes row = load_bytes(panels[s]);
      for (int p = 0; p < n && first + p < groups; ++p)
        multiply_codes(sum[0][s], layer_codes<P>(row, p), first + p);
    }
  LOOM_UNROLL for (int s = 0; s < S; ++s) LOOM_UNROLL for (int i = 0; i < X; ++i) total[s][i] =
      kChains == 2 ? plus(sum[0][s][i], sum[kChains - 1][s][i]) : sum[0][s][i];
}

// Adds products of codes and the four activations at x.
static inline void add_repeated(Block& sum, Bytes codes, const signed char* x) {
#if defined(__AVX512VNNI__) && LOOM_VECTOR_BYTES == 64 && !defined(__clang__)
  // The product spreads them itself: gcc would do so in registers, for all streams, of which there
  // are too few.
  typedef int Four __attribute__((may_alias, aligned(1)));
  __asm__("vpdpbusd %2%{1to16%}, %1, %0"
          : "+v"(sum.sum)
          : "v"(codes), "m"(*reinterpret_cast<const Four*>(x)));
#else
  sum.add(codes, repeat_four(x));
#endif
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
      add_repeated(sum[i], low, x[i] + k + 8 * r);
      add_repeated(sum[i], high, x[i] + k + 8 * r + 4);
    }
  }
  LOOM_UNROLL for (int i = 0; i < X; ++i) acc[i] = sum[i].into(acc[i], scales);
}

// Sub-scales: byte b of an output's four in bits 8b and up.
static inline Ints load_sub_scales(const unsigned char* p) {
  return __builtin_bit_cast(Ints, load_words(p));
}

// total + minus, of all streams and planes.
template <int S, int X>
static inline void add_corrections(Ints (&total)[S][X], const Ints (&minus)[S][X]) {
  LOOM_UNROLL for (int s = 0; s < S; ++s) LOOM_UNROLL for (int i = 0; i < X; ++i) total[s][i] =
      plus(total[s][i], minus[s][i]);
}

// sum of code * s * x - 8 * m4 * x. blocks[i]: per 64 k four words, -8 times the sums of x over the
// blocks 0, 2, 1, 3.
template <int S, int X>
static inline void a4_sums(const unsigned char* (&panels)[S], i64 groups,
                           const signed char* const (&x)[X], const int* const (&blocks)[X],
                           Ints (&total)[S][X]) {
  Ints minus[S][X] = {};
  for (i64 super = 0; super < groups / 16; ++super)
    LOOM_UNROLL for (int s = 0; s < S; ++s, panels[s - 1] += 576) {
      const unsigned char* panel = panels[s];
      const Ints sub = load_sub_scales(panel + 512);
      fetch_ahead(panel + 512);
      LOOM_UNROLL for (int b = 0; b < 4; ++b) block_of_sixteen<X>(
          panel + b * 128, x, super * 64 + b * 16, Block::scales((sub >> (8 * b)) & 15), total[s]);
      LOOM_UNROLL for (int odd = 0; odd < 2; ++odd) {
        const Ints m4 = (sub >> (4 + 8 * odd)) & 0x000F000F;
        LOOM_UNROLL for (int i = 0; i < X; ++i) minus[s][i] =
            dot_words(minus[s][i], m4, Ints{} + blocks[i][2 * super + odd]);
      }
    }
  add_corrections(total, minus);
}

// sum of (code - 8) * s * x. blocks[i]: -8 times the sum of x over each block of 32.
template <int S, int X>
static inline void s4_sums(const unsigned char* (&panels)[S], i64 groups,
                           const signed char* const (&x)[X], const int* const (&blocks)[X],
                           Ints (&total)[S][X]) {
  Ints minus[S][X] = {};
  for (i64 first = 0; first < groups / 8; first += 8) {
    const i64 count = min(8, groups / 8 - first);
    Ints sub[S];
    LOOM_UNROLL for (int s = 0; s < S; ++s) {
      sub[s] = load_sub_scales(panels[s] + count * 256);
      fetch_ahead(panels[s] + count * 256);
    }
    for (int b = 0; b < count; ++b) LOOM_UNROLL for (int s = 0; s < S; ++s) {
        const unsigned char* panel = panels[s] + b * 256;
        const Ints scale = (sub[s] >> (8 * (b & 3) + (b & 4))) & 15, scales = Block::scales(scale);
        block_of_sixteen<X>(panel, x, (first + b) * 32, scales, total[s]);
        block_of_sixteen<X>(panel + 128, x, (first + b) * 32 + 16, scales, total[s]);
        LOOM_UNROLL for (int i = 0; i < X; ++i) minus[s][i] =
            dot_words(minus[s][i], scale, Ints{} + blocks[i][first + b]);
      }
    LOOM_UNROLL for (int s = 0; s < S; ++s) panels[s] += 2112;
  }
  add_corrections(total, minus);
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

// What all panels of a product of R rows share.
template <int R>
struct GemvRows {
  Q15Row q[R];
  const signed char* x[2 * R];
  bool offset;
  i64 bias_of_sum;
};

// S panels.
template <int S, int R, class F>
static inline void gemv_streams(const KernelArgs& k, const GemvRows<R>& rows, const i64 (&at)[S],
                                F sums) {
  const WeightArg& w = *k.weight;
  Ints sum[S][R][2][kParts];
  for (i64 p = 0; p < kParts; ++p) {
    const unsigned char* panels[S];
    for (int s = 0; s < S; ++s)
      panels[s] = static_cast<const unsigned char*>(w.panels) + at[s] * w.panel_bytes +
                  p * LOOM_VECTOR_BYTES;
    Ints total[S][2 * R] = {};
    sums(panels, rows.x, total);
    for (int s = 0; s < S; ++s)
      for (int i = 0; i < R; ++i)
        for (int plane = 0; plane < 2; ++plane) sum[s][i][plane][p] = total[s][2 * i + plane];
  }
  for (int s = 0; s < S; ++s) {
    const PanelOutputs o = panel_outputs(k, at[s], rows.offset, rows.bias_of_sum);
    for (int i = 0; i < R; ++i) finish(o, sum[s][i], rows.q[i], row<float>(k.t[3], i));
  }
}

template <int R, class F>
static inline void gemv_panels(const KernelArgs& k, i64 padded, Range panels, bool offset,
                               i64 bias_of_sum, F sums) {
  constexpr int S = kStreams<2 * R>;
  GemvRows<R> rows;
  rows.offset = offset;
  rows.bias_of_sum = bias_of_sum;
  for (int i = 0; i < R; ++i) {
    rows.q[i] = q15_row(k.t[1], i, padded);
    rows.x[2 * i] = rows.q[i].plane[0];
    rows.x[2 * i + 1] = rows.q[i].plane[1];
  }
  // Streams of equal length; where panels are too few for that, the last ones are made twice.
  const i64 count = panels.end - panels.begin, length = (count + S - 1) / S;
  i64 first[S];
  for (i64 n = 0; n < length; ++n) {
    for (int s = 0; s < S; ++s) first[s] = panels.begin + min(s * length + n, count - 1);
    gemv_streams<S>(k, rows, first, sums);
  }
}

template <int R>
static inline void integer_gemv(const KernelArgs& k, i64 padded, Range share) {
  const WeightArg& w = *k.weight;
  const i64 groups = min(padded, w.padded_cols) / 4;
  if (w.layout == kPlain) {
    with_plain(w, [&]<Plain P>() {
      gemv_panels<R>(k, padded, share, true, P == Plain::byte ? kFullBias : 0,
                     [&](auto& panels, const auto& x, auto& total) {
                       plain_sums<P>(panels, groups, x, total);
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
    gemv_panels<R>(k, padded, share, false, 0, [&](auto& panels, const auto& x, auto& total) {
      a4_sums(panels, groups, x, blocks, total);
    });
  else
    gemv_panels<R>(k, padded, share, false, 0, [&](auto& panels, const auto& x, auto& total) {
      s4_sums(panels, groups, x, blocks, total);
    });
}

}  // namespace loom::cpu::LOOM_ISA
