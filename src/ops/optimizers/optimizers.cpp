// Host side of optimizers.def: shapes, memory, devices, calls.
#include "ops/op_check.h"
#include "ops/program_builder.h"
#include "ops/webgpu/launches.h"

namespace loom {
namespace {

using webgpu::Launches;

bool grad_merge_shape(OpCheck& c) {
  const std::int64_t n = c.integer(0);
  const bool micro = n >= 2 && n <= (1 << 20) &&
                     c.program.registers[static_cast<std::size_t>(c.ins.registers[0])].max < n;
  return c.require(micro && c.alike({0, 2}) && c.one_type({0, 1}) && c.cols(0) == c.cols(1) &&
                       c.constant_rows(0) > 0 &&
                       c.constant_rows(1) == merge_levels(n) * c.constant_rows(0),
                   "micro must stay below micro_batches, levels hold ceil(log2(micro_batches)) "
                   "copies of g, total one");
}
bool sum_squares_shape(OpCheck& c) {
  return c.require(c.one_type({0, 1}) && c.vector_of(1, 1), "total must have one element");
}
bool clip_scale_shape(OpCheck& c) {
  const bool total = !c.has(0) || (c.type(0) == c.type(1) && c.vector_of(0, 1));
  return c.require(c.real(1) && c.vector_of(1, 1) && total, "total and scale have one element");
}
bool optimizer_shape(OpCheck& c) {
  for (int i = 3; i < c.count(); ++i)
    if (c.has(i))
      if (!c.require(c.alike({0, i}), "moments have the shape of w")) return false;
  return c.require(
      c.alike({0, 2}) && c.one_type({0, 1}) && c.vector_of(1, 1) && c.is(2, BufferKind::master),
      "operands do not agree");
}
bool rmsprop_shape(OpCheck& c) {
  if (!c.require(c.number(1) > 0, "eps must be positive")) return false;
  return optimizer_shape(c);
}

std::string optimizer_constants(const LoweredInstruction& ins) {
  const auto has = [&](LoweredOp op, std::size_t i) {
    return ins.op == op && ins.operands[i].valid();
  };
  return webgpu::flag("HAS_TOTAL", has(LoweredOp::clip_scale, 0)) +
         webgpu::flag("HAS_VELOCITY", has(LoweredOp::sgd, 3) || has(LoweredOp::rmsprop, 5)) +
         webgpu::flag("CENTERED", has(LoweredOp::rmsprop, 4));
}
Status single_launch(Launches& l) {
  l.add("arena reduce optim", l.name(), -1, 1, 1, optimizer_constants(l.ins));
  return {};
}

}  // namespace

void ProgramBuilder::grad_merge(View g, View levels, View total, std::int64_t micro_batches,
                                RegisterId micro) {
  append(Op::grad_merge, {g, levels, total}, {micro_batches}, {}, {micro});
}
void ProgramBuilder::sum_squares(View g, View total, Accumulate accumulate) {
  append(Op::sum_squares, {g, total}, {static_cast<int>(accumulate)});
}
void ProgramBuilder::clip_scale(View total, View scale, double max_norm, RegisterId inv_n) {
  append(Op::clip_scale, {total, scale}, {}, {max_norm}, {inv_n});
}
void ProgramBuilder::sgd(View g, View scale, View w, View velocity, double momentum,
                         double weight_decay, RegisterId lr) {
  append(Op::sgd, {g, scale, w, velocity}, {}, {momentum, weight_decay}, {lr});
}
void ProgramBuilder::adamw(View g, View scale, View w, View m, View v, double beta1, double beta2,
                           double eps, double weight_decay, RegisterId lr, RegisterId correction1,
                           RegisterId correction2) {
  append(Op::adamw, {g, scale, w, m, v}, {}, {beta1, beta2, eps, weight_decay},
         {lr, correction1, correction2});
}
void ProgramBuilder::sgd_nesterov(View g, View scale, View w, View velocity, double momentum,
                                  double weight_decay, RegisterId lr) {
  append(Op::sgd_nesterov, {g, scale, w, velocity}, {}, {momentum, weight_decay}, {lr});
}
void ProgramBuilder::rmsprop(View g, View scale, View w, View v, View mean, View velocity,
                             double alpha, double eps, double momentum, double weight_decay,
                             RegisterId lr) {
  append(Op::rmsprop, {g, scale, w, v, mean, velocity}, {}, {alpha, eps, momentum, weight_decay},
         {lr});
}
void ProgramBuilder::adam(View g, View scale, View w, View m, View v, bool coupled,
                          bool uncorrected, double beta1, double beta2, double eps,
                          double weight_decay, RegisterId lr, RegisterId correction1,
                          RegisterId correction2) {
  append(Op::adam, {g, scale, w, m, v}, {coupled, uncorrected}, {beta1, beta2, eps, weight_decay},
         {lr, correction1, correction2});
}
void ProgramBuilder::lion(View g, View scale, View w, View m, double beta1, double beta2,
                          double weight_decay, RegisterId lr) {
  append(Op::lion, {g, scale, w, m}, {}, {beta1, beta2, weight_decay}, {lr});
}

#define LOOM_FAMILY optimizers
#define LOOM_FAMILY_ROWS "ops/optimizers/optimizers.def"
#include "ops/op_rows.h"

}  // namespace loom
