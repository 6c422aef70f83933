// The layers of this folder, and what they share beside tensor.h.
#pragma once

#include "layers/tensor/tensor.h"

namespace loom {

void register_elementwise(LayerList& layers);  // unary, activation, binary, select
void register_places(LayerList& layers);       // permute, pick
void register_products(LayerList& layers);     // reduce, batched_matmul

// Operand i of those that arrive side by side.
inline View part(View x, const OperandShapes& shapes, std::size_t i) {
  std::int64_t col = 0;
  for (std::size_t k = 0; k < i; ++k) col += elements(shapes.list[k]);
  return ProgramBuilder::slice(x, col, elements(shapes.list[i]));
}

}  // namespace loom
