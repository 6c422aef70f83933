// Products of class I in tiles of 16 rows by 16 outputs (AMX): the hi and lo planes of a block of
// rows are the signed side, unpacked codes of two panels the unsigned one. A byte row of codes is a
// row of a tile as it lies. Sums are exact, so the bits are those of integer_kernels.h.
#pragma once

#include "ops/cpu/vectors/tiles.h"
#include "ops/products/integers/sums.h"

namespace loom::cpu::LOOM_ISA {

// Sums of a block of rows: [plane][panel][16 rows][16 outputs].
static constexpr i64 kPanelSums = kRowsOfTile * 16, kPlaneSums = 2 * kPanelSums;

// Adds the products of a block of rows with P panels over k to `sums`, or makes them of it.
// Sums of hi in tiles 0 and 1, of lo in 2 and 3, which stay 0 where there is one plane.
template <int P, int X>
static inline void add_products(const signed char* hi, i64 stride, i64 padded,
                                const unsigned char* codes, Range k, int* sums) {
  if (k.begin == 0) {
    LOOM_TILE_ZERO(0);
    LOOM_TILE_ZERO(2);
    if constexpr (P == 2) {
      LOOM_TILE_ZERO(1);
      LOOM_TILE_ZERO(3);
    }
  } else {
    LOOM_TILE_LOAD(0, sums, 64);
    LOOM_TILE_LOAD(2, sums + kPlaneSums, 64);
    if constexpr (P == 2) {
      LOOM_TILE_LOAD(1, sums + kPanelSums, 64);
      LOOM_TILE_LOAD(3, sums + kPlaneSums + kPanelSums, 64);
    }
  }
  for (i64 at = k.begin; at < k.end; at += 64) {
    LOOM_TILE_LOAD(6, codes + at * 16, 64);
    LOOM_TILE_LOAD(4, hi + at, stride);
    LOOM_TILE_DOT(0, 4, 6);
    if constexpr (X == 2) {
      LOOM_TILE_LOAD(5, hi + padded + at, stride);
      LOOM_TILE_DOT(2, 5, 6);
    }
    if constexpr (P == 2) {
      LOOM_TILE_LOAD(7, codes + (padded + at) * 16, 64);
      LOOM_TILE_DOT(1, 4, 7);
      if constexpr (X == 2) LOOM_TILE_DOT(3, 5, 7);
    }
  }
  LOOM_TILE_STORE(0, sums, 64);
  LOOM_TILE_STORE(2, sums + kPlaneSums, 64);
  if constexpr (P == 2) {
    LOOM_TILE_STORE(1, sums + kPanelSums, 64);
    LOOM_TILE_STORE(3, sums + kPlaneSums + kPanelSums, 64);
  }
}

// Brings bytes that are read soon into the second cache, a part at a time.
struct Fetch {
  const char *at, *end;
  i64 part;
  void next() {
    const char* stop = end - at < part ? end : at + part;
    for (; at < stop; at += 64) __builtin_prefetch(at, 0, 2);
  }
};

// Rows of two panels. Of a longer row the codes of kTileK at a time stay in the first cache while
// all rows pass, and the sums wait in `sums`, one block of rows behind the other.
template <int P, int X>
static inline void tile_panels(const KernelArgs& k, RowTiles& tiles, i64 padded, i64 panel,
                               Range rows) {
  const WeightArg& w = *k.weight;
  const TensorArg &x = k.t[1], &y = k.t[3];
  unsigned char* codes = reinterpret_cast<unsigned char*>(k.scratch);
  int* sums = reinterpret_cast<int*>(codes + 32 * padded);
  PanelOutputs outputs[P];
  for (int p = 0; p < P; ++p) {
    unpack_codes(w, static_cast<const unsigned char*>(w.panels) + (panel + p) * w.panel_bytes,
                 padded, codes + p * padded * 16);
    outputs[p] = panel_outputs(k, panel + p, true, 0);
  }
  const bool whole = padded <= kTileK;  // the sums of a block are complete at once
  // The panels behind these, while these are multiplied.
  const i64 steps =
      (rows.end - rows.begin + kRowsOfTile - 1) / kRowsOfTile * ((padded + kTileK - 1) / kTileK);
  const i64 left = (w.rows + 15) / 16 - panel - P, ahead = left < P ? left : P;
  const char* behind = static_cast<const char*>(w.panels) + (panel + P) * w.panel_bytes;
  Fetch fetch{behind, behind + ahead * w.panel_bytes,
              (ahead * w.panel_bytes / steps + 63) / 64 * 64};
  for (i64 from = 0; from < padded; from += kTileK) {
    const Range part{from, min(padded, from + kTileK)};
    for (i64 first = rows.begin; first < rows.end; first += kRowsOfTile) {
      const i64 count = min(kRowsOfTile, rows.end - first);
      int* block = sums + (whole ? 0 : (first - rows.begin) / kRowsOfTile * 2 * kPlaneSums);
      tiles.shape(count);
      fetch.next();
      add_products<P, X>(reinterpret_cast<const signed char*>(x.data) + first * x.stride, x.stride,
                         padded, codes, part, block);
      if (part.end < padded) continue;
      for (i64 r = 0; r < count; ++r) {
        const Q15Row q = q15_row(x, first + r, padded);
        LOOM_UNROLL for (int p = 0; p < P; ++p) {
          Ints sum[2][kParts];
          for (int plane = 0; plane < 2; ++plane)
            __builtin_memcpy(sum[plane], block + plane * kPlaneSums + p * kPanelSums + r * 16, 64);
          finish(outputs[p], sum, q, row<float>(y, first + r));
        }
      }
    }
  }
}

// scratch: codes of two panels (32 * padded bytes), then the sums of tile_block_rows rows.
static void matmul_tiles(const KernelArgs& k) {
  const i64 padded = (k.weight->cols + 63) / 64 * 64;
  const bool one_plane = q15_row(k.t[1], 0, padded).high_only;
  RowTiles tiles;
  share_panels<2>(k, tile_block_rows(padded), [&]<int P>(i64 panel, Range rows) {
    if (one_plane) tile_panels<P, 1>(k, tiles, padded, panel, rows);
    else tile_panels<P, 2>(k, tiles, padded, panel, rows);
  });
}

}  // namespace loom::cpu::LOOM_ISA
