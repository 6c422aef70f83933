#include "ops/lowering/lowered.h"
#include "ops/lowering/memory_planner.h"
#include "ops/products/product_sizes.h"

namespace loom {

LoweredProgram lower(const Program& program) {
  LoweredProgram out;
  static_cast<ProgramFrame&>(out) = program;
  for (const Instruction& ins : program.code) {
    const auto choose = traits(ins.op).lower;
    const LoweredOp op = choose ? choose(program, ins) : static_cast<LoweredOp>(ins.op);
    out.code.push_back({op, ins.segment, ins.operands, ins.ints, ins.reals, ins.registers, {}});
  }
  return out;
}

bool copies_panels(const LoweredProgram& p, const LoweredInstruction& ins) {
  if (ins.op != LoweredOp::matmul && ins.op != LoweredOp::matmul_t) return false;
  if (p.max_rows(ins.operands[1].buffer) < cpu::kPackedRows) return false;
  return ins.op == LoweredOp::matmul_t ||
         p.buffers[static_cast<std::size_t>(ins.operands[0].buffer)].type == ValueType::f32;
}

std::int64_t ScratchQuery::value_size(int i) const { return element_size(of(i).type); }

}  // namespace loom
