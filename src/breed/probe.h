// Whether a network runs: its programs are emitted, and a few rows go forward and backward.
// Internal to the module.
#pragma once

#include "grid/network.h"

namespace loom::breed {

// Rows of random values, or of ids, forward and backward; all results and gradients are finite, and
// something learns. Where rows are positions of sequences the programs are emitted alone. Errors:
// what emission or the run says; invalid_argument where a value is not finite or nothing learns,
// and without `positions` where rows would need some.
Status check_runs(Network& network, bool positions = true);

// Whether sessions need the positions of its rows: attention over rows, or states.
bool needs_positions(Network& network);

}  // namespace loom::breed
