#include "ops/webgpu/kernels.h"

#include <algorithm>
#include <bit>

#include "base/words.h"
#include "ops/tensor_ops.h"
#include "ops/window.h"

namespace loom::webgpu {
namespace {

constexpr std::int64_t kMaxHeadDim = 1024;
std::int64_t tiles_of(std::int64_t n) { return (n + 63) / 64; }

}  // namespace

std::string constant(std::string_view name, std::int64_t value) { return "const " + std::string(name) + " = " + std::to_string(value) + "u;\n"; }
std::string flag(std::string_view name, bool value) { return "const " + std::string(name) + " = " + (value ? "true" : "false") + ";\n"; }

std::string weight_constants(const cpu::WeightArg& w, bool bias) {
  return constant("FORM", w.form) + constant("DTYPE", w.dtype) + constant("LAYOUT", w.layout) + flag("HAS_SCALES", w.scales) + flag("HAS_MINIMA", w.minima) + flag("HAS_ZEROS", w.zeros) +
         flag("HAS_BIAS", bias);
}

namespace {

// Sums are cut among threads where they are so long, and the results too few to occupy a device.
constexpr std::int64_t kLongSum = 2048, kManyRows = 256, kFewResults = 4096;

std::string_view matmul_piece(int form) {
  return form == cpu::kIntegerForm ? "join matmul_integer" : form == cpu::kBlockForm ? "matmul_blocks" : "matmul_float";
}

// `count` ints of an instruction as a constant array.
std::string list(std::string_view name, const Instruction& ins, std::size_t first, std::size_t count) {
  std::string text = "const " + std::string(name) + " = array<u32, " + std::to_string(count) + ">(";
  for (std::size_t i = first; i < first + count; ++i) text += std::to_string(ins.ints[i]) + "u, ";
  return text + ");\n";
}
// As Window::to_ints has them.
std::string window_constants(const Instruction& ins) {
  return list("IN", ins, 1, 3) + list("KERNEL", ins, 4, 3) + list("STRIDE", ins, 7, 3) + list("PAD", ins, 10, 3) + list("PAD_END", ins, 13, 3) + list("DILATION", ins, 16, 3) +
         list("OUT", ins, 19, 3) + flag("COUNT_PAD", ins.ints[Window::kInts] != 0);
}

// What one op needs beside its name: how its work is cut, and the pieces it is made of.
class Launches {
 public:
  explicit Launches(const Instruction& ins) : ins_(ins) {}

  // A thread for each element of an operand.
  void elements(std::string_view pieces, std::string_view entry, int operand, std::string constants = {}) {
    add(pieces, entry, operand, ins_.operands[static_cast<std::size_t>(operand)].cols, 64, std::move(constants));
  }
  void add(std::string_view pieces, std::string_view entry, int operand, std::int64_t factor, std::int64_t threads, std::string constants = {}) {
    LaunchSpec l;
    l.kernel = {std::string(pieces), std::string(entry), std::move(constants)};
    l.operand = operand;
    l.factor = factor;
    l.threads = threads;
    list.push_back(std::move(l));
  }
  LaunchSpec& last() { return list.back(); }
  std::int64_t cols(int operand) const { return ins_.operands[static_cast<std::size_t>(operand)].cols; }
  bool has(int operand) const { return ins_.operands[static_cast<std::size_t>(operand)].valid(); }

  std::vector<LaunchSpec> list;

