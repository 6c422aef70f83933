// Judges a training by samples that it does not learn from: when, which weights were best so far,
// and when to stop. Belongs to the thread that trains. What it knows is saved beside the training,
// so a resumed one stops where the other would have.
#pragma once

#include <memory>
#include <optional>

#include "train/judge/metrics.h"
#include "train/trainer.h"

namespace loom {

// The weights with the lowest loss so far; where "quantize" begins later, of those from then on.
struct Best {
  std::int64_t step = 0;   // 0: none was judged yet
  std::int64_t stale = 0;  // judgments since
  double loss = 0;
  Json metrics;
  std::vector<TrainingTensor> weights;

  Json to_json() const;
  // All but the weights. Errors: corrupt.
  static Result<Best> from_json(const Json& json);
};

// By the loss that the trainer learns, with the adapter that learns.
EvaluatorOptions judging(const Trainer& trainer, const std::string& isa);

class Validation {
 public:
  // `spec` is the trainer's, `learned` the samples of its training. Trainer, data and pool must
  // outlive it.
  static Result<std::unique_ptr<Validation>> create(Trainer& trainer, const DataSource& data,
                                                    ThreadPool& pool, const std::string& isa = "");

  // Every `every` steps, and after the last.
  bool due() const { return trainer_.done() % every_ == 0 || trainer_.done() == trainer_.steps(); }
  Result<Metrics> judge();
  // Nothing better came for `patience` judgments.
  bool spent() const {
    return patience_ > 0 && best.stale >= patience_ &&
           trainer_.done() > trainer_.spec().quantize.after;
  }

  Best best;

 private:
  Validation(Trainer& trainer, const DataSource& data, ThreadPool& pool, const std::string& isa)
      : trainer_(trainer), data_(data), pool_(pool), isa_(isa) {}
  Status evaluate();
  Trainer& trainer_;
  const DataSource& data_;
  ThreadPool& pool_;
  std::string isa_;
  std::optional<Evaluator> evaluator_;
  bool quantized_ = false;  // the network that it runs
  std::int64_t every_ = 1, patience_ = 0;
};

}  // namespace loom
