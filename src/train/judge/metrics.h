// How good answers are: sums over rows in f64, in the order of the rows, so the figures are the
// same bits everywhere.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/json/json.h"
#include "base/status.h"
#include "base/threads/thread_pool.h"
#include "exec/session.h"
#include "grid/network.h"
#include "train/data/streams.h"
#include "train/learner/learner.h"
#include "train/learner/loss.h"

namespace loom {

struct Metrics {
  std::int64_t rows = 0;
  double loss = 0;           // mean over the rows, of the loss that is learned
  bool weighted = false;     // the loss is a mean by weights; the other figures count each row once
  std::int64_t classes = 0;  // 0: values
  // Of classes; of bce, where every column is right or wrong by itself; of soft_cross_entropy,
  // where the class of the largest target is right.
  double accuracy = 0;
  std::vector<std::int64_t> confusion;  // classes x classes: row the truth, column the answer;
                                        // empty above kMaxConfused classes
  // Of values. r2: 1 - sum of squared errors / sum of squared distances to the mean, the mean over
  // columns that have a spread.
  double mae = 0, rmse = 0, r2 = 0;
  bool has_accuracy = false, has_errors = false, has_r2 = false;
  // Of several heads: then only rows and loss, the sum of theirs by their weights, are those of
  // all.
  std::vector<Metrics> heads;
  std::string name;  // of a head

  static constexpr std::int64_t kMaxConfused = 100;
  Json to_json() const;
  // "loss 0.0712  accuracy 0.9812"
  std::string to_text() const;
};

class MetricsCounter {
 public:
  // parameter: huber's delta, soft_cross_entropy's temperature.
  MetricsCounter(Loss loss, double parameter, std::int64_t columns);
  // target_class: one of the columns. weight: of the row's loss.
  void add(std::span<const double> y, std::int32_t target_class, double weight = 1);
  void add(std::span<const double> y, std::span<const double> target, double weight = 1);
  Metrics finish() const;

 private:
  void add_soft(std::span<const double> y, std::span<const double> target, double weight);
  struct Column {
    double first = 0, sum = 0, squares = 0,
           errors = 0;  // targets less the first one; squared errors
  };
  Loss loss_;
  double parameter_;
  std::int64_t columns_, rows_ = 0, right_ = 0;
  double total_ = 0, absolute_ = 0, weight_ = 0;
  std::vector<Column> spread_;
  std::vector<std::int64_t> confusion_;
};

// The class of the largest logit (ties: the lower).
std::int32_t best_class(std::span<const float> y);
// Probabilities of logits.
std::vector<double> softmax(std::span<const float> y);

struct EvaluatorOptions {
  Loss loss = Loss::mse;
  double delta = 1;                           // of huber
  double temperature = 1;                     // of soft_cross_entropy
  std::int64_t ignore = kIgnoredClass;        // the class that is not counted
  std::vector<double> class_weights{};        // of rows' losses, by their class
  std::vector<HeadSpec> heads{};              // in place of loss and delta
  std::string isa{};                          // "": the best here
  std::shared_ptr<Adapter> adapter{};         // that the network runs with
  bool stream = false;                        // states go on through the data, as in one lane
  const std::atomic<bool>* cancel = nullptr;  // set: measure() ends as cancelled
};

// Runs a network over data, forward only, and judges the answers. Network, data and pool must
// outlive it.
class Evaluator {
 public:
  static Result<Evaluator> create(Network& network, const DataSource& data, ThreadPool& pool,
                                  const EvaluatorOptions& options);
  // With the weights as they are now. Errors: a class that the network does not have.
  Result<Metrics> measure();

 private:
  Evaluator(Session session, std::unique_ptr<Streams> stream, const DataSource& data,
            const EvaluatorOptions& options, const Network& network)
      : session_(std::move(session)),
        stream_(std::move(stream)),
        data_(&data),
        options_(options),
        heads_(options.heads) {
    if (heads_.empty())
      heads_.push_back({"", network.output().width, options.loss, options.delta, 1,
                        network.class_axis(), options.temperature});
  }
  Status count(std::vector<MetricsCounter>& counters, const Batch& batch, std::int64_t first);
  Status count_classes(MetricsCounter& counter, const HeadSpec& head, std::span<const double> y,
                       const std::function<std::int64_t(std::size_t)>& target, double weight,
                       std::int64_t sample);
  static void count_soft(MetricsCounter& counter, const HeadSpec& head, std::span<const double> y,
                         std::span<const double> target, double weight);
  std::span<const double> answer(std::int64_t row);
  Session session_;
  std::unique_ptr<Streams> stream_;
  const DataSource* data_;
  EvaluatorOptions options_;
  std::vector<HeadSpec> heads_;  // one where there is one loss
  std::vector<double> answer_;
};

}  // namespace loom
