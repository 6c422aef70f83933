// A drawing of two networks that were compared: their grids side by side.
#pragma once

#include <string>

#include "support/client.h"

namespace loom::cli {

struct NamedDna {
  std::string name;
  const Json& dna;  // of loom_network_dna
};
// Cells from red (a score of 0) to green (1), grey without a counterpart, small layers dashed;
// arrows are shifts. `report`: of loom_network_compare_dna. Throws Exit where it cannot be written.
void write_dna_svg(const std::string& path, const NamedDna& a, const NamedDna& b,
                   const Json& report);

}  // namespace loom::cli
