// A weight as prepared for the kernels of a CPU or a device. Plain data and no standard library:
// kernel files include it.
#pragma once

namespace loom {

// How a product reads its weights.
enum : int {
#define LOOM_FORM(id, name) k##name##Form = id,
#include "ops/lowering/weight_forms.def"
#undef LOOM_FORM
};

// A parameter as prepared for the kernels. Which members are set follows from the ops that read it.
struct WeightArg {
  const void* panels = nullptr;  // the packed form (numeric/packed/packed_matrix.h), or float
                                 // panels of 16 outputs: element (n, k) at [n/16][k][n%16]
  const void* dense =
      nullptr;  // row-major decoded values, rows padded to `dense_stride` with zeros
  long long dense_stride = 0;
  // Row-major f32, [rows][cols], each value still to be read as stored(): what a program updates,
  // and reads in products alone that copy the panels they need. Then there are neither `panels` nor
  // `dense`.
  const float* master = nullptr;
  long long rows = 0, cols = 0, padded_cols = 0;
  long long panel_bytes = 0;
  const float* scales = nullptr;  // per row; null: 1. kBlockForm: [panel][block][16 outputs]
  const float* minima = nullptr;  // kBlockForm: what is taken off every value of a block, placed as
                                  // the scales; null: nothing
  const unsigned* zeros = nullptr;  // zero points, placed as the scales; null: none
  long long block = 0, blocks = 0;  // kBlockForm: k per scale, and scales per row
  // Of small floats (numeric/codec.h): by how much the exponent of a code is shorter than that of
  // an f32, what makes it the value after that (0: no small float), the largest finite code.
  int shorter = 0;
  float factor = 0;
  unsigned largest = 0;
  unsigned floor = 0;  // kDecodedForm of bf16: f32 bits of the magnitude below which values are 0
  int bits = 0;        // of a code
  int offset = 0;      // class I: what an unpacked code has over its value, without zero points
  int dtype = 0, layout = 0, form = kFloatForm;
};

}  // namespace loom
