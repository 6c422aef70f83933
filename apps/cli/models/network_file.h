// A network from a file of either kind: weights, or a topology whose weights are random.
#pragma once

#include <cstdint>
#include <string>

#include "arguments/options.h"
#include "support/client.h"

namespace loom::cli {

// `path`: an .entity file, or a topology (.json). A seed beside weights is a usage error, a file
// that is neither ends the action as kRefused.
Network load_network(const std::string& path, std::uint64_t seed, const Option& seed_given);

}  // namespace loom::cli