 private:
  const Instruction& ins_;
};

}  // namespace

Result<std::vector<LaunchSpec>> launches_of(const Program& program, const Instruction& ins, const cpu::WeightArg* weight, const gpu::Limits& limits) {
  Launches l(ins);
  const bool measured = std::any_of(ins.operands.begin(), ins.operands.end(), [&](const View& v) { return v.valid() && program.measured(v.buffer) != kNone; });
  const std::string name(info(ins.op).name);
  const bool q15_state = std::any_of(ins.operands.begin(), ins.operands.end(), [&](const View& v) {
    return v.valid() && program.buffers[static_cast<std::size_t>(v.buffer)].kind == BufferKind::state && program.buffers[static_cast<std::size_t>(v.buffer)].type == ValueType::q15;
  });
  const std::string elementwise = "arena exact elementwise", act = constant("ACT", ins.op == Op::activation || ins.op == Op::activation_back ? ins.ints[0] : 0);
  auto with_weights = [&](std::string_view pieces, bool bias) {
    LaunchSpec& s = l.last();
    s.kernel.pieces = pieces;
    s.kernel.constants = weight_constants(*weight, bias);
    s.kernel.has_weights = true;
  };
  // For many rows of an op with weights: tiles of 64 rows by 64 of `outputs`.
  auto in_tiles = [&](std::string_view entry, std::int64_t outputs) {
    WideKernel wide{l.last().kernel, 32, 64, tiles_of(outputs)};
    wide.kernel.pieces = "arena weights tiles tiles_weights";
    wide.kernel.entry = entry;
    if (outputs >= 64 && program.max_rows(ins.operands[1].buffer) >= wide.rows) l.last().wide.push_back(std::move(wide));
  };
  switch (ins.op) {
    case Op::fill: l.elements(elementwise, name, 0, act); break;
    case Op::copy: case Op::scale: case Op::convert: case Op::activation: l.elements(elementwise, name, 1, act); break;
    case Op::mul: l.elements(elementwise, "mul_elements", 2, act); break;
    case Op::add: case Op::gather_rows: case Op::activation_back: case Op::silu_mul: case Op::silu_mul_back: l.elements(elementwise, name, 2, act); break;
    case Op::standardize: case Op::standardize_back: l.elements(elementwise, name, 3, act); break;
    case Op::scatter_rows:
      l.elements(elementwise, "scatter_zero", 2, act);
      l.elements(elementwise, name, 0, act);
      break;
    case Op::rope: l.add(elementwise, name, 3, l.cols(3) / 2, 64, act); break;

    case Op::gather: case Op::matmul_t:
      l.elements("", name, 2);
      with_weights("arena weights weight_rows", false);
      if (ins.op == Op::matmul_t) in_tiles("matmul_t_tile", l.cols(2));
      break;
    case Op::matmul: {
      const bool integer = weight->form == cpu::kIntegerForm, decoded = weight->form == cpu::kFloatForm || weight->form == cpu::kDecodedForm;
      if (decoded && l.cols(1) >= kLongSum && l.cols(3) * program.max_rows(ins.operands[3].buffer) <= kFewResults && !measured) {
        l.add("", "matmul_chunks", 3, (l.cols(3) + 7) / 8, 1);
        with_weights("arena weights matmul_chunks", l.has(2));
        break;
      }
      l.add("", name, 3, integer ? (l.cols(3) + 15) / 16 : l.cols(3), integer ? 1 : 64);
      with_weights("arena weights " + std::string(matmul_piece(weight->form)), l.has(2));
      if (decoded) in_tiles("matmul_tile", l.cols(3));
      if (integer) {
        Kernel& one = l.last().kernel;
        WideKernel few{one, 2, 4, l.last().factor}, many{one, 96, 64, tiles_of(l.cols(3))};
        few.kernel.constants += constant("ROWS", few.tile);
        one.constants += constant("ROWS", 1);
        many.kernel.pieces = "arena weights join matmul_tiled";
        many.kernel.entry = "matmul_tiled";
        l.last().wide.push_back(std::move(few));
        if (program.max_rows(ins.operands[3].buffer) >= many.rows) l.last().wide.push_back(std::move(many));
      }
      break;
    }
    case Op::quantize: l.add("arena reduce q15 quantize", name, 0, 1, 1); break;
    case Op::split_bf16: l.elements("arena reduce q15 quantize", name, 0); break;

    case Op::rms_norm: case Op::layer_norm: case Op::rms_norm_back: case Op::layer_norm_back: case Op::rms_norm_gain: case Op::layer_norm_gain: {
      const bool centered = ins.op == Op::layer_norm || ins.op == Op::layer_norm_back || ins.op == Op::layer_norm_gain;
      const std::string pieces = "arena reduce row_sum norm", constants = flag("CENTERED", centered);
      const std::int64_t groups = l.cols(0) / ins.ints[0];
      if (ins.op == Op::rms_norm || ins.op == Op::layer_norm) l.add(pieces, "norm", 0, groups, 1, constants);
      else if (ins.op == Op::rms_norm_back || ins.op == Op::layer_norm_back) l.add(pieces, "norm_back", 0, groups, 1, constants);
      else {
        l.add(pieces, "norm_gain_stats", 0, groups, 1, constants);
        l.add(pieces, "norm_gain", -1, ins.ints[0], 64, constants);
      }
      break;
    }

    case Op::kv_append:
      if (q15_state) l.add("q15 kv_append", "kv_append_q15", 0, ins.ints[0], 1);
      else l.elements("q15 kv_append", name, 0);
      break;
    case Op::attention: case Op::attention_rows: case Op::attention_back: {
      if (ins.ints[2] > kMaxHeadDim) return Status(Code::unsupported, "gpu: " + name + ": head_dim is " + std::to_string(ins.ints[2]) + ", at most " + std::to_string(kMaxHeadDim) + " here");
      const std::string constants = constant("TILES", (ins.ints[2] + 63) / 64);
      const std::string pieces = "arena exact reduce attention";
      if (ins.op == Op::attention && q15_state) {
        // One row has little else to share out: blocks side by side.
        const std::int64_t teams = std::clamp<std::int64_t>(std::min<std::int64_t>(limits.threads_per_group / 64, limits.group_bytes / (1700 + 256 * ((ins.ints[2] + 63) / 64))), 1, 8);
        l.add(pieces + " q15 lanes attention_q15", "attention_q15", 0, ins.ints[0], 1, constants + constant("HEAD_DIM", ins.ints[2]));
        LaunchSpec& s = l.last();
        s.wide.push_back({s.kernel, 2, 1, s.factor});
        s.wide.back().kernel.constants += constant("TEAMS", 1);
        s.kernel.constants += constant("TEAMS", teams);
      }
      else if (ins.op != Op::attention_back) l.add(pieces, name, 0, ins.ints[0], 1, constants);
      else {
        l.add(pieces + " attention_back", "attention_slopes", 0, ins.ints[0], 1, constants);
        l.elements(pieces + " attention_back", "attention_back_q", 7, constants);
        l.elements(pieces + " attention_back", "attention_back_kv", 8, constants);
      }
      break;
    }

    case Op::outer_add: {
      const std::int64_t blocks = (program.max_rows(ins.operands[0].buffer) + 1023) / 1024, depth = std::bit_width(static_cast<std::uint64_t>(blocks));
      const std::int64_t tiles = tiles_of(l.cols(0)) * tiles_of(l.cols(2));
      // Workgroups that wait for one another agree on the rows before the run.
      if (blocks > 1 && tiles < 64 && !measured) l.add("arena row_sum chunks_gradient", "outer_add_chunks", -1, (l.cols(0) + 7) / 8 * ((l.cols(2) + 7) / 8), 1);
      else if (l.cols(0) < 64 || l.cols(2) < 64 || depth > 4 || measured) l.elements("arena row_sum gradient", name, 2);
      else l.add("arena row_sum tiles tiles_gradient", "outer_add_tile", -1, tiles, 1, constant("DEPTH", depth));
      break;
    }
    case Op::col_sum:
      if (program.max_rows(ins.operands[0].buffer) > kManyRows && !measured) l.add("arena row_sum chunks_gradient", "col_sum_chunks", -1, (l.cols(0) + 7) / 8, 1);
      else l.elements("arena row_sum gradient", name, 1);
      break;
    case Op::gather_add:
      if (ins.ints[0] == 0) l.elements("arena row_sum gradient", "gather_add_zero", 2);
      l.elements("arena row_sum gradient", name, 0);
      break;

    case Op::cross_entropy: case Op::cross_entropy_back: case Op::mse: case Op::mse_back: l.add("arena exact reduce loss", name, 0, 1, 1); break;
    case Op::mae: case Op::mae_back: case Op::huber: case Op::huber_back: case Op::bce: case Op::bce_back: {
      const int place = static_cast<int>(ins.op) - static_cast<int>(Op::mae);
      const std::string constants = constant("TERM", place / 2);
      if (place % 2 == 0) l.add("arena exact reduce column_loss", "column_loss", 0, 1, 1, constants);
      else l.elements("arena exact reduce column_loss", "column_loss_back", 2, constants);
      break;
    }
    case Op::sum_rows: l.add("arena exact reduce loss", name, -1, 1, 1); break;
    case Op::grad_merge: case Op::sum_squares: case Op::clip_scale: case Op::sgd: case Op::adamw: case Op::sgd_nesterov: case Op::rmsprop: case Op::lion: {
      const std::string constants = flag("HAS_TOTAL", ins.op == Op::clip_scale && l.has(0)) + flag("HAS_VELOCITY", (ins.op == Op::sgd && l.has(3)) || (ins.op == Op::rmsprop && l.has(5))) +
                                    flag("CENTERED", ins.op == Op::rmsprop && l.has(4));
      if (ins.op == Op::sum_squares || ins.op == Op::clip_scale) l.add("arena reduce optim", name, -1, 1, 1, constants);
      else l.elements("arena reduce optim", name, ins.op == Op::grad_merge ? 0 : 2, constants);
      break;
    }
    case Op::reorder: {
      std::string order;
      for (std::size_t d = 0; d < 5; ++d) order += std::to_string(ins.ints[5] >> (4 * (4 - d)) & 15) + "u, ";
      l.elements("arena reorder", name, 1, list("SIZE", ins, 0, 5) + "const ORDER = array<u32, 5>(" + order + ");\n");
      break;
    }
    case Op::unfold: case Op::fold: case Op::max_pool: case Op::max_pool_back: case Op::avg_pool: case Op::avg_pool_back:
      l.elements("arena window", name, ins.op == Op::max_pool_back ? 2 : 1, window_constants(ins));
      break;
    case Op::group_matmul: case Op::group_matmul_t:
      l.elements("", name, ins.op == Op::group_matmul ? 3 : 2);
      with_weights("arena weights groups", ins.op == Op::group_matmul && l.has(2));
      break;
    case Op::group_outer_add: l.elements("arena row_sum gradient", name, 2); break;
    case Op::unary: case Op::unary_back: case Op::binary: case Op::binary_back: case Op::reduce: case Op::reduce_back: {
      const int kind = static_cast<int>(ins.ints[0]);
      const bool one = ins.op == Op::unary || ins.op == Op::unary_back, two = ins.op == Op::binary || ins.op == Op::binary_back;
      if ((one && kind >= static_cast<int>(Unary::sin)) || (two && kind == static_cast<int>(Binary::pow)))
        return Status(Code::unsupported, "gpu: " + std::string(one ? loom::name(static_cast<Unary>(kind)) : loom::name(static_cast<Binary>(kind))) + " runs on the CPU only");
      const std::string constants = constant("KIND", kind) + (two ? list("SIZE", ins, 1, 5) + list("A_STEP", ins, 6, 5) + list("B_STEP", ins, 11, 5) : "");
      static constexpr int kResult[] = {1, 2, 2, 2, 1, 3};  // by op, as listed above
      l.elements(one ? "arena exact unary" : two ? "arena binary" : "arena exact reduce_columns", name, kResult[static_cast<int>(ins.op) - static_cast<int>(Op::unary)], constants);
      break;
    }
    case Op::pick: case Op::pick_back: l.elements("arena places", name, 2); break;
    case Op::select: l.elements("arena places", "select_elements", 3); break;
    case Op::value_matmul: l.elements("arena value_matmul", name, 2, list("SHAPE", ins, 0, 5) + list("A_STEP", ins, 5, 4) + list("B_STEP", ins, 9, 4)); break;
    case Op::channel_affine: l.elements("arena exact channels", name, 3, flag("HAS_GAIN", l.has(1)) + flag("HAS_BIAS", l.has(2))); break;
    case Op::state_write: l.elements("arena exact cells", name, 0, flag("HAS_LATER", false)); break;
    case Op::lstm_cell: case Op::gru_cell: case Op::state_read: l.elements("arena exact cells", name, 3, flag("HAS_LATER", false)); break;
    case Op::lstm_cell_back: l.elements("arena exact cells", name, 7, flag("HAS_LATER", l.has(5))); break;
    case Op::gru_cell_back: l.elements("arena exact cells", name, 6, flag("HAS_LATER", false)); break;
    case Op::channel_moments: case Op::channel_sums: l.add("arena reduce row_sum channel_sums", name, -1, l.cols(0) / ins.ints[0], 1); break;
    case Op::fold_norm: l.elements("arena exact channels", name, 0, flag("HAS_GAIN", l.has(2)) + flag("HAS_BIAS", l.has(3))); break;
    case Op::moving_average: l.elements("arena exact channels", name, 0, flag("HAS_GAIN", false) + flag("HAS_BIAS", false)); break;
    case Op::dropout: l.elements("arena noise dropout", name, 1); break;
    case Op::softmax: case Op::softmax_back: l.add("arena exact reduce softmax", name, 0, l.cols(0) / ins.ints[1], 1, constant("KIND", ins.ints[0])); break;
    case Op::gumbel: l.elements("arena exact noise gumbel", name, 1); break;
    case Op::distances: case Op::distances_back: case Op::distances_weight:
      l.elements("", name, ins.op == Op::distances ? 2 : 3);
      with_weights("arena weights row_sum distances", false);
      break;
    case Op::top_k: l.elements("arena routing", name, 1, flag("HAS_SCALE", false)); break;
    case Op::route_rows: l.add("arena routing", name, -1, 1, 1, flag("HAS_SCALE", false)); break;
    case Op::scatter_add: l.elements("arena routing", name, 0, flag("HAS_SCALE", l.has(1))); break;
    case Op::count_: return Status(Code::internal, "gpu: no such op");
  }
  for (LaunchSpec& s : l.list) {
    s.instruction = &ins;
    s.kernel.measured = measured;
    for (WideKernel& w : s.wide) w.kernel.measured = measured;
    s.operands = ins.operands;
    s.ints = ins.ints;
    s.reals = ins.reals;
    if (s.kernel.has_weights) s.matrices[0] = ins.operands[0].buffer;
  }
  return std::move(l.list);
}

LaunchSpec master_to_panels(std::int64_t elements) {
  LaunchSpec s;
  s.kernel = {"arena masters", "to_panels", {}, gpu::Access::read_write, true};
  s.factor = elements;
  s.threads = 64;
  return s;
}
LaunchSpec master_to_vector(std::int64_t elements) {
  LaunchSpec s;
  s.kernel = {"arena masters", "to_vector"};
  s.factor = elements;
  s.threads = 64;
  return s;
}

std::array<LaunchSpec, 2> pick_launches(const View& logits, const View& ids, const View& positions) {
  std::array<LaunchSpec, 2> list;
  for (LaunchSpec& s : list) {
    s.kernel = {"arena pick", "pick", constant("PARTS", kPickParts)};
    s.operands = {logits, ids, positions};
  }
  list[0].kernel.entry = "pick_parts";
  list[0].factor = kPickParts;
  return list;
}

Result<gpu::Handle> pipeline_of(gpu::Device& device, const Kernel& kernel) {
  gpu::PipelineSource source;
  source.key = kernel.pieces + ":" + kernel.entry + "\n" + kernel.constants + (kernel.measured ? "measured" : "");
  const bool together = device.limits().subgroups && kernel.pieces.find("lanes") != std::string::npos;
  if (together) source.wgsl = "enable subgroups;\ndiagnostic(off, subgroup_uniformity);\n";
  source.wgsl += wgsl_text("base");
  source.wgsl += wgsl_text(kernel.measured ? "rows_measured" : "rows");
  source.wgsl += kernel.constants;
  for (const std::string_view name : words(kernel.pieces)) {
    const std::string_view text = wgsl_text(name != "lanes" ? name : together ? "lanes_together" : "lanes_apart");
    if (text.empty()) return Status(Code::internal, "gpu: no kernel file " + std::string(name));
    source.wgsl += text;
  }
  source.entry = kernel.entry;
  const gpu::Access bindings[] = {gpu::Access::read, gpu::Access::read_write, kernel.weights};
  source.bindings = std::span(bindings, kernel.has_weights ? 3 : 2);
  return device.pipeline(source);
}

}  // namespace loom::webgpu
