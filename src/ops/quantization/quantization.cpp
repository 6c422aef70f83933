// Host side of quantization.def: shapes, memory, devices, calls.
#include <algorithm>

#include "ops/op_check.h"
#include "ops/program_builder.h"
#include "ops/webgpu/launches.h"

namespace loom {
namespace {

using webgpu::Launches;

bool quantize_shape(OpCheck& c) {
  return c.require(c.type(0) == ValueType::f32 && c.type(1) == ValueType::q15 &&
                       c.cols(0) == c.cols(1) && c.rows_equal(0, 1),
                   "x must be f32 and y q15 of one shape");
}
bool split_bf16_shape(OpCheck& c) {
  return c.require(c.type(0) == ValueType::f32 && c.type(1) == ValueType::bf16x2 &&
                       c.cols(0) == c.cols(1) && c.rows_equal(0, 1),
                   "x must be f32 and y bf16x2 of one shape");
}
Status quantize_launch(Launches& l) {
  using webgpu::constant;
  const View &x = l.view(0), &y = l.view(1);
  const LoweredInstruction *s = l.at_once.row, *sum = l.at_once.sum;
  // Two words of a row for each thread, which are eight values, or more where it is wide.
  const std::int64_t limit = std::min<std::int64_t>(l.limits.threads_per_group, 512),
                     words = (x.cols + 3) / 4,
                     fours = std::max<std::int64_t>((words + limit - 1) / limit, 2),
                     threads = std::clamp<std::int64_t>((words / fours + 63) / 64 * 64, 64, limit);
  l.add("arena exact reduce q15 lanes quantize_row", "quantize", 3, 1, 1,
        constant("THREADS", threads) + constant("COLS", x.cols) +
            constant("PLANES", l.ins.op == LoweredOp::quantize_i8 ? 1 : 2) +
            constant("SOURCE", !s                             ? 0
                               : s->op == LoweredOp::rms_norm ? 1
                                                              : 2) +
            webgpu::flag("SUMS", sum));
  l.last().operands = {s ? s->operands[0] : x, s ? s->operands[1] : x, x, y};
  if (s) l.last().reals = s->reals;
  if (sum) std::copy_n(sum->operands.begin(), 2, l.last().operands.begin() + 4);
  return {};
}

bool writes(const Instruction& ins, BufferId buffer) {
  const auto& operands = info(ins.op).operands;
  for (std::size_t i = 0; i < operands.size(); ++i)
    if (operands[i].role != Role::read && ins.operands[i].buffer == buffer) return true;
  return false;
}

}  // namespace

View ProgramBuilder::quantized(View x, ArithClass arith) {
  const auto key = std::make_pair(x.buffer, x.col);
  const bool integer = arith == ArithClass::integer;
  const ValueType form = integer ? ValueType::q15 : ValueType::bf16x2;
  // Products of both classes may read the same values.
  const auto found = packed_.find(key);
  if (found != packed_.end() && found->second.cols == x.cols && type(found->second) == form)
    return found->second;
  const View packed = temp(form, rows(x), x.cols);
  append(!integer ? Op::split_bf16 : one_plane_ ? Op::quantize_i8 : Op::quantize, {x, packed});
  return packed_[key] = packed;
}

// Of a weight itself, or of the gradient that has its name.
bool ProgramBuilder::in_fp8(View v) const {
  if (!fp8_ || type(v) != ValueType::f32) return false;
  const Buffer& b = of(v);
  const BufferId id = b.kind == BufferKind::weight ? v.buffer : find_weight(b.path, b.role);
  return id != kNone && p_.buffers[static_cast<std::size_t>(id)].format.dtype == DType::fp8e4m3;
}
View ProgramBuilder::rounded(View x, Unary kind) {
  const auto key = std::make_tuple(x.buffer, x.col, x.cols, kind);
  if (const auto found = rounded_.find(key); found != rounded_.end()) return found->second;
  // Values that only change places are rounded before, where nothing has changed since.
  const auto moved = std::find_if(p_.code.rbegin(), p_.code.rend(),
                                  [&](const Instruction& ins) { return writes(ins, x.buffer); });
  const bool unchanged =
      moved != p_.code.rend() && moved->op == Op::reorder && moved->operands[1] == x &&
      std::none_of(p_.code.rbegin(), moved,
                   [&](const Instruction& ins) { return writes(ins, moved->operands[0].buffer); });
  if (!unchanged) return rounded_[key] = unary(x, kind);
  const auto ints = moved->ints;
  const View from = rounded(moved->operands[0], kind), y = like(x, x.cols);
  append(Op::reorder, {from, y});
  p_.code.back().ints = ints;
  return rounded_[key] = y;
}
void ProgramBuilder::is_rounded(View x, Unary kind) {
  rounded_[std::make_tuple(x.buffer, x.col, x.cols, kind)] = x;
}

#define LOOM_FAMILY quantization
#define LOOM_FAMILY_ROWS "ops/quantization/quantization.def"
#include "ops/op_rows.h"

}  // namespace loom
