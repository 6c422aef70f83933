// What a training came to: the figures of its best weights. Internal to fit.
#pragma once

#include "exec/machine.h"
#include "fit/event_lines.h"
#include "fit/fit.h"
#include "telemetry/event_file.h"
#include "train/judge/validation.h"

namespace loom {

// A training under way. Later members refer to earlier ones.
struct Fit::State {
  FitOptions options;
  std::string isa;
  std::unique_ptr<Job> job;
  Machine machine;
  std::unique_ptr<ThreadPool> pool;
  std::unique_ptr<EventLines> lines;  // of observed steps
  std::unique_ptr<Trainer> trainer;
  std::unique_ptr<Validation> validation;
  EntitySections sections;
  std::optional<EventFile> events;
  double (*seconds)() = nullptr;
  std::optional<Report> report;
  bool early = false;  // nothing better came for long
  Best* best() const { return validation ? &validation->best : nullptr; }
};

// For the file, and in words.
Result<Json> figures_of(Fit::State& course, std::string& text);

}  // namespace loom
