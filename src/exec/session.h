// A Session runs a network: its program, one arena, and the states (KV caches) of its sequences. One network serves many sessions;
// one run at a time per session. Nothing is allocated while it runs.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "base/thread_pool.h"
#include "grid/network.h"
#include "ops/executor.h"

namespace loom {

struct SessionOptions {
  std::int64_t max_rows = 64;        // rows (samples, tokens) per run
  std::int64_t max_head_rows = 1;    // rows that go on from the head cell, where the network has one
  std::int64_t max_positions = 512;  // per sequence
  std::int64_t sequences = 1;
  bool whole_sequences = false;      // no cache: attention sees the rows of this run only (each sequence whole, positions from 0)
  gpu::Device* device = nullptr;     // null: the CPU; it must outlive the session
  std::string isa;                   // "": the best here
  bool fuse = true;                  // ExecutorOptions
  bool poison = false;               // tests: NaN in what was not written
};

class Session {
 public:
  // The network and the pool must outlive the session.
  static Result<Session> create(Network& network, ThreadPool& pool, const SessionOptions& options = {});

  // Runs rows x width inputs; the result is rows x output width (f64 cells are converted).
  Result<std::span<const float>> run(std::span<const float> x, std::int64_t rows);

  // Token form: ids, each with its sequence and position; `head` lists the rows whose output is wanted, ascending.
  // The result holds head.size() rows (all rows where the network has no head cell).
  Status run_tokens(std::span<const std::uint32_t> ids, std::span<const std::uint32_t> sequences, std::span<const std::uint32_t> positions,
                    std::span<const std::uint32_t> head);
  // Where `resident`: `id` is run at `position` of a sequence, then the most probable id (ties to the lower) after it, and so on; picked are the ids so
  // found, at most Executor::kMostPicked, ~0 after a row without a number. On a device nothing else moves. output(0) is of the last run.
  bool resident() const { return executor_->resident(); }
  Status run_greedy(std::uint32_t id, std::uint32_t sequence, std::uint32_t position, std::span<std::uint32_t> picked);
  // Row i of the last run's output.
  std::span<const float> output(std::int64_t i);

  // Prepares weights again after the network's changed.
  Status refresh() { return executor_->refresh(); }
  const Program& program() const { return executor_->program(); }
  Executor& executor() { return *executor_; }
  const SessionOptions& options() const { return options_; }

 private:
  Session() = default;
  Status set_tokens(std::span<const std::uint32_t> ids, std::span<const std::uint32_t> sequences, std::span<const std::uint32_t> positions, std::span<const std::uint32_t> head);
  SessionOptions options_;
  std::unique_ptr<Executor> executor_;
  RegisterId rows_ = kNone, head_ = kNone;
  BufferId input_ = kNone, output_ = kNone, positions_ = kNone, sequences_ = kNone, head_rows_ = kNone;
  std::int64_t width_ = 0;
};

// The parameter lookup of a network, for executors.
WeightLookup weights_of(Network& network);
// The program a session of these options runs.
Result<Program> emit_program(Network& network, const SessionOptions& options);

}  // namespace loom
