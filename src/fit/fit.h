// A training from files, step by step: from a spec, or from data alone; what is held back judges
// it, the best weights are kept, and it resumes with the same bits. One thread.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json/json.h"
#include "exec/machine.h"
#include "fit/job.h"
#include "fit/report/report.h"
#include "train/judge/metrics.h"
#include "train/trainer.h"

namespace loom {

class Fit {
 public:
  // Where it runs, as machine_of takes it.
  struct Where {
    std::string mode, device, isa;
    int threads = 0;
  };
  // `cancel`: a step under way ends as cancelled. `seconds`: the time since 1970, for events.
  static Result<std::unique_ptr<Fit>> open(const FitOptions& options, const Where& where,
                                           const ImageDecoder& decoder,
                                           const std::atomic<bool>* cancel, double (*seconds)());
  ~Fit();

  struct Step {
    StepReport last;
    std::int64_t ran = 0;
    bool logged = false;  // the spec's "log_every", or the last step
    std::optional<Metrics> validation;
    Status events;  // why they could not be written: the training ends
  };
  // At most `max` steps: ends early behind one that is logged or judged, and at the end. Cancelled:
  // the step leaves nothing. Writes checkpoints and events as asked for.
  Result<Step> step(std::int64_t max);
  // All steps are done, or nothing better came for long.
  bool ended() const;
  bool early() const;

  // Judges the weights that are kept, the best ones: figures, which go into the file, and a text of
  // them. Null where nothing was held back or judged.
  Result<Json> judge(std::string& text);
  // Of a table, after judge(): which columns its answers rest on.
  const std::optional<Report>& report() const;

  Status save(const Destination& to);
  std::string digest();
  Json info() const;
  const webgpu::Choice& device() const;
  const TrainingSpec& spec() const;

  struct State;

 private:
  explicit Fit(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace loom
