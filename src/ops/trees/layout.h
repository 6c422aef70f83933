// How the kernels of trees read them. Plain data and no standard library: kernel files include it.
#pragma once

namespace loom {

// Words of u32: for each tree kTreeWords (the number of its root, of nodes, of its first leaf, of
// leaves), then two for each node: the bits of its f32 threshold, and the distance of its left
// child << (bits + 1) | whether what is not a number goes left << bits | feature. The right child
// is behind the left one, and children are behind their parent. A leaf has the distance -1 and as
// threshold a NaN, which nothing is below, so that a walk stays there; the NaN's lowest bits are
// the leaf's number in its tree.
inline constexpr long long kTreeWords = 4;
inline constexpr unsigned kLeafNumber = 0x003FFFFF, kLeafNaN = 0x7FC00000;

// Rows of which a worker brings all trees up to date, one tree after another: as many as make up
// for reading large trees, as few as keep the rows of small ones near.
inline constexpr long long kMaxTreeRows = 1024;
inline long long tree_rows(long long words, long long trees, long long outputs) {
  const long long rows = words / trees > 2048 ? kMaxTreeRows : kMaxTreeRows / 4;
  const long long sums = 16 * kMaxTreeRows;  // 128 KiB
  return rows * outputs <= sums ? rows : sums / outputs > 16 ? sums / outputs : 16;
}

}  // namespace loom
