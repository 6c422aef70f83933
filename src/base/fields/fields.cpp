#include "base/fields/fields.h"

#include <cstdint>

namespace loom {
#ifdef LOOM_DESCRIBE
inline namespace described {
#endif
namespace {

std::string bound(double value, bool integer) {
  if (value == Field::kNone || value == -Field::kNone) return {};
  const bool small = value > -1e15 && value < 1e15;
  const bool whole = small && value == static_cast<double>(static_cast<std::int64_t>(value));
  return integer || whole ? std::to_string(static_cast<std::int64_t>(value)) : format_double(value);
}

// "must be at least 1", "must be in 1..8", "must be in [0, 1)"
std::string must_be(std::string_view key, const Field& f, bool integer) {
  std::string text("\"");
  text.append(key).append("\" must be ");
  if (f.one_of) return text.append("one of ").append(f.one_of);
  const bool from = f.min > -Field::kNone, after = f.above > -Field::kNone;
  const bool to = f.max < Field::kNone, before = f.below < Field::kNone;
  const std::string low = bound(from ? f.min : f.above, integer);
  const std::string high = bound(to ? f.max : f.below, integer);
  const bool wide = from && f.max == INT32_MAX;
  if (wide || (!to && !before)) text.append(from ? "at least " : "above ").append(low);
  else if (!from && !after) text.append(to ? "at most " : "below ").append(high);
  else if (integer && from && to) text.append("in ").append(low).append("..").append(high);
  else text.append(from ? "in [" : "in (").append(low + ", " + high).append(to ? "]" : ")");
  return wide ? text.append(" and below 2^31") : text;
}

Status bad(std::string text) { return Status(Code::invalid_argument, std::move(text)); }

}  // namespace

bool in_range(double value, const Field& f) {
  return value >= f.min && value <= f.max && (f.above == -Field::kNone || value > f.above) &&
         (f.below == Field::kNone || value < f.below);
}

Status out_of_range(std::string_view key, const Field& f, bool integer, std::string_view got) {
  return bad(must_be(key, f, integer) + ", got " + std::string(got));
}

Status not_one_of(std::string_view key, const Field& f, std::string_view got) {
  return bad(must_be(key, f, false) + ", got \"" + std::string(got) + "\"");
}

Status missing(std::string_view key, const Field& f, bool integer) {
  const bool free = !f.one_of && f.min == -Field::kNone && f.above == -Field::kNone &&
                    f.max == Field::kNone && f.below == Field::kNone;
  if (free) return bad("\"" + std::string(key) + "\" is missing");
  return bad(must_be(key, f, integer) + ", and is missing");
}

Status not_applicable(std::string_view key, const When& only) {
  return bad("\"" + std::string(key) + "\" goes with \"" + only.key + "\" " + only.values);
}

std::string nearest(std::string_view key, const std::vector<std::string_view>& known) {
  std::string_view best;
  std::size_t min = key.size();
  for (const std::string_view name : known) {
    const std::size_t distance = edit_distance(key, name);
    if (3 * distance > std::max(key.size(), name.size()) || distance >= min) continue;
    min = distance;
    best = name;
  }
  return best.empty() ? std::string() : "; did you mean \"" + std::string(best) + "\"?";
}

#ifdef LOOM_DESCRIBE
}  // namespace described
#endif
}  // namespace loom
