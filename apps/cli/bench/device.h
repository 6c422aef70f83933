// Devices for commands that look inside the library.
#pragma once

#include "ops/webgpu/probes/probes.h"
#include "support/internal.h"

namespace loom::cli {

// The device of --device: null for the CPU. "gpu" fails where there is none, naming what is
// missing; "auto" says so and takes the CPU, which it prefers to a software adapter as well.
Result<webgpu::Choice> device_of(const std::string& device);

}  // namespace loom::cli
