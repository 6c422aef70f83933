// Values of tensors into the parameters of a network.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "convert/weights/recognize.h"
#include "grid/network.h"

namespace loom {

// A layer of the network, and the module that its parameters come from.
struct BoundModule {
  std::string path;  // in the network: "0.0.0.1", "0.0.0.1/0"
  const WeightModule* module;
  std::string type;
  MatrixLayout layout = MatrixLayout::unknown;
  std::int64_t groups = 1;  // of a transposed convolution
};

// Fills every parameter, and adds the tensors that it used. Errors: not_found for a parameter that
// no tensor fills, invalid_argument for a tensor of another size, unsupported for one of integers,
// and what reading has.
Status fill_network(Network& network, const std::vector<BoundModule>& bound,
                    std::set<const TensorInfo*>& used);
// One parameter.
Status fill_parameter(WeightStore& store, const ParameterSource& source, const std::string& where);

}  // namespace loom
