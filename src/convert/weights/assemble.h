// The topology of a network from the modules of a file.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "convert/weights/fill.h"
#include "convert/weights/order.h"
#include "convert/weights/recognize.h"

namespace loom {

struct Assembly {
  Json topology;  // null while questions are open
  std::vector<BoundModule> bound;
  std::vector<Question> questions;  // of the file as a whole
  std::vector<std::string> order;   // paths of modules and of cells without tensors
};

// Settles the layout of matrices that their neighbors tell, and the questions that the order of
// modules answers. Errors: invalid_argument for settings that name what is not there or contradict
// the file.
Result<Assembly> assemble(std::vector<FoundLayer>& layers, const WeightSettings& settings);

}  // namespace loom
