// Replays a Program on CPU threads. Planning places every buffer, prepares the weights and resolves
// each instruction to a kernel. Many executors may share weights and, in turn, a thread pool.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "base/threads/thread_pool.h"
#include "ops/cpu/isa.h"
#include "ops/cpu/schedule.h"
#include "ops/executor.h"
#include "ops/lowering/memory_planner.h"

namespace loom {
class PreparedWeights;
}
namespace loom::cpu {

class Executor final : public loom::Executor {
 public:
  // Verifies the program, then plans it. `weights` is called now and in refresh(); the stores must
  // outlive the executor.
  static Result<std::unique_ptr<Executor>> create(Program program, WeightLookup weights,
                                                  ThreadPool& pool,
                                                  const ExecutorOptions& options = {});
  ~Executor() override;

  std::string_view target() const override { return kernels_->isa; }
  std::size_t instructions() const override { return lowered_.code.size(); }
  std::int64_t arena_bytes() const override { return placement_.arena_bytes; }
  std::int64_t state_bytes() const override { return state_bytes_; }
  std::int64_t weight_bytes() const override;
  std::int64_t barriers() const override;
  std::int64_t scratch_bytes() const override { return scratch_bytes_; }
  // What the last run has measured.
  std::uint32_t dynamic_rows(RegisterId id) const {
    return dynamic_rows_[static_cast<std::size_t>(id)];
  }

  std::byte* row_bytes(BufferId id, std::int64_t r) override {
    const auto i = static_cast<std::size_t>(id);
    return data_[i] ? data_[i] + r * placement_.stride[i] * element_size(program_.buffers[i].type)
                    : nullptr;
  }
  std::span<std::byte> state(BufferId id) override;
  Status run(Segment first = Segment::forward, Segment last = Segment::update) override;
  Result<bool> run_until(Segment first, Segment last, std::int64_t deadline) override;
  Result<bool> resume(std::int64_t deadline) override;
  Status refresh() override;
  Result<bool> refresh_until(std::int64_t deadline) override;
  bool watch(Watcher watcher) override;

 private:
  struct Step;
  struct Watched {
    std::size_t step, index;  // the last step that writes it, its place in the watcher's list
  };
  Executor(Program program, WeightLookup weights, ThreadPool& pool, const ExecutorOptions& options);
  Status plan(const ExecutorOptions& options);
  Status plan_states(const ExecutorOptions& options);
  Status read_held();
  Status plan_weights();
  Status resolve();
  Status resolve_operands(const LoweredInstruction& ins, Step& step);
  Status resolve_call(const LoweredInstruction& ins, Step& step);
  void call(const Step& step, const KernelArgs& args) noexcept;
  void bind_registers();
  void settle(float* values, std::int64_t rows, std::int64_t cols, std::int64_t stride) override;
  bool meet(std::size_t step, bool barrier, int worker, int workers);
  bool stops();
  Result<bool> resume_at(std::int64_t deadline);
  static void work(void* self, int worker, int workers) noexcept;
  std::size_t first_watched() const;
  std::size_t tell(std::size_t next, std::size_t step, int worker, int workers);

  ThreadPool& pool_;
  const KernelTable* kernels_ = nullptr;
  LoweredProgram lowered_;
  Placement placement_;
  Schedule schedule_;
  std::vector<std::byte*> data_;  // per buffer
  std::unique_ptr<std::byte[], void (*)(std::byte*)> arena_{nullptr, nullptr};
  std::vector<bool> held_;  // weights of lowered_ that are read as their stores hold them
  std::unique_ptr<PreparedWeights> prepared_;
  std::vector<CustomLayerPtr> called_;  // that steps call
  Status failed_;                       // of a call in this run
  std::vector<Step> steps_;
  Watcher watcher_;
  std::vector<Watched> watched_;  // in the order of their steps
  std::vector<std::unique_ptr<std::byte[], void (*)(std::byte*)>> states_;
  std::int64_t scratch_bytes_ = 0, state_bytes_ = 0;
  bool bound_ = false;
  std::vector<std::uint32_t> bound_u32_;  // what the steps were last bound to
  std::vector<double> bound_reals_;
  std::vector<std::uint32_t> dynamic_rows_;  // the registers with what this run has measured
  std::size_t run_begin_ = 0, run_end_ = 0;
  Segment run_last_ = Segment::update;
  std::int64_t deadline_ = kNoDeadline;
  std::atomic<std::size_t> stop_at_{0};  // before which step the run is cancelled or paused
  bool cancelled_ = false, paused_ = false;
  bool poison_ = false;
};

}  // namespace loom::cpu
