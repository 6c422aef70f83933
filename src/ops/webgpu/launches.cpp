#include "ops/webgpu/launches.h"

#include <algorithm>

#include "numeric/packed/panel.h"

namespace loom::webgpu {

Launches::Launches(const LoweredProgram& program, const LoweredInstruction& ins,
                   const MatrixLookup& matrices, const gpu::Limits& limits)
    : program(program), ins(ins), limits(limits), matrices_(matrices) {
  dynamic_rows = std::any_of(ins.operands.begin(), ins.operands.end(), [&](const View& v) {
    return v.valid() && program.dynamic_rows(v.buffer) != kNone;
  });
}

void Launches::elements(std::string_view pieces, std::string_view entry, int operand,
                        std::string constants) {
  add(pieces, entry, operand, cols(operand), 64, std::move(constants));
}

void Launches::add(std::string_view pieces, std::string_view entry, int operand,
                   std::int64_t factor, std::int64_t threads, std::string constants) {
  LaunchSpec l;
  l.kernel = {std::string(pieces), std::string(entry), std::move(constants)};
  l.operand = operand;
  l.factor = factor;
  l.threads = threads;
  l.instruction = &ins;
  l.operands = ins.operands;
  l.ints = ins.ints;
  l.reals = ins.reals;
  list.push_back(std::move(l));
}

void Launches::with_weights(std::string_view pieces, bool bias) {
  LaunchSpec& s = last();
  s.kernel.pieces = pieces;
  s.kernel.constants = weight_constants(weight(), bias);
  s.kernel.has_weights = true;
  s.matrices[0] = view(0).buffer;
}

void Launches::row_blocks(std::string_view pieces, std::string_view entry, std::int64_t units,
                          int result, int accumulate, std::int64_t parts, std::int64_t kept,
                          std::string constants) {
  const std::int64_t blocks = row_blocks_of(max_rows(0) * parts);
  constants += constant("KEPT", kept);
  add(pieces, entry, -1, units * std::max<std::int64_t>(blocks, 1), 1,
      constants + flag("ONE_BLOCK", blocks <= 1));
  if (blocks > 1)
    elements("arena row_sum block_totals", "block_totals", result,
             constants + constant("RESULT", result) + constant("SUMS", parts) +
                 constant("ACCUMULATE", accumulate));
}

bool Launches::in_fours() const {
  return !dynamic_rows && std::ranges::all_of(ins.operands, [&](const View& v) {
    return !v.valid() || (v.col % 4 == 0 && v.cols % 4 == 0 &&
                          program.buffers[static_cast<std::size_t>(v.buffer)].cols % 4 == 0);
  });
}

Result<std::vector<LaunchSpec>> launches_of(const LoweredProgram& program,
                                            const LoweredInstruction& ins,
                                            const MatrixLookup& matrices, const gpu::Limits& limits,
                                            const AtOnce& at_once) {
  Launches l(program, ins, matrices, limits);
  l.at_once = at_once;
  const OpTraits& op = traits(ins.op);
  if (op.gpu) {
    LOOM_TRY(op.gpu(l));
  } else if (op.element >= 0) {
    l.elements(op.wgsl, op.entry ? op.entry : name(ins.op), op.element,
               op.constants ? op.constants(ins) : std::string());
  } else {
    return Status(Code::unsupported, "gpu: the op " + l.name() + " runs on the CPU only");
  }
  for (LaunchSpec& s : l.list) {
    s.kernel.dynamic_rows = l.dynamic_rows;
    for (WideKernel& w : s.wide) w.kernel.dynamic_rows = l.dynamic_rows;
  }
  return std::move(l.list);
}

std::string constant(std::string_view name, std::int64_t value) {
  return "const " + std::string(name) + " = " + std::to_string(value) + "u;\n";
}
std::string flag(std::string_view name, bool value) {
  return "const " + std::string(name) + " = " + (value ? "true" : "false") + ";\n";
}

std::string int_list(std::string_view name, const LoweredInstruction& ins, std::size_t first,
                     std::size_t count) {
  std::string text = "const " + std::string(name) + " = array<u32, " + std::to_string(count) + ">(";
  for (std::size_t i = first; i < first + count; ++i) text += std::to_string(ins.ints[i]) + "u, ";
  return text + ");\n";
}

std::string weight_constants(const WeightArg& w, bool bias) {
  const DTypeInfo& dtype = info(static_cast<DType>(w.dtype));
  // bf16 is the upper half of an f32.
  const SmallFloat code = dtype.id == DType::bf16 ? SmallFloat{} : dtype.codec.small_float;
  const int layers = panel_geometry({dtype.id, static_cast<Layout>(w.layout)}).planes;
  return constant("LAYERS", layers) + constant("BITS", std::min(dtype.bits, 32)) +
         constant("MANTISSA", code.mantissa_bits) + constant("BIAS", code.bias) +
         constant("OFFSET", w.offset) + constant("FORM", w.form) + constant("DTYPE", w.dtype) +
         constant("LAYOUT", w.layout) + flag("HAS_SCALES", w.scales) +
         flag("HAS_MINIMA", w.minima) + flag("HAS_ZEROS", w.zeros) + flag("HAS_BIAS", bias);
}

}  // namespace loom::webgpu
