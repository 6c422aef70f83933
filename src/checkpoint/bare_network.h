// A network planned from its topology with no weights yet: Network::from_json makes a store of zeros for every parameter, which a file
// of a few bytes may not ask for and a mapped model does not need. Internal to this module.
#pragma once

#include <functional>
#include <string_view>

#include "base/json.h"
#include "grid/network.h"

namespace loom {

// Every Param has its spec and a null store. Give each (but the first of a tied cell) a store of that shape, then call plan().
// A cell that is switched off has parameters where the file has any of them, as a network has them where it was on before.
// Errors are those of Network::from_json; they name the cell. Also invalid_argument for a grid far larger than its list of cells.
using InFile = std::function<bool(std::string_view parameter)>;
Result<Network> bare_network(const Json& topology, const InFile& in_file);

// True where the parameter belongs to the cell that `tie` names, not to its own.
bool is_tied(const Network::NamedParam& p);

}  // namespace loom
