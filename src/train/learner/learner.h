// Learns a network: one program with forward, loss, backward and update segments, replayed per
// micro-batch and per step. Gradients are those of the summed loss; the update multiplies by 1/N
// (numerics rule 3), so how a step is cut into micro-batches, threads or workers never changes what
// it means.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "base/threads/thread_pool.h"
#include "exec/observe/observer.h"
#include "exec/observe/taps.h"
#include "grid/emit/emitter.h"
#include "grid/network.h"
#include "ops/executor.h"
#include "train/data/data.h"
#include "train/learner/loss.h"
#include "train/learner/method.h"

namespace loom {

enum class OptimizerKind : std::uint8_t { sgd, adamw, rmsprop, lion, adam };
inline constexpr std::string_view kOptimizerNames[] = {"sgd", "adamw", "rmsprop", "lion", "adam"};
inline std::string_view name(OptimizerKind kind) {
  return kOptimizerNames[static_cast<std::size_t>(kind)];
}
struct OptimizerSpec {
  OptimizerKind kind = OptimizerKind::adamw;
  double momentum = 0.0;              // sgd, rmsprop
  bool nesterov = false;              // sgd
  double alpha = 0.99;                // rmsprop
  bool centered = false;              // rmsprop
  double beta1 = 0.9, beta2 = 0.999;  // adamw, adam, lion
  double eps = 1e-8;                  // adamw, adam, rmsprop
  bool uncorrected_eps = false;       // adamw, adam
  double weight_decay = 0.0;          // of matrices, unless
  bool decay_vectors = false;         // of norms and biases too
  double clip_norm = 0.0;             // of the mean gradient; 0: none
};

// Weights of rows, and of each head's places that have a loss, by which its mean is taken.
struct HeadSums {
  double rows = 0;
  std::vector<double> heads;
};

// Observers see the output of each cell and the gradient for it; with `nested` those of the layers
// inside them, too; with `weights` the gradient of each parameter. No learned bit depends on it.
struct TapOptions {
  bool on = false, nested = false, weights = false;
};

struct LearnerOptions {
  Loss loss = Loss::mse;
  double loss_weight = 1;               // of the loss in the gradients
  std::vector<double> class_weights;    // of a row's loss, by its class; none: 1 each
  bool weighted = false;                // rows have weights (weigh)
  std::int64_t ignore = kIgnoredClass;  // the class that is not counted
  double delta = 1.0;                   // huber: where it turns from squares to a line
  double temperature = 1.0;             // soft_cross_entropy: logits are divided by it
  std::vector<HeadSpec>
      heads;  // in place of these three: the loss is the sum of theirs, each times its weight
  bool fp8 = false;  // ProgramBuilder::round_products_to_fp8, and gradients times loss_scale() on
                     // their way
  bool recompute = false;  // cells' activations are computed again for backward (EmitOptions)
  std::shared_ptr<Adapter> adapter;  // learns, and the network stays as it is, packed or not
  // By parts where it is not back_propagation: not with fp8, an adapter, streams, or ticks. Its
  // matrices: none: made anew by the seed.
  MethodSpec method;
  std::shared_ptr<MethodMatrices> matrices;
  OptimizerSpec optimizer;
  std::int64_t max_rows = 64;        // rows per micro-batch
  std::int64_t max_positions = 512;  // longest sequence
  std::int64_t micro_batches = 1;
  std::int64_t shards = 0;        // of a step, each accumulated by itself; 0: micro-batches
  std::int64_t truncate = 0;      // EmitOptions
  std::int64_t streams = 0;       // lanes, whose states go on from step to step (go_on); 0: none
  std::uint64_t seed = 0;         // of the noise of layers that have some
  bool update = true;             // false: gradients only
  gpu::Device* device = nullptr;  // null: the CPU; it must outlive the learner
  std::string isa;
  bool fuse = true;        // ExecutorOptions
  bool block_rows = true;  // logits of many classes are made for some rows at a time
  bool poison = false;
  TapOptions taps;
  const std::atomic<bool>* cancel = nullptr;  // set: accumulate() ends as cancelled
};

class Learner {
 public:
  // The network's matrices must have masters, but with an adapter. It and the pool must outlive the
  // learner.
  static Result<Learner> create(Network& network, ThreadPool& pool, const LearnerOptions& options);

