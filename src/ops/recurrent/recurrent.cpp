// Host side of recurrent.def: shapes, memory, devices, calls.
#include "ops/op_check.h"
#include "ops/program_builder.h"
#include "ops/webgpu/launches.h"

namespace loom {
namespace {

using webgpu::Launches;

// Operands are of `units` columns, but for sums of the gates: x and s, and the gradients in [first,
// end).
bool cell_shape(OpCheck& c, std::int64_t gates, int first, int end) {
  const std::int64_t units = c.cols(2);
  for (int i = 0; i < c.count(); ++i) {
    if (!c.has(i)) continue;
    const bool sums = i < 2 || (i >= first && i < end);
    if (!c.require(
            c.one_type({0, i}) && c.rows_equal(0, i) && c.cols(i) == (sums ? gates * units : units),
            "states and their gates differ in type or shape"))
      return false;
  }
  return true;
}
bool lstm_shape(OpCheck& c) {
  return c.count() == 5 ? cell_shape(c, 4, 0, 0) : cell_shape(c, 4, 6, 7);
}
bool gru_shape(OpCheck& c) {
  return c.count() == 4 ? cell_shape(c, 3, 0, 0) : cell_shape(c, 3, 4, 6);
}
bool state_read_shape(OpCheck& c) {
  return c.require(c.one_type({0, 3}) && c.is(0, BufferKind::state) && c.constant_rows(0) > 0 &&
                       c.ids(1) && c.ids(2) && c.cols(0) == c.cols(3) && c.rows_equal(1, 3) &&
                       c.rows_equal(2, 3),
                   "state, seq, pos and y do not agree");
}
bool state_write_shape(OpCheck& c) {
  return c.require(c.one_type({0, 2}) && c.is(2, BufferKind::state) && c.constant_rows(2) > 0 &&
                       c.ids(1) && c.cols(0) == c.cols(2) && c.rows_equal(0, 1),
                   "x, seq and state do not agree");
}

std::string cell_constants(const LoweredInstruction& ins) {
  return webgpu::flag("HAS_LATER", ins.op == LoweredOp::lstm_cell_back && ins.operands[5].valid());
}

}  // namespace

void ProgramBuilder::lstm_cell(View x, View s, View c, View h, View next) {
  append(Op::lstm_cell, {x, s, c, h, next});
}
void ProgramBuilder::lstm_cell_back(View x, View s, View c, View next, View gh, View gnext, View gz,
                                    View gc) {
  append(Op::lstm_cell_back, {x, s, c, next, gh, gnext, gz, gc});
}
void ProgramBuilder::gru_cell(View x, View s, View h, View next) {
  append(Op::gru_cell, {x, s, h, next});
}
void ProgramBuilder::gru_cell_back(View x, View s, View h, View gnext, View gx, View gs, View gh) {
  append(Op::gru_cell_back, {x, s, h, gnext, gx, gs, gh});
}
void ProgramBuilder::state_read(View state, View seq, View pos, View y) {
  append(Op::state_read, {state, seq, pos, y});
}
void ProgramBuilder::state_write(View x, View seq, View state) {
  append(Op::state_write, {x, seq, state});
}

#define LOOM_FAMILY recurrent
#define LOOM_FAMILY_ROWS "ops/recurrent/recurrent.def"
#include "ops/op_rows.h"

}  // namespace loom
