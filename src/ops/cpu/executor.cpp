#include "ops/cpu/executor.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "base/files/bytes.h"
#include "base/math/fp_env.h"
#include "ops/elementwise/activation_ids.h"
#include "ops/lowering/lowered.h"
#include "ops/lowering/prepared_weights.h"

namespace loom::cpu {

struct Executor::Step {
  Kernel kernel = nullptr;
  const LoweredInstruction* instruction = nullptr;
  KernelArgs args;
  // Of this run: operands that are read or written there, whether every worker computes all of it,
  // whether all wait for one another first.
  std::uint16_t private_operands = 0;
  std::uint16_t dynamic_operands = 0;  // whose rows the run measures
  bool whole = false, barrier = true, empty = false;
  const CustomLayer* call = nullptr;  // whose function it runs, in place of a kernel
};

Executor::Executor(Program program, WeightLookup weights, ThreadPool& pool,
                   const ExecutorOptions& options)
    : loom::Executor(std::move(program), std::move(weights), options.cancel), pool_(pool) {}
Executor::~Executor() = default;

std::int64_t Executor::weight_bytes() const { return prepared_->bytes(); }

Result<std::unique_ptr<Executor>> Executor::create(Program program, WeightLookup weights,
                                                   ThreadPool& pool,
                                                   const ExecutorOptions& options) {
  LOOM_TRY(verify(program));
  std::unique_ptr<Executor> executor(
      new Executor(std::move(program), std::move(weights), pool, options));
  LOOM_TRY(executor->plan(options));
  return executor;
}

Status Executor::plan(const ExecutorOptions& options) {
  LOOM_ASSIGN(kernels_, select_kernels(options.isa));
  poison_ = options.poison;
  lowered_ = lower(program_);
  if (options.fuse) {
    drop_copies(lowered_);
    fuse_convolutions(lowered_);
  }
  if (options.fuse && options.block_rows > 0) block_rows(lowered_, options.block_rows);
  LOOM_TRY(read_held());
  // Long enough that what follows a product (activation, add) rarely waits for a place.
  constexpr int kLinger = 4;
  placement_ = place_buffers(lowered_, options.fuse && pool_.size() > 1 ? kLinger : 0);
  schedule_ = Schedule(lowered_, pool_.size(), options.fuse);
  data_.assign(lowered_.buffers.size(), nullptr);
  LOOM_TRY(plan_states(options));

  const bool updates = std::any_of(lowered_.buffers.begin(), lowered_.buffers.end(),
                                   [](const Buffer& b) { return b.kind == BufferKind::master; });
  for (const LoweredInstruction& ins : lowered_.code) {
    const auto scratch = traits(ins.op).scratch;
    if (scratch)
      scratch_bytes_ = std::max(
          scratch_bytes_, scratch({lowered_, ins, pages_per_sequence_ * 64, updates}).worker_bytes);
  }
  scratch_bytes_ =
      static_cast<std::int64_t>(align_up(static_cast<std::uint64_t>(scratch_bytes_), 64)) + 128;
  const std::int64_t own_bytes = scratch_bytes_ + schedule_.private_bytes();
  const std::int64_t total = placement_.arena_bytes + own_bytes * pool_.size();
  arena_ = aligned_zeros(total);
  if (!arena_)
    return Status(Code::out_of_memory,
                  "session: no memory for an arena of " + std::to_string(total) + " bytes");
  for (std::size_t b = 0; b < data_.size(); ++b)
    if (placement_.offset[b] >= 0) data_[b] = arena_.get() + placement_.offset[b];
  LOOM_TRY(plan_weights());
  return resolve();
}

// The address that the alternative in use has, for kernels.
static const void* address_of(const Attributes& attributes) {
  return std::visit([](const auto& a) { return static_cast<const void*>(&a); }, attributes);
}

// Where the operands of an instruction lie.
Status Executor::resolve_operands(const LoweredInstruction& ins, Step& step) {
  const auto& roles = operands(ins.op);
  ValueType result = ValueType::f32;
  for (std::size_t i = 0; i < roles.size(); ++i) {
    const View& v = ins.operands[i];
    step.args.has[i] = v.valid();
    if (!v.valid()) continue;
    const auto b = static_cast<std::size_t>(v.buffer);
    const Buffer& buffer = lowered_.buffers[b];
    TensorArg& t = step.args.t[i];
    t.stride = placement_.stride[b];
    t.cols = v.cols;
    const std::int64_t row = lowered_.rows_in(ins, v.buffer, u32_).first;
    t.data =
        reinterpret_cast<char*>(data_[b]) + (row * t.stride + v.col) * element_size(buffer.type);
    if (roles[i].role != Role::read) result = buffer.type;
    // What is written with a measure has its rows from it.
    if (lowered_.dynamic_rows(v.buffer) != kNone && !(ins.op == LoweredOp::route_rows && i == 1))
      step.dynamic_operands |= static_cast<std::uint16_t>(1u << i);
  }
  // The type a kernel works in is its result's; packing ops are named by their source, as are
  // places.
  if (ins.op == LoweredOp::route_rows) {
    result = lowered_.buffers[static_cast<std::size_t>(ins.operands[0].buffer)].type;
    step.args.dynamic_rows = &dynamic_rows_[static_cast<std::size_t>(ins.registers[0])];
  }
  if (ins.op == LoweredOp::call || ins.op == LoweredOp::call_back) return resolve_call(ins, step);
  const auto n = static_cast<std::size_t>(ins.op);
  step.kernel = result == ValueType::f64 ? kernels_->f64[n] : kernels_->f32[n];
  if (step.kernel) return {};
  return Status(Code::unsupported, "the op " + std::string(name(ins.op)) + " has no kernel for " +
                                       std::string(name(result)) + " in " + kernels_->isa);
}

Status Executor::resolve_call(const LoweredInstruction& ins, Step& step) {
  const Call& call = lowered_.calls[static_cast<std::size_t>(ins.ints[0])];
  LOOM_ASSIGN(CustomLayerPtr layer, find_custom_layer(call.name, call.version));
  step.call = layer.get();
  called_.push_back(std::move(layer));
  return {};
}

// By the thread that runs the program. What a function that fails has written is not used: the run
// ends with its error, and the functions behind it are not called.
void Executor::call(const Step& step, const KernelArgs& args) noexcept {
  if (!failed_.ok()) return;
  const LoweredInstruction& ins = *step.instruction;
  const bool back = ins.op == LoweredOp::call_back;
  CallArrays arrays;
  const Call& of = lowered_.calls[static_cast<std::size_t>(ins.ints[0])];
  arrays.config = of.config;
  arrays.path = of.path;
  const auto array = [&](std::size_t i) -> CallArray {
    const TensorArg& t = args.t[i];
    const Buffer& b = lowered_.buffers[static_cast<std::size_t>(ins.operands[i].buffer)];
    return {t.data, t.rows, t.cols, b.kind == BufferKind::weight ? t.cols : t.stride};
  };
  arrays.f64 =
      lowered_.buffers[static_cast<std::size_t>(ins.operands[0].buffer)].type == ValueType::f64;
  arrays.x = array(0);
  arrays.y = array(back ? 1 : 5);
  if (back) arrays.gy = array(2), arrays.gx = array(7);
  for (std::size_t i = 0; i < kMaxCallParams && args.has[(back ? 3 : 1) + i]; ++i) {
    arrays.params[i] = array((back ? 3 : 1) + i);
    if (back) arrays.gparams[i] = array(8 + i);
    arrays.param_count = i + 1;
  }
  failed_ = run_call(*step.call, arrays, back);
}

Status Executor::resolve() {
  steps_.clear();
  steps_.reserve(lowered_.code.size());
  dynamic_rows_.assign(lowered_.registers.size(), 0);
  for (const LoweredInstruction& ins : lowered_.code) {
    Step step;
    step.instruction = &ins;
    LOOM_TRY(resolve_operands(ins, step));
    if (traits(ins.op).weight != WeightUse::none)
      step.args.weight = prepared_->arg(ins.operands[0].buffer);
    step.args.attributes = address_of(ins.attributes);
    std::copy(ins.ints.begin(), ins.ints.end(), step.args.ints);
    std::copy(ins.reals.begin(), ins.reals.end(), step.args.reals);
    step.args.page_table = page_table_.data();
    step.args.pages_per_sequence = pages_per_sequence_;
    steps_.push_back(step);
  }
  return {};
}

Status Executor::refresh() { return prepared_->refresh(pool_); }

Result<bool> Executor::refresh_until(std::int64_t deadline) {
  if (deadline == kNoDeadline) {
    LOOM_TRY(refresh());
    return true;
  }
  while (true) {
    LOOM_ASSIGN(const bool all, prepared_->refresh_one(pool_));
    if (all || slice_clock() >= deadline) return all;
  }
}

std::span<std::byte> Executor::state(BufferId id) {
  const Buffer& b = lowered_.buffers[static_cast<std::size_t>(id)];
  return {data_[static_cast<std::size_t>(id)],
          static_cast<std::size_t>(lowered_.max_rows(id) *
                                   placement_.stride[static_cast<std::size_t>(id)] *
                                   element_size(b.type))};
}

// Whether the run ends before the next step, for its first worker.
bool Executor::stops() {
  if (cancelled(run_last_)) cancelled_ = true;
  return cancelled_ || (deadline_ != kNoDeadline && slice_clock() >= deadline_);
}

// Before a step; false: the run ends here. A team ends at one barrier, which its first worker
// names, so that none waits for one that has left; a worker alone looks before each step.
bool Executor::meet(std::size_t step, bool barrier, int worker, int workers) {
  if (step == run_begin_ || (workers > 1 && !barrier)) return true;
  if (worker == 0 && stops()) stop_at_.store(step, std::memory_order_relaxed);
  if (workers > 1) pool_.meet(worker);
  return stop_at_.load(std::memory_order_relaxed) > step;
}

// The schedule is one for the whole team; a worker alone keeps to its order, and needs no barriers.
void Executor::work(void* context, int worker, int workers) noexcept {
  auto* self = static_cast<Executor*>(context);
  char* copies =
      reinterpret_cast<char*>(self->arena_.get() + self->placement_.arena_bytes +
                              worker * (self->scratch_bytes_ + self->schedule_.private_bytes()));
  std::size_t watched = self->first_watched();
  for (std::size_t n = self->run_begin_; n < self->run_end_; ++n) {
    const Step& step = self->steps_[n];
    KernelArgs args = step.args;
    for (unsigned left = step.private_operands; left != 0; left &= left - 1) {
      const int i = std::countr_zero(left);
      const View& v = step.instruction->operands[static_cast<std::size_t>(i)];
      args.t[i].data =
          copies + self->schedule_.private_offset(v.buffer) +
          v.col * element_size(self->lowered_.buffers[static_cast<std::size_t>(v.buffer)].type);
    }
    if (!self->meet(n, step.barrier, worker, workers)) return;
    if (workers == 1 || step.barrier) watched = self->tell(watched, n, worker, workers);
    for (unsigned left = step.dynamic_operands; left != 0; left &= left - 1) {
      const int i = std::countr_zero(left);
      args.t[i].rows = self->lowered_.rows(
          step.instruction->operands[static_cast<std::size_t>(i)].buffer, self->dynamic_rows_);
    }
    if (step.empty) continue;
    args.scratch = copies + self->schedule_.private_bytes();
    args.worker = step.whole ? 0 : worker;
    args.workers = step.whole ? 1 : workers;
    if (step.kernel) step.kernel(args);
    else if (worker == 0) self->call(step, args);
  }
}

bool Executor::watch(Watcher watcher) {
  watcher_ = std::move(watcher);
  watched_.clear();
  for (std::size_t i = 0; i < watcher_.buffers.size(); ++i) {
    std::size_t last = steps_.size();
    for (std::size_t n = 0; n < steps_.size(); ++n) {
      const LoweredInstruction& ins = *steps_[n].instruction;
      const auto roles = operands(ins.op);
      for (std::size_t k = 0; k < roles.size(); ++k)
        if (ins.operands[k].buffer == watcher_.buffers[i] && roles[k].role != Role::read) last = n;
    }
    if (last < steps_.size()) watched_.push_back({last, i});
  }
  std::ranges::stable_sort(watched_, {}, &Watched::step);
  return true;
}

std::size_t Executor::first_watched() const {
  std::size_t first = 0;
  while (first < watched_.size() && watched_[first].step < run_begin_) ++first;
  return first;
}

// Of what is complete before a step, from `next` on; returns what is still to come.
std::size_t Executor::tell(std::size_t next, std::size_t step, int worker, int workers) {
  for (; next < watched_.size() && watched_[next].step < step; ++next)
    watcher_.written(watcher_.context, watched_[next].index, worker, workers);
  return next;
}

// The row counts of a run, and with them its barriers.
void Executor::bind_registers() {
  bound_counts();
  if (bound_ && u32_ == bound_u32_ && reals_ == bound_reals_) return;
  bound_ = true;
  bound_u32_ = u32_;
  bound_reals_ = reals_;
  // A segment that runs by itself has the counts of the run before.
  for (std::size_t i = 0; i < u32_.size(); ++i)
    dynamic_rows_[i] = lowered_.registers[i].type == RegisterType::dynamic_rows
                           ? std::min(dynamic_rows_[i], u32_[i])
                           : u32_[i];
  schedule_.update(u32_, data_);
  for (std::size_t n = 0; n < steps_.size(); ++n) {
    Step& step = steps_[n];
    const std::size_t count = operands(step.instruction->op).size();
    step.barrier = schedule_.barrier_before(n);
    step.whole = schedule_.whole(n);
    const std::int32_t block = step.instruction->block;
    step.empty = !lowered_.has_rows(block, u32_);
    step.args.partial = block != kNone && lowered_.has_rows(block + 1, u32_);
    step.private_operands = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (!step.args.has[i]) continue;
      const BufferId buffer = step.instruction->operands[i].buffer;
      step.args.t[i].rows = lowered_.rows_in(*step.instruction, buffer, u32_).count;
      if (schedule_.is_private(buffer))
        step.private_operands |= static_cast<std::uint16_t>(1u << i);
    }
    for (std::size_t i = 0; i < step.instruction->registers.size(); ++i) {
      if (step.instruction->registers[i] == kNone) continue;
      const auto reg = static_cast<std::size_t>(step.instruction->registers[i]);
      step.args.u32s[i] = u32_[reg];
      step.args.register_reals[i] = reals_[reg];
    }
  }
}