  // The weights of the next micro-batch's rows, which must live until it is taken; none: 1 each.
  void weigh(std::span<const float> weights) { given_weights_ = weights; }
  // In a stream: the next micro-batch has the windows of the lanes from `lane` on, in step number
  // `step`, and its rows stand at these positions, which must live as long: 0 has no state before
  // it. Nothing goes on before update().
  void go_on(std::int64_t lane, std::int64_t step, std::span<const std::uint32_t> positions) {
    lane_ = lane, odd_ = step & 1, given_positions_ = positions;
  }
  // One micro-batch of values: rows x input width, targets rows x output width (with heads: rows x
  // their targets) or a class for each place of a row (cross-entropy; Network::class_axis).
  Status batch(std::span<const float> x, std::span<const float> target);
  Status batch(std::span<const float> x, std::span<const std::int32_t> target);
  // The same of ids: rows x the steps of the input.
  Status batch(std::span<const std::uint32_t> ids, std::span<const float> target);
  Status batch(std::span<const std::uint32_t> ids, std::span<const std::int32_t> target);
  // The same of a source's batch, or of ids and classes for each row. Inputs that the program takes
  // in f64 come in f64 where the source has them so.
  Status batch(const Batch& batch, bool by_class);
  // One micro-batch of tokens: positions ascend from 0 in each sequence. In a stream: a window of
  // each lane, all of the same length.
  Status batch(std::span<const std::uint32_t> ids, std::span<const std::uint32_t> positions,
               std::span<const std::int32_t> target);
  // Adds rows' targets, as batch() takes them, to sums; and the sums of the whole step of which the
  // next micro-batches are parts. None: a micro-batch is the step.
  void add_to(HeadSums& sums, std::span<const float> target, std::span<const float> weights) const;
  void set_sums(HeadSums sums) { sums_ = std::move(sums); }
  const HeadSums& sums() const { return sums_; }
  // Forward, loss and backward of micro-batch number `micro`.
  Status accumulate(std::int64_t micro = 0);
  // Prepares weights that an update has moved, which accumulate() does otherwise, until a deadline;
  // false: not all of them.
  Result<bool> prepare_until(std::int64_t deadline);
  // The same until a deadline (Executor::run_until); executor().resume() continues. With taps that
  // are read there is no deadline.
  Result<bool> accumulate_until(std::int64_t micro, std::int64_t deadline);
  // With `taps`: whether the next steps are read; a step begins with micro-batch 0.
  void tap(bool on);
  bool tapping() const { return tapping_; }
  // What is observed, in the order of observed(): cells forward, cells backward, parameters.
  const std::vector<ObservedCell>& observed_cells() const { return observed_; }
  // After the last micro-batch: the statistics of each. Gradients are of the mean loss, whose sum
  // over the rows is divided by `weight`; as update() sees them, before `clip_norm`.
  void observed(double weight, std::vector<CellStatistics>& statistics) const;
  // Number of updates already applied; training resumes after them. Sets the noise of the next
  // ones.
  void resume(std::int64_t steps) { steps_ = steps; }
  // With "fp8": what gradients are multiplied by until update() divides them by it again, a power
  // of two; and whether all of them are finite after the last micro-batch, as update() needs them.
  void set_loss_scale(double scale);
  bool gradients_finite();
  // Rows, or places, of the last micro-batch that have a loss: all but those of the class `ignore`.
  std::int64_t counted() const { return counted_; }
  // The sum of their weights, by which the sum of their losses is divided; counted() without.
  double weight() const { return weight_; }
  // Sum of the losses of the last micro-batch's rows, each times its weight.
  double loss_sum();
  // Of one head, without its weight.
  double loss_sum(std::size_t head);
  // Applies the gradients times 1/weight, as optimizer step number `step` (from 1; the noise of
  // later steps counts from it). On success the step is done: the next reader of the weights
  // prepares them again.
  Status update(double learning_rate, double weight, std::int64_t step);
  // The same until a deadline; executor().resume() continues, and end_update() ends it.
  Result<bool> update_until(double learning_rate, double weight, std::int64_t step,
                            std::int64_t deadline);
  void end_update(std::int64_t step);

  // Of target_propagation: each part in the last update, in the order of the chain. Empty with
  // other methods.
  const std::vector<PartReport>& part_reports() const { return part_reports_; }

  // Of target_propagation, before update(): the cosine of each part's gradients with those of
  // another learner of the network, over all of its parameters; 0 where one of them is 0.
  std::vector<double> alignment(const Learner& other) const;

  // Brings the network's masters up to date with the updates: before they are saved, morphed or
  // read. Nothing to do on the CPU.
  Status sync();
  bool on_device() const { return executor_->keeps_masters(); }

