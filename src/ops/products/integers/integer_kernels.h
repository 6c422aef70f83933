// Products of class I: u8 codes with one correction per output, exact int32 sums in any order,
// scale after the sum. One and two rows of activations (decoding) multiply straight from the packed
// stream; more rows share the codes of a few panels, unpacked once.
#pragma once

#include "ops/products/integers/integer_gemv.h"
#include "ops/products/integers/sums.h"

namespace loom::cpu::LOOM_ISA {

#define LOOM_OPAQUE(value) asm("" : "+r"(value))

// Whether two rows meet each code that is taken from a panel. Plain vectors compute too long for
// memory to matter, and kernels for two are large.
#if LOOM_VECTOR_BYTES > 16 || defined(__ARM_FEATURE_DOTPROD)
static constexpr bool kTwoRowsAtOnce = true;
#else
static constexpr bool kTwoRowsAtOnce = false;
#endif

static void decode_rows(const KernelArgs& k, i64 padded) {
  const Range r = share((k.weight->rows + 15) / 16, 1, k.worker, k.workers);
  if constexpr (kTwoRowsAtOnce)
    if (k.t[3].rows == 2) return integer_gemv<2>(k, padded, r);
  KernelArgs one = k;
  for (i64 i = 0; i < k.t[3].rows; ++i) {
    one.t[1].data += i * k.t[1].stride;
    one.t[3].data = reinterpret_cast<char*>(row<float>(k.t[3], i));
    integer_gemv<1>(one, padded, r);
  }
}

// Rows x registers of codes; as many sums of two planes as the registers hold (of one plane, of
// twice as many rows).
#if LOOM_VECTOR_BYTES == 64
static constexpr int kIntegerRows = 6, kIntegerPanels = 2;
#elif defined(__AVXVNNI__)
static constexpr int kIntegerRows = 3, kIntegerPanels = 1;
#else
static constexpr int kIntegerRows = 2, kIntegerPanels = 1;
#endif

// Rows [first, first + R) of P panels, whose codes follow one another, and X planes.
template <bool Small, int R, int P, int X>
static inline void integer_tile(const KernelArgs& k, const PanelOutputs* outputs,
                                const unsigned char* codes, i64 padded, i64 first) {
  constexpr int Q = P * static_cast<int>(kParts);
  const TensorArg &x = k.t[1], &y = k.t[3];
  const signed char* from[R];
  LOOM_UNROLL for (int r = 0; r < R; ++r) from[r] =
      reinterpret_cast<const signed char*>(x.data) + (first + r) * x.stride;
  Ints acc[R][X][Q];
  LOOM_UNROLL for (int r = 0; r < R; ++r) LOOM_UNROLL for (int x_of = 0; x_of < X; ++x_of)
      LOOM_UNROLL for (int q = 0; q < Q; ++q) acc[r][x_of][q] = Ints{};
  i64 at[2] = {0, padded};  // hi and lo of the same row
  LOOM_OPAQUE(at[1]);  // two indices for all rows, or the compiler keeps a pointer for each plane
                       // of each row and runs out of registers
  for (const unsigned char *c_at = codes, *end = codes + padded * 16; c_at != end;
       c_at += 64, at[0] += 4, at[1] += 4) {
    Bytes c[Q];
    LOOM_UNROLL for (int q = 0; q < Q; ++q) c[q] =
        load_bytes(c_at + q / kParts * padded * 16 + q % kParts * LOOM_VECTOR_BYTES);
    LOOM_UNROLL for (int r = 0; r < R; ++r) LOOM_UNROLL for (int plane = 0; plane < X; ++plane) {
      const Ints a = repeat_four(from[r] + at[plane]);
      LOOM_UNROLL for (int q = 0; q < Q; ++q) acc[r][plane][q] =
          dot<Small>(acc[r][plane][q], c[q], a);
    }
  }
  for (int r = 0; r < R; ++r) {
    const Q15Row row_q = q15_row(x, first + r, padded);
    for (int p = 0; p < P; ++p) {
      Ints sum[2][kParts] = {};
      for (int plane = 0; plane < X; ++plane)
        for (int q = 0; q < kParts; ++q) sum[plane][q] = acc[r][plane][p * kParts + q];
      finish(outputs[p], sum, row_q, row<float>(y, first + r));
    }
  }
}

template <bool Small, int P, int X>
static inline void integer_panels(const KernelArgs& k, unsigned char* codes, i64 padded, i64 panel,
                                  Range rows) {
  const WeightArg& w = *k.weight;
  PanelOutputs outputs[P];
  for (int p = 0; p < P; ++p) {
    unpack_codes(w, static_cast<const unsigned char*>(w.panels) + (panel + p) * w.panel_bytes,
                 padded, codes + p * padded * 16);
    outputs[p] = panel_outputs(k, panel + p, true, kCodeBias<Small>);
  }
  constexpr int kRows = 2 * kIntegerRows / X;
  i64 i = rows.begin;
  for (; i + kRows <= rows.end; i += kRows)
    integer_tile<Small, kRows, P, X>(k, outputs, codes, padded, i);
  for (; i + 2 <= rows.end; i += 2) integer_tile<Small, 2, P, X>(k, outputs, codes, padded, i);
  if (i < rows.end) integer_tile<Small, 1, P, X>(k, outputs, codes, padded, i);
}

// scratch: 32 * padded bytes, codes of kIntegerPanels panels or sums of the activations' blocks.
static void matmul_integer(const KernelArgs& k) {
  const WeightArg& w = *k.weight;
  const i64 rows = k.t[3].rows, padded = (w.cols + 63) / 64 * 64;
  if (rows <= kGemvRows) return decode_rows(k, padded);
  // Activations of a block of rows stay in the second cache while all panels pass.
  const bool one_plane = q15_row(k.t[1], 0, padded).high_only;
  const i64 group = one_plane ? 2 * kIntegerRows : kIntegerRows,
            block = group * (1 + (384 << 10) / (2 * padded * kIntegerRows));
  unsigned char* codes = reinterpret_cast<unsigned char*>(k.scratch);
  with_small(w, [&]<bool Small>() {
    share_panels<kIntegerPanels>(k, block, [&]<int P>(i64 panel, Range some) {
      if (one_plane) integer_panels<Small, P, 1>(k, codes, padded, panel, some);
      else integer_panels<Small, P, 2>(k, codes, padded, panel, some);
    });
  });
}

}  // namespace loom::cpu::LOOM_ISA
