// What replays a Program: cpu::Executor on threads, webgpu::Executor on a device. Planning happens
// in their create(); a run allocates nothing. The host sees inputs, outputs, gradients and states
// as rows of its memory, with any executor. One run at a time.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "numeric/weight_store.h"
#include "ops/program.h"

namespace loom {

// The parameter a weight or master buffer names; null where the network has none of that name.
using WeightLookup = std::function<WeightStore*(std::string_view path, std::string_view role)>;

namespace gpu {
class Device;
}
class ThreadPool;
class Executor;

struct Draw;

struct ExecutorOptions {
  gpu::Device* device = nullptr;  // null: the CPU. It must outlive the executor
  std::string_view isa;           // CPU: "" is the best here
  std::int64_t sequences = 1;     // that the KV states are divided among
  bool fuse = true;  // CPU: false is a barrier after every instruction, the definition that
                     // schedule.h must equal
  std::int64_t block_rows = 0;  // no run ends before backward does, so that a loss of classes may
                                // compute as many rows at a time (lowering/lowered.h); 0: all
  bool poison =
      false;  // fill the arena with NaN before each run: what a kernel reads unwritten shows
  const std::atomic<bool>* cancel = nullptr;  // set: the run ends as cancelled (Executor::run)
  Executor* states =
      nullptr;  // CPU: its states are this one's too, by their ids; it must outlive it
};

class Executor {
 public:
  // Verifies the program, then plans it on the pool or the device. `weights` is called now and in
  // refresh(); the stores must outlive the executor.
  static Result<std::unique_ptr<Executor>> create(Program program, WeightLookup weights,
                                                  ThreadPool& pool,
                                                  const ExecutorOptions& options = {});
  virtual ~Executor() = default;

  const Program& program() const { return program_; }
  // The instruction set or the device that computes.
  virtual std::string_view target() const = 0;
  // What separates the instructions of a run, as the last one had it: barriers of the team, or
  // dispatches.
  virtual std::int64_t barriers() const = 0;
  // Instructions that it runs, after lowering.
  virtual std::size_t instructions() const = 0;
  virtual std::int64_t arena_bytes() const = 0;
  virtual std::int64_t scratch_bytes() const { return 0; }  // beside the arena
  virtual std::int64_t state_bytes() const = 0;
  virtual std::int64_t weight_bytes()
      const = 0;  // prepared forms made by this executor, beyond what the stores hold

  // Registers by id (Program::find_register). A u32 above its declared maximum is out_of_range, one
  // that the run measures invalid_argument.
  Status set(RegisterId id, std::uint32_t value);
  // An instruction that computes in f32 rounds it.
  void set_real(RegisterId id, double value) { reals_[static_cast<std::size_t>(id)] = value; }
  std::uint32_t get(RegisterId id) const { return u32_[static_cast<std::size_t>(id)]; }

  // Row r of an input, output, grad or state buffer: cols values of the buffer's type. Where a
  // device computes this is a copy, valid until the next run; what the host writes to inputs and
  // states counts from that run on.
  template <class T>
  std::span<T> row(BufferId id, std::int64_t r) {
    return {reinterpret_cast<T*>(row_bytes(id, r)),
            static_cast<std::size_t>(program_.buffers[static_cast<std::size_t>(id)].cols)};
  }
  virtual std::byte* row_bytes(BufferId id, std::int64_t r) = 0;
  // The bytes of a state buffer, all rows.
  virtual std::span<std::byte> state(BufferId id) = 0;
  // Page `page` of the pool holds block `block` of 64 positions of a sequence. Initially page =
  // sequence * pages + block.
  std::span<std::uint32_t> page_table() { return page_table_; }
  std::int64_t pages_per_sequence() const { return pages_per_sequence_; }

