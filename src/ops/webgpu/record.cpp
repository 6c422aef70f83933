// Recording: launches with their parameters and bind groups; and running what was recorded.
#include <algorithm>
#include <bit>
#include <cstring>

#include "base/files/bytes.h"
#include "base/math/fp_env.h"
#include "ops/webgpu/executor.h"
#include "ops/webgpu/launches.h"

namespace loom::webgpu {
namespace {

// Places of the words of a dispatch's parameters: kernels/parts/base.wgsl reads them.
enum : std::size_t {
  kUnits = 1,
  kPageTable = 2,
  kPages = 3,
  kOperands = 4,
  kInts = 44,
  kReals = 52,
  kU32s = 57,
  kF32s = 62,
  kWeight = 68,
  kWeightStep = 20,
  kExtra = 80,
  kFactors = 98
};

constexpr std::uint32_t kMeasured = std::uint32_t{1}
                                    << 31;  // of an operand's rows: parts/rows_dynamic.wgsl
constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);

std::uint32_t word(long long v) { return static_cast<std::uint32_t>(v); }
std::uint32_t bits(float v) { return std::bit_cast<std::uint32_t>(v); }

}  // namespace

Status Executor::add_launch(LaunchSpec spec) {
  Launch l;
  LOOM_ASSIGN(l.pipeline, pipeline_of(device_, spec.kernel));
  l.wide.assign(spec.wide.size(), 0);  // compiled when first wanted
  gpu::Binding bindings[] = {
      {parameters_.handle(), launches_.size() * kSlot * 4, kSlot * 4}, {arena_.handle()}, {}};
  if (spec.kernel.has_weights)
    bindings[2].buffer =
        heaps_[static_cast<std::size_t>(matrix_of(spec.matrices[0])->device.heap)].handle();
  LOOM_ASSIGN(l.bindings,
              device_.bind(l.pipeline, std::span(bindings, spec.kernel.has_weights ? 3 : 2)));
  l.spec = std::move(spec);
  launches_.push_back(std::move(l));
  return {};
}

// Every instruction by itself; for single rows, fusions in place of what they do.
Status Executor::record_code(std::vector<LaunchSpec>& specs) {
  std::vector<std::pair<std::size_t, std::size_t>> of_instruction;  // ranges of specs
  const MatrixLookup matrices = [this](BufferId id) {
    const DeviceMatrix& m = matrix_of(id)->device;
    return Matrix{&m.arg, m.heap};
  };
  fusions_.clear();
  const bool fuse = fuse_ && lowered_.block_like == kNone;
  if (fuse) fusions_ = find_fusions(lowered_, matrices, device_.limits());
  std::vector<std::size_t> fusion_at(lowered_.code.size(),
                                     kNowhere);  // that an instruction is part of
  for (std::size_t f = 0; f < fusions_.size(); ++f)
    for (const std::size_t n : fusions_[f].instructions) fusion_at[n] = f;
  for (std::size_t n = 0; n < lowered_.code.size(); ++n) {
    // All or none are parts of fusions: single rows need no part of it.
    std::size_t count = fuse ? quantized_at_once(lowered_, n) : 1;
    for (std::size_t i = 1; i < count; ++i)
      if ((fusion_at[n] == kNowhere) != (fusion_at[n + i] == kNowhere)) count = 1;
    AtOnce at_once{.products = fuse};
    if (count > 2) at_once.sum = &lowered_.code[n];
    if (count > 1) at_once.row = &lowered_.code[n + count - 2];
    for (; count > 1; --count, ++n) of_instruction.emplace_back(specs.size(), specs.size());
    LOOM_ASSIGN(std::vector<LaunchSpec> list,
                launches_of(lowered_, lowered_.code[n], matrices, device_.limits(), at_once));
    of_instruction.emplace_back(specs.size(), specs.size() + list.size());
    for (LaunchSpec& s : list) {
      in_order_.push_back(specs.size());
      specs.push_back(std::move(s));
    }
  }
  for (std::size_t n = 0; n < lowered_.code.size(); ++n) {
    if (fusion_at[n] == kNowhere) {
      for (std::size_t s = of_instruction[n].first; s < of_instruction[n].second; ++s)
        fused_.push_back(s);
    } else if (fusions_[fusion_at[n]].first == n) {
      LOOM_ASSIGN(std::vector<LaunchSpec> list,
                  launches_of(lowered_, fusions_[fusion_at[n]].fused, matrices, device_.limits()));
      fused_.push_back(specs.size());
      specs.push_back(std::move(list[0]));
    }
  }
  return {};
}

