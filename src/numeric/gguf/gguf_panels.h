// GGUF blocks as the panels that kernels multiply: the same codes and scales in another order, so
// the same bits. Rows of blocks lie output after output in a file; kernels want 16 outputs side by
// side.
#pragma once

#include <cstddef>
#include <cstdint>

#include "numeric/packed/packed_matrix.h"

namespace loom {

// Of a GGUF layout: codes are those of `dtype` (i4: q4_0, u4 with zero point 0: q4_k, i8: q8_0 and
// q6_k), a scale for `block` weights.
struct GgufPanels {
  DType dtype;
  std::int64_t block;
  bool minima;  // q4_k: value = scale * code - minimum
};
GgufPanels gguf_panels(Layout layout);

// codes: ceil(rows/16) panels of align_up(cols, 64) columns (docs/reference/packing.md, P16x4);
// scales and minima (which may be null where the layout has none): [panel][ceil(cols / block)][16].
// Zeroed by the caller, as padding is left alone.
void fill_gguf_panels(const PackedMatrix& matrix, std::byte* codes, float* scales, float* minima);

}  // namespace loom
