// In which order modules can run, by names and widths.
#pragma once

#include <vector>

#include "convert/weights/recognize.h"

namespace loom {

// Whether `b` can take what `a` makes, as far as widths tell.
bool can_follow(const FoundLayer& a, const FoundLayer& b);

struct Orders {
  bool by_names = false;  // numbers in names order all of them
  bool all = true;        // false: there are more than were looked for
  std::vector<std::vector<std::size_t>> found;
};
// Those in which every module can take what the one before it makes and numbers in names ascend:
// the first four.
Orders possible_orders(const std::vector<FoundLayer>& layers);

}  // namespace loom
