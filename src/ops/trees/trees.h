// Ensembles of decision trees as a table that kernels walk (layout.h).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/status.h"

namespace loom {

struct ConstantSpec;

struct TreeTable {
  std::shared_ptr<const std::vector<std::uint32_t>> words;
  std::int64_t trees = 0, features = 0, leaves = 0;
  bool missing = false;  // in some nodes what is not a number goes left
};

// How leaves become outputs.
struct TreeSum {
  std::int64_t outputs = 1;
  bool single = false;   // a leaf has one value, and tree t adds to column t mod outputs
  bool average = false;  // over the trees of a column
  std::int64_t trees = 1;
  bool missing = false;
  int bits = 0;  // feature_bits
};

// Bits that hold a feature below this many.
int feature_bits(std::int64_t features);

// From trees one behind the other: `sizes` counts the nodes of each, its root first. A node is 0
// (a leaf), or the distance of its left child << (bits + 1) | missing_left << bits | feature, where
// the right child is behind the left one. `thresholds` are those of the nodes that are no leaves,
// in order. Errors: invalid_argument, by tree and node.
Result<TreeTable> make_tree_table(std::span<const std::int64_t> sizes,
                                  std::span<const std::uint32_t> nodes,
                                  std::span<const float> thresholds, std::int64_t features);

// Whether a constant of `cols` words is such a table, so that any row ends at a leaf of it; returns
// what is wrong, or null.
const char* check_trees(const ConstantSpec& constant, std::int64_t cols);

}  // namespace loom
