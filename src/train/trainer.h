// Trains a network on a data source, step by step. Which samples a step sees, its learning rate and
// its arithmetic are functions of the spec and the step number alone, so a trainer restored from a
// state continues with the same bits. Not thread-safe; the pool's size and the kernels' instruction
// set do not change results.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/json/json.h"
#include "base/status.h"
#include "base/threads/thread_pool.h"
#include "grid/network.h"
#include "train/data/streams.h"
#include "train/learner/learner.h"
#include "train/spec/spec.h"

namespace loom {

struct StepReport {
  std::int64_t step = 0;      // done, from 1
  std::int64_t steps = 0;     // of the whole training
  double loss = 0;            // mean over the counted rows, by their weights, before the update
  std::vector<double> heads;  // where there are several: the mean of each, without its weight
  double lr = 0;              // learning rate of the update
  double loss_scale = 0;      // with "fp8": of this step
  bool skipped =
      false;  // with "fp8": a gradient was not finite under that scale, and no weight has changed
  std::vector<PartReport> parts;  // with target_propagation; an alignment is that of the last step
                                  // in which it was measured
  std::int64_t rows = 0;
  std::int64_t counted = 0;
  double epoch = 0;  // samples seen / samples there are
};

// All that changes while training: masters of the weights (of an adapter, where one learns),
// matrices of the method and moments of the optimizer, row-major.
struct TrainingTensor {
  std::string name;  // "weights/0.0.1.0/0/1:q", "method/0.0.1.0:projection",
                     // "moments/0.0.1.0/0/1:q:m"
  std::int64_t rows = 0, cols = 0;
  std::vector<float> f32;  // one of the two, as the cell computes
  std::vector<double> f64;
};
struct TrainingState {
  Json info;  // step, spec, topology, hash of the data
  std::vector<TrainingTensor> tensors;
};

struct TrainerOptions {
  std::string isa;                // "": the best here
  gpu::Device* device = nullptr;  // null: the CPU; it must outlive the trainer
  std::vector<AdapterPlace>
      places;  // of the spec's "lora": what files call the weights; none: adapter_places
  // The adapter that the network runs with: an adapter that learns continues it, and nothing else
  // learns.
  std::shared_ptr<const Adapter> adapter;
  bool fuse = true;  // ExecutorOptions
  bool auto_device =
      false;  // with a device: learns on the CPU where the first micro-batch took less time there
  bool judged = false;  // somebody holds back and judges what the spec's "validation" says
                        // (validation.h); without that a spec that asks for it is refused
  bool poison = false;  // tests: NaN in what was not written
  const std::atomic<bool>* cancel = nullptr;  // set: the step ends as cancelled
};

struct Shard;  // train/shards.h

class Trainer {
 public:
  // Data that cannot be learned from is refused by place and value (check_data.h).
  // The spec's network and data fields are not read: the caller brings both (create_network and
  // open_data make them of a spec). Network, data and pool must outlive the trainer. Errors: a spec
  // out of range, a form of data that the network does not take.
  static Result<std::unique_ptr<Trainer>> create(const TrainingSpec& spec, Network& network,
                                                 const DataSource& data, ThreadPool& pool,
                                                 const TrainerOptions& options = {});

