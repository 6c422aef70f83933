// Host side of movement.def: shapes, memory, devices, calls.
#include "ops/cpu/kernel_args.h"
#include "ops/op_check.h"
#include "ops/program_builder.h"
#include "ops/webgpu/launches.h"

namespace loom {
namespace {

using webgpu::Launches;

bool fill_shape(OpCheck& c) { return c.require(c.real(0), "y must be real"); }
bool copy_shape(OpCheck& c) {
  return c.require(c.alike({0, 1}), "x and y differ in type or shape");
}
bool convert_shape(OpCheck& c) {
  return c.require(c.real(0) && c.real(1) && c.cols(0) == c.cols(1) && c.rows_equal(0, 1),
                   "x and y differ in shape");
}
bool to_ids_shape(OpCheck& c) {
  if (!c.require(c.type(0) == ValueType::f32 && c.cols(0) == 1 && c.rows_equal(0, 1),
                 "x must be a column of f32"))
    return false;
  if (!c.require(c.integer(0) >= 1 && c.integer(0) <= kMaxIdsOfValues, "count must be 1 to 2^24"))
    return false;
  if (!c.require(c.type(1) == ValueType::u32 && c.is(1, BufferKind::temp) && c.of(1).cols == 1,
                 "ids must be a u32 temporary"))
    return false;
  c.makes_ids(1, c.integer(0));
  return true;
}
// Rows of operand `moved` are those of the index, the others the index's places.
bool indexed_shape(OpCheck& c, int places, int moved) {
  return c.require(c.one_type({0, 2}) && (c.ids(1) || c.routed(1, places)) &&
                       c.cols(0) == c.cols(2) && c.rows_equal(1, moved),
                   "x, index and y do not agree");
}
bool gather_rows_shape(OpCheck& c) { return indexed_shape(c, 0, 2); }
bool scatter_rows_shape(OpCheck& c) { return indexed_shape(c, 2, 0); }

bool reorder_shape(OpCheck& c) {
  std::int64_t block = 1;
  unsigned seen = 0;
  for (int d = 0; d < 5; ++d) {
    if (!c.require(c.integer(d) >= 1 && c.integer(d) <= kMaxCols / block,
                   "sizes must be at least 1, a block at most 2^31"))
      return false;
    block *= c.integer(d);
    seen |= 1u << (c.integer(5) >> 4 * d & 15);
  }
  if (!c.require(c.integer(5) >= 0 && c.integer(5) < 1 << 20 && seen == 31,
                 "order must name each of five dimensions once"))
    return false;
  const Rows x = c.of(0).rows, y = c.of(1).rows;
  // Both below 2^62: rows and columns are at most 2^31.
  const bool same =
      x.constant * c.cols(0) == y.constant * c.cols(1) && x.constant * c.cols(0) % block == 0;
  return c.require(c.one_type({0, 1}) && x.a == y.a && x.b == y.b && same,
                   "x and y must hold the same number of values, in whole blocks");
}

// As the CPU's kernel stores it.
Status fill_launch(Launches& l) {
  l.elements("arena element movement", "fill", 0);
  l.last().reals[0] = cpu::stored(static_cast<float>(l.ins.reals[0]));
  return {};
}
Status scatter_rows_launch(Launches& l) {
  l.elements("arena element movement", "scatter_zero", 2);
  l.elements("arena element movement", "scatter_rows", 0);
  return {};
}
std::string reorder_constants(const LoweredInstruction& ins) {
  std::string order;
  for (std::size_t d = 0; d < 5; ++d)
    order += std::to_string(ins.ints[5] >> (4 * (4 - d)) & 15) + "u, ";
  return webgpu::int_list("SIZE", ins, 0, 5) + "const ORDER = array<u32, 5>(" + order + ");\n";
}

// The rows that values make when a row has `cols` of them.
Rows rows_of(Rows rows, std::int64_t had, std::int64_t cols) {
  rows.constant = rows.constant * had / cols;
  return rows;
}

}  // namespace

void ProgramBuilder::fill(View y, double value) { append(Op::fill, {y}, {}, {value}); }
void ProgramBuilder::copy_to(View x, View y) { append(Op::copy, {x, y}); }
View ProgramBuilder::convert(View x, ValueType to) {
  if (type(x) == to) return x;
  const View y = temp(to, rows(x), x.cols);
  append(Op::convert, {x, y});
  return y;
}
View ProgramBuilder::to_ids(View x, std::int64_t count) {
  const View ids = temp(ValueType::u32, rows(x), 1);
  append(Op::to_ids, {convert(x, ValueType::f32), ids}, {count});
  return ids;
}
View ProgramBuilder::gather_rows(View x, View index) {
  const View y = temp(type(x), rows(index), x.cols);
  append(Op::gather_rows, {x, index, y});
  return y;
}
View ProgramBuilder::scatter_rows(View x, View index, Rows to) {
  const View y = temp(type(x), to, x.cols);
  append(Op::scatter_rows, {x, index, y});
  return y;
}
View ProgramBuilder::reshape(View x, std::int64_t cols) {
  if (cols == x.cols) return x;
  // Back to what it was made of.
  if (const auto found = reshaped_.find(x.buffer);
      found != reshaped_.end() && x.cols == of(x).cols) {
    const Reshaped& r = found->second;
    if (r.from.cols == cols && r.writes == times_written(x.buffer) &&
        r.from_writes == times_written(r.from.buffer))
      return r.from;
  }
  const View y = transpose(x, {1, 1, 1, 1, cols < x.cols ? x.cols : cols}, {0, 1, 2, 3, 4}, cols);
  reshaped_.insert_or_assign(y.buffer,
                             Reshaped{x, times_written(x.buffer), times_written(y.buffer)});
  return y;
}
View ProgramBuilder::transpose(View x, std::array<std::int64_t, 5> sizes, std::array<int, 5> order,
                               std::int64_t cols) {
  const View y = temp(type(x), rows_of(rows(x), x.cols, cols), cols);
  std::int64_t code = 0;
  for (const int d : order) code = code << 4 | d;
  append(Op::reorder, {x, y}, {sizes[0], sizes[1], sizes[2], sizes[3], sizes[4], code});
  return y;
}

#define LOOM_FAMILY movement
#define LOOM_FAMILY_ROWS "ops/movement/movement.def"
#include "ops/op_rows.h"

}  // namespace loom
