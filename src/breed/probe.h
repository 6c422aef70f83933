// Whether a network runs: its programs are emitted, and a few rows go forward and backward.
// Internal to the module.
#pragma once

#include "grid/network.h"

namespace loom::breed {

// Rows of random values, or of ids, forward and backward; all results and gradients are finite, and
// something learns. Where rows are positions of sequences the programs are emitted alone. Errors:
// what emission or the run says; invalid_argument where a value is not finite or nothing learns.
Status check_runs(Network& network);

}  // namespace loom::breed
