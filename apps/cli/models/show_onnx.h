// What loom show prints of an ONNX file: who made it, inputs and outputs, nodes by operator,
// initializers.
#pragma once

#include <string>

namespace loom::cli {

// Prints; returns the exit code.
int show_onnx(const std::string& path, bool json);

}  // namespace loom::cli
