// Class I with a scale per block of k in tiles (AMX): the sums of a few blocks for 16 rows and a
// panel, which are then scaled row by row as blocks_kernels.h does it: the same bits.
#pragma once

#include "ops/cpu/vectors/tiles.h"
#include "ops/products/integers/blocks_kernels.h"

namespace loom::cpu::LOOM_ISA {

static constexpr i64 kBlocksAtOnce = 8;  // whose sums stay in the first cache

// Whether whole tiles make a block, and rows are enough: measured with 576 x 1536 and the reverse,
// from 4 on in blocks of 32 and from 8 on in blocks of 16 tiles take no longer than vectors.
static inline bool blocks_fit_tiles(const WeightArg& w, i64 rows) {
  return w.block == 16 ? rows >= 8 : rows >= 4 && (w.block % 64 == 0 || w.block == 32);
}

struct BlockSums {
  int plane[2][kRowsOfTile * 16];
};

// Sums of k in [begin, end) of the rows that the tiles are shaped for.
static inline void sum_block(const signed char* hi, i64 stride, i64 padded,
                             const unsigned char* codes, i64 begin, i64 end, i64 k_of_tile,
                             BlockSums& sums) {
  LOOM_TILE_ZERO(0);
  LOOM_TILE_ZERO(1);
  for (i64 at = begin; at < end; at += k_of_tile) {
    LOOM_TILE_LOAD(6, codes + at * 16, 64);
    LOOM_TILE_LOAD(4, hi + at, stride);
    LOOM_TILE_DOT(0, 4, 6);
    LOOM_TILE_LOAD(5, hi + padded + at, stride);
    LOOM_TILE_DOT(1, 5, 6);
  }
  LOOM_TILE_STORE(0, sums.plane[0], 64);
  LOOM_TILE_STORE(1, sums.plane[1], 64);
}

static void matmul_block_tiles(const KernelArgs& k) {
  const WeightArg& w = *k.weight;
  const TensorArg& x = k.t[1];
  const i64 padded = (w.cols + 63) / 64 * 64, blocks = (w.cols + w.block - 1) / w.block,
            k_of_tile = min(64, w.block);
  RowTiles tiles;
  blocks_product(k, [&](const unsigned char* codes, const int* ones, i64 first, i64 rows, i64 panel,
                        V<float>* acc) {
    alignas(64) BlockSums sums[kBlocksAtOnce];
    BlockFactors factors[kBlocksAtOnce];
    tiles.shape(rows, k_of_tile);
    for (i64 from = 0; from < blocks; from += kBlocksAtOnce) {
      const i64 count = min(kBlocksAtOnce, blocks - from);
      for (i64 n = 0; n < count; ++n) {
        const i64 b = from + n;
        sum_block(reinterpret_cast<const signed char*>(x.data) + first * x.stride, x.stride, padded,
                  codes, b * w.block, min((b + 1) * w.block, padded), k_of_tile, sums[n]);
        factors[n] = block_factors(w, panel, b, 0);
      }
      for (i64 i = 0; i < rows; ++i)
        for (i64 n = 0; n < count; ++n) {
          Ints high[kParts], low[kParts];
          __builtin_memcpy(high, sums[n].plane[0] + i * 16, 64);
          __builtin_memcpy(low, sums[n].plane[1] + i * 16, 64);
          add_block(acc[i], factors[n], w.minima != nullptr, high, low,
                    ones[i * blocks + from + n]);
        }
    }
  });
}

}  // namespace loom::cpu::LOOM_ISA
