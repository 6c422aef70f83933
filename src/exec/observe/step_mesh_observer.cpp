// Step meshes that are observed: the values of all cells are there after each tick, so that no
// program changes. Ticks that are observed run one by one.
#include <algorithm>

#include "exec/observe/tap_plan.h"
#include "exec/observe/taps.h"
#include "exec/step_mesh.h"

namespace loom {

struct StepMesh::Observation {
  Observer* observer;
  ObserveOptions options;
  std::int64_t passes, observed;
  Taps taps;
  // Ticks before the next one that is observed.
  std::int64_t quiet() const {
    if (options.passes > 0 && observed >= options.passes) return INT64_MAX;
    const std::int64_t past = passes % options.every;
    return past == 0 ? 0 : options.every - past;
  }
};

StepMesh::StepMesh() = default;
StepMesh::StepMesh(StepMesh&&) noexcept = default;
StepMesh& StepMesh::operator=(StepMesh&&) noexcept = default;
StepMesh::~StepMesh() = default;

Status StepMesh::observe(Observer* observer, const ObserveOptions& options) {
  drop_slices();
  if (!observer) {
    if (observation_) observation_->observer = nullptr;
    return {};
  }
  LOOM_TRY(check_observe(options));
  if (options.nested || options.weights)
    return Status(Code::invalid_argument,
                  "observe: after a tick of a step mesh there are the values that its cells give: "
                  "\"nested\" is for sessions and trainers, \"weights\" for trainers");
  if (options_.device)
    return Status(Code::unsupported,
                  "observe: a step mesh on a device is not observed: make it on "
                  "the CPU, where it has the same bits");
  LOOM_TRY(observer->begin(observed_cells(*network_, false)));
  observation_.reset(new Observation{observer, options, options.passed, options.observed,
                                     Taps(*one_.executor, one_.values, kNone, Taps::Watch::after)});
  return {};
}

std::int64_t StepMesh::passes() const { return observation_ ? observation_->passes : 0; }
std::int64_t StepMesh::observed_passes() const { return observation_ ? observation_->observed : 0; }

std::int64_t StepMesh::quiet_ticks() const {
  return observation_ && observation_->observer ? observation_->quiet() : INT64_MAX;
}

Status StepMesh::report_ticks(std::int64_t ticks) {
  if (!observation_ || !observation_->observer) return {};
  Observation& o = *observation_;
  const bool due = o.quiet() == 0;
  o.passes += ticks;
  if (!due) return {};
  ++o.observed;
  o.taps.clear();
  o.taps.read(*one_.executor, *pool_, {});
  CellEvent event;
  event.pass = o.passes - 1;
  for (event.cell = 0; event.cell < o.taps.size(); ++event.cell) {
    event.statistics = o.taps.of(event.cell);
    LOOM_TRY(o.observer->on_forward(event));
  }
  return {};
}

}  // namespace loom
