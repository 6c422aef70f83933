// The permutation problem of crossing: two networks may have the same units in another order, and
// then their mean is neither. Internal to the module.
#pragma once

#include <string>
#include <vector>

#include "grid/network.h"

namespace loom::breed {

// A weighted layer with its values, in double.
struct LayerValues {
  std::string path, type;
  Node* node = nullptr;
  std::vector<Param*> params;               // its own: not those tied to earlier ones
  std::vector<std::vector<double>> values;  // of each, row-major
};
Result<std::vector<LayerValues>> layers_of(Network& network);

// Reorders the units of b's layers, and the columns that read them, so that each layer of b comes
// near to its partner: the assignment with the largest sum of dot products. Only where everything
// that reads the units follows, so that b stays the same function. partner[j]: of b's layer j the
// layer of a, or -1. moved[j]: units that changed their place. Returns why nothing can be aligned,
// or "".
std::string align(Network& b, const std::vector<LayerValues>& a, std::vector<LayerValues>& values,
                  const std::vector<std::int64_t>& partner, std::vector<std::int64_t>& moved);

}  // namespace loom::breed
