// Which form of kernels multiplies weights of a format.
#pragma once

#include <cstdint>

#include "numeric/weight_format.h"
#include "ops/lowering/weight_arg.h"

namespace loom {

int product_form(const WeightFormat& format);
// What an unpacked code of class I has over its value, where a row has no zero points.
int code_offset(DType dtype, Layout layout);
// Bytes of one unpacked panel.
std::int64_t panel_scratch(const WeightFormat& format, std::int64_t cols);

}  // namespace loom
