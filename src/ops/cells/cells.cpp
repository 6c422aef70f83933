// Host side of cells.def: shapes, memory, devices, calls.
#include "ops/elementwise/activation_ids.h"
#include "ops/op_check.h"
#include "ops/program_builder.h"
#include "ops/webgpu/launches.h"

namespace loom {
namespace {

// Without a gap between its rows.
bool whole(const OpCheck& c, int i) {
  return c.is(i, BufferKind::state) && c.cols(i) == c.of(i).cols;
}

bool cell_products_shape(OpCheck& c) {
  const std::int64_t inputs = c.integer(0), outputs = c.integer(1), cells = c.cols(2),
                     blocks = (cells + 15) / 16;
  if (!c.require(c.type(0) == ValueType::f32 && c.one_type({0, 1, 4}) && c.rows_equal(0, 4),
                 "x and y must have the same rows, of f32 as w"))
    return false;
  if (!c.require(c.type(2) == ValueType::i32 && c.vector_of(2, cells),
                 "at must be one row of i32, a place for each cell"))
    return false;
  if (!c.require(inputs >= 1 && inputs <= c.cols(0) && outputs >= 1 && outputs <= kMaxCols &&
                     c.integer(2) >= 0 && c.integer(2) < kActivationCount,
                 "inputs must be columns of x, outputs at least 1, and the activation known"))
    return false;
  if (!c.require(c.cols(4) == cells * outputs, "y must have the outputs of all cells"))
    return false;
  if (!c.require(whole(c, 1) && c.constant_rows(1) == blocks * outputs && c.cols(1) == inputs * 16,
                 "w must have blocks x outputs rows of inputs x 16"))
    return false;
  return c.require(!c.has(3) || (whole(c, 3) && c.one_type({1, 3}) &&
                                 c.constant_rows(3) == blocks && c.cols(3) == outputs * 16),
                   "bias must have rows of outputs x 16, one for each block");
}

// Of a block: its inputs as they lie and lane by lane, and its outputs.
Scratch cell_products_scratch(const ScratchQuery& q) {
  return {4 * 16 * (2 * q.ins.ints[0] + q.ins.ints[1]), 0};
}

// A mesh on a device runs its cells one by one.
Status cell_products_launch(webgpu::Launches&) {
  return Status(Code::unsupported, "cell_products runs on the CPU alone");
}

}  // namespace

void ProgramBuilder::cell_products(View x, View w, View at, View bias, View y,
                                   const std::array<std::int64_t, 3>& sizes) {
  append(Op::cell_products, {x, w, at, bias, y}, {sizes[0], sizes[1], sizes[2]});
}

#define LOOM_FAMILY cells
#define LOOM_FAMILY_ROWS "ops/cells/cells.def"
#include "ops/op_rows.h"

}  // namespace loom
