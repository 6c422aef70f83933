// Learning rate of a step: a pure function, made of exact arithmetic only, so a resumed run and every machine see the same rates.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/status.h"

namespace loom {

enum class ScheduleKind : std::uint8_t {
  constant,
  cosine,  // from rate to floor over `steps` (Loshchilov and Hutter, arXiv 1608.03983, without restarts)
  step,    // times `factor` after every `every` steps
};
Result<ScheduleKind> parse_schedule_kind(std::string_view text);
std::string_view name(ScheduleKind kind);

struct Schedule {
  ScheduleKind kind = ScheduleKind::constant;
  double rate = 1e-3;      // the highest
  std::int64_t warmup = 0;  // the first steps rise linearly: step s has rate * s / warmup
  double floor = 0.0;      // cosine: the rate at its end and after it
  std::int64_t steps = 0;  // cosine: where it ends, warm-up included; 0: the training's last step
  std::int64_t every = 0;  // step
  double factor = 0.1;     // step

  // Errors name the field.
  Status check() const;
  // Of optimizer step `step`, counted from 1. Decay starts after the warm-up, whose last step and successor both have `rate`.
  double at(std::int64_t step) const;
};

}  // namespace loom
