// Host side of routing.def: shapes, memory, devices, calls.
#include "ops/op_check.h"
#include "ops/program_builder.h"
#include "ops/webgpu/launches.h"

namespace loom {
namespace {

using webgpu::Launches;

bool top_k_shape(OpCheck& c) {
  return c.require(c.alike({0, 1}) && c.integer(0) >= 1 && c.integer(0) <= c.cols(0),
                   "x and y differ in type or shape, or k is not 1 to their columns");
}
bool route_rows_shape(OpCheck& c) {
  if (!c.require(c.real(0) && c.cols(0) == 1, "share must be a column of real values"))
    return false;
  if (!c.measures(1, 0)) return false;
  return c.require(c.type(1) == ValueType::u32 && c.is(1, BufferKind::temp) && c.of(1).cols == 1 &&
                       c.of(1).rows == Rows{1, c.ins.registers[0], kNone},
                   "places must be a u32 temporary of `count` rows");
}
bool scatter_add_shape(OpCheck& c) {
  if (!c.require(
          c.one_type({0, 3}) && c.cols(0) == c.cols(3) && c.routed(2, 3) && c.rows_equal(2, 0),
          "x, index and y do not agree"))
    return false;
  if (!c.require(!c.has(1) || (c.type(1) == c.type(0) && c.cols(1) == 1 && c.rows_equal(1, 0)),
                 "scale must be a column of x's rows"))
    return false;
  return c.require(c.filled(), "y is added to before it is written");
}
std::string routing_constants(const LoweredInstruction& ins) {
  return webgpu::flag("HAS_SCALE", ins.op == LoweredOp::scatter_add && ins.operands[1].valid());
}
Status route_rows_launch(Launches& l) {
  l.add("arena routing", "route_rows", -1, 1, 1, routing_constants(l.ins));
  return {};
}

}  // namespace

View ProgramBuilder::top_k(View x, std::int64_t k) {
  const View y = like(x, x.cols);
  append(Op::top_k, {x, y}, {k});
  return y;
}
View ProgramBuilder::route_rows(View share) {
  const RegisterId count = dynamic_register(static_cast<std::uint32_t>(p_.max_rows(share.buffer)));
  const View places = temp(ValueType::u32, {1, count, kNone}, 1);
  append(Op::route_rows, {share, places}, {}, {}, {count});
  return places;
}
void ProgramBuilder::scatter_add(View x, View scale, View index, View y) {
  append(Op::scatter_add, {x, scale, index, y});
}

#define LOOM_FAMILY routing
#define LOOM_FAMILY_ROWS "ops/routing/routing.def"
#include "ops/op_rows.h"

}  // namespace loom
