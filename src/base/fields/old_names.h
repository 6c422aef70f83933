// Names that topologies of versions 1 and 2 and training specs of version 1 use for what has
// another name now: one table, by which such files are read. Three types and a way to combine
// (`cnn1`, `cnn2`, `cnn3`, `filter`), which the project's earlier documents print, are taken in
// new files too.
#pragma once

#include "base/json/json.h"

namespace loom {

// Gives a cell (or nested layer, not those inside of it) present names: its type, its keys and
// their values. `old`: of a file of an old version, where all names of the table are taken,
// otherwise those alone that stay. A key that is there under both names is left for the reader to
// refuse.
void use_present_names(Json& cell, bool old);

// A training spec of version 1 by present names and as version 2; one of version 2 as it is.
Json spec_by_present_names(Json spec);

// A topology as version 2 wrote it, where it is of version 3; one of 1 by the names it had. Digests
// are taken of this text, so that a network has the digest that it always had.
Json topology_by_old_names(Json topology);

}  // namespace loom