Status Executor::record() {
  for (const Launch& l : launches_) device_.destroy_bindings(l.bindings);
  launches_.clear();
  in_order_.clear();
  fused_.clear();
  repacks_.clear();
  pick_.clear();
  draws_ = false;
  bound_ = false;
  update_reads_inputs_ =
      std::any_of(lowered_.code.begin(), lowered_.code.end(), [&](const LoweredInstruction& ins) {
        return ins.segment == Segment::update &&
               std::any_of(ins.operands.begin(), ins.operands.end(), [&](const View& v) {
                 return v.valid() && buffer(v.buffer).kind == BufferKind::input;
               });
      });
  std::vector<LaunchSpec> specs;
  LOOM_TRY(record_code(specs));
  if (fusions_.empty()) fused_.clear();
  plan_repacks(specs);
  plan_index_select(specs);
  slots_.assign(specs.size() * kSlot, 0);
  LOOM_ASSIGN(parameters_, gpu::Buffer::create(device_, slots_.size() * 4, "parameters"));
  for (LaunchSpec& s : specs) LOOM_TRY(add_launch(std::move(s)));
  list_.resize(launches_.size());
  submitted_.reserve(launches_.size());
  changed_ = false;
  return {};
}

void Executor::fill_matrices(const LaunchSpec& spec, std::uint32_t* slot) {
  for (std::size_t i = 0; i < spec.matrices.size() && spec.matrices[i] != kNone; ++i) {
    const DeviceMatrix& m = matrix_of(spec.matrices[i])->device;
    const std::uint32_t weight[] = {word(m.arg.rows),
                                    word(m.arg.cols),
                                    word(m.arg.padded_cols),
                                    word(m.arg.panel_bytes / 4),
                                    m.scales,
                                    m.zeros,
                                    m.minima,
                                    word(m.arg.block),
                                    word(m.arg.blocks),
                                    static_cast<std::uint32_t>(m.at / 4)};
    std::memcpy(slot + kWeight + kWeightStep * i, weight, sizeof weight);
  }
}

RowRange Executor::rows_of(const LaunchSpec& spec, std::size_t operand) const {
  const BufferId id = spec.operands[operand].buffer;
  return spec.instruction ? lowered_.rows_in(*spec.instruction, id, u32_)
                          : RowRange{0, lowered_.rows(id, u32_)};
}

// The parameters of launch n for the registers' values, but its units.
void Executor::fill_slot(std::size_t n) {
  const LaunchSpec& spec = launches_[n].spec;
  std::uint32_t* slot = slots_.data() + n * kSlot;
  slot[kPageTable] = page_table_at_;
  slot[kPages] = word(pages_per_sequence_);
  for (std::size_t i = 0; i < spec.operands.size(); ++i) {
    const View& v = spec.operands[i];
    if (!v.valid()) continue;
    const RowRange rows = rows_of(spec, i);
    const std::uint32_t operand[] = {word_of(v.buffer) + word(rows.first * stride_words(v.buffer)) +
                                         static_cast<std::uint32_t>(v.col),
                                     word(stride_words(v.buffer)), word(rows.count), word(v.cols)};
    std::memcpy(slot + kOperands + 4 * i, operand, sizeof operand);
    const RegisterId count = lowered_.dynamic_rows(v.buffer);
    if (count == kNone) continue;
    const Rows& r = buffer(v.buffer).rows;
    slot[kOperands + 4 * i + 2] = kMeasured | (registers_at_ + static_cast<std::uint32_t>(count));
    slot[kFactors + i] = word(r.constant);
    for (const RegisterId other : {r.a, r.b})
      if (other != kNone && other != count)
        slot[kFactors + i] *= u32_[static_cast<std::size_t>(other)];
  }
  // More of them than that are constants of the kernel.
  for (std::size_t i = 0; i < kReals - kInts; ++i) slot[kInts + i] = word(spec.ints[i]);
  for (std::size_t i = 0; i < spec.reals.size(); ++i)
    slot[kReals + i] = bits(static_cast<float>(spec.reals[i]));
  slot[kExtra] = scratch_at_;
  fill_matrices(spec, slot);
  if (!pick_.empty() && n >= pick_.front() && n <= pick_.back()) fill_pick(slot + kExtra);
  if (!spec.instruction) return;
  const LoweredInstruction& ins = *spec.instruction;
  // Gradients of a part of the rows: row_sum.wgsl.
  if ((ins.op == LoweredOp::weight_grad || ins.op == LoweredOp::bias_grad) && ins.block != kNone &&
      lowered_.has_rows(ins.block + 1, u32_))
    slot[kInts] |= 2;
  for (std::size_t i = 0; i < ins.registers.size(); ++i) {
    if (ins.registers[i] == kNone) continue;
    const auto reg = static_cast<std::size_t>(ins.registers[i]);
    slot[kU32s + i] = lowered_.registers[reg].type == RegisterType::dynamic_rows
                          ? registers_at_ + word(ins.registers[i])
                          : u32_[reg];
    slot[kF32s + i] = bits(static_cast<float>(reals_[static_cast<std::size_t>(ins.registers[i])]));
  }
  if (const int positions = traits(ins.op).sequences; positions >= 0) {
    const SequenceTable& sequences =
        *sequences_of(ins.operands[static_cast<std::size_t>(positions)].buffer);
    slot[kExtra] = sequences.at;
    slot[kExtra + 1] = scratch_at_;
    slot[kExtra + 2] =
        scratch_at_ +
        word(ins.ints[0] * lowered_.rows(ins.operands[0].buffer, u32_) * sequences.limit);
    slot[kExtra + 3] = word(sequences.limit);
  }
}

