// What loom show prints of an ONNX file: who made it, inputs and outputs, nodes by operator,
// initializers.
#pragma once

#include "support/client.h"

namespace loom::cli {

bool is_onnx(const File& file);
// Prints; returns the exit code.
int show_onnx(const File& file, bool json);

}  // namespace loom::cli
