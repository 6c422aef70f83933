#include "ops/lowering/lowered.h"
#include "ops/lowering/memory_planner.h"
#include "ops/lowering/weight_forms.h"
#include "ops/products/product_sizes.h"

namespace loom {

LoweredProgram lower(const Program& program) {
  LoweredProgram out;
  static_cast<ProgramFrame&>(out) = program;
  out.code.reserve(program.code.size());
  for (const Instruction& ins : program.code) {
    const auto choose = traits(ins.op).lower;
    const LoweredOp op = choose ? choose(program, ins) : static_cast<LoweredOp>(ins.op);
    out.code.push_back(
        {op, ins.segment, ins.operands, ins.ints, ins.reals, ins.registers, {}, kNone});
  }
  return out;
}

void drop_copies(LoweredProgram& p) {
  const auto buffer = [&](const View& v) -> const Buffer& {
    return p.buffers[static_cast<std::size_t>(v.buffer)];
  };
  const auto can_drop = [&](const LoweredInstruction& copy) {
    const View x = copy.operands[0], y = copy.operands[1];
    if (copy.op != LoweredOp::copy || buffer(x).kind != BufferKind::temp ||
        buffer(y).kind != BufferKind::output || buffer(x).type != buffer(y).type ||
        buffer(x).rows != buffer(y).rows || buffer(x).cols != buffer(y).cols)
      return false;
    int writers = 0, of_output = 0;
    bool whole = true;
    for (const LoweredInstruction& ins : p.code)
      for (std::size_t i = 0; i < operands(ins.op).size(); ++i) {
        const View& v = ins.operands[i];
        if (!v.valid() || (v.buffer != x.buffer && v.buffer != y.buffer)) continue;
        whole &= v.cols == buffer(v).cols && ins.segment == copy.segment;
        if (v.buffer == y.buffer) ++of_output;
        else if (operands(ins.op)[i].role != Role::read) ++writers;
      }
    return whole && writers == 1 && of_output == 1;
  };
  for (std::size_t n = 0; n < p.code.size();) {
    if (!can_drop(p.code[n])) {
      ++n;
      continue;
    }
    const BufferId x = p.code[n].operands[0].buffer, y = p.code[n].operands[1].buffer;
    for (LoweredInstruction& ins : p.code)
      for (View& v : ins.operands)
        if (v.buffer == x) v.buffer = y;
    p.code.erase(p.code.begin() + static_cast<std::ptrdiff_t>(n));
  }
}

bool copies_panels(const LoweredProgram& p, const LoweredInstruction& ins) {
  if (ins.op != LoweredOp::matmul && ins.op != LoweredOp::matmul_t) return false;
  if (p.max_rows(ins.operands[1].buffer) < cpu::kPackedRows) return false;
  return ins.op == LoweredOp::matmul_t ||
         p.buffers[static_cast<std::size_t>(ins.operands[0].buffer)].type == ValueType::f32;
}

bool decodes_panels(const LoweredProgram& p, const LoweredInstruction& ins) {
  if (ins.op != LoweredOp::matmul_t || !copies_panels(p, ins)) return false;
  const Buffer& w = p.buffers[static_cast<std::size_t>(ins.operands[0].buffer)];
  const int form = product_form(w.format);
  // The codes of a part of a row lie in whole bytes, but in ternary and S4.
  return w.type == ValueType::f32 && (form == kIntegerForm || form == kBlockForm) &&
         w.format.dtype != DType::ternary && w.format.layout != Layout::s4;
}

std::int64_t ScratchQuery::value_size(int i) const { return element_size(of(i).type); }

}  // namespace loom
