// Sizes that products and those who plan for them agree on. No standard library here.
#pragma once

#include "ops/cpu/kernel_args.h"

namespace loom::cpu {

// Class I products of at most this number of rows read the packed weights directly, their outputs
// shared in panels of 16; schedule.cpp relies on it.
inline constexpr i64 kGemvRows = 2;

// Class F and B products of few rows decode this number of k of a panel at once: 16 kB of values.
inline constexpr i64 kPieceOfPanel = 256;

// Products copy panels whose values lie apart, kPackedSums of their sums at a time; of dense rows
// only for kPackedRows rows of results or more.
inline constexpr i64 kPackedSums = 2048, kPackedRows = 16,
                     kPackedPanels = 2;  // panels at once, at most

// Weight gradients over at most kPackedOuter rows copy their operands: kPackedOuterValues values of
// gy at once, and all rows of kPackedPanels panels of x.
inline constexpr i64 kPackedOuter = 1024, kPackedOuterValues = 65536;

inline constexpr i64 kBlockRows =
    16;  // of activations, that share the unpacked codes of a panel (kBlockForm)

// Class I products in tiles, of kTileProductRows rows or more: measured with 576 x 1536 to 4864,
// two rows are faster in vectors, three to ten take the time of three in tiles. The codes of kTileK
// stay in the first cache, and the activations of a block of rows in the second, half of which they
// take.
inline constexpr i64 kTileProductRows = 3, kTileK = 640, kTileCache = 1 << 20;
inline constexpr i64 tile_block_rows(i64 padded) {
  const i64 blocks = kTileCache / (2 * 16 * padded);
  return 16 * (blocks > 1 ? blocks : 1);
}
// Bytes of the sums that wait while all rows of a block pass, of a product of up to `rows`.
inline constexpr i64 tile_sums(i64 padded, i64 rows) {
  const i64 block = rows < tile_block_rows(padded) ? rows : tile_block_rows(padded);
  return 4096 * (padded <= kTileK ? 1 : (block + 15) / 16);
}

}  // namespace loom::cpu