  // One optimizer step. Where the loss is not finite the weights stay as they are and the error
  // names the step; so after a step that was cancelled, which the next one does again with the same
  // bits. It ends between two instructions, but an update that has begun is done. With "fp8" a step
  // whose gradients overflow counts, is skipped and halves the loss scale; kScaleGrowth steps
  // without one double it.
  Result<StepReport> step();
  // The same on all samples of other data, in their order, whatever their number: batches that come
  // one by one. It is checked as the trainer's own; a checkpoint does not know it. Errors:
  // "micro_batches" or "random_translate", which are of the trainer's data.
  Result<StepReport> step_on(const DataSource& batch);
  // The same in slices, with the same bits: begin_step_on reads the batch, and each continue_step
  // runs until `deadline` (of Executor::slice_clock()) or the end of the step; true: it is done,
  // and `report` has it. A slice ends between two instructions, or two weights that are packed
  // again; a measured alignment is one slice. Until the end of the step its weights are not to be
  // read, and other steps are refused. After an error the step is dropped, as after step_on's.
  Status begin_step_on(const DataSource& batch);
  Result<bool> continue_step(std::int64_t deadline, StepReport* report = nullptr);
  bool in_slices() const { return slices_.has_value(); }
  // Whether its update has begun: the weights are those of no step.
  bool updating() const { return slices_ && slices_->at == Slices::At::update; }
  // Forgets a step in slices, and does to its end an update that has begun.
  Status drop_step();
  // One of the spec's "micro_batches" of the next step, by itself: what `apply` makes the step of,
  // here or in another trainer of the same spec, network and data. `given`: in place of the
  // trainer's own data, at most as many samples. No weight changes. Errors: invalid_argument with
  // "fp8", local methods, streams, a device or an observer.
  Result<Shard> shard(std::int64_t number, const DataSource* given = nullptr);
  // The step, of all its shards in their order: the bits of step(). Errors: a shard that is of
  // another training, step or of other weights, by its number; nothing has changed then.
  Result<StepReport> apply(std::span<Shard> shards);
  // The optimizer's moments: names, "0.0.1.0:weight:m" (sgd: velocity; adam: m, v; ...), and
  // shapes; the values of one, and new ones; the steps that are done, which the schedule and Adam's
  // corrections count: to continue a training that another framework began.
  std::vector<TrainingTensor> moments();
  Result<TrainingTensor> moment(std::string_view name);
  Status set_moment(std::string_view name, std::span<const double> values);
  Status set_done(std::int64_t step);
  // Of all later steps: their learning rate is the schedule's times this.
  void set_rate_factor(double factor) { rate_factor_ = factor; }
  // From the next step on `observer` has events of each step that the options ask for; null ends
  // that. Of each cell they are its output, "forward", and the gradient of the mean loss for that,
  // "backward"; with `weights` there is the gradient of each parameter, as the update sees it
  // before `clip_norm`. The micro-batches, and ticks, of a step are one event. With a local method,
  // gradients are what it hands to a cell in their place; a cell that none reaches has the count 0.
  // Values of a row's gradient count as active by the row's own loss, times its weight. A pass is a
  // step whose gradients were there: its loss may be no number, and it is done again then. An error
  // of the observer ends the step before its update.
  // The program keeps these values as long as there is an observer, and is the one of before after
  // it; no learned bit depends on that. Steps allocate nothing for it. Meanwhile the passes of a
  // step in slices are one slice. The observer must outlive the trainer or its end here.
  // invalid_argument: options (nobody observes then), or a step under way in slices. unsupported: a
  // device.
  Status observe(Observer* observer, const ObserveOptions& options = {});
  // Steps since observe(), and those of them that were observed.
  std::int64_t passes() const { return observation_.passes; }
  std::int64_t observed_passes() const { return observation_.observed; }
  // Steps until the end; after each the callback says whether to go on (else `cancelled`).
  Status run(const std::function<Result<bool>(const StepReport&)>& after_step);

  // Makes the training longer, by steps, or by epochs to their end (the other is 0), with the bits
  // of one training of that length. Errors: the schedule ends before.
  Status extend(std::int64_t steps, std::int64_t epochs);

  // Masters of the weights alone, and back.
  std::vector<TrainingTensor> weights() const;
  Status set_weights(const std::vector<TrainingTensor>& weights);

  std::int64_t done() const { return done_; }
  std::int64_t steps() const { return spec_.steps; }
  // How the spec's "streams" cut the data; null without.
  const Streams* streams() const { return streams_.get(); }
  // The spec with everything resolved: steps from epochs, the end of the schedule.
  const TrainingSpec& spec() const { return spec_; }
  // What learns: the network, or, of a step mesh, that network over the ticks of a row.
  Network& network() { return network_; }
  // What learns where the spec has "lora"; else null. It may be merged, run and saved while the
  // trainer stands still.
  const std::shared_ptr<Adapter>& adapter() const { return adapter_; }
  // All weights that an adapter could stand beside, by the names that files have for them.
  const std::vector<AdapterPlace>& places() const { return places_; }

