// Where a command runs: --threads, --isa, --device and --mode, as the interface's options.
#pragma once

#include <string>

#include "command.h"
#include "support/json.h"

namespace loom::cli {

struct MachineOptions {
  std::string isa, device = "cpu", mode;
  int threads = 0;
};

// Unknown values are usage errors.
void bind_machine_options(CommandLine& command, MachineOptions& options);
Option bind_device_option(CommandLine& command, std::string& device);
// The empty text, or why a word is no format of weights.
std::string format_problem(const std::string& text);
// An object with them, to which a command adds its own.
Json machine_json(const MachineOptions& options);
// Says why `auto` took the CPU; `info`: of a session, say.
void say_note(const Json& info);

}  // namespace loom::cli
