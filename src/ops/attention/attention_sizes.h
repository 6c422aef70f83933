// Sizes that attention and those who plan for it agree on. No standard library here.
#pragma once

namespace loom::cpu {

// Attention in tiles: from kTileQueryRows rows on, of which each sequence has kTileRowsOfSequence
// on average (a row alone takes twice its time in vectors, eight take two thirds), unless the
// scores of 16 rows are more than kTileScores bytes. Behind the scores lie the sums of a block,
// weighted values, and the planes of queries and weights.
inline constexpr long long kTileQueryRows = 8, kTileRowsOfSequence = 4, kTileScores = 2 << 20;
inline constexpr bool attends_in_tiles(long long rows, long long capacity) {
  return rows >= kTileQueryRows && 64 * capacity <= kTileScores;
}
inline constexpr long long tile_attention_bytes(long long capacity, long long padded) {
  return 64 * capacity + 4 * 3 * 1024 + 16 * padded * 4 + 2 * 16 * padded + 2 * 16 * 64;
}

}  // namespace loom::cpu
