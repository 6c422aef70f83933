#include <algorithm>
#include <cmath>

#include "train/trainer.h"

namespace loom {

ProgressMeter::Reading ProgressMeter::update(const StepReport& report, double seconds) {
  constexpr double kWindow = 30;
  rows_ += report.rows;
  Reading reading;
  if (!marks_.empty()) {
    const Mark& from = marks_.front();
    const double passed = seconds - from.seconds;
    if (passed > 0) {
      reading.rows_per_second = static_cast<double>(rows_ - from.rows) / passed;
      reading.seconds_left =
          passed / static_cast<double>(std::max<std::int64_t>(report.step - from.step, 1)) *
          static_cast<double>(report.steps - report.step);
    }
  }
  if (marks_.empty() || seconds - marks_.back().seconds >= 1)
    marks_.push_back({seconds, report.step, rows_});
  while (marks_.size() > 1 && seconds - marks_[1].seconds >= kWindow) marks_.erase(marks_.begin());
  return reading;
}

}  // namespace loom
