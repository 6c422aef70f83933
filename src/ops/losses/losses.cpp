// Host side of losses.def: shapes, memory, devices, calls.
#include "ops/op_check.h"
#include "ops/program_builder.h"
#include "ops/webgpu/launches.h"

namespace loom {
namespace {

using webgpu::Launches;

bool row_loss(OpCheck& c, bool back) {
  return c.require(c.one_type({0, 2}) && c.targets(1) && c.cols(2) == (back ? c.cols(0) : 1) &&
                       c.rows_equal(0, 1) && c.rows_equal(0, 2),
                   "operands do not agree");
}
bool cross_entropy_shape(OpCheck& c) { return row_loss(c, false); }
bool cross_entropy_back_shape(OpCheck& c) { return row_loss(c, true); }
bool loss_shape(OpCheck& c) {
  return c.require(c.alike({0, 1}) && c.one_type({0, 2}) && c.cols(2) == 1 && c.rows_equal(0, 2),
                   "operands do not agree");
}
bool loss_back_shape(OpCheck& c) { return c.require(c.alike({0, 1, 2}), "operands do not agree"); }
bool delta_in_range(OpCheck& c) {
  return c.require(c.number(0) >= 0x1p-20 && c.number(0) <= 0x1p40, "delta must be in 2^-20..2^40");
}
bool huber_shape(OpCheck& c) {
  if (!delta_in_range(c)) return false;
  return loss_shape(c);
}
bool huber_back_shape(OpCheck& c) {
  if (!delta_in_range(c)) return false;
  return loss_back_shape(c);
}
bool sum_rows_shape(OpCheck& c) {
  return c.require(c.one_type({0, 1}) && c.cols(0) == 1 && c.vector_of(1, 1),
                   "x must have one column, total one element");
}

Status row_loss_launch(Launches& l) {
  l.add("arena exact reduce exp_sum loss", l.name(), 0, 1, 1);
  return {};
}
Status sum_rows_launch(Launches& l) {
  l.add("arena exact reduce exp_sum loss", "sum_rows", -1, 1, 1);
  return {};
}
// Which of the piece's losses, by the name it has there.
std::string term(const Launches& l) {
  const LoweredOp op = l.ins.op;
  const bool mae = op == LoweredOp::mae || op == LoweredOp::mae_back,
             huber = op == LoweredOp::huber || op == LoweredOp::huber_back;
  return std::string("const TERM = ") + (mae ? "MAE" : huber ? "HUBER" : "BCE") + ";\n";
}
Status column_loss_launch(Launches& l) {
  l.add("arena exact reduce column_loss", "column_loss", 0, 1, 1, term(l));
  return {};
}
Status column_loss_back_launch(Launches& l) {
  l.elements("arena exact reduce column_loss", "column_loss_back", 2, term(l));
  return {};
}

View loss(ProgramBuilder& e, Op op, View y, View target, std::initializer_list<double> reals = {}) {
  const View loss = e.like(y, 1);
  e.append(op, {y, target, loss}, {}, reals);
  return loss;
}
View slope(ProgramBuilder& e, Op op, View y, View target,
           std::initializer_list<double> reals = {}) {
  const View g = e.like(y, y.cols);
  e.append(op, {y, target, g}, {}, reals);
  return g;
}

}  // namespace

View ProgramBuilder::cross_entropy(View logits, View target) {
  return loss(*this, Op::cross_entropy, logits, target);
}
View ProgramBuilder::cross_entropy_back(View logits, View target) {
  return slope(*this, Op::cross_entropy_back, logits, target);
}
View ProgramBuilder::mse(View y, View target) { return loss(*this, Op::mse, y, target); }
View ProgramBuilder::mse_back(View y, View target) { return slope(*this, Op::mse_back, y, target); }
View ProgramBuilder::mae(View y, View target) { return loss(*this, Op::mae, y, target); }
View ProgramBuilder::mae_back(View y, View target) { return slope(*this, Op::mae_back, y, target); }
View ProgramBuilder::huber(View y, View target, double delta) {
  return loss(*this, Op::huber, y, target, {delta});
}
View ProgramBuilder::huber_back(View y, View target, double delta) {
  return slope(*this, Op::huber_back, y, target, {delta});
}
View ProgramBuilder::bce(View logits, View target) { return loss(*this, Op::bce, logits, target); }
View ProgramBuilder::bce_back(View logits, View target) {
  return slope(*this, Op::bce_back, logits, target);
}
View ProgramBuilder::soft_cross_entropy(View logits, View target) {
  return loss(*this, Op::soft_cross_entropy, logits, target);
}
View ProgramBuilder::soft_cross_entropy_back(View logits, View target) {
  return slope(*this, Op::soft_cross_entropy_back, logits, target);
}
void ProgramBuilder::sum_rows(View x, View total) { append(Op::sum_rows, {x, total}); }

#define LOOM_FAMILY losses
#define LOOM_FAMILY_ROWS "ops/losses/losses.def"
#include "ops/op_rows.h"

}  // namespace loom
