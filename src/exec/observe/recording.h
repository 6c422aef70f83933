// Events as they were written, read again.
#pragma once

#include "base/json/json.h"
#include "base/status.h"
#include "exec/observe/observer.h"

namespace loom {

// What event_json made its object of, except for CellEvent::cell. Other members may stand beside;
// an error names the member that is absent or of another type, or contradicts the others.
Status read_event(const Json& json, ObservedCell& cell, CellEvent& event);

}  // namespace loom
