// A network that learns while it answers, in one thread. Answers come from published weights; a
// trainer learns a shadow of them in slices of time, in which it may stop inside of a step, and
// after its steps the published weights are replaced between two answers, whole. The weights after
// k steps have the bits of k steps of a Trainer over the same batches, wherever slices end; only
// when they are published depends on time. One call at a time.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/json/json.h"
#include "base/status.h"
#include "base/threads/thread_pool.h"
#include "exec/session.h"
#include "grid/network.h"
#include "online/detector.h"
#include "online/options.h"
#include "online/sample_memory.h"
#include "online/tracker.h"
#include "train/trainer.h"

namespace loom {

// Where an online learner computes.
struct OnlineMachine {
  std::string isa;                // "": the best here
  gpu::Device* device = nullptr;  // null: the CPU; it must outlive the learner
  bool fuse = true;
  bool auto_device = false;
  const std::atomic<bool>* cancel = nullptr;  // set: learn() ends as cancelled
};

// A training spec without an end: "steps" may be missing, and so may "format", "version" and
// "batch", which is 32 then.
Result<TrainingSpec> parse_online_spec(Json spec);

class OnlineLearner {
 public:
  // The network is copied: three times, the shadow, what answers, and what will answer next. The
  // pool must outlive the learner. Errors: what Trainer::create refuses; keys of the spec that are
  // of data which a trainer reads; networks whose rows depend on earlier rows.
  static Result<std::unique_ptr<OnlineLearner>> create(const TrainingSpec& spec, Network& network,
                                                       ThreadPool& pool,
                                                       const OnlineOptions& options,
                                                       const OnlineMachine& machine = {});

  // Rows x input width, and rows x output width: the answers by the published weights. Returns the
  // number of the first, counted from 0 over all of them. Allocates nothing.
  Result<std::int64_t> answer(std::span<const float> x, std::span<float> y);
  Result<std::int64_t> answer_ids(std::span<const std::uint32_t> ids, std::span<float> y);

  // What would have been right for answers from number `first` on: rows x targets, or rows x the
  // places of a class. Samples go to the memory. Errors, with nothing changed: an answer that is
  // not waiting for feedback (not_found), a value that cannot be learned.
  Status feedback(std::int64_t first, std::span<const float> targets);
  Status feedback(std::int64_t first, std::span<const std::int32_t> classes);
  // Samples that were not answered.
  Status add(const DataSource& data);
  // Says that the task is another one from now on.
  Status task(std::string name);

  // Learns until `budget` ns are used up or `steps` steps are complete; a negative budget, or 0
  // steps, are no limit. One that was begun counts where it ends. Publications are part of it.
  struct Learned {
    std::int64_t steps = 0, publications = 0;  // in this call
  };
  // Errors: those of a step, which then counts as not begun; cancelled, after which the next call
  // does the same step again. What is published stays.
  Status learn(std::int64_t budget, std::int64_t steps, Learned& learned);
  // Publishes the weights of the last complete step, now.
  Status publish();
  // The accuracy of the published weights on samples, reported under the name of a task.
  Result<double> measure(const DataSource& data, std::string task);
  // Copies the published weights to a network of the same topology, with their formats. Returns
  // whether a format has changed.
  Result<bool> commit(Network& network);

  Json report() const;
  Json info() const;

  bool takes_ids() const { return form_.steps > 0; }
  std::int64_t input_width() const { return form_.width + form_.steps; }
  std::int64_t output_width() const { return output_width_; }
  // What learns.
  const Trainer& trainer() const { return *trainer_; }
  // What answers, and its program.
  const Program& program() const { return served_[active_]->session->program(); }
  Network& published() { return served_[active_]->network; }

 private:
  // Weights that answer, or will.
  struct Served {
    explicit Served(Network n) : network(std::move(n)) {}
    Network network;
    std::optional<Session> session;
    std::vector<WeightStore*> stores;
  };
  OnlineLearner(const TrainingSpec& spec, Network shadow, ThreadPool& pool,
                const OnlineOptions& options);
  Status prepare(const TrainingSpec& spec, const OnlineMachine& machine);
  Status prepare_served(const OnlineMachine& machine);
  template <class Run>
  Result<std::int64_t> answer_by(std::size_t values, std::span<float> y, const Run& run);
  void keep_pending(std::span<const float> y, std::int64_t row);
  template <class T>
  Status feedback_of(std::int64_t first, std::span<const T> targets, std::int64_t width,
                     bool expected);
  void take_feedback(std::span<const float> y, const Sample& sample);
  Status check_sample(const Sample& sample, std::int64_t answer) const;
  Status check_samples(const DataSource& data) const;
  bool counts(const Sample& sample) const;
  bool correct(std::span<const float> y, const Sample& sample) const;
  bool right_class(std::span<const float> y, std::span<const std::int32_t> classes) const;
  void changed(std::string name, const char* source, std::int64_t since);
  Status learn_until(std::int64_t deadline, std::int64_t steps, Learned& learned);
  Status begin_step();
  Status end_step();
  Status begin_publication();
  Result<bool> publish_until(std::int64_t deadline);

  OnlineOptions options_;
  Network shadow_;
  ThreadPool& pool_;
  std::unique_ptr<DataSource> form_data_;  // one sample: what the trainer knows of the data
  std::unique_ptr<Trainer> trainer_;
  std::unique_ptr<Served> served_[2];
  std::size_t active_ = 0;
  std::vector<WeightStore*> shadow_stores_;

  SampleForm form_;
  std::int64_t output_width_ = 0;
  ClassAxis axis_;
  Loss loss_ = Loss::mse;
  std::int64_t ignore_ = kIgnoredClass;
  bool missing_ = false;
  SampleMemory memory_;
  DrawnSamples drawn_;
  bool drawn_again_ = false;  // a cancelled step: the same samples
  StepReport last_;
  std::int64_t boost_left_ = 0;

  // A publication that is under way: the store, and its next value.
  struct Publication {
    std::size_t store = 0;
    std::int64_t at = 0;
  };
  std::optional<Publication> publication_;
  std::int64_t published_ = 0, published_step_ = 0;

  // Answers without feedback yet, a ring: number n at n % pending.
  std::int64_t answers_ = 0;
  std::vector<float> pending_x_, pending_y_;
  std::vector<std::uint32_t> pending_ids_;
  std::vector<bool> waits_;

  ChangeDetector detector_;
  Tracker tracker_;
  std::int64_t overrun_wall_ = 0, overrun_cpu_ = 0;  // of the last learn(), beyond its budget
};

}  // namespace loom
