// The facts of an ONNX file: its maker, inputs and outputs, nodes by operator, initializers.
#pragma once

#include <string>

#include "base/json/json.h"
#include "base/status.h"

namespace loom {

// Adds them to `out`; the initializers one by one where `tensors`. Errors: those of the reader.
Status describe_onnx(const std::string& path, bool tensors, Json& out);

}  // namespace loom
