// Which form of kernels multiplies weights of a format.
#pragma once

#include <cstdint>

#include "numeric/weight_format.h"
#include "ops/lowering/weight_arg.h"

namespace loom {

int product_form(const WeightFormat& format);
// Bytes of one unpacked panel.
std::int64_t panel_scratch(const WeightFormat& format, std::int64_t cols);

}  // namespace loom
