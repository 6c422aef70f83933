// Host side of softmax.def: shapes, memory, devices, calls.
#include "base/numbered.h"
#include "ops/op_check.h"
#include "ops/program_builder.h"
#include "ops/webgpu/launches.h"

namespace loom {
namespace {

using webgpu::Launches;

constexpr int kIds[] = {
#define LOOM_SOFTMAX_KIND(id, name) id,
#include "ops/softmax/kinds.def"
#undef LOOM_SOFTMAX_KIND
};
#define LOOM_SOFTMAX_KIND(id, name) \
  static_assert(in_order(kIds, id), "softmax/kinds.def: row " #id " is not " #name);
#include "ops/softmax/kinds.def"
#undef LOOM_SOFTMAX_KIND

bool softmax_shape(OpCheck& c) {
  if (!c.require(c.kind_below(kSoftmaxKindCount), "unknown kind")) return false;
  if (!c.require(
          c.integer(1) >= 1 && c.cols(0) % c.integer(1) == 0 && c.number(0) > 1 && c.number(0) <= 8,
          "group must divide the columns, alpha be in (1, 8]"))
    return false;
  return c.require(c.count() == 2 ? c.alike({0, 1}) : c.alike({0, 1, 2}),
                   "operands differ in type or shape");
}
bool softmax_back_shape(OpCheck& c) {
  if (!c.require(c.integer(0) != static_cast<int>(SoftmaxKind::hardmax), "hardmax has no gradient"))
    return false;
  return softmax_shape(c);
}
Status softmax_launch(Launches& l) {
  l.add("arena exact reduce exp_sum softmax", l.name(), 0, l.cols(0) / l.integer(1), 1,
        webgpu::constant("KIND", l.integer(0)));
  return {};
}

}  // namespace

View ProgramBuilder::softmax(View x, SoftmaxKind kind, std::int64_t group, double alpha) {
  const View y = like(x, x.cols);
  append(Op::softmax, {x, y}, {static_cast<int>(kind), group}, {alpha});
  return y;
}
View ProgramBuilder::softmax_back(View y, View gy, SoftmaxKind kind, std::int64_t group,
                                  double alpha) {
  const View gx = like(y, y.cols);
  append(Op::softmax_back, {y, gy, gx}, {static_cast<int>(kind), group}, {alpha});
  return gx;
}

#define LOOM_FAMILY softmax
#define LOOM_FAMILY_ROWS "ops/softmax/softmax.def"
#include "ops/op_rows.h"

}  // namespace loom