Status Executor::bind_registers() {
  bound_counts();
  if (bound_ && u32_ == bound_u32_ && reals_ == bound_reals_) return {};
  single_rows_ = !fused_.empty();
  for (std::size_t n = 0; n < launches_.size(); ++n) {
    Launch& l = launches_[n];
    fill_slot(n);
    const std::int64_t rows =
        l.spec.operand >= 0 ? rows_of(l.spec, static_cast<std::size_t>(l.spec.operand)).count
        : l.spec.instruction && !lowered_.has_rows(l.spec.instruction->block, u32_) ? 0
                                                                                    : 1;
    gpu::Handle pipeline = l.pipeline;
    std::int64_t tile = l.spec.tile, factor = l.spec.factor, threads = l.spec.threads;
    std::size_t wide = l.wide.size();
    while (wide > 0 && rows < l.spec.wide[wide - 1].rows) --wide;
    if (wide > 0) {
      const WideKernel& w = l.spec.wide[wide - 1];
      if (l.wide[wide - 1] == 0) {
        LOOM_ASSIGN(l.wide[wide - 1], pipeline_of(device_, w.kernel));
      }
      pipeline = l.wide[wide - 1];
      tile = w.tile;
      factor = w.factor;
      threads = 1;
    }
    const std::int64_t units = (rows + tile - 1) / tile * factor;
    if (units > UINT32_MAX)
      return Status(Code::unsupported,
                    "gpu: an instruction of " + std::to_string(units) + " units of work");
    slots_[n * kSlot + kUnits] = word(units);
    std::int64_t groups = (units + threads - 1) / threads;
    const std::int64_t limit = device_.limits().groups_per_dimension;
    if (l.spec.max != 0) groups = std::min({groups, l.spec.max, limit});
    const std::int64_t x = std::min(groups, limit), y = x == 0 ? 0 : (groups + x - 1) / x;
    list_[n] = {pipeline, l.bindings, word(x), word(y), 1};
  }
  for (std::size_t n : fused_) {
    const LaunchSpec& s = launches_[n].spec;
    single_rows_ =
        single_rows_ &&
        (s.operand < 0 ||
         lowered_.rows(s.operands[static_cast<std::size_t>(s.operand)].buffer, u32_) <= 1);
  }
  LOOM_TRY(device_.write(parameters_.handle(), 0, std::as_bytes(std::span(slots_))));
  bound_u32_ = u32_;
  bound_reals_ = reals_;
  bound_ = true;
  return {};
}

// What the host wrote: inputs, where the segments may read them, and states and pages that changed.
Status Executor::upload_inputs(Segment first) {
  for (std::size_t b = 0; b < lowered_.buffers.size(); ++b) {
    Mirror& m = mirrors_[b];
    const auto id = static_cast<BufferId>(b);
    if (buffer(id).kind == BufferKind::input && placement_.offset[b] >= 0) {
      if (first == Segment::update && !update_reads_inputs_) continue;
      const auto bytes = static_cast<std::size_t>(lowered_.rows(id, u32_) * stride_words(id) * 4);
      LOOM_TRY(device_.write(arena_.handle(), std::uint64_t{place_[b]} * 4,
                             std::span<const std::byte>(mirror(id).bytes).first(bytes)));
    } else if (m.dirty) {
      LOOM_TRY(device_.write(arena_.handle(), std::uint64_t{place_[b]} * 4, m.bytes));
      m.dirty = false;
    }
  }
  if (uploaded_pages_ != page_table_) {
    LOOM_TRY(device_.write(arena_.handle(), std::uint64_t{page_table_at_} * 4,
                           std::as_bytes(std::span(page_table_))));
    uploaded_pages_ = page_table_;
  }
  return upload_sequences();
}

