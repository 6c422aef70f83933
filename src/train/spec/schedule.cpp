#include "train/spec/schedule.h"

#include <algorithm>
#include <string>

#include "base/fields/field_checker.h"
#include "base/math/exact_math.h"
#include "base/message.h"
#include "train/spec/spec_fields.h"

namespace loom {
namespace {

constexpr double kPi = 3.14159265358979323846;

Status bad(std::string what) {
  return Status(Code::invalid_argument, message("schedule: ", std::move(what)));
}

// Between two rates along half a cosine; 0 <= t <= 1.
double cosine(double from, double to, double t) {
  return to + (from - to) * 0.5 * (1.0 + exact::cos(kPi * t));
}

}  // namespace

Result<ScheduleKind> parse_schedule_kind(std::string_view text) {
  const auto found = std::find(std::begin(kScheduleNames), std::end(kScheduleNames), text);
  if (found == std::end(kScheduleNames)) {
    std::string list;
    for (const std::string_view name : kScheduleNames)
      list += (list.empty() ? "" : ", ") + std::string(name);
    return bad(message("unknown type \"", text, "\": one of ", list));
  }
  return static_cast<ScheduleKind>(found - std::begin(kScheduleNames));
}

Status Schedule::check() const {
  FieldChecker checker("schedule: ");
  fields(checker, const_cast<Schedule&>(*this));  // a checker changes nothing
  LOOM_TRY(checker.status());
  if (floor > lr) return bad("\"floor\" must be between 0 and \"lr\"");
  if (has_end(kind) && steps <= warmup)
    return bad(message("a ", name(kind), " of ", steps,
                       " steps must be longer than its warm-up of ", warmup));
  for (std::size_t i = 1; i < milestones.size(); ++i)
    if (milestones[i] <= milestones[i - 1]) return bad("\"milestones\" must ascend");
  if (kind == ScheduleKind::one_cycle) {
    if (warmup != 0) return bad("one_cycle begins with a warm-up of its own: \"warmup\" must be 0");
    if (!(share * static_cast<double>(steps) > 1))
      return bad(message("\"share\" of ", steps, " steps must be more than one"));
  }
  return {};
}

double Schedule::at(std::int64_t step) const {
  if (step <= warmup) return lr * static_cast<double>(step) / static_cast<double>(warmup);
  const std::int64_t after = step - warmup - 1, length = steps - warmup;
  const double t = static_cast<double>(after);
  if (has_end(kind) && kind != ScheduleKind::one_cycle && after >= length) return floor;
  switch (kind) {
    case ScheduleKind::constant: break;
    case ScheduleKind::cosine:
      return floor +
             (lr - floor) * 0.5 * (1.0 + exact::cos(kPi * (t / static_cast<double>(length))));
    case ScheduleKind::step: {
      double r = lr;
      // Repeated multiplication, ended where nothing is left to lose.
      for (std::int64_t n = after / every; n > 0 && r > 0 && factor < 1; --n) r *= factor;
      return r;
    }
    case ScheduleKind::linear: return lr + (floor - lr) * (t / static_cast<double>(length));
    case ScheduleKind::cosine_restarts: {
      std::int64_t begin = 0, period = every;
      if (multiplier == 1) begin = after / every * every;
      else
        while (after - begin >= period) {
          begin += period;
          period *= multiplier;
        }
      return cosine(lr, floor, static_cast<double>(after - begin) / static_cast<double>(period));
    }
    case ScheduleKind::multi_step: {
      double r = lr;
      for (std::size_t i = 0; i < milestones.size() && milestones[i] <= after; ++i) r *= factor;
      return r;
    }
    case ScheduleKind::exponential: {
      double r = lr, square = factor;
      for (std::int64_t n = after; n > 0; n >>= 1, square *= square)
        if (n & 1) r *= square;
      return r;
    }
    case ScheduleKind::one_cycle: {
      // torch.optim.lr_scheduler.OneCycleLR: the top is at step share * steps - 1, counted from 0.
      const double first = lr / div, last = static_cast<double>(steps - 1),
                   top = share * static_cast<double>(steps) - 1;
      if (t <= top) return cosine(first, lr, t / top);
      return cosine(lr, first / final_div, t < last ? (t - top) / (last - top) : 1.0);
    }
    case ScheduleKind::polynomial:
      return floor + (lr - floor) * exact::pow(1.0 - t / static_cast<double>(length), power);
  }
  return lr;
}

}  // namespace loom
