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
