// How long a pipeline can make a text. Its steps come from a file, and forty that double every
// letter are a line each.
#pragma once

#include <span>
#include <string_view>

#include "base/status.h"
#include "text/pipeline/step.h"

namespace loom::text {

// Steps of one pipeline, and bytes that each byte of a text may become, or that are put before it.
inline constexpr std::size_t kMaxSteps = 256;
inline constexpr std::uint64_t kMaxGrowth = 1024;

// Refuses, by the step and both numbers, what may pass the limits: out_of_range. `what` names the
// pipeline in the error.
Status check_growth(std::span<const Step> steps, std::string_view what);

}  // namespace loom::text
