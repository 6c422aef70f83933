// The slopes of ALiBi (Press et al., "Train Short, Test Long", arXiv 2108.12409): a head's scores
// fall by its slope with every position between query and key.
#pragma once

#include <cstdint>
#include <vector>

namespace loom {

// A geometric series from 2^(-8/heads) down, with that as its ratio, for a power of two; for other
// numbers that of the largest power of two below, then every other one of twice as many heads.
// Exact to a few ulp, and the same bits everywhere: square roots and products.
std::vector<double> alibi_slopes(std::int64_t heads);

}  // namespace loom
