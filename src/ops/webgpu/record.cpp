// Recording: launches with their parameters and bind groups; and running what was recorded.
#include <algorithm>
#include <bit>
#include <cstring>

#include "base/bytes.h"
#include "base/fp_env.h"
#include "ops/webgpu/executor.h"

namespace loom::webgpu {
namespace {

// Places of the words of a dispatch's parameters: kernels/base.wgsl reads them.
enum : std::size_t { kUnits = 1, kPageTable = 2, kPages = 3, kOperands = 4, kInts = 44, kReals = 52, kU32s = 57, kF32s = 62, kWeight = 68, kExtra = 80 };

std::uint32_t word(long long v) { return static_cast<std::uint32_t>(v); }
std::uint32_t bits(float v) { return std::bit_cast<std::uint32_t>(v); }

}  // namespace

Status Executor::add_launch(const Instruction* instruction, LaunchSpec spec, const gpu::Buffer* weights) {
  Launch l;
  l.instruction = instruction;
  LOOM_ASSIGN(l.pipeline, pipeline_of(device_, spec.kernel));
  if (spec.wide_tile != 0) {
    LOOM_ASSIGN(l.wide, pipeline_of(device_, spec.wide));
  }
  const gpu::Binding bindings[] = {{parameters_.handle(), launches_.size() * kSlot * 4, kSlot * 4}, {arena_.handle()}, {weights ? weights->handle() : 0}};
  LOOM_ASSIGN(l.bindings, device_.bind(l.pipeline, std::span(bindings, spec.kernel.has_weights ? 3 : 2)));
  l.spec = std::move(spec);
  launches_.push_back(std::move(l));
  return {};
}

Status Executor::record() {
  for (const Launch& l : launches_) device_.destroy_bindings(l.bindings);
  launches_.clear();
  bound_ = false;
  std::vector<std::pair<const Instruction*, LaunchSpec>> specs;
  for (const Instruction& ins : program_.code) {
    const Parameter* matrix = ins.operands[0].valid() ? matrix_of(ins.operands[0].buffer) : nullptr;
    LOOM_ASSIGN(std::vector<LaunchSpec> list, launches_of(program_, ins, matrix ? &matrix->device.arg : nullptr));
    for (LaunchSpec& s : list) specs.emplace_back(&ins, std::move(s));
  }
  program_launches_ = specs.size();
  // After an update, per parameter: its master becomes panels or a vector.
  std::vector<std::pair<const Master*, Parameter*>> repacks;
  for (const Master& m : masters_)
    for (Parameter& p : parameters_read_)
      if (p.store == m.store && (!p.matrix || p.store->format().dtype == DType::f32)) repacks.emplace_back(&m, &p);

  const std::size_t count = specs.size() + repacks.size();
  slots_.assign(count * kSlot, 0);
  LOOM_ASSIGN(parameters_, gpu::Buffer::create(device_, slots_.size() * 4, "parameters"));
  for (auto& [ins, spec] : specs) {
    Parameter* matrix = spec.kernel.has_weights ? matrix_of(ins->operands[0].buffer) : nullptr;
    LOOM_TRY(add_launch(ins, std::move(spec), matrix ? &matrix->device.buffer : nullptr));
  }
  for (const auto& [m, p] : repacks) {
    const std::int64_t elements = m->store->rows() * m->store->cols();
    LOOM_TRY(add_launch(nullptr, p->matrix ? master_to_panels(elements) : master_to_vector(elements), &p->device.buffer));
    std::uint32_t* slot = slots_.data() + (launches_.size() - 1) * kSlot;
    const std::uint32_t shape[] = {word_of(m->buffer), word(m->store->cols()), word(m->store->rows()), word(m->store->cols())};
    std::memcpy(slot + kOperands, shape, sizeof shape);
    if (p->matrix) slot[kExtra] = word(p->device.arg.panel_bytes / 4);
    else std::memcpy(slot + kOperands + 4, shape, sizeof shape), slot[kOperands + 4] = word_of(p->buffer);
  }
  list_.resize(count);
  changed_ = false;
  return {};
}

// The parameters of launch n for the registers' values, but its units.
void Executor::fill_slot(std::size_t n) {
  const Instruction& ins = *launches_[n].instruction;
  const OpInfo& op = info(ins.op);
  std::uint32_t* slot = slots_.data() + n * kSlot;
  slot[kPageTable] = page_table_at_;
  slot[kPages] = word(pages_per_sequence_);
  for (std::size_t i = 0; i < op.operands.size(); ++i) {
    const View& v = ins.operands[i];
    if (!v.valid()) continue;
    const std::uint32_t operand[] = {word_of(v.buffer) + static_cast<std::uint32_t>(v.col), word(stride_words(v.buffer)), word(program_.rows(v.buffer, u32_)), word(v.cols)};
    std::memcpy(slot + kOperands + 4 * i, operand, sizeof operand);
  }
  for (std::size_t i = 0; i < op.ints.size(); ++i) slot[kInts + i] = word(ins.ints[i]);
  for (std::size_t i = 0; i < op.reals.size(); ++i) slot[kReals + i] = bits(static_cast<float>(ins.reals[i]));
  if (ins.op == Op::fill) slot[kReals] = bits(cpu::stored(static_cast<float>(ins.reals[0])));
  for (std::size_t i = 0; i < op.registers.size(); ++i) {
    slot[kU32s + i] = u32_[static_cast<std::size_t>(ins.registers[i])];
    slot[kF32s + i] = bits(f32_[static_cast<std::size_t>(ins.registers[i])]);
  }
  if (launches_[n].spec.kernel.has_weights) {
    const DeviceMatrix& m = matrix_of(ins.operands[0].buffer)->device;
    const std::uint32_t weight[] = {word(m.arg.rows), word(m.arg.cols), word(m.arg.padded_cols), word(m.arg.panel_bytes / 4), m.scales, m.zeros, m.minima, word(m.arg.block), word(m.arg.blocks)};
    std::memcpy(slot + kWeight, weight, sizeof weight);
  }
  slot[kExtra] = scratch_at_;
  if (ins.op == Op::attention_rows || ins.op == Op::attention_back) {
    const auto known = static_cast<std::size_t>(std::find(sequence_positions_.begin(), sequence_positions_.end(), ins.operands[3].buffer) - sequence_positions_.begin());
    const std::int64_t part = ins.ints[0] * program_.rows(ins.operands[0].buffer, u32_) * sequence_limit_[known];
    slot[kExtra] = sequences_at_[known];
    slot[kExtra + 1] = scratch_at_;
    slot[kExtra + 2] = scratch_at_ + word(part);
    slot[kExtra + 3] = word(sequence_limit_[known]);
  }
}

Status Executor::bind_registers() {
  if (bound_ && u32_ == bound_u32_ && f32_ == bound_f32_) return {};
  for (std::size_t n = 0; n < launches_.size(); ++n) {
    const Launch& l = launches_[n];
    std::int64_t rows = 1;
    if (l.instruction) {
      fill_slot(n);
      if (l.spec.operand >= 0) rows = program_.rows(l.instruction->operands[static_cast<std::size_t>(l.spec.operand)].buffer, u32_);
    }
    const bool wide = l.spec.wide_tile != 0 && rows > 1;
    const std::int64_t tile = wide ? l.spec.wide_tile : l.spec.tile, units = (rows + tile - 1) / tile * l.spec.factor;
    if (units > UINT32_MAX) return Status(Code::unsupported, "gpu: an instruction of " + std::to_string(units) + " units of work");
    slots_[n * kSlot + kUnits] = word(units);
    const std::int64_t groups = (units + l.spec.threads - 1) / l.spec.threads, limit = device_.limits().groups_per_dimension;
    const std::int64_t x = std::min(groups, limit), y = x == 0 ? 0 : (groups + x - 1) / x;
    list_[n] = {wide ? l.wide : l.pipeline, l.bindings, word(x), word(y), 1};
  }
  LOOM_TRY(device_.write(parameters_.handle(), 0, std::as_bytes(std::span(slots_))));
  bound_u32_ = u32_;
  bound_f32_ = f32_;
  bound_ = true;
  return {};
}

// What the host wrote: inputs of this run, and states and pages that changed.
Status Executor::upload_inputs() {
  for (std::size_t b = 0; b < program_.buffers.size(); ++b) {
    Mirror& m = mirrors_[b];
    const auto id = static_cast<BufferId>(b);
    if (buffer(id).kind == BufferKind::input && placement_.offset[b] >= 0) {
      const auto bytes = static_cast<std::size_t>(program_.rows(id, u32_) * stride_words(id) * 4);
      LOOM_TRY(device_.write(arena_.handle(), std::uint64_t{place_[b]} * 4, std::span<const std::byte>(mirror(id).bytes).first(bytes)));
    } else if (m.dirty) {
      LOOM_TRY(device_.write(arena_.handle(), std::uint64_t{place_[b]} * 4, m.bytes));
      m.dirty = false;
    }
  }
  if (uploaded_pages_ != page_table_) {
    LOOM_TRY(device_.write(arena_.handle(), std::uint64_t{page_table_at_} * 4, std::as_bytes(std::span(page_table_))));
    uploaded_pages_ = page_table_;
  }
  return upload_sequences();
}

// A sequence is a stretch of rows whose positions ascend by one.
Status Executor::upload_sequences() {
  for (std::size_t s = 0; s < sequence_positions_.size(); ++s) {
    const BufferId id = sequence_positions_[s];
    const std::int64_t rows = program_.rows(id, u32_);
    auto position = [&](std::int64_t r) { return row<std::uint32_t>(id, r)[0]; };
    std::vector<std::uint32_t> table(static_cast<std::size_t>(2 * rows));
    for (std::int64_t begin = 0, end = 0; begin < rows; begin = end) {
      for (end = begin + 1; end < rows && position(end) == position(end - 1) + 1; ++end) {}
      for (std::int64_t r = begin; r < end; ++r) {
        table[static_cast<std::size_t>(2 * r)] = word(begin);
        table[static_cast<std::size_t>(2 * r + 1)] = word(end - begin);
      }
    }
    LOOM_TRY(device_.write(arena_.handle(), std::uint64_t{sequences_at_[s]} * 4, std::as_bytes(std::span(table))));
  }
  return {};
}

Status Executor::poison() {
  for (std::size_t b = 0; b < program_.buffers.size(); ++b) {
    if (program_.buffers[b].kind != BufferKind::temp || placement_.offset[b] < 0) continue;
    const std::vector<std::byte> nan(static_cast<std::size_t>(program_.max_rows(static_cast<BufferId>(b)) * stride_words(static_cast<BufferId>(b)) * 4), std::byte{0xFF});
    LOOM_TRY(device_.write(arena_.handle(), std::uint64_t{place_[b]} * 4, nan));
  }
  return {};
}

Status Executor::submit(std::size_t begin, std::size_t end) {
  std::vector<gpu::Dispatch> list;
  for (std::size_t n = begin; n < end; ++n)
    if (list_[n].x != 0) list.push_back(list_[n]);
  return list.empty() ? Status() : device_.submit(list);
}

Status Executor::read_outputs() {
  std::vector<gpu::ReadRange> ranges;
  for (std::size_t b = 0; b < program_.buffers.size(); ++b) {
    const auto id = static_cast<BufferId>(b);
    if (buffer(id).kind != BufferKind::output || placement_.offset[b] < 0) continue;
    const auto bytes = static_cast<std::size_t>(program_.rows(id, u32_) * stride_words(id) * 4);
    if (bytes != 0) ranges.push_back({arena_.handle(), std::uint64_t{place_[b]} * 4, std::span<std::byte>(mirror(id).bytes).first(bytes)});
  }
  return device_.read(ranges);
}

Status Executor::run(Segment first, Segment last) {
  [[maybe_unused]] const FpEnvGuard fp;
  if (!failure_.ok()) return std::exchange(failure_, Status());
  if (first == Segment::forward) {
    LOOM_TRY(check_inputs());
    settle_inputs();
  }
  LOOM_TRY(bind_registers());
  if (poison_ && first == Segment::forward) LOOM_TRY(poison());
  LOOM_TRY(upload_inputs());
  std::size_t begin = 0;
  while (begin < program_launches_ && launches_[begin].instruction->segment < first) ++begin;
  std::size_t end = begin;
  while (end < program_launches_ && launches_[end].instruction->segment <= last) ++end;
  LOOM_TRY(submit(begin, end));
  for (std::size_t b = 0; b < mirrors_.size(); ++b) mirrors_[b].fresh = false;
  const bool updated = end > begin && launches_[end - 1].instruction->segment == Segment::update;
  device_ahead_ = device_ahead_ || updated;
  return first <= Segment::loss ? read_outputs() : Status();
}

}  // namespace loom::webgpu
