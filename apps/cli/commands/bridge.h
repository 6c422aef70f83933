// The commands that come from apps/bridge: loom bridge and loom stream. Without Boost they say so.
#pragma once

#include "command.h"

namespace loom::cli {

void add_bridge(CLI::App& app, Action& action);
void add_stream(CLI::App& app, Action& action);

}  // namespace loom::cli
