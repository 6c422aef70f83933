// Learning rate of a step: a pure function, made of exact arithmetic only, so a resumed run and
// every machine see the same rates.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace loom {

enum class ScheduleKind : std::uint8_t {
  constant,
  cosine,  // from lr to floor over `steps` (Loshchilov and Hutter, arXiv 1608.03983, without
           // restarts)
  step,    // times `factor` after every `every` steps
  linear,  // from lr to floor over `steps`
  cosine_restarts,  // cosines to floor of `every` steps, each `multiplier` times as long as the one
                    // before (arXiv 1608.03983)
  multi_step,       // times `factor` at each of `milestones`
  exponential,      // times `factor` after every step
  one_cycle,        // up from lr / `div` for a `share` of `steps`, and down to lr / (`div` *
                    // `final_div`), both as cosines (arXiv 1708.07120)
  polynomial,       // from lr to floor as (1 - t / steps)^power
};
// Whether it ends: `steps` counts.
constexpr bool has_end(ScheduleKind kind) {
  return kind == ScheduleKind::cosine || kind == ScheduleKind::linear ||
         kind == ScheduleKind::one_cycle || kind == ScheduleKind::polynomial;
}
inline constexpr std::string_view kScheduleNames[] = {
    "constant",   "cosine",      "step",      "linear",    "cosine_restarts",
    "multi_step", "exponential", "one_cycle", "polynomial"};
inline std::string_view name(ScheduleKind kind) {
  return kScheduleNames[static_cast<std::size_t>(kind)];
}
Result<ScheduleKind> parse_schedule_kind(std::string_view text);

struct Schedule {
  ScheduleKind kind = ScheduleKind::constant;
  double lr = 1e-3;         // the highest
  std::int64_t warmup = 0;  // the first steps rise linearly: step s has lr * s / warmup
  double floor =
      0.0;  // linear, cosine, cosine_restarts, polynomial: the rate at the end and after it
  std::int64_t steps = 0;  // what has an end: where, warm-up included; 0: the training's last step
  std::int64_t every = 0;  // step, cosine_restarts
  double factor = 0.1;     // step, multi_step, exponential
  std::int64_t multiplier = 1;                    // cosine_restarts
  std::vector<std::int64_t> milestones;           // multi_step: steps after the warm-up, ascending
  double share = 0.3, div = 25, final_div = 1e4;  // one_cycle
  double power = 1;                               // polynomial

  // Errors name the field.
  Status check() const;
  // Of optimizer step `step`, counted from 1. Decay starts after the warm-up, whose last step and
  // successor both have `lr`.
  double at(std::int64_t step) const;
};

}  // namespace loom
