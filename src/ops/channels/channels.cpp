// Host side of channels.def: shapes, memory, devices, calls.
#include "ops/op_check.h"
#include "ops/program_builder.h"
#include "ops/webgpu/launches.h"

namespace loom {
namespace {

using webgpu::Launches;

bool channel_affine_shape(OpCheck& c) {
  if (!c.require(c.alike({0, 3}) && c.groups(),
                 "x and y differ in type or shape, or inner does not divide their columns"))
    return false;
  for (const int i : {1, 2})
    if (!c.require(
            !c.has(i) || (c.type(i) == c.type(0) && c.vector_of(i, c.cols(0) / c.integer(0))),
            "gain and bias must have an element per channel"))
      return false;
  return true;
}
bool channel_moments_shape(OpCheck& c) {
  return c.require(
      c.one_type({0, 1}) && c.groups() && c.vector_of(1, 3 * (c.cols(0) / c.integer(0))),
      "inner must divide the columns, y have three values a channel");
}
bool channel_sums_shape(OpCheck& c) {
  return c.require(c.alike({0, 1}) && c.one_type({0, 2}) && c.groups() &&
                       c.vector_of(2, 4 * (c.cols(0) / c.integer(0))),
                   "inner must divide the columns of g and x, y have four values a channel");
}
bool fold_norm_shape(OpCheck& c) {
  if (!c.require(c.number(0) > 0 && c.number(0) <= 1, "eps must be in (0, 1]")) return false;
  for (int i = 0; i < c.count(); ++i)
    if (!c.require(!c.has(i) || (c.one_type({0, i}) && c.vector_of(i, c.cols(0))),
                   "operands must have an element per channel"))
      return false;
  return true;
}
bool moving_average_shape(OpCheck& c) {
  return c.require(c.one_type({0, 1}) && c.vector_of(0, c.cols(0)) && c.vector_of(1, c.cols(0)) &&
                       c.is(1, BufferKind::master),
                   "value and w must be vectors of one size");
}

std::string channel_constants(const LoweredInstruction& ins) {
  // Where gain and bias stand among the operands; an op without them has neither.
  const std::size_t gain = ins.op == LoweredOp::channel_affine ? 1 : 2;
  const bool takes = ins.op != LoweredOp::moving_average;
  return webgpu::flag("HAS_GAIN", takes && ins.operands[gain].valid()) +
         webgpu::flag("HAS_BIAS", takes && ins.operands[gain + 1].valid());
}
Status channel_sums_launch(Launches& l) {
  l.add("arena reduce row_sum channel_sums", l.name(), -1, l.cols(0) / l.integer(0), 1);
  return {};
}

}  // namespace

View ProgramBuilder::channel_affine(View x, View gain, View bias, std::int64_t inner) {
  const View y = like(x, x.cols);
  append(Op::channel_affine, {x, gain, bias, y}, {inner});
  return y;
}
View ProgramBuilder::channel_moments(View x, std::int64_t inner) {
  const View y = temp(type(x), Rows{}, 3 * (x.cols / inner));
  append(Op::channel_moments, {x, y}, {inner});
  return y;
}
View ProgramBuilder::channel_sums(View g, View x, std::int64_t inner) {
  const View y = temp(type(x), Rows{}, 4 * (x.cols / inner));
  append(Op::channel_sums, {g, x, y}, {inner});
  return y;
}
PairOfViews ProgramBuilder::fold_norm(View mean, View variance, View gain, View bias, double eps) {
  const View scale = temp(type(mean), Rows{}, mean.cols),
             shift = temp(type(mean), Rows{}, mean.cols);
  append(Op::fold_norm, {mean, variance, gain, bias, scale, shift}, {}, {eps});
  return {scale, shift};
}
void ProgramBuilder::moving_average(View value, View w, double momentum) {
  append(Op::moving_average, {value, w}, {}, {momentum});
}

#define LOOM_FAMILY channels
#define LOOM_FAMILY_ROWS "ops/channels/channels.def"
#include "ops/op_rows.h"

}  // namespace loom