  // Gradient of a parameter after accumulate(), row r; f32 or f64 as the cell computes. Those of a
  // method's matrices come last.
  const std::vector<NetworkEmitter::Gradient>& gradients() const { return gradients_; }
  // What update() moves running statistics towards.
  const std::vector<NetworkEmitter::Average>& averages() const { return averages_; }
  Executor& executor() const { return *executor_; }
  // Optimizer moments and states of streams, for checkpoints: state buffers of the program, in a
  // fixed order.
  struct Moment {
    std::string name;  // "0.0.1.0/0/1:q:m"
    BufferId buffer;
    std::int64_t rows, cols;
    bool of_streams = false;  // a state, which the forward pass changes
  };
  const std::vector<Moment>& moments() const { return moments_; }

 private:
  Learner() = default;
  WeightLookup weights() const;
  // The steps of create(): the passes, and gradients_ and averages_; the sum over micro-batches;
  // the norm that shows whether FP8's gradients are finite; the update; where the program has what.
  Status emit_passes(ProgramBuilder& emit, NetworkEmitter& emitter, View x, Rows rows);
  Status emit_back_propagation(ProgramBuilder& emit, NetworkEmitter& emitter, View x, Rows rows);
  // Of the methods that learn by parts; projections: the gradients of their matrices.
  Status emit_mono_forward(ProgramBuilder& emit, NetworkEmitter& emitter, Rows rows);
  Status emit_feedback(ProgramBuilder& emit, NetworkEmitter& emitter, Rows rows);
  Status emit_targets(ProgramBuilder& emit, NetworkEmitter& emitter, std::vector<View>& h, View gy);
  // Where the feedback matrices learn: the gradient of the one that is before a part, and the rule
  // of their update.
  Status emit_feedback_gradient(ProgramBuilder& emit, NetworkEmitter& emitter, std::size_t part,
                                const MethodMatrix& matrix, const std::vector<View>& h);
  void emit_feedback_rule(ProgramBuilder& emit, const NetworkEmitter::Gradient& g);
  Status emit_target_propagation(ProgramBuilder& emit, NetworkEmitter& emitter, Rows rows);
  // layer_wise: whether all layers have formulas for targets.
  Status check_pulls(const std::vector<ChainPart>& parts) const;
  // Of target_propagation: a part of the chain, its sums over the batch of a a, a (a - t) and
  // (t - a)(t - a), and the registers of its update.
  struct LearningPart {
    ChainPart part;
    NetworkEmitter::Gradient sums;
    RegisterId lr = kNone, inv_n = kNone;
    View scales[2];  // of f32 and f64: 1/N and the clip factor
  };
  // `slope`: a - t. `add`: to the sums that are there.
  void emit_part_sums(ProgramBuilder& emit, LearningPart& learning, const ChainPart& part, View a,
                      View slope, bool add = false);
  // By ticks: each cell with weights is a part, in all of them together.
  struct TickParts {
    Learner* learner;
    ProgramBuilder* emit;
  };
  static void look_at_cell(void* tick_parts, std::size_t cell, View y, View gradient);
  using Look = void (*)(void* looker, std::size_t cell, View y, View gradient);
  Pulls pulls() const {
    const MethodSpec& method = options_.method;
    const bool on = has_targets() && method.mode == TargetMode::layer_wise;
    return {on, on && !method.difference_correction, on && method.activation_slope};
  }
  bool has_targets() const { return options_.method.kind == MethodKind::target_propagation; }
  Look look() const { return has_targets() ? look_at_cell : nullptr; }
  double handed_back() const { return has_targets() ? options_.method.gradient_scale : 1; }
  // The index of the part that a parameter belongs to; the number of parts where there is none.
  std::size_t part_of(const std::string& path) const;
  // Reads the sums of a step, and sets the rate and the 1/N of the parts' updates.
  void read_parts();
  void set_part_rates(double learning_rate, double inv_n);
  View emit_projection(ProgramBuilder& emit, const MethodMatrix& matrix, ValueType type, View h,
                       ValueType out, Rows rows);
  // The list of observed_cells(); the views that are tapped, each of one of them (taps_of_); a
  // micro-batch of a step, and what it left.
  void list_observed(const Network& network);
  std::vector<View> plan_taps(ProgramBuilder& emit, const NetworkEmitter& emitter);
  void begin_taps(std::int64_t micro);
  void read_taps();
  void emit_merge(Program& program, ProgramBuilder& emit);
  void emit_squares(ProgramBuilder& emit);
  void emit_update(ProgramBuilder& emit);
  void emit_rules(ProgramBuilder& emit);
  void emit_merge_of(Program& program, ProgramBuilder& emit, NetworkEmitter::Gradient& g,
                     RegisterId micro);
  View emit_norm(ProgramBuilder& emit, ValueType type);
  void emit_rule(ProgramBuilder& emit, const NetworkEmitter::Gradient& g, View scale,
                 RegisterId lr);
  void find_buffers();
  struct LossViews {
    View y, target, weights;  // a row for each place that has a loss
  };
  View emit_losses(ProgramBuilder& emit, View y, Rows rows);
  HeadSpec only_head(std::int64_t cols) const;
  LossViews emit_only(ProgramBuilder& emit, View y, Rows rows) const;
  std::vector<LossViews> emit_heads(ProgramBuilder& emit, View y, Rows rows);
  LossViews emit_head(ProgramBuilder& emit, View y, Rows rows, std::size_t head) const;
  View emit_local_loss(ProgramBuilder& emit, View y, Rows rows) const;
  View emit_slopes(ProgramBuilder& emit, const std::vector<LossViews>& views, Rows rows,
                   std::int64_t cols) const;
  double read_loss(BufferId buffer);
  Status prepare();  // the weights, where an update has moved them
  Status rows(std::int64_t n);
  template <class T>
  Result<std::int64_t> put(std::span<const T> x);
  Status check_weights(std::size_t rows) const;
  void count(std::int64_t at, std::size_t row, std::int32_t class_of);
  View weighed(ProgramBuilder& emit, View x, View weights) const;
  template <class T>
  void add_targets(HeadSums& sums, std::span<const T> target, std::span<const float> weights) const;
  template <class T>
  Status put_targets(std::int64_t n, std::span<const T> target);
  template <class T>
  Status put_head(std::size_t head, std::int64_t row, const T* target, double share);
  Status check_ids(std::span<const std::uint32_t> ids) const;
  Status check_tokens(std::span<const std::uint32_t> ids, std::span<const std::uint32_t> positions,
                      std::size_t targets) const;
  void put_window(std::int64_t window, std::uint32_t position);
  Result<std::int32_t> class_of(double value, std::int64_t classes) const;
  bool is_f64(BufferId buffer) const;
  template <class T>
  void put_row(BufferId buffer, std::int64_t row, std::span<const T> values);
  double put_weight(BufferId buffer, std::int64_t row, double weight);
  template <class X, class Target>
  Status take(std::span<const X> x, std::span<const Target> target);
  Network* network_ = nullptr;
  ThreadPool* pool_ = nullptr;
  LearnerOptions options_;
  std::unique_ptr<Executor> executor_;
  std::vector<NetworkEmitter::Gradient> gradients_, projections_;
  std::vector<LearningPart> learning_parts_;
  std::vector<PartReport> part_reports_;
  std::vector<NetworkEmitter::Average> averages_;
  std::vector<Moment> moments_;
  std::vector<BufferId> head_targets_, head_losses_, head_weights_;
  HeadSums sums_;
  RegisterId rows_ = kNone, micro_ = kNone, noise_ = kNone, lr_ = kNone, inv_n_ = kNone,
             inv_rows_ = kNone, feedback_lr_ = kNone, correction1_ = kNone, correction2_ = kNone;
  BufferId weights_ = kNone, x_ = kNone, target_ = kNone, positions_ = kNone, loss_ = kNone,
           scale_ = kNone, squares_ = kNone, sequences_ = kNone, next_sequences_ = kNone,
           goes_on_ = kNone;
  std::int64_t width_ = 0, target_width_ = 0, steps_ = 0, counted_ = 0;
  std::int64_t given_rows_ = 0, step_rows_ = 0;  // of the last micro-batch; of the step so far
  ClassAxis classes_;
  std::int64_t packed_ =
      0;  // rows of every sequence, where layers go from row to row; 0: as many as it has
  bool updated_ = false;  // since the weights were prepared
  double loss_scale_ = 1, weight_ = 0;
  std::span<const float> given_weights_;
  std::span<const std::uint32_t> given_positions_;
  std::int64_t lane_ = 0;  // of the next micro-batch's first row
  std::unique_ptr<Taps> taps_;
  std::vector<ObservedCell> observed_;
  std::vector<std::size_t> taps_of_;
  bool tapping_ = false;
  double tapped_weight_ = 0;      // of the step's micro-batches until now
  std::int64_t tapped_rows_ = 0;  // of those that were read
  bool odd_ = false;              // the step: states lie in two halves, of which it reads one
};

}  // namespace loom
