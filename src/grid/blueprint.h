// A network at a glance: the layers of its grid with shapes and parameters, for displays.
#pragma once

#include <string_view>

#include "base/json/json.h"
#include "grid/network.h"

namespace loom {

// {"models": [{"id", "total_layers", "total_parameters", "layers": [layer]}]}, where a layer is
// {"path", "z", "y", "x", "l", "type", "name", "enabled", "activation", "dtype", "parameters",
// "input_shape", "output_shape", "combine_mode", "links", "branches": [layer without z, y, x, l]}.
// Layers are the cells that have one, in the order of the grid; total_layers counts them. A shape
// lists the dimensions of a row; of ids it is that of the ids, and input_ids is how many there are.
// Parameters are those of the layer and its branches; what is tied to another's counts in that
// layer alone. combine_mode is how a layer joins its branches, or else how a cell joins what
// arrives; null where there is one thing only. The network is only read.
Json blueprint(Network& network, std::string_view id);

}  // namespace loom
