// Host side of clusters.def: shapes, memory, devices, calls.
#include "ops/op_check.h"
#include "ops/program_builder.h"
#include "ops/webgpu/launches.h"

namespace loom {
namespace {

using webgpu::Launches;

bool distances_shape(OpCheck& c) {
  return c.require(c.is(0, BufferKind::weight) && c.one_type({0, 1, 2}) && c.cols(1) == c.cols(0) &&
                       c.cols(2) == c.constant_rows(0) && c.rows_equal(1, 2),
                   "w [N,K], x [R,K] and their distances [R,N] do not agree");
}
constexpr const char* kGradient = "the gradient must have the shape of what it is of";
bool distances_back_shape(OpCheck& c) {
  if (!distances_shape(c)) return false;
  return c.require(c.alike({1, 3}), kGradient);
}
bool distances_weight_shape(OpCheck& c) {
  if (!distances_shape(c)) return false;
  return c.require(
      c.one_type({1, 3}) && c.cols(3) == c.cols(1) && c.constant_rows(3) == c.constant_rows(0),
      kGradient);
}
Status distances_launch(Launches& l) {
  l.elements("", l.name(), l.ins.op == LoweredOp::distances ? 2 : 3);
  l.with_weights("arena weights row_sum distances", false);
  return {};
}

}  // namespace

View ProgramBuilder::distances(View w, View x) {
  const View y = like(x, rows(w).constant);
  append(Op::distances, {w, x, y});
  return y;
}
View ProgramBuilder::distances_back(View w, View x, View g) {
  const View gx = like(x, x.cols);
  append(Op::distances_back, {w, x, g, gx});
  return gx;
}
void ProgramBuilder::distances_weight(View w, View x, View g, View gw, Accumulate accumulate) {
  append(Op::distances_weight, {w, x, g, gw}, {static_cast<int>(accumulate)});
}

#define LOOM_FAMILY clusters
#define LOOM_FAMILY_ROWS "ops/clusters/clusters.def"
#include "ops/op_rows.h"

}  // namespace loom