// A sequence is a stretch of rows whose positions ascend by one.
Status Executor::upload_sequences() {
  for (const SequenceTable& sequences : sequence_tables_) {
    const BufferId id = sequences.positions;
    const std::int64_t rows = lowered_.rows(id, u32_);
    const std::int64_t steps = steps_of(buffer(id));
    auto position = [&](std::int64_t r) {
      return steps > 0 ? static_cast<std::uint32_t>(r % steps) : row<std::uint32_t>(id, r)[0];
    };
    std::vector<std::uint32_t> table(static_cast<std::size_t>(2 * rows));
    for (std::int64_t begin = 0, end = 0; begin < rows; begin = end) {
      for (end = begin + 1; end < rows && position(end) == position(end - 1) + 1; ++end) {
      }
      for (std::int64_t r = begin; r < end; ++r) {
        table[static_cast<std::size_t>(2 * r)] = word(begin);
        table[static_cast<std::size_t>(2 * r + 1)] = word(end - begin);
      }
    }
    LOOM_TRY(device_.write(arena_.handle(), std::uint64_t{sequences.at} * 4,
                           std::as_bytes(std::span(table))));
  }
  return {};
}

Status Executor::poison() {
  for (std::size_t b = 0; b < lowered_.buffers.size(); ++b) {
    if (lowered_.buffers[b].kind != BufferKind::temp || placement_.offset[b] < 0) continue;
    const std::vector<std::byte> nan(
        static_cast<std::size_t>(lowered_.max_rows(static_cast<BufferId>(b)) *
                                 stride_words(static_cast<BufferId>(b)) * 4),
        std::byte{0xFF});
    LOOM_TRY(device_.write(arena_.handle(), std::uint64_t{place_[b]} * 4, nan));
  }
  return {};
}

void Executor::collect(std::span<const std::size_t> order, Segment first, Segment last) {
  submitted_.clear();
  for (const std::size_t n : order) {
    const LoweredInstruction* ins = launches_[n].spec.instruction;
    if (list_[n].x != 0 && (!ins || (ins->segment >= first && ins->segment <= last)))
      submitted_.push_back(list_[n]);
  }
  dispatched_ = static_cast<std::int64_t>(submitted_.size());
}

Status Executor::submit(std::span<const std::size_t> order, Segment first, Segment last) {
  collect(order, first, last);
  return submitted_.empty() ? Status() : device_.submit(submitted_);
}

Status Executor::read_outputs() {
  std::vector<gpu::ReadRange> ranges;
  for (std::size_t b = 0; b < lowered_.buffers.size(); ++b) {
    const auto id = static_cast<BufferId>(b);
    if (buffer(id).kind != BufferKind::output || placement_.offset[b] < 0) continue;
    const auto bytes = static_cast<std::size_t>(lowered_.rows(id, u32_) * stride_words(id) * 4);
    if (bytes != 0)
      ranges.push_back({arena_.handle(), std::uint64_t{place_[b]} * 4,
                        std::span<std::byte>(mirror(id).bytes).first(bytes)});
  }
  return device_.read(ranges);
}

// What comes before the dispatches of a run.
Status Executor::prepare(Segment first) {
  began_ = false;
  if (!failure_.ok()) return std::exchange(failure_, Status());
  if (first == Segment::forward) {
    LOOM_TRY(check_inputs());
    settle_inputs();
  }
  LOOM_TRY(bind_registers());
  if (poison_ && first == Segment::forward) LOOM_TRY(poison());
  for (Mirror& m : mirrors_) m.fresh = false;
  return upload_inputs(first);
}

Status Executor::run(Segment first, Segment last) {
  [[maybe_unused]] const FpEnvGuard fp;
  LOOM_TRY(prepare(first));
  if (cancelled(last)) return cancelled_run();
  began_ = true;
  LOOM_TRY(submit(single_rows_ ? fused_ : in_order_, first, last));
  device_ahead_ = device_ahead_ || (last == Segment::update && !masters_.empty());
  // An update need not wait in the recording for what the host does next.
  if (first == Segment::update) return device_.flush();
  if (first > Segment::loss) return {};
  outputs_behind_ = false;
  return read_outputs();
}

}  // namespace loom::webgpu