  // The weights are seen in the dtype of the spec's "quantize" by now.
  bool quantized() const { return quantized_; }
  // Or will be.
  bool quantizes() const { return !matrices_.empty(); }

  // Brings the network's weights up to date where a device learns: before they are saved or read.
  // Nothing to do on the CPU.
  Status sync() { return learner_.sync(); }
  // Whether a device learns, whose steps the network's memory does not have before sync().
  bool on_device() const { return learner_.on_device(); }

  // Of the last step (StepReport).
  const std::vector<PartReport>& parts() const { return parts_; }

  // The state after the last step (and sync()), and back. `restore` changes nothing unless all
  // fits; an error names what differs in spec, topology, data or numerics version. "steps",
  // "epochs", "checkpoint_every" and "log_every" may differ: a longer training continues a shorter
  // one.
  TrainingState state();
  Status restore(TrainingState state);
  // After somebody else wrote to the weights.
  Status refresh() { return learner_.executor().refresh(); }
  // After rules of the network's metacognitions changed it: learns it as it is now. Moments stay
  // where parameters have the sizes that they had; those of other and of frozen ones begin anew.
  // invalid_argument, and nothing has changed: with "quantize", a method with matrices or ticks.
  Status follow();
  const Program& program() const { return learner_.executor().program(); }
  // Of the program's activations and gradients.
  std::int64_t arena_bytes() const { return learner_.executor().arena_bytes(); }
  // The instruction set or the device that computes.
  std::string_view target() const { return learner_.executor().target(); }
  // SHA-256 over step, weights and moments, in hex.
  std::string digest();

  static constexpr std::int64_t kScaleGrowth = 200;

 private:
  Trainer(const TrainingSpec& spec, Network& network, const DataSource& data, ThreadPool& pool,
          LearnerOptions learning, std::string base, Learner learner)
      : spec_(spec),
        network_(network),
        data_(data),
        pool_(pool),
        adapter_(learning.adapter),
        learning_(std::move(learning)),
        base_(std::move(base)),
        learner_(std::move(learner)) {}
  // What learns: the network's parameters, each once, or those of the adapter.
  struct Learned {
    std::string name;  // "weights/0.0.1.0/0/1:q"
    WeightStore* store;
  };
  std::vector<Learned> learned() const;
  // The method's matrices, and both, in this order.
  std::vector<Learned> learned_beside() const;
  std::vector<Learned> all_learned() const;
  static std::vector<TrainingTensor> masters_of(const std::vector<Learned>& list);
  // A matrix that "quantize" is about, and its format before that.
  struct Quantized {
    Network::NamedParam param;
    WeightFormat before;
  };
  static Result<std::vector<Quantized>> find_quantized(const QuantizeSpec& spec, Network& network);
  Status set_quantized(bool quantized);
  Status remake(const LearnerOptions& learning);
  Result<StepReport> do_step(std::int64_t micro_batches,
                             const std::function<Status(std::int64_t)>& fill_micro_batch);
  Result<StepReport> try_step(std::int64_t micro_batches,
                              const std::function<Status(std::int64_t)>& fill_micro_batch);
  // The parts of a step.
  Status take(const DataSource& batch);
  Status next_dtype();
  StepReport begin_report() const;
  void add_losses(StepReport& report, double& weight);
  Status mean_losses(StepReport& report, double weight);
  bool aligns(std::int64_t step) const;
  void end_step(StepReport& report, const std::vector<double>& alignment);
  // A step in slices: what it has done, and the dtype before it.
  struct Slices {
    enum class At : std::uint8_t { begin, passes, passed, update };
    At at = At::begin;
    StepReport report;
    double weight = 0;
    std::vector<double> alignment;
    bool quantized = false;
  };
  Status whole() const;
  // The parts of shard() and apply().
  Status check_shards() const;
  Status check_shard(const Shard& shard, const Shard& own, std::size_t index) const;
  Status cut_into(std::int64_t shards);
  Result<const Learner::Moment*> find_moment(std::string_view name) const;
  std::string run_hash(bool given) const;
  std::string weights_checksum() const;
  // Who looks at the steps; null: nobody.
  struct Observation {
    Observer* observer = nullptr;
    ObserveOptions options;
    std::int64_t passes = 0, observed = 0;
    std::vector<CellStatistics> statistics;
  };
  Status set_taps(const TapOptions& taps);
  Status begin_observer();
  void tap_step();
  Status report_taps(std::int64_t step, double weight);
  Result<bool> slice(Slices& s, std::int64_t deadline);
  Status measure_alignment(std::int64_t micro_batches,
                           const std::function<Status(std::int64_t)>& fill_micro_batch,
                           std::vector<double>& alignment);
  void report_parts(const std::vector<double>& alignment);
  Status give();
  TrainingTensor read(const Learner::Moment& moment);
  void exchange(const Learner::Moment& moment, TrainingTensor& tensor);
  void read(std::int64_t first, std::int64_t count);
  void shift_last(std::int64_t sample);
  Status fill(std::int64_t first, std::int64_t count);
  static Result<std::unique_ptr<Streams>> cut(const TrainingSpec& spec, const Network& network,
                                              const DataSource& data);
  Result<double> first_seconds();
  Status choose_device();
  Status check_info(const Json& info) const;
  Json comparable_spec() const;

