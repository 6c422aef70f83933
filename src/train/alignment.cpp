// What a trainer reports of the parts of target propagation.
#include <utility>

#include "train/trainer.h"

namespace loom {

// The gradients of back-propagation of the step that the learner has accumulated, beside its own.
Status Trainer::measure_alignment(std::int64_t micro_batches,
                                  const std::function<Status(std::int64_t)>& fill_micro_batch,
                                  std::vector<double>& alignment) {
  LOOM_TRY(sync());
  LearnerOptions whole = learning_;
  whole.method = {};
  whole.matrices = nullptr;
  whole.update = false;
  whole.taps = {};
  LOOM_ASSIGN(Learner other, Learner::create(network_, pool_, whole));
  other.resume(done_);
  other.set_sums(learner_.sums());
  std::swap(learner_, other);
  Status status;
  for (std::int64_t micro = 0; micro < micro_batches && status.ok(); ++micro) {
    status = fill_micro_batch(micro);
    if (status.ok()) status = learner_.accumulate(micro);
  }
  std::swap(learner_, other);
  LOOM_TRY(status);
  alignment = learner_.alignment(other);
  return {};
}

void Trainer::report_parts(const std::vector<double>& alignment) {
  const std::vector<PartReport> before = std::exchange(parts_, learner_.part_reports());
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (!alignment.empty()) {
      parts_[i].alignment = alignment[i];
      parts_[i].alignment_step = done_ + 1;
    } else if (i < before.size()) {
      parts_[i].alignment = before[i].alignment;
      parts_[i].alignment_step = before[i].alignment_step;
    }
  }
}

}  // namespace loom
