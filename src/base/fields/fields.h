// What a configuration says of one of its fields. A struct lists its fields once, in a template
//   template <class V> void fields(V& v) { v("out", out, {.doc = "outputs per row", .min = 1}); }
// and readers, writers, schemas, documents and bindings are visitors of that list.
#pragma once

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "base/edit_distance.h"
#include "base/json/json.h"
#include "base/status.h"

namespace loom {
#ifdef LOOM_DESCRIBE
inline namespace described {  // its Field is another type: it holds the documentation
#endif

// Text for people. Only the program that describes (tools/describe) keeps it: in the library it is
// empty, so that documentation costs no byte.
struct FieldText {
#ifdef LOOM_DESCRIBE
  constexpr FieldText(const char* text = "") : text(text) {}  // NOLINT
  const char* text;
#else
  constexpr FieldText(const char* = "") {}  // NOLINT
#endif
};

// Whether a list as "all, last" has this name.
inline bool has_name(std::string_view list, std::string_view name) {
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(", "), list.size());
    if (list.substr(0, end) == name) return true;
    list.remove_prefix(std::min(end + 2, list.size()));
  }
  return false;
}

// A field that counts only where another one has one of some values: {"sub_norm", sub_norm} or
// {"kind", kind, "grid, masked"}.
struct When {
  constexpr When() = default;
  constexpr When(const char* key, bool value) : key(key), holds(value) {}
  When(const char* key, std::string_view value, const char* values)
      : key(key), values(values), holds(has_name(values, value)) {}

  const char* key = nullptr;  // null: the field always counts
  const char* values = "true";
  bool holds = true;
};

struct Field {
  static constexpr double kNone = std::numeric_limits<double>::infinity();

  FieldText doc{};
  FieldText names{};  // of a text that its reader alone checks: "cpu, gpu, auto"
  // Of a number, or of each number of a list; above and below are excluded themselves.
  double min = -kNone, above = -kNone, max = kNone, below = kNone;
  const char* one_of = nullptr;  // the names that a text may be: "all, last"
  bool required = false;
  When only{};
  bool written = true;  // false: a writer leaves it out, as before the field was there
};

// Errors of readers, which all say them alike.
Status out_of_range(std::string_view key, const Field& field, bool integer, std::string_view got);
bool in_range(double value, const Field& field);
Status not_one_of(std::string_view key, const Field& field, std::string_view got);
Status not_applicable(std::string_view key, const When& only);
Status missing(std::string_view key, const Field& field, bool integer);
// "; did you mean ...?" where one of these is near.
std::string nearest(std::string_view key, const std::vector<std::string_view>& known);

#ifdef LOOM_DESCRIBE
}  // namespace described
#endif
}  // namespace loom
