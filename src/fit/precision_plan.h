// Which format each matrix of a network should have: sensitivities are measured one matrix at a
// time, the best combinations under a budget are searched in that model, and what is answered is
// measured again, with all of them together. Beginning from the same network, data and settings it
// ends at the same plan (except for milliseconds).
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/json/json.h"
#include "base/threads/thread_pool.h"
#include "grid/network.h"
#include "train/data/data.h"
#include "train/learner/learner.h"

namespace loom {

// As loom_predictor_plan takes them. At most one of bytes, ms and loss is above 0.
struct PlanOptions {
  double bytes = 0, ms = 0, loss = 0;
  std::vector<std::string> formats;  // beside f32; empty: 17, one for each size
  std::int64_t rows = 512, seed = 0;
};

// A format for each matrix, as indices into the candidates, with what was measured.
struct PrecisionPlan {
  std::vector<std::uint8_t> formats;
  std::uint64_t bytes = 0;  // of all parameters
  double loss = 0;          // over the calibration rows
  double ms = 0;            // of a pass over as many of them as a run takes; 0 where nobody asked
};

class PrecisionPlanner {
 public:
  struct Settings {
    std::string isa;     // "": the best here
    bool timed = false;  // costs are milliseconds, else bytes
    const std::atomic<bool>* cancel = nullptr;
  };
  // The network's matrices must have masters of f32; it is left with the last format that was
  // tried. `candidates`: the first of them is f32.
  static Result<PrecisionPlanner> create(Network& network, const DataSource& data, Loss loss,
                                         std::vector<WeightFormat> candidates, ThreadPool& pool,
                                         const Settings& settings);

  const std::vector<std::string>& matrices() const { return names_; }
  const std::vector<WeightFormat>& candidates() const { return candidates_; }
  // Every matrix in the same format, in the order of the candidates.
  const std::vector<PrecisionPlan>& uniform() const { return uniform_; }

  // The most that a plan may have of cost, in bytes or milliseconds, or of loss.
  struct Limit {
    double value;
    bool of_loss = false;
  };
  // The least loss within a cost, or the least cost within a loss. Error: out_of_range where no
  // plan is within the limit.
  Result<PrecisionPlan> best(const Limit& limit);
  // Gives the network these formats.
  Status apply(const PrecisionPlan& plan);
  std::int64_t measured() const { return static_cast<std::int64_t>(seen_.size()); }

 private:
  struct Choice {
    double cost = 0, loss = 0;  // beyond those of the base
  };
  struct Point {
    double cost, loss;
    std::vector<std::uint8_t> formats;
  };
  PrecisionPlanner(Network& network, const DataSource& data, Loss loss, ThreadPool& pool,
                   const Settings& settings)
      : network_(&network), data_(&data), loss_(loss), pool_(&pool), settings_(settings) {}
  Status find_matrices();
  Status measure_sensitivities();
  Result<PrecisionPlan> measure(const std::vector<std::uint8_t>& formats);
  Result<double> milliseconds();
  double cost(const PrecisionPlan& plan) const {
    return settings_.timed ? plan.ms : static_cast<double>(plan.bytes);
  }
  void combine();
  bool better(const PrecisionPlan& a, const PrecisionPlan& b, const Limit& limit) const;
  Status improve(PrecisionPlan& plan, const Limit& limit);
  Status nothing_within(const Limit& limit) const;

  Network* network_;
  const DataSource* data_;
  Loss loss_;
  ThreadPool* pool_;
  Settings settings_;
  std::vector<WeightFormat> candidates_;
  std::vector<std::string> names_;
  std::vector<WeightStore*> stores_;
  std::vector<std::vector<Choice>> units_;
  std::vector<Point> frontier_;  // by rising cost and falling loss, in the additive model
  double base_cost_ = 0, base_loss_ = 0;
  std::vector<PrecisionPlan> uniform_;
  std::map<std::vector<std::uint8_t>, PrecisionPlan> seen_;
};

// Chooses formats by the options and gives them to the network: f32 where there is no budget.
// `data`: all rows with targets. The report as loom_predictor_plan has it. Errors: out_of_range
// where no formats meet the budget, those of the formats' names, of the network, and of the run.
Result<Json> plan_precision(Network& network, const DataSource& data, Loss loss,
                            const PlanOptions& options, ThreadPool& pool, const std::string& isa,
                            const std::atomic<bool>* cancel);

}  // namespace loom
