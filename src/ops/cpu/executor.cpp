#include "ops/cpu/executor.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/files/bytes.h"
#include "base/math/fp_env.h"
#include "ops/cpu/prepared_weights.h"
#include "ops/cpu/windows.h"
#include "ops/rope.h"
#include "ops/tensor_ops.h"

namespace loom::cpu {

struct Executor::Step {
  Kernel kernel = nullptr;
  const Instruction* instruction = nullptr;
  KernelArgs args;
  std::int64_t private_at[kMaxOperands];  // of an operand in a worker's private copies
  // Of this run: operands that are read or written there, whether every worker computes all of it, whether all wait for one another first.
  std::uint16_t private_operands = 0;
  std::uint16_t measured_operands = 0;  // whose rows the run measures
  bool whole = false, barrier = true;
};

namespace {

// Products that read the weights as decoded rows.
bool reads_dense(Op op) {
  return op == Op::matmul_t || op == Op::group_matmul || op == Op::group_matmul_t || op == Op::distances || op == Op::distances_back || op == Op::distances_weight;
}
bool is_weight_matrix(Op op) { return op == Op::matmul || op == Op::gather || reads_dense(op); }

// Float products that copy the panels they need of the weight's rows.
bool copies_panels(const Program& p, const Instruction& ins) {
  if (in_window(ins) || (ins.op != Op::matmul && ins.op != Op::matmul_t) || p.max_rows(ins.operands[1].buffer) < kPackedRows) return false;
  const Buffer& w = p.buffers[static_cast<std::size_t>(ins.operands[0].buffer)];
  return ins.op == Op::matmul_t || (w.type == ValueType::f32 && product_form(w.format) == kFloatForm);
}

// Scratch of one worker for one instruction, at register maxima; `updates`: of a program with masters.
std::int64_t scratch_of(const Program& p, const Instruction& ins, std::int64_t kv_capacity, bool updates) {
  auto max_rows = [&](int i) { return p.max_rows(ins.operands[static_cast<std::size_t>(i)].buffer); };
  auto value_size = [&](int i) { return element_size(p.buffers[static_cast<std::size_t>(ins.operands[static_cast<std::size_t>(i)].buffer)].type); };
  switch (ins.op) {
    case Op::outer_add: return in_window(ins) ? outer_window_scratch(max_rows(0) * window_of(ins).positions(), ins.operands[2].cols) : value_size(0) * (kPackedOuterValues + 16 * kPackedPanels * std::min<std::int64_t>(max_rows(0), kPackedOuter));
    case Op::matmul_t: {
      if (!in_window(ins)) return copies_panels(p, ins) ? 16 * kPackedPanels * value_size(1) * std::min<std::int64_t>(ins.operands[1].cols, kPackedSums) : 0;
      const Window w = window_of(ins);
      const std::int64_t taps = w.taps() / w.channels, plane = padded_plane(w);
      const std::int64_t filters = ins.operands[1].cols / w.positions(), channels = fold_channels(taps, w.channels, plane);
      const FoldPiece piece = fold_piece(w.in, w.kernel, w.stride, w.dilation, w.out, filters);
      const std::int64_t spread = filters * (kFoldPlaces + channels * taps) + channels * (taps * kFoldPlaces + plane);
      return 4 * (taps + 15 + std::max<std::int64_t>(spread, filters * (piece.stride + gather_channels(filters * taps, w.channels) * taps)));
    }
    case Op::matmul: case Op::gather: {
      if (in_window(ins)) return 4 * (16 * kPackedPanels + 1) * p.buffers[static_cast<std::size_t>(ins.operands[0].buffer)].cols;
      const Buffer& w = p.buffers[static_cast<std::size_t>(ins.operands[0].buffer)];
      if (updates && ins.op == Op::matmul && copies_panels(p, ins)) return 16 * kPackedPanels * 4 * std::min<std::int64_t>(w.cols, kPackedSums);
      return w.type == ValueType::f64 ? 0 : panel_scratch(w.format, w.cols);
    }
    case Op::gather_add: return 4 * max_rows(2) + 5 * max_rows(0) + 64;
    case Op::rms_norm_gain: case Op::layer_norm_gain: return 2 * value_size(0) * max_rows(0) * (ins.operands[0].cols / ins.ints[0]);
    case Op::kv_append: return 2 * static_cast<std::int64_t>(align_up(static_cast<std::uint64_t>(ins.ints[1]), 16));
    case Op::attention: return kv_capacity * (value_size(0) + 4) + 128 * value_size(0) + 6 * static_cast<std::int64_t>(align_up(static_cast<std::uint64_t>(ins.ints[2]), 16));
    case Op::attention_rows: {
      const std::int64_t n = static_cast<std::int64_t>(align_up(static_cast<std::uint64_t>(max_rows(0)), 64));
      return n * (ins.ints[2] + 1) * value_size(0) + 4 * n + 128 * value_size(0);
    }
    case Op::attention_back: {
      const std::int64_t n = static_cast<std::int64_t>(align_up(static_cast<std::uint64_t>(max_rows(0)), 64));
      return (2 * n * ins.ints[2] + 2 * n * n) * value_size(0);
    }
    default: return 0;
  }
}

}  // namespace

Executor::Executor(Program program, WeightLookup weights, ThreadPool& pool) : loom::Executor(std::move(program), std::move(weights)), pool_(pool) {}
Executor::~Executor() = default;

std::int64_t Executor::weight_bytes() const { return prepared_->bytes(); }

Result<std::unique_ptr<Executor>> Executor::create(Program program, WeightLookup weights, ThreadPool& pool, const ExecutorOptions& options) {
  LOOM_TRY(verify(program));
  if (options.fuse) rewrite_windows(program);
  std::unique_ptr<Executor> executor(new Executor(std::move(program), std::move(weights), pool));
  LOOM_TRY(executor->plan(options));
  return executor;
}

Status Executor::plan(const ExecutorOptions& options) {
  LOOM_ASSIGN(kernels_, select_kernels(options.isa));
  poison_ = options.poison;
  // Long enough that what follows a product (activation, add) rarely waits for a place.
  constexpr int kLinger = 4;
  placement_ = place_buffers(program_, options.fuse && pool_.size() > 1 ? kLinger : 0);
  schedule_ = Schedule(program_, pool_.size(), options.fuse);
  data_.assign(program_.buffers.size(), nullptr);
  LOOM_TRY(plan_states(options));

  const std::int64_t capacity = pages_per_sequence_ * 64;
  const bool updates = std::any_of(program_.buffers.begin(), program_.buffers.end(), [](const Buffer& b) { return b.kind == BufferKind::master; });
  for (const Instruction& ins : program_.code) scratch_bytes_ = std::max(scratch_bytes_, scratch_of(program_, ins, capacity, updates));
  scratch_bytes_ = static_cast<std::int64_t>(align_up(static_cast<std::uint64_t>(scratch_bytes_), 64)) + 128;
  const std::int64_t own_bytes = scratch_bytes_ + schedule_.private_bytes();
  const std::int64_t total = placement_.arena_bytes + own_bytes * pool_.size();
  arena_ = aligned_zeros(total);
  if (!arena_) return Status(Code::out_of_memory, "session: no memory for an arena of " + std::to_string(total) + " bytes");
  for (std::size_t b = 0; b < data_.size(); ++b)
    if (placement_.offset[b] >= 0) data_[b] = arena_.get() + placement_.offset[b];

  // Weights: which forms are read.
  prepared_ = std::make_unique<PreparedWeights>(program_.buffers.size());
  for (const Instruction& ins : program_.code) {
    for (std::size_t i = 0; i < info(ins.op).operands.size(); ++i) {
      const View& v = ins.operands[i];
      if (!v.valid()) continue;
      const Buffer& b = program_.buffers[static_cast<std::size_t>(v.buffer)];
      if (b.kind != BufferKind::weight && b.kind != BufferKind::master) continue;
      LOOM_ASSIGN(WeightStore* const store, parameter(b));
      const std::string name = b.path + ":" + b.role;
      if (b.kind == BufferKind::master) {
        const bool f64 = b.type == ValueType::f64;
        data_[static_cast<std::size_t>(v.buffer)] = f64 ? reinterpret_cast<std::byte*>(store->mutable_master64().data()) : reinterpret_cast<std::byte*>(store->mutable_master().data());
        if (!data_[static_cast<std::size_t>(v.buffer)]) return Status(Code::invalid_argument, "parameter " + name + ": training needs its " + (f64 ? "f64" : "f32") + " master, which was dropped");
        continue;
      }
      const bool matrix = i == 0 && is_weight_matrix(ins.op), dense = reads_dense(ins.op) || in_window(ins);
      if (matrix && b.type == ValueType::f32 && product_form(store->format()) != product_form(b.format))
        return Status(Code::invalid_argument, "parameter " + name + ": the program multiplies " + to_string(b.format) + ", the network has " + to_string(store->format()));
      prepared_->add(v.buffer, store, b.type, {.panels = matrix && !dense, .dense = matrix && dense, .vector = !matrix, .copies = matrix && copies_panels(program_, ins)});
    }
  }
  for (const Buffer& b : program_.buffers) {
    if (b.kind != BufferKind::master) continue;
    LOOM_ASSIGN(WeightStore* const store, parameter(b));
    prepared_->updates(store);
  }
  LOOM_TRY(refresh());
  for (std::size_t b = 0; b < data_.size(); ++b)
    if (program_.buffers[b].kind == BufferKind::weight) data_[b] = prepared_->vector(static_cast<BufferId>(b));
  return resolve();
}

Status Executor::plan_states(const ExecutorOptions& options) {
  LOOM_TRY(plan_pages(options.sequences));
  plan_limits();
  states_.clear();
  for (std::size_t b = 0; b < program_.buffers.size(); ++b) {
    const Buffer& buffer = program_.buffers[b];
    const auto id = static_cast<BufferId>(b);
    if (buffer.kind == BufferKind::constant) {
      states_.push_back(aligned_zeros(buffer_bytes(program_, id)));
      if (!states_.back()) return Status(Code::out_of_memory, "session: no memory for a constant table");
      data_[b] = states_.back().get();
      if (buffer.constant.kind != ConstantKind::rope) {
        const std::vector<std::int32_t> table = places_table(buffer.constant.reals, buffer.constant.kind == ConstantKind::uses);
        std::memcpy(data_[b], table.data(), table.size() * sizeof table[0]);
        continue;
      }
      LOOM_ASSIGN(const RopeSpec spec, RopeSpec::from_reals(buffer.constant.reals));
      if (buffer.type == ValueType::f64) fill_rope_table(spec, program_.max_rows(id), buffer.cols, placement_.stride[b], reinterpret_cast<double*>(data_[b]));
      else fill_rope_table(spec, program_.max_rows(id), buffer.cols, placement_.stride[b], reinterpret_cast<float*>(data_[b]));
    } else if (buffer.kind == BufferKind::state) {
      states_.push_back(aligned_zeros(buffer_bytes(program_, id)));
      if (!states_.back()) return Status(Code::out_of_memory, "session: no memory for the state " + buffer.path + ":" + buffer.role + " of " + std::to_string(buffer_bytes(program_, id)) + " bytes");
      data_[b] = states_.back().get();
      state_bytes_ += buffer_bytes(program_, id);
    }
  }
  return {};
}

Status Executor::resolve() {
  steps_.clear();
  measured_.assign(program_.registers.size(), 0);
  for (const Instruction& ins : program_.code) {
    const OpInfo& op = info(ins.op);
    Step step;
    step.instruction = &ins;
    ValueType result = ValueType::f32;
    bool packed_state = false;
    for (std::size_t i = 0; i < op.operands.size(); ++i) {
      const View& v = ins.operands[i];
      step.args.has[i] = v.valid();
      if (!v.valid()) continue;
      const auto b = static_cast<std::size_t>(v.buffer);
      const Buffer& buffer = program_.buffers[b];
      TensorArg& t = step.args.t[i];
      t.stride = placement_.stride[b];
      t.cols = v.cols;
      t.data = reinterpret_cast<char*>(data_[b]) + v.col * element_size(buffer.type);
      step.private_at[i] = schedule_.private_offset(v.buffer) + v.col * element_size(buffer.type);
      if (op.operands[i].role != Role::read) result = buffer.type;
      if (program_.measured(v.buffer) != kNone && !(ins.op == Op::route_rows && i == 1)) step.measured_operands |= static_cast<std::uint16_t>(1u << i);
      packed_state |= buffer.kind == BufferKind::state && buffer.type == ValueType::q15;
    }
    // The type a kernel works in is its result's; packing ops are named by their source, as are places.
    if (ins.op == Op::route_rows) {
      result = program_.buffers[static_cast<std::size_t>(ins.operands[0].buffer)].type;
      step.args.measured = &measured_[static_cast<std::size_t>(ins.registers[0])];
    }
    const auto n = static_cast<std::size_t>(ins.op);
    step.kernel = result == ValueType::f64 ? kernels_->f64[n] : kernels_->f32[n];
    if (result == ValueType::f32 && (ins.op == Op::matmul || ins.op == Op::gather)) {
      const int form = product_form(program_.buffers[static_cast<std::size_t>(ins.operands[0].buffer)].format);
      if (ins.op == Op::matmul) step.kernel = kernels_->matmul[form];
      else if (form == kBlockForm) step.kernel = kernels_->gather_blocks;
      else if (form != kFloatForm) step.kernel = kernels_->gather_packed;
    }
    if (packed_state) step.kernel = kernels_->q15[n];
    if (in_window(ins)) step.kernel = ins.op == Op::unfold ? kernels_->unfold_padded : ins.op == Op::matmul ? kernels_->matmul_window : ins.op == Op::matmul_t ? kernels_->matmul_t_fold : kernels_->outer_add_window;
    if (!step.kernel) return Status(Code::unsupported, "the op " + std::string(op.name) + " has no kernel for " + std::string(name(result)) + " in " + kernels_->isa);
    if (is_weight_matrix(ins.op)) step.args.weight = prepared_->arg(ins.operands[0].buffer);
    std::copy(ins.ints.begin(), ins.ints.end(), step.args.ints);
    std::copy(ins.reals.begin(), ins.reals.end(), step.args.reals);
    step.args.page_table = page_table_.data();
    step.args.pages_per_sequence = pages_per_sequence_;
    steps_.push_back(step);
  }
  return {};
}

Status Executor::refresh() { return prepared_->refresh(pool_); }

std::span<std::byte> Executor::state(BufferId id) {
  const Buffer& b = program_.buffers[static_cast<std::size_t>(id)];
  return {data_[static_cast<std::size_t>(id)], static_cast<std::size_t>(program_.max_rows(id) * placement_.stride[static_cast<std::size_t>(id)] * element_size(b.type))};
}

// The schedule is one for the whole team; a worker alone keeps to its order, and needs no barriers.
void Executor::work(void* context, int worker, int workers) {
  auto* self = static_cast<Executor*>(context);
  char* copies = reinterpret_cast<char*>(self->arena_.get() + self->placement_.arena_bytes + worker * (self->scratch_bytes_ + self->schedule_.private_bytes()));
  for (std::size_t n = self->run_begin_; n < self->run_end_; ++n) {
    const Step& step = self->steps_[n];
    KernelArgs args = step.args;
    for (unsigned left = step.private_operands; left != 0; left &= left - 1) {
      const int i = std::countr_zero(left);
      args.t[i].data = copies + step.private_at[i];
    }
    if (step.barrier && workers > 1 && n > self->run_begin_) self->pool_.meet(worker);
    for (unsigned left = step.measured_operands; left != 0; left &= left - 1) {
      const int i = std::countr_zero(left);
      args.t[i].rows = self->program_.rows(step.instruction->operands[static_cast<std::size_t>(i)].buffer, self->measured_);
    }
    args.scratch = copies + self->schedule_.private_bytes();
    args.worker = step.whole ? 0 : worker;
    args.workers = step.whole ? 1 : workers;
    step.kernel(args);
  }
}

// The row counts of a run, and with them its barriers.
void Executor::bind_registers() {
  bound_counts();
  if (bound_ && u32_ == bound_u32_ && f32_ == bound_f32_) return;
  bound_ = true;
  bound_u32_ = u32_;
  bound_f32_ = f32_;
  // A segment that runs by itself has the counts of the run before.
  for (std::size_t i = 0; i < u32_.size(); ++i)
    measured_[i] = program_.registers[i].type == RegisterType::measured ? std::min(measured_[i], u32_[i]) : u32_[i];
  schedule_.update(u32_, data_);
  for (std::size_t n = 0; n < steps_.size(); ++n) {
    Step& step = steps_[n];
    const OpInfo& op = info(step.instruction->op);
    step.barrier = schedule_.barrier_before(n);
    step.whole = schedule_.whole(n);
    step.private_operands = 0;
    for (std::size_t i = 0; i < op.operands.size(); ++i) {
      if (!step.args.has[i]) continue;
      const BufferId buffer = step.instruction->operands[i].buffer;
      step.args.t[i].rows = program_.rows(buffer, u32_);
      if (schedule_.is_private(buffer)) step.private_operands |= static_cast<std::uint16_t>(1u << i);
    }
    for (std::size_t i = 0; i < op.registers.size(); ++i) {
      const auto reg = static_cast<std::size_t>(step.instruction->registers[i]);
      step.args.u32s[i] = u32_[reg];
      step.args.f32s[i] = f32_[reg];
    }
  }
}

std::int64_t Executor::barriers() const {
  return std::count_if(steps_.begin(), steps_.end(), [](const Step& s) { return s.barrier; });
}

Status Executor::run(Segment first, Segment last) {
  [[maybe_unused]] const FpEnvGuard fp;
  if (first == Segment::forward) {
    LOOM_TRY(check_inputs());
    settle_inputs();
  }
  // Segments stand in order, so the range is one stretch.
  run_begin_ = 0;
  while (run_begin_ < steps_.size() && steps_[run_begin_].instruction->segment < first) ++run_begin_;
  run_end_ = run_begin_;
  while (run_end_ < steps_.size() && steps_[run_end_].instruction->segment <= last) ++run_end_;
  bind_registers();
  if (poison_ && first == Segment::forward) {
    for (std::size_t b = 0; b < program_.buffers.size(); ++b)
      if (program_.buffers[b].kind == BufferKind::temp && data_[b]) std::memset(data_[b], 0xFF, static_cast<std::size_t>(buffer_bytes(program_, static_cast<BufferId>(b))));
    for (int worker = 0; worker < pool_.size(); ++worker)
      std::memset(arena_.get() + placement_.arena_bytes + worker * (scratch_bytes_ + schedule_.private_bytes()), 0xFF, static_cast<std::size_t>(schedule_.private_bytes()));
  }
  pool_.run(&Executor::work, this);
  return {};
}

}  // namespace loom::cpu