  static Result<std::unique_ptr<Trainer>> create_for(const TrainingSpec& spec, Network& network,
                                                     const DataSource& data, ThreadPool& pool,
                                                     const TrainerOptions& options);

  TrainingSpec spec_;
  std::unique_ptr<Network> by_ticks_;  // of a step mesh: the network that learns, with its weights
  Network& network_;
  std::unique_ptr<Streams> streams_;
  const DataSource& data_;  // the caller's, or its streams
  ThreadPool& pool_;
  std::shared_ptr<Adapter> adapter_;
  std::vector<AdapterPlace> places_;
  LearnerOptions learning_;
  std::vector<Quantized> matrices_;
  Json topology_;  // with the dtype of "quantize", before it and after
  bool quantized_ = false;
  std::string base_;  // digest of the network under the adapter
  Learner learner_;
  Batch batch_;
  std::vector<PartReport> parts_;
  std::int64_t done_ = 0;
  std::optional<Slices> slices_;
  Observation observation_;
  double rate_factor_ = 1;
  // Of "fp8" (dynamic loss scaling: Micikevicius et al., Mixed Precision Training, arXiv
  // 1710.03740, section 3.2).
  struct LossScale {
    int exponent = 10;         // the scale is 2^exponent
    std::int64_t since = 0;    // steps since it changed
    std::int64_t skipped = 0;  // steps in all
    double value() const { return __builtin_ldexp(1.0, exponent); }
  };
  static constexpr int kMinScale = -24, kMaxScale = 24;
  LossScale scale_;
  // The steps of restore(): the scale that a state after `step` steps has; its tensors, those of
  // all_learned() and then the moments; their values against those that are here.
  static Result<LossScale> saved_scale(const Json& info, std::int64_t step);
  Result<std::vector<TrainingTensor*>> find_tensors(TrainingState& state) const;
  Status exchange_all(const std::vector<TrainingTensor*>& tensors);
};

// Rate and remaining time from the times (seconds, any origin) that the caller passes in, averaged
// over about the last 30 seconds.
class ProgressMeter {
 public:
  struct Reading {
    double rows_per_second = 0;  // 0 until two times are known
    double seconds_left = 0;
  };
  Reading update(const StepReport& report, double seconds);

 private:
  struct Mark {
    double seconds;
    std::int64_t step, rows;
  };
  std::vector<Mark> marks_;  // about one per second
  std::int64_t rows_ = 0;
};

}  // namespace loom
