// An encoder-decoder that runs as one is used: what depends on the source alone once, then the
// target step by step, each continuing from the caches and states of those before. Of any network
// with several inputs whose output has a row for each step of one of them
// (docs/guide/sequences.md).
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "base/threads/thread_pool.h"
#include "exec/session.h"
#include "exec/stages.h"
#include "grid/network.h"
#include "ops/executor.h"

namespace loom {

struct Seq2SeqOptions {
  std::string target;      // the input that comes step by step, [steps] ids or [steps, features]
  std::int64_t lanes = 1;  // rows that run at once
  std::int64_t max_positions = 0;  // steps of a row; 0: as many as the target has
  std::shared_ptr<Adapter> adapter;
  gpu::Device* device = nullptr;  // as in SessionOptions, but that nothing is measured
  std::string isa;
  bool fuse = true, auto_device = false;
  const std::atomic<bool>* cancel = nullptr;  // set: a run ends as cancelled (Executor::run)
};

class Seq2Seq {
 public:
  // The network and the pool must outlive it, and the network's topology and formats stay.
  static Result<Seq2Seq> create(const Network& network, ThreadPool& pool,
                                const Seq2SeqOptions& options);

  // The inputs that encode() takes: those that something reads but the target and its lengths,
  // since every step that is taken counts.
  const std::vector<Shape>& sources() const { return sources_; }
  std::int64_t source_width() const { return source_width_; }
  // One step of the target, and its answer.
  const Shape& target() const { return network_->input().parts[target_]; }
  const Shape& answer() const { return network_->output(); }

  // Begins anew with 1 to `lanes` rows of values, ids among them: those of sources(), side by side.
  Status encode(std::span<const double> x, std::int64_t rows);
  // The next step of all rows: an id of each, or its features. Errors: before encode();
  // out_of_range behind the last position. After an error of the run itself encode() is due again.
  Status step(std::span<const double> target);
  // Row i of the last step's answer, rounded to f32; in f64, where the network computes in it.
  std::span<const float> output(std::int64_t i);
  std::span<const double> output_f64(std::int64_t i);
  // Row i continues from where row from[i] was; there are from.size() rows then. Beams do so. Where
  // memory runs out on the way encode() is due again.
  Status reorder(std::span<const std::uint32_t> from);

  std::int64_t rows() const { return rows_; }  // 0: before encode()
  std::int64_t position() const { return position_; }
  std::int64_t max_positions() const { return max_positions_; }
  std::int64_t lanes() const { return lanes_; }
  // The network by steps: its last layers say what answers are.
  const Network& network() const { return *network_; }
  Executor& executor() { return *again_.executor; }
  Status refresh();

 private:
  // A stage, and where it finds what the host writes.
  struct Stage {
    std::unique_ptr<Executor> executor;  // null: nothing to do
    RegisterId rows = kNone;
    BufferId x = kNone, positions = kNone, sequences = kNone, goes_on = kNone, y = kNone;
    bool wide = false;  // x is f64
  };
  Seq2Seq() = default;
  static Result<Stage> stage(Program program, const WeightLookup& weights, ThreadPool& pool,
                             const Seq2SeqOptions& options);
  void put(Stage& stage, std::int64_t row, std::int64_t column, std::span<const double> values);
  void find_sources(const Program& program, std::int64_t steps);
  Status check_range(std::span<const double> values) const;
  void hand_on(std::int64_t rows);

  std::unique_ptr<Network> network_;  // by steps
  Stage once_, again_;
  std::vector<Stages::Carried> carried_;
  std::vector<BufferId> states_;  // of the second stage
  std::vector<Shape> sources_;
  std::vector<std::int64_t> source_columns_;  // where they stand in a row of the network's input
  std::size_t target_ = 0;
  std::int64_t target_column_ = 0, source_width_ = 0, lanes_ = 0, max_positions_ = 0;
  std::int64_t rows_ = 0, position_ = 0;
  std::vector<double> blank_;  // a row of the network's input without its sources and target
  std::vector<float> rounded_;
};

}  // namespace loom
