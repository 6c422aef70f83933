// What the structs of a model promise each other. Internal to this folder.
#pragma once

#include "formats/onnx/onnx.h"

namespace loom::onnx {

// Every name that is read is defined before, by exactly one; initializers, inputs and attributes
// are there once; every domain is imported; references to a function's attributes stand in
// functions only. Errors name graph, node and value.
Status validate(const Model& model);

}  // namespace loom::onnx
