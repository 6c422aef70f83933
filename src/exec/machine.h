// Where something runs, of all that a user may say about it.
#pragma once

#include "exec/mode.h"
#include "ops/webgpu/probes/probes.h"

namespace loom {

struct Machine {
  Mode mode;
  webgpu::Choice choice;  // the device, and what results may claim to be ("portable", or the name
                          // of an instruction set's fast profile)
};

// mode, threads and device as mode_of takes them, the device opened; isa as select_kernels takes
// it. Errors: those of mode_of and choose_device.
Result<Machine> machine_of(std::string_view mode, int threads, std::string_view device,
                           std::string_view isa);

}  // namespace loom