  // Runs the instructions of segments [first, last]. Host-written indices are checked against their
  // limits first. Errors: cancelled, where the flag of the options is set: on the CPU between
  // instructions, on a device between submits. What was written until then is not to be used.
  // Updates are not cancelled: masters and moments change together.
  virtual Status run(Segment first = Segment::forward, Segment last = Segment::update) = 0;
  // The same in slices, with the same bits. False: `deadline` (of slice_clock()) passed between two
  // instructions, of which each call runs at least one, and resume() continues there. Until it is
  // done registers, inputs, states and weights must stay as they are; another run() drops it. A
  // device, and a CPU with a watcher, run all of it at once.
  virtual Result<bool> run_until(Segment first, Segment last, std::int64_t deadline);
  virtual Result<bool> resume(std::int64_t deadline);
  // Nanoseconds of a clock that only goes forward.
  static std::int64_t slice_clock();
  static constexpr std::int64_t kNoDeadline = INT64_MAX;
  // Who reads buffers while they are warm: `written` is called by every worker between two steps of
  // a run, when buffer `buffers[index]` has its last value of that run; of those that the last
  // steps write it is not called. Buffers must outlive the run's end (outputs). False: this
  // executor does not call it.
  struct Watcher {
    std::vector<BufferId> buffers;
    void (*written)(void* context, std::size_t index, int worker, int workers) noexcept = nullptr;
    void* context = nullptr;
  };
  virtual bool watch(Watcher) { return false; }
  // Whether the last run got as far as its instructions: states may have changed, though it failed.
  bool began() const { return began_; }
  // Decoding of one row without the host between the steps, where `resident`. Each step runs, makes
  // the id that `draw` picks from output "y" the id of input "ids", and adds one to the position;
  // `picked` are the ids so found, at most kMaxPicked. One is ~0 after a row without a finite
  // maximum. The inputs are set as for run(); the output is that of the last step.
  static constexpr std::size_t kMaxPicked = 64;
  virtual bool resident() const { return false; }
  virtual Status run_ahead(const Draw& draw, std::span<std::uint32_t> picked);
  // Prepares again the weights whose store changed (after an update or a morph to a format of the
  // same arithmetic class).
  virtual Status refresh() = 0;
  // The same until a deadline (of slice_clock()), weight by weight, at least one of them; false:
  // there are more. A device prepares all at once.
  virtual Result<bool> refresh_until(std::int64_t deadline);
  // Brings the masters of the stores up to date with what update segments computed. On the CPU they
  // are the same memory.
  virtual Status sync() { return {}; }
  // Whether masters learn on a device: what sync() brings.
  virtual bool keeps_masters() const { return false; }

 protected:
  Executor(Program program, WeightLookup weights, const std::atomic<bool>* cancel)
      : program_(std::move(program)),
        lookup_(std::move(weights)),
        u32_(program_.registers.size(), 0),
        reals_(program_.registers.size(), 0.0),
        cancel_(cancel),
        updates_(has_updates(program_)) {}

  // The pages of the KV states, divided among the sequences, and the limits of the indices that the
  // host writes.
  Status plan_pages(std::int64_t sequences);
  void plan_limits();
  void add_limit(const Instruction& ins, BufferId indices, std::string_view below);
  Status check_inputs();
  // The flag, for a run that ends with this segment.
  bool cancelled(Segment last) const {
    return cancel_ && (last < Segment::update || !updates_) &&
           cancel_->load(std::memory_order_relaxed);
  }
  static Status cancelled_run() { return Status(Code::cancelled, "the run was cancelled"); }
  // What the host wrote becomes what an instruction would have stored.
  void settle_inputs();
  virtual void settle(float* values, std::int64_t rows, std::int64_t cols, std::int64_t stride);
  // Measured registers get the most that they may become in a run of the others' values.
  void bound_counts();
  // The store a parameter buffer names, of the shape and arithmetic form that the program expects.
  Result<WeightStore*> parameter(const Buffer& buffer) const;

  Program program_;
  WeightLookup lookup_;
  std::vector<std::uint32_t> u32_;  // per register
  std::vector<double> reals_;
  std::vector<std::uint32_t> page_table_;
  std::int64_t pages_per_sequence_ = 0, sequences_ = 1;
  const std::atomic<bool>* const cancel_;
  bool began_ = false;

 private:
  static bool has_updates(const Program& program);
  const bool updates_;  // the program has instructions of the update segment
  // An index the host writes: every value of `buffer` must be below `limit` (of rows of `rows_of`,
  // where that is a buffer).
  struct Limit {
    BufferId buffer;
    std::int64_t limit;
    BufferId rows_of;
    bool is_signed;  // targets: negative means "leave out"
  };
  std::vector<Limit> limits_;
};

}  // namespace loom
