// A saved program with the weights of a network: what a host that kept the bytes of
// Program::encode runs by itself, without layers. Registers and buffers go by their names, as
// Program::to_text prints them. One call at a time.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "base/threads/thread_pool.h"
#include "grid/adapter.h"
#include "grid/network.h"
#include "ops/executor.h"

namespace loom {

struct ProgramRunnerOptions {
  std::shared_ptr<Adapter> adapter;  // beside the network's weights; null: none
  gpu::Device* device = nullptr;     // null: the CPU; it must outlive the runner
  std::string isa;                   // "": the best here
  bool fuse = true;                  // ExecutorOptions
  bool auto_device = false;          // refused: states stay where they are
  std::int64_t sequences = 1;        // that the KV states are divided among
  const std::atomic<bool>* cancel = nullptr;
};

class ProgramRunner {
 public:
  // Verifies the program. An error where it has other segments than forward, and where the network
  // lacks a weight or has it in another shape or format. The network and the pool must live on.
  static Result<ProgramRunner> create(const Program& program, Network& network, ThreadPool& pool,
                                      const ProgramRunnerOptions& options);

  // A register by its name: counts of rows are whole and at most the declared maximum.
  Status set(std::string_view name, double value);
  // All values of an input or state ("x", "0.0.0.0:value"), row by row. An input whose rows one
  // register counts sets that register. T: float, double (f64 alone), std::int32_t (ids and
  // positions, not below 0 where the buffer is u32).
  template <class T>
  Status write(std::string_view name, std::span<const T> values);
  // All values of an output or state; T: float (rounded where they are f64), double.
  template <class T>
  Status read(std::string_view name, std::span<T> values);
  // Every register must have been set, and every input written for the registers as they are.
  Status run();
  // States are 0 again.
  void reset();
  Status refresh() { return executor_->refresh(); }

  const Program& program() const { return executor_->program(); }
  std::string_view target() const { return executor_->target(); }
  // Of a register that was set.
  std::optional<double> value(RegisterId id) const {
    const auto i = static_cast<std::size_t>(id);
    return set_[i] ? std::optional(values_[i]) : std::nullopt;
  }
  // The name of a buffer of the host: an input's or output's role, a state's path and role.
  static std::string name_of(const Buffer& buffer);
  // Its rows as the registers are set.
  std::int64_t rows(BufferId id) const;
  // Values of a row, as the register of an input counts rows; of other buffers all values.
  std::int64_t of_row(BufferId id) const;
  // Registers, inputs and states, for another runner of the same program.
  std::string snapshot();
  void restore(std::string_view snapshot);

 private:
  ProgramRunner() = default;
  Result<BufferId> find(std::string_view name, BufferKind kind) const;
  RegisterId counts(BufferId id) const;  // the rows of an input, alone; kNone: none does
  Status fit(BufferId id, std::size_t count) const;
  template <class F>
  void each_row(const F& f);
  std::unique_ptr<Executor> executor_;
  std::vector<bool> set_;              // of each register
  std::vector<double> values_;         // likewise
  std::vector<std::int64_t> written_;  // rows of each input that were written; -1: none
};

}  // namespace loom
