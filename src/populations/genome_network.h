// A genome as an ordinary network: one cell of the layer `genome` (src/layers/genome).
#pragma once

#include "evolve/genome.h"
#include "evolve/spec.h"
#include "grid/network.h"

namespace loom::populations {

// Its answers have the bits of evolve::Phenotype::run, except that a number below 2^-40 is 0
// wherever it is stored (docs/reference/numerics.md, rule 8). Nodes that lead to no output and
// disabled edges are left out. Errors: unsupported for a recurrent genome of a task that holds its
// values from row to row.
Result<Network> network_of(const evolve::Genome& genome, const evolve::Shape& shape,
                           const evolve::EvolutionSpec& spec);

}  // namespace loom::populations
