#include "exec/observe/recording.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace loom {
namespace {

constexpr std::string_view kDirections[] = {"forward", "backward", "weights"};

Status expects(const char* key, const char* what) {
  return Status(Code::corrupt, std::string(key) + ": expects " + what);
}

// Members of an object; the first that is wrong is the status.
struct Members {
  const Json& json;
  Status status{};

  const Json* of(const char* key) {
    const Json* value = json.find(key);
    if (!value && status.ok()) status = expects(key, "a value");
    return value;
  }
  std::string text(const char* key) {
    const Json* value = of(key);
    if (value && value->is_string()) return value->as_string();
    if (value && status.ok()) status = expects(key, "a text");
    return {};
  }
  std::int64_t whole(const char* key, const Json* value) {
    if (value && value->is_integer() && value->as_integer() >= 0) return value->as_integer();
    if (value && status.ok()) status = expects(key, "a whole number, at least 0");
    return 0;
  }
  std::int64_t whole(const char* key) { return whole(key, of(key)); }
  // Null is a statistic that is no number.
  double number(const char* key, bool may_be_null) {
    const Json* value = of(key);
    if (value && value->is_number()) return value->as_number();
    if (value && status.ok() && !(may_be_null && value->is_null()))
      status = expects(key, may_be_null ? "a number or null" : "a number");
    return std::numeric_limits<double>::quiet_NaN();
  }
  void places(const char* key, std::int64_t* to, std::size_t count, bool may_be_null) {
    const Json* value = of(key);
    if (!value || (may_be_null && value->is_null())) return;
    if (!value->is_array() || value->as_array().size() != count) {
      if (status.ok()) status = expects(key, count == 4 ? "[z, y, x, l]" : "[row, column] or null");
      return;
    }
    for (std::size_t i = 0; i < count; ++i) to[i] = whole(key, &value->as_array()[i]);
  }
};

}  // namespace

Status read_event(const Json& json, ObservedCell& cell, CellEvent& event) {
  if (!json.is_object()) return Status(Code::corrupt, "expects an object");
  Members m{json};
  CellStatistics s;
  event.pass = m.whole("pass");
  event.passes = m.whole("passes");
  cell.path = m.text("path");
  cell.type = m.text("type");
  std::int64_t at[4] = {}, bad[2] = {-1, -1};
  m.places("at", at, 4, false);
  m.places("first_bad", bad, 2, true);
  cell.at = {at[0], at[1], at[2], at[3]};
  const std::string direction = m.text("direction");
  const auto known = std::ranges::find(kDirections, direction);
  if (known != std::end(kDirections)) cell.direction = *known;
  else if (m.status.ok()) m.status = expects("direction", "forward, backward or weights");
  // Of trainings, and of gradients of parameters.
  event.step = json.find("step") ? m.whole("step") : 0;
  cell.role = json.find("role") ? m.text("role") : std::string();
  const Json* enabled = m.of("enabled");
  if (enabled && !enabled->is_bool() && m.status.ok())
    m.status = expects("enabled", "true or false");
  const double mean = m.number("mean", true), std = m.number("std", true);
  const double min = m.number("min", true), max = m.number("max", true);
  const double share = m.number("active_share", false);
  s.count = m.whole("count");
  s.nan_count = m.whole("nan_count");
  s.inf_count = m.whole("inf_count");
  LOOM_TRY(m.status);
  cell.enabled = enabled->as_bool();
  if (event.passes < 1) return expects("passes", "at least 1");
  if (s.nan_count > s.count || s.inf_count > s.count - s.nan_count)
    return expects("count", "at least nan_count + inf_count");
  if (!(share >= 0 && share <= 1)) return expects("active_share", "0 to 1");
  if (std < 0) return expects("std", "at least 0");
  s.active = std::llround(share * static_cast<double>(s.count));
  if (s.finite() > 0) {
    s.mean = mean, s.min = min, s.max = max;
    s.squares = std * std * static_cast<double>(s.finite());
  }
  s.bad_row = bad[0], s.bad_column = bad[1];
  event.statistics = s;
  return {};
}

}  // namespace loom
