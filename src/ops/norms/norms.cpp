// Host side of norms.def: shapes, memory, devices, calls.
#include "ops/op_check.h"
#include "ops/program_builder.h"
#include "ops/webgpu/launches.h"

namespace loom {
namespace {

using webgpu::Launches;

bool centered(LoweredOp op) {
  return op == LoweredOp::layer_norm || op == LoweredOp::layer_norm_back ||
         op == LoweredOp::layer_norm_gain;
}

bool norm_shape(OpCheck& c) {
  const int y = c.count() - 1;
  if (!c.require(c.groups(), "group must divide the columns")) return false;
  if (!c.require(c.number(0) > 0 && c.number(0) <= 1, "eps must be in (0, 1]")) return false;
  if (!c.require(y == 2 || (c.type(2) == c.type(0) && c.vector_of(2, c.integer(0))),
                 "bias must have `group` elements"))
    return false;
  return c.require(c.one_type({0, 1}) && c.vector_of(1, c.integer(0)) && c.alike({0, y}),
                   "x, gain and y do not agree");
}
bool norm_back_shape(OpCheck& c) {
  if (!c.require(c.groups() && c.number(0) > 0, "group must divide the columns, eps be positive"))
    return false;
  return c.require(c.one_type({0, 1}) && c.vector_of(1, c.integer(0)) && c.alike({0, 2, 3}),
                   "operands do not agree");
}
bool norm_gain_shape(OpCheck& c) {
  if (!c.require(c.groups() && c.number(0) > 0, "group must divide the columns, eps be positive"))
    return false;
  return c.require(c.alike({0, 1}) && c.one_type({0, 2}) && c.vector_of(2, c.integer(0)),
                   "operands do not agree");
}

// Mean and inverse deviation of every group of every row; on a device sums of their blocks, too.
Scratch norm_gain_scratch(const ScratchQuery& q) {
  const std::int64_t groups = q.max_rows(0) * (q.cols(0) / q.ins.ints[0]);
  return {2 * q.value_size(0) * groups, 2 * groups + webgpu::row_blocks_of(groups) * q.ins.ints[0]};
}

constexpr std::int64_t kManyGroups = 256;  // from more on gains are summed in chunks

Status norm_launch(Launches& l) {
  const std::string pieces = "arena reduce row_sum norm",
                    constants = webgpu::flag("CENTERED", centered(l.ins.op));
  const std::int64_t groups = l.cols(0) / l.integer(0);
  const LoweredOp op = l.ins.op;
  if (op == LoweredOp::rms_norm || op == LoweredOp::layer_norm) {
    l.add(pieces, "norm", 0, groups, 1, constants);
  } else if (op == LoweredOp::rms_norm_back || op == LoweredOp::layer_norm_back) {
    l.add(pieces, "norm_back", 0, groups, 1, constants);
  } else {
    l.add(pieces, "norm_gain_stats", 0, groups, 1, constants);
    if (l.dynamic_rows || l.max_rows(0) * groups <= kManyGroups)
      l.add(pieces, "norm_gain", -1, l.integer(0), 64, constants);
    else
      l.row_blocks(pieces + " chunks_gradient gain_chunks", "norm_gain_chunks",
                   (l.integer(0) + 7) / 8, 2, 1, groups, 2 * l.max_rows(0) * groups, constants);
  }
  return {};
}

}  // namespace

View ProgramBuilder::rms_norm(View x, View gain, std::int64_t group, double eps) {
  const View y = like(x, x.cols);
  append(Op::rms_norm, {x, gain, y}, {group}, {eps});
  return y;
}
View ProgramBuilder::rms_norm_back(View x, View gain, View gy, std::int64_t group, double eps) {
  const View gx = like(x, x.cols);
  append(Op::rms_norm_back, {x, gain, gy, gx}, {group}, {eps});
  return gx;
}
void ProgramBuilder::rms_norm_gain(View x, View gy, View gg, std::int64_t group, double eps,
                                   Accumulate accumulate) {
  append(Op::rms_norm_gain, {x, gy, gg}, {group, static_cast<int>(accumulate)}, {eps});
}
View ProgramBuilder::layer_norm(View x, View gain, View bias, std::int64_t group, double eps) {
  const View y = like(x, x.cols);
  append(Op::layer_norm, {x, gain, bias, y}, {group}, {eps});
  return y;
}
View ProgramBuilder::layer_norm_back(View x, View gain, View gy, std::int64_t group, double eps) {
  const View gx = like(x, x.cols);
  append(Op::layer_norm_back, {x, gain, gy, gx}, {group}, {eps});
  return gx;
}
void ProgramBuilder::layer_norm_gain(View x, View gy, View gg, std::int64_t group, double eps,
                                     Accumulate accumulate) {
  append(Op::layer_norm_gain, {x, gy, gg}, {group, static_cast<int>(accumulate)}, {eps});
}

#define LOOM_FAMILY norms
#define LOOM_FAMILY_ROWS "ops/norms/norms.def"
#include "ops/op_rows.h"

}  // namespace loom
