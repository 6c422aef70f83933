#include "train/schedule.h"

#include <algorithm>
#include <string>

#include "base/exact_math.h"

namespace loom {
namespace {

constexpr std::string_view kNames[] = {"constant", "cosine", "step"};
constexpr double kPi = 3.14159265358979323846;

Status bad(std::string what) { return Status(Code::invalid_argument, "schedule: " + std::move(what)); }

}  // namespace

Result<ScheduleKind> parse_schedule_kind(std::string_view text) {
  const auto found = std::find(std::begin(kNames), std::end(kNames), text);
  if (found == std::end(kNames)) return bad("unknown type \"" + std::string(text) + "\": one of constant, cosine, step");
  return static_cast<ScheduleKind>(found - std::begin(kNames));
}

std::string_view name(ScheduleKind kind) { return kNames[static_cast<std::size_t>(kind)]; }

Status Schedule::check() const {
  if (!(rate > 0 && rate <= 1e6)) return bad("\"rate\" must be above 0 and at most 1e6");
  if (warmup < 0) return bad("\"warmup\" must not be negative, got " + std::to_string(warmup));
  if (kind == ScheduleKind::cosine) {
    if (!(floor >= 0 && floor <= rate)) return bad("\"floor\" must be between 0 and \"rate\"");
    if (steps <= warmup) return bad("a cosine of " + std::to_string(steps) + " steps must be longer than its warm-up of " + std::to_string(warmup));
  }
  if (kind == ScheduleKind::step) {
    if (every < 1) return bad("\"every\" must be at least 1, got " + std::to_string(every));
    if (!(factor > 0 && factor <= 1)) return bad("\"factor\" must be above 0 and at most 1");
  }
  return {};
}

double Schedule::at(std::int64_t step) const {
  if (step <= warmup) return rate * static_cast<double>(step) / static_cast<double>(warmup);
  const std::int64_t after = step - warmup - 1;
  switch (kind) {
    case ScheduleKind::constant: break;
    case ScheduleKind::cosine: {
      const std::int64_t length = steps - warmup;
      if (after >= length) return floor;
      return floor + (rate - floor) * 0.5 * (1.0 + exact::cos(kPi * (static_cast<double>(after) / static_cast<double>(length))));
    }
    case ScheduleKind::step: {
      double r = rate;
      // Repeated multiplication, ended where nothing is left to lose.
      for (std::int64_t n = after / every; n > 0 && r > 0 && factor < 1; --n) r *= factor;
      return r;
    }
  }
  return rate;
}

}  // namespace loom
