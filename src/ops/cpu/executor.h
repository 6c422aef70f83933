// Replays a Program on CPU threads. Planning places every buffer, prepares the weights and resolves each instruction to a kernel;
// a run allocates nothing. One run at a time per executor; many executors may share weights and, in turn, a thread pool.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "base/thread_pool.h"
#include "numeric/weight_store.h"
#include "ops/cpu/isa.h"
#include "ops/cpu/planner.h"
#include "ops/cpu/schedule.h"
#include "ops/program.h"

namespace loom::cpu {

// The parameter a weight or master buffer names; null where the network has none of that name.
using WeightLookup = std::function<WeightStore*(std::string_view path, std::string_view role)>;

struct ExecutorOptions {
  std::string_view isa;       // "": the best here
  std::int64_t sequences = 1;  // that the KV states are divided among
  bool fuse = true;            // false: a barrier after every instruction, the definition that schedule.h must equal
  bool poison = false;         // fill the arena with NaN before each run: what a kernel reads unwritten shows
};

class PreparedWeights;

class Executor {
 public:
  // Verifies the program, then plans it. `weights` is called now and in refresh(); the stores must outlive the executor.
  static Result<std::unique_ptr<Executor>> create(Program program, WeightLookup weights, ThreadPool& pool, const ExecutorOptions& options = {});
  ~Executor();

  const Program& program() const { return program_; }
  std::string_view isa() const { return kernels_->isa; }
  std::int64_t arena_bytes() const { return placement_.arena_bytes; }
  // Barriers between the instructions of a run, as the last one had them.
  std::int64_t barriers() const;
  std::int64_t scratch_bytes() const { return scratch_bytes_; }
  std::int64_t state_bytes() const { return state_bytes_; }
  std::int64_t weight_bytes() const;  // prepared forms made by this executor, beyond what the stores hold

  // Registers by id (Program::find_register). A u32 above its declared maximum is out_of_range.
  Status set(RegisterId id, std::uint32_t value);
  void set_f32(RegisterId id, float value) { f32_[static_cast<std::size_t>(id)] = value; }
  std::uint32_t get(RegisterId id) const { return u32_[static_cast<std::size_t>(id)]; }

  // Row r of an input, output, grad or state buffer: cols values of the buffer's type.
  template <class T>
  std::span<T> row(BufferId id, std::int64_t r) {
    const auto i = static_cast<std::size_t>(id);
    return {reinterpret_cast<T*>(data_[i]) + r * placement_.stride[i], static_cast<std::size_t>(program_.buffers[i].cols)};
  }
  // The bytes of a state buffer, all rows.
  std::span<std::byte> state(BufferId id);
  // Page `page` of the pool holds block `block` of 64 positions of a sequence. Initially page = sequence * pages + block.
  std::span<std::uint32_t> page_table() { return page_table_; }
  std::int64_t pages_per_sequence() const { return pages_per_sequence_; }

  // Runs the instructions of segments [first, last]. Host-written indices are checked against their limits first.
  Status run(Segment first = Segment::forward, Segment last = Segment::update);
  // Prepares again the weights whose store changed (after an update or a morph to a format of the same arithmetic class).
  Status refresh();

 private:
  struct Step;
  struct Limit;
  Executor(Program program, WeightLookup weights, ThreadPool& pool);
  Status plan(const ExecutorOptions& options);
  Status plan_states(const ExecutorOptions& options);
  Status resolve();
  Status check_inputs() const;
  void settle_inputs();
  void bind_registers();
  static void work(void* self, int worker);

  Program program_;
  WeightLookup lookup_;
  ThreadPool& pool_;
  const KernelTable* kernels_ = nullptr;
  Placement placement_;
  Schedule schedule_;
  std::vector<std::byte*> data_;  // per buffer
  std::unique_ptr<std::byte[], void (*)(std::byte*)> arena_{nullptr, nullptr};
  std::unique_ptr<PreparedWeights> prepared_;
  std::vector<Step> steps_;
  std::vector<Limit> limits_;
  std::vector<std::unique_ptr<std::byte[], void (*)(std::byte*)>> states_;
  std::vector<std::uint32_t> page_table_;
  std::int64_t pages_per_sequence_ = 0, sequences_ = 1, scratch_bytes_ = 0, state_bytes_ = 0;
  std::vector<std::uint32_t> u32_;
  std::vector<float> f32_;
  bool bound_ = false;
  std::vector<std::uint32_t> bound_u32_;  // what the steps were last bound to
  std::vector<float> bound_f32_;
  std::size_t run_begin_ = 0, run_end_ = 0;
  bool poison_ = false;
};

}  // namespace loom::cpu
