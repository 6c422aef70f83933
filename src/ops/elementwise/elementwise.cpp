// Host side of elementwise.def: shapes, memory, devices, calls.
#include "ops/op_check.h"
#include "ops/program_builder.h"
#include "ops/webgpu/launches.h"

namespace loom {
namespace {

using webgpu::Launches;

bool pair_shape(OpCheck& c) {
  return c.require(c.alike({0, 1, 2}), "a, b and y differ in type or shape");
}
bool scale_shape(OpCheck& c) {
  return c.require(c.alike({0, 1}), "x and y differ in type or shape");
}
bool activation_shape(OpCheck& c) {
  const bool alike = c.count() == 2 ? c.alike({0, 1}) : c.alike({0, 1, 2});
  return c.require(alike && c.kind_below(kActivationCount),
                   "unknown activation, or operands differ");
}
bool silu_mul_shape(OpCheck& c) {
  const bool alike = c.count() == 3 ? c.alike({0, 1, 2}) : c.alike({0, 1, 2, 3, 4});
  return c.require(alike, "operands differ in shape");
}
bool standardize_shape(OpCheck& c) {
  return c.require(c.one_type({0, 1, 2}) && c.vector_of(1, c.cols(0)) &&
                       c.vector_of(2, c.cols(0)) && c.alike({0, 3}),
                   "operands do not agree");
}
bool standardize_back_shape(OpCheck& c) {
  return c.require(c.one_type({0, 1}) && c.vector_of(1, c.cols(0)) && c.alike({0, 2, 3}),
                   "operands do not agree");
}

// The piece has all activations; ACT is the one of this pipeline.
std::string activation_constants(const LoweredInstruction& ins) {
  const bool one = ins.op == LoweredOp::activation || ins.op == LoweredOp::activation_back;
  return webgpu::constant("ACT", one ? ins.ints[0] : 0);
}

}  // namespace

View ProgramBuilder::add(View a, View b) {
  const View y = like(a, a.cols);
  append(Op::add, {a, b, y});
  return y;
}
View ProgramBuilder::mul(View a, View b) {
  const View y = like(a, a.cols);
  append(Op::mul, {a, b, y});
  return y;
}
View ProgramBuilder::scale(View x, double factor) {
  const View y = like(x, x.cols);
  append(Op::scale, {x, y}, {}, {factor});
  return y;
}
View ProgramBuilder::activation(View x, Activation kind) {
  if (kind == Activation::linear) return x;
  const View y = like(x, x.cols);
  append(Op::activation, {x, y}, {static_cast<int>(kind)});
  return y;
}
View ProgramBuilder::activation_back(View x, View gy, Activation kind) {
  if (kind == Activation::linear) return gy;
  const View gx = like(x, x.cols);
  append(Op::activation_back, {x, gy, gx}, {static_cast<int>(kind)});
  return gx;
}
View ProgramBuilder::silu_mul(View gate, View up) {
  const View y = like(gate, gate.cols);
  append(Op::silu_mul, {gate, up, y});
  return y;
}
PairOfViews ProgramBuilder::silu_mul_back(View gate, View up, View gy) {
  const View ggate = like(gate, gate.cols), gup = like(up, up.cols);
  append(Op::silu_mul_back, {gate, up, gy, ggate, gup});
  return {ggate, gup};
}
View ProgramBuilder::standardize(View x, View mean, View factor, bool missing) {
  const View y = like(x, x.cols);
  append(Op::standardize, {x, mean, factor, y}, {missing ? 1 : 0});
  return y;
}
View ProgramBuilder::standardize_back(View x, View factor, View gy, bool missing) {
  const View gx = like(x, x.cols);
  append(Op::standardize_back, {x, factor, gy, gx}, {missing ? 1 : 0});
  return gx;
}

#define LOOM_FAMILY elementwise
#define LOOM_FAMILY_ROWS "ops/elementwise/elementwise.def"
#include "ops/op_rows.h"

}  // namespace loom
