// What observers see of a step (exec/observe): the values of the forward pass, and gradients.
#include <algorithm>

#include "exec/observe/tap_plan.h"
#include "train/learner/learner.h"

namespace loom {

// The list: cells forward, cells backward, parameters.
void Learner::list_observed(const Network& network) {
  const TapOptions& taps = options_.taps;
  const std::vector<ObservedCell> cells = loom::observed_cells(network, taps.nested);
  for (const std::string_view direction : {"forward", "backward"})
    for (ObservedCell cell : cells) {
      cell.direction = direction;
      observed_.push_back(std::move(cell));
    }
  if (!taps.weights) return;
  const std::vector<ObservedCell> all = loom::observed_cells(network, true);
  for (const NetworkEmitter::Gradient& g : gradients_) {
    const auto at = std::ranges::find(all, g.path, &ObservedCell::path);
    ObservedCell cell = at != all.end() ? *at : ObservedCell{.type = "method"};
    cell.path = g.path, cell.role = g.role, cell.direction = "weights";
    observed_.push_back(std::move(cell));
  }
}

std::vector<View> Learner::plan_taps(ProgramBuilder& emit, const NetworkEmitter& emitter) {
  if (!options_.taps.on) return {};
  list_observed(*network_);
  Keeper keeper(emit);
  taps_of_ = ask_recorded(keeper, emitter, observed_);
  std::vector<View> views = keeper.keep();
  // A step's gradients are there after it, as they are.
  for (std::size_t i = observed_.size() - gradients_.size();
       options_.taps.weights && i < observed_.size(); ++i) {
    views.push_back(gradients_[i + gradients_.size() - observed_.size()].value);
    taps_of_.push_back(i);
  }
  return views;
}

void Learner::tap(bool on) {
  tapping_ = on && taps_;
  if (taps_) taps_->enable(tapping_);
}

// Gradients are of the sum of the rows' losses, times the loss scale: a row's count as active by
// its own loss, those of parameters by the mean.
void Learner::begin_taps(std::int64_t micro) {
  if (!tapping_) return;
  if (micro == 0) taps_->clear(), tapped_weight_ = 0, tapped_rows_ = 0;
  tapped_weight_ += weight_;
  const bool last = micro + 1 == options_.micro_batches;
  for (std::size_t i = 0; i < taps_of_.size(); ++i) {
    const std::string_view direction = observed_[taps_of_[i]].direction;
    double limit = CellStatistics::kActive;
    if (direction != "forward") limit *= loss_scale_;
    if (direction == "weights") limit *= last ? tapped_weight_ : 0;
    taps_->set_active(i, limit);
  }
  taps_->begin(*executor_, {.first = tapped_rows_});
}

void Learner::read_taps() {
  if (!tapping_) return;
  taps_->read(*executor_, *pool_, {.first = tapped_rows_});
  tapped_rows_ += executor_->get(rows_);
}

void Learner::observed(double weight, std::vector<CellStatistics>& statistics) const {
  statistics.resize(observed_.size());
  taps_->join(taps_of_, statistics);
  for (std::size_t i = 0; i < observed_.size(); ++i)
    if (observed_[i].direction != "forward") statistics[i].scale(1 / (weight * loss_scale_));
}

}  // namespace loom
