// Which format each matrix of a network should have: sensitivities are measured one matrix at a
// time, the best combinations under a budget are searched in that model, and what is answered is
// measured again, with all of them together. Beginning from the same network, data and settings it
// ends at the same plan (except for milliseconds).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/threads/thread_pool.h"
#include "grid/network.h"
#include "train/data/data.h"
#include "train/learner/learner.h"

namespace loom::cli {

// A format for each matrix, as indices into the candidates, with what was measured.
struct Plan {
  std::vector<std::uint8_t> formats;
  std::uint64_t bytes = 0;  // of all parameters
  double loss = 0;          // over the calibration rows
  double ms = 0;            // of a pass over as many of them as a run takes; 0 where nobody asked
};

class Planner {
 public:
  // The network's matrices must have masters of f32; it is left with the last format that was
  // tried. `timed`: costs are milliseconds, else bytes.
  static Result<Planner> create(Network& network, const DataSource& data, Loss loss,
                                std::vector<WeightFormat> candidates, ThreadPool& pool,
                                const std::string& isa, bool timed);

  const std::vector<std::string>& matrices() const { return names_; }
  const std::vector<WeightFormat>& candidates() const { return candidates_; }
  // Every matrix in the same format, in the order of the candidates.
  const std::vector<Plan>& uniform() const { return uniform_; }
  // How much the loss grows with this matrix alone in this format.
  double sensitivity(std::size_t matrix, std::size_t format) const {
    return units_[matrix][format].loss;
  }

  // The least loss within a budget of bytes or milliseconds. Error: out_of_range where no plan is
  // that small.
  Result<Plan> within(double budget);
  // The least cost with at most this loss. Error: out_of_range where nothing is that good.
  Result<Plan> with_loss(double loss);
  // Gives the network these formats.
  Status apply(const Plan& plan);
  std::int64_t measured() const { return static_cast<std::int64_t>(seen_.size()); }

 private:
  struct Choice {
    double cost = 0, loss = 0;  // beyond those of the base
  };
  struct Point {
    double cost, loss;
    std::vector<std::uint8_t> formats;
  };
  Planner(Network& network, const DataSource& data, Loss loss, ThreadPool& pool)
      : network_(&network), data_(&data), loss_(loss), pool_(&pool) {}
  Result<Plan> measure(const std::vector<std::uint8_t>& formats);
  Result<double> milliseconds();
  double cost(const Plan& plan) const { return timed_ ? plan.ms : static_cast<double>(plan.bytes); }
  void combine();
  template <class Better>
  Status improve(Plan& plan, const Better& better);

  Network* network_;
  const DataSource* data_;
  Loss loss_;
  ThreadPool* pool_;
  std::string isa_;
  bool timed_ = false;
  std::vector<WeightFormat> candidates_;
  std::vector<std::string> names_;
  std::vector<WeightStore*> stores_;
  std::vector<std::vector<Choice>> units_;
  std::vector<Point> frontier_;  // by rising cost and falling loss, in the additive model
  double base_cost_ = 0, base_loss_ = 0;
  std::vector<Plan> uniform_;
  std::map<std::vector<std::uint8_t>, Plan> seen_;
};

}  // namespace loom::cli