std::int64_t Executor::barriers() const {
  return std::count_if(steps_.begin(), steps_.end(), [](const Step& s) { return s.barrier; });
}

// As a kernel of the instruction set: all values of all inputs go through here.
void Executor::settle(float* values, std::int64_t rows, std::int64_t cols, std::int64_t stride) {
  KernelArgs args{};
  args.t[0] = args.t[1] = {reinterpret_cast<char*>(values), rows, cols, stride};
  args.ints[0] = static_cast<i64>(Activation::linear);
  kernels_->f32[static_cast<std::size_t>(LoweredOp::activation)](args);
}

Status Executor::run(Segment first, Segment last) {
  return run_until(first, last, kNoDeadline).status();
}

Result<bool> Executor::run_until(Segment first, Segment last, std::int64_t deadline) {
  [[maybe_unused]] const FpEnvGuard fp;
  began_ = paused_ = false;
  if (cancelled(last)) return cancelled_run();
  if (first == Segment::forward) {
    LOOM_TRY(check_inputs());
    settle_inputs();
  }
  // Segments stand in order, so the range is one stretch.
  run_begin_ = 0;
  while (run_begin_ < steps_.size() && steps_[run_begin_].instruction->segment < first)
    ++run_begin_;
  run_end_ = run_begin_;
  while (run_end_ < steps_.size() && steps_[run_end_].instruction->segment <= last) ++run_end_;
  bind_registers();
  if (poison_ && first == Segment::forward) {
    for (std::size_t b = 0; b < lowered_.buffers.size(); ++b)
      if (lowered_.buffers[b].kind == BufferKind::temp && data_[b])
        std::memset(data_[b], 0xFF,
                    static_cast<std::size_t>(buffer_bytes(lowered_, static_cast<BufferId>(b))));
    for (int worker = 0; worker < pool_.size(); ++worker)
      std::memset(arena_.get() + placement_.arena_bytes +
                      worker * (scratch_bytes_ + schedule_.private_bytes()),
                  0xFF, static_cast<std::size_t>(schedule_.private_bytes()));
  }
  failed_ = {};
  began_ = true;
  run_last_ = last;
  return resume_at(deadline);
}

// Steps from run_begin_ on.
Result<bool> Executor::resume_at(std::int64_t deadline) {
  deadline_ = watched_.empty() ? deadline : kNoDeadline;
  cancelled_ = false;
  stop_at_.store(run_end_, std::memory_order_relaxed);
  pool_.run(&Executor::work, this);
  LOOM_TRY(std::exchange(failed_, {}));
  const std::size_t stopped = stop_at_.load(std::memory_order_relaxed);
  if (stopped == run_end_) {
    LOOM_TRY(prepared_->intact());
    return true;
  }
  if (cancelled_) return cancelled_run();
  paused_ = true;
  run_begin_ = stopped;
  return false;
}

Result<bool> Executor::resume(std::int64_t deadline) {
  if (!std::exchange(paused_, false)) return loom::Executor::resume(deadline);
  [[maybe_unused]] const FpEnvGuard fp;
  if (cancelled(run_last_)) return cancelled_run();
  return resume_at(deadline);
}

}  // namespace loom::cpu
