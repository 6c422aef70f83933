// Values of a push, as they come over the wire.
#pragma once

#include <string_view>

namespace loom::bridge {

// Little-endian f32, f64, f16 or bf16, whole items.
void decode(std::string_view bytes, std::string_view dtype, float* values);
void decode(std::string_view bytes, std::string_view dtype, double* values);

}  // namespace loom::bridge
