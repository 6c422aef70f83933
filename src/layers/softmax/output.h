// The types of output.cpp, for the registration of this folder.
#pragma once

#include <vector>

#include "layers/layer.h"

namespace loom {

void register_outputs(LayerList& layers);

}  // namespace loom
