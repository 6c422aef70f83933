// All rows of an array through a session, whatever their number.
#pragma once

#include <span>
#include <vector>

#include "exec/session.h"

namespace loom {

// y gets the outputs one after the other.
Status run_rows(Session& session, std::span<const float> x, std::int64_t rows,
                std::vector<float>& y);
// Of doubles, as they are where the network takes them so.
Status run_rows(Session& session, std::span<const double> x, std::int64_t rows,
                std::vector<float>& y);

}  // namespace loom
