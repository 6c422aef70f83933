// Host side of graph.def: shapes, memory, devices, calls.
#include <algorithm>

#include "ops/graph/kinds.h"
#include "ops/op_check.h"
#include "ops/program_builder.h"
#include "ops/webgpu/launches.h"

namespace loom {
namespace {

using webgpu::Launches;

bool unary_shape(OpCheck& c) {
  if (!c.require(c.kind_below(kUnaryCount), "unknown kind")) return false;
  return c.require(c.count() == 2 ? c.alike({0, 1}) : c.alike({0, 1, 2}),
                   "operands differ in type or shape");
}
bool binary_shape(OpCheck& c) {
  if (!c.require(c.kind_below(kBinaryCount), "unknown kind")) return false;
  if (!c.require(c.one_type({0, 1, 2}), "operands differ in type")) return false;
  std::int64_t count = 1, last[2] = {0, 0};
  for (int d = 0; d < 5; ++d) {
    const std::int64_t size = c.integer(1 + d);
    if (!c.require(size >= 1 && size <= kMaxCols / count,
                   "sizes must be at least 1, their product at most 2^31"))
      return false;
    count *= size;
    for (int i = 0; i < 2; ++i) {
      const std::int64_t step = c.integer(6 + 5 * i + d);
      if (!c.require(step >= 0 && step <= kMaxCols, "steps must be 0 to 2^31")) return false;
      last[i] +=
          (size - 1) * step;  // five terms below 2^62: too large is seen below, before a sum wraps
      if (!c.require(last[i] < c.cols(i), "steps lead out of an operand's row")) return false;
    }
  }
  for (const int i : {0, 1})
    if (!c.require(c.rows_equal(i, 2) || c.of(i).rows == Rows{}, "operands have y's rows or one"))
      return false;
  return c.require(c.cols(2) == count, "y must have the product of the sizes as columns");
}
bool binary_back_shape(OpCheck& c) {
  if (!binary_shape(c)) return false;
  return c.require(c.alike({2, 3, 4}), "ga and gb must have the shape of gy");
}
bool reduce_shape(OpCheck& c) {
  if (!c.require(c.kind_below(kReduceCount) && c.integer(1) >= 1 && c.cols(0) % c.integer(1) == 0,
                 "unknown kind, or n does not divide the columns"))
    return false;
  return c.require(
      c.one_type({0, 1}) && c.cols(1) == c.cols(0) / c.integer(1) && c.rows_equal(0, 1),
      "x and y do not agree");
}
bool reduce_back_shape(OpCheck& c) {
  if (!reduce_shape(c)) return false;
  return c.require(c.alike({1, 2}) && c.alike({0, 3}), "gy and gx do not agree with y and x");
}
// Operand x has the values that places count, operand y one for each place.
bool places_shape(OpCheck& c, ConstantKind kind, int x, int y) {
  const Buffer& list = c.of(1);
  if (!c.require(list.kind == BufferKind::constant && list.constant.kind == kind &&
                     c.view(1).col == 0 && c.cols(1) == list.cols,
                 "places must be a whole list"))
    return false;
  const auto limit = static_cast<std::int64_t>(list.constant.reals[0]);
  const std::int64_t count =
      kind == ConstantKind::gather_indices ? list.cols : list.cols - limit - 1;
  return c.require(
      c.one_type({0, 2}) && c.rows_equal(0, 2) && c.cols(x) == limit && c.cols(y) == count,
      "the list's limit and length are the columns of both sides");
}
bool index_select_shape(OpCheck& c) { return places_shape(c, ConstantKind::gather_indices, 0, 2); }
bool index_select_back_shape(OpCheck& c) {
  return places_shape(c, ConstantKind::inverse_index, 2, 0);
}
bool select_shape(OpCheck& c) {
  return c.require(c.alike({0, 1, 2, 3}), "operands differ in type or shape");
}
bool batched_matmul_shape(OpCheck& c) {
  for (int i = 0; i < 13; ++i)
    if (!c.require(c.integer(i) >= (i < 5 ? 1 : 0) && c.integer(i) <= kMaxCols,
                   "sizes must be at least 1, steps at least 0, all at most 2^31"))
      return false;
  const std::int64_t outer = c.integer(0), inner = c.integer(1), m = c.integer(2), n = c.integer(3),
                     k = c.integer(4);
  const std::int64_t sizes[2][4] = {{outer, inner, m, k}, {outer, inner, k, n}};
  for (int i = 0; i < 2; ++i) {
    std::int64_t last = 0;
    for (int d = 0; d < 4; ++d) {
      last += (sizes[i][d] - 1) * c.integer(5 + 4 * i + d);
      if (!c.require(last < c.cols(i), "steps lead out of an operand's row")) return false;
    }
  }
  std::int64_t count = 1;
  for (const std::int64_t size : {outer, inner, m, n}) {
    if (!c.require(size <= kMaxCols / count, "more than 2^31 results in a row")) return false;
    count *= size;
  }
  return c.require(
      c.one_type({0, 1, 2}) && c.rows_equal(0, 2) && c.rows_equal(1, 2) && c.cols(2) == count,
      "y must have outer x inner x m x n columns");
}

std::string kind_constant(const LoweredInstruction& ins) {
  return webgpu::constant("KIND", ins.ints[0]);
}
Status refuse(std::string_view kind) {
  return Status(Code::unsupported, "gpu: " + std::string(kind) + " runs on the CPU only");
}
Status unary_launch(Launches& l) {
  const auto kind = static_cast<Unary>(l.integer(0));
  if (kind >= Unary::sin) return refuse(name(kind));
  l.elements("arena exact unary", l.name(), l.has(2) ? 2 : 1, kind_constant(l.ins));
  return {};
}
Status binary_launch(Launches& l) {
  const auto kind = static_cast<Binary>(l.integer(0));
  if (kind == Binary::pow) return refuse(name(kind));
  using webgpu::int_list;
  l.elements("arena binary", l.name(), 2,
             kind_constant(l.ins) + int_list("SIZE", l.ins, 1, 5) +
                 int_list("A_STEP", l.ins, 6, 5) + int_list("B_STEP", l.ins, 11, 5));
  return {};
}
std::string batched_matmul_constants(const LoweredInstruction& ins) {
  using webgpu::int_list;
  return int_list("SHAPE", ins, 0, 5) + int_list("A_STEP", ins, 5, 4) +
         int_list("B_STEP", ins, 9, 4);
}

std::array<std::int64_t, 16> pair_ints(Binary kind, const Sizes& sizes, const Sizes& a,
                                       const Sizes& b) {
  std::array<std::int64_t, 16> ints{static_cast<int>(kind)};
  std::copy(sizes.begin(), sizes.end(), ints.begin() + 1);
  std::copy(a.begin(), a.end(), ints.begin() + 6);
  std::copy(b.begin(), b.end(), ints.begin() + 11);
  return ints;
}
// A list of places: one of a kind serves all that use it.
View places_of(ProgramBuilder& e, ConstantKind kind, std::span<const double> runs,
               std::int64_t limit, std::int64_t cols) {
  ConstantSpec spec{kind, {static_cast<double>(limit)}};
  spec.reals.insert(spec.reals.end(), runs.begin(), runs.end());
  return e.constant({.type = ValueType::i32,
                     .cols = cols,
                     .role = kind == ConstantKind::gather_indices ? "places" : "uses",
                     .constant = std::move(spec)});
}

}  // namespace

View ProgramBuilder::unary(View x, Unary kind, double a, double b) {
  const View y = like(x, x.cols);
  append(Op::unary, {x, y}, {static_cast<int>(kind)}, {a, b});
  return y;
}
View ProgramBuilder::unary_back(View x, View gy, Unary kind, double a, double b) {
  const View gx = like(x, x.cols);
  append(Op::unary_back, {x, gy, gx}, {static_cast<int>(kind)}, {a, b});
  return gx;
}
View ProgramBuilder::binary(View a, View b, Binary kind, const Sizes& sizes, const Sizes& a_steps,
                            const Sizes& b_steps, Rows to) {
  std::int64_t cols = 1;
  for (const std::int64_t s : sizes) cols *= s;
  const View y = temp(type(a), to, cols);
  append(Op::binary, {a, b, y});
  std::ranges::copy(pair_ints(kind, sizes, a_steps, b_steps), p_.code.back().ints.begin());
  return y;
}
PairOfViews ProgramBuilder::binary_back(View a, View b, View gy, Binary kind, const Sizes& sizes,
                                        const Sizes& a_steps, const Sizes& b_steps) {
  const View ga = like(gy, gy.cols), gb = like(gy, gy.cols);
  append(Op::binary_back, {a, b, gy, ga, gb});
  std::ranges::copy(pair_ints(kind, sizes, a_steps, b_steps), p_.code.back().ints.begin());
  return {ga, gb};
}
View ProgramBuilder::reduce(View x, Reduce kind, std::int64_t n) {
  const View y = like(x, x.cols / n);
  append(Op::reduce, {x, y}, {static_cast<int>(kind), n});
  return y;
}
View ProgramBuilder::reduce_back(View x, View y, View gy, Reduce kind, std::int64_t n) {
  const View gx = like(x, x.cols);
  append(Op::reduce_back, {x, y, gy, gx}, {static_cast<int>(kind), n});
  return gx;
}
View ProgramBuilder::index_select(View x, std::span<const double> runs, std::int64_t count,
                                  double fill) {
  const View places = places_of(*this, ConstantKind::gather_indices, runs, x.cols, count),
             y = like(x, count);
  append(Op::index_select, {x, places, y}, {}, {fill});
  return y;
}
View ProgramBuilder::index_select_back(View gy, std::span<const double> runs, std::int64_t limit) {
  const View inverse =
                 places_of(*this, ConstantKind::inverse_index, runs, limit, limit + 1 + gy.cols),
             gx = like(gy, limit);
  append(Op::index_select_back, {gy, inverse, gx});
  return gx;
}
View ProgramBuilder::select(View c, View a, View b) {
  const View y = like(a, a.cols);
  append(Op::select, {c, a, b, y});
  return y;
}
View ProgramBuilder::batched_matmul(View a, View b, const MatmulShape& s) {
  const View y = like(a, s.outer * s.inner * s.m * s.n);
  append(Op::batched_matmul, {a, b, y},
         {s.outer, s.inner, s.m, s.n, s.k, s.a[0], s.a[1], s.a[2], s.a[3], s.b[0], s.b[1], s.b[2],
          s.b[3]});
  return y;
}

#define LOOM_FAMILY graph
#define LOOM_FAMILY_ROWS "ops/graph/graph.def"
#include "ops/op_rows.h"

}  // namespace loom
