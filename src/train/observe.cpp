// Trainings that are observed: events of the steps.
#include "train/trainer.h"

namespace loom {

Status Trainer::observe(Observer* observer, const ObserveOptions& options) {
  LOOM_TRY(whole());
  if (!observer) {
    LOOM_TRY(set_taps({}));
    observation_.observer = nullptr;
    return {};
  }
  LOOM_TRY(check_observe(options));
  if (learning_.device)
    return Status(Code::unsupported,
                  "observe: a trainer on a device is not observed: train on the "
                  "CPU, where it has the same bits");
  LOOM_TRY(set_taps({true, options.nested, options.weights}));
  observation_ = {observer, options, options.passed, options.observed, {}};
  const Status begun = begin_observer();
  if (!begun.ok()) LOOM_TRY(observe(nullptr));
  return begun;
}

// The program that has them.
Status Trainer::set_taps(const TapOptions& taps) {
  const TapOptions& now = learning_.taps;
  if (now.on == taps.on && now.nested == taps.nested && now.weights == taps.weights) return {};
  LearnerOptions next = learning_;
  next.taps = taps;
  return remake(next);
}

Status Trainer::begin_observer() {
  return observation_.observer ? observation_.observer->begin(learner_.observed_cells()) : Status();
}

void Trainer::tap_step() {
  const Observation& o = observation_;
  learner_.tap(o.observer && o.passes % o.options.every == 0 &&
               (o.options.passes == 0 || o.observed < o.options.passes));
}

Status Trainer::report_taps(std::int64_t step, double weight) {
  Observation& o = observation_;
  if (!o.observer || !(weight > 0)) return {};
  CellEvent event;
  event.pass = o.passes++;
  event.step = step;
  if (!learner_.tapping()) return {};
  ++o.observed;
  learner_.observed(weight, o.statistics);
  for (event.cell = 0; event.cell < o.statistics.size(); ++event.cell) {
    event.statistics = o.statistics[event.cell];
    LOOM_TRY(o.observer->on_forward(event));
  }
  return {};
}

}  // namespace loom
