// Two layers as units: their best assignment, and what it is by chance. Internal.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "genome/units.h"

namespace loom::genome {

inline constexpr std::int64_t kExactUnits = 2048;  // above, partners are taken greedily

// Columns: for each input of a the input of b that it corresponds to; -1: none. Empty: the same.
using ColumnMap = std::vector<std::int32_t>;

struct Match {
  double cosine = 0;                 // of the values that have partners
  double chance = 0, deviation = 0;  // mean and standard deviation of the same for shuffled values
  double coverage = 0;
  std::vector<std::int32_t> partner;  // of each unit of a; -1: none
  bool zero = false;                  // both are all zero
  double score() const;
};

// With at_least > 0: none where no assignment reaches that cosine, which is cheap to see.
std::optional<Match> match_units(const Units& a, const Units& b, const ColumnMap& columns,
                                 std::uint64_t seed, double at_least);
// The cosine of values in stored order, of the same number; chance is its exact mean over all
// orders.
Match match_in_order(const Units& a, const Units& b, const ColumnMap& columns);

}  // namespace loom::genome
