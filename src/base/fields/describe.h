// The visitor of field lists (base/fields/fields.h) that describes them as JSON, for
// tools/describe. Never part of the library: there a field's documentation is empty.
#pragma once
#ifndef LOOM_DESCRIBE
#error "base/fields/describe.h is for programs that define LOOM_DESCRIBE"
#endif

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/fields/fields.h"
#include "base/json/json.h"
#include "base/split.h"

namespace loom {

inline Json::Array names_of(std::string_view list) {
  const std::vector<std::string_view> names = split(list, ", ");
  return Json::Array(names.begin(), names.end());
}

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;

// {"about", "fields": [{"key", "type", "default", "doc", "min", ..., "names", "required", "only"}]}
// An enum needs `described_names(E)`, all of its names, and `name(E)`.
class FieldDescriber {
 public:
  void about(FieldText text) { about_ = text.text; }
  template <class T>
  void standard(T& value, T of_this_kind) {
    value = of_this_kind;
  }

  template <class T>
  void operator()(std::string_view key, const T& value, const Field& field) {
    Json json = Json::object();
    json.set("key", key);
    type_of(value, json);
    json.set("doc", field.doc.text);
    bound(json, "min", field.min, value);
    bound(json, "above", field.above, value);
    bound(json, "max", field.max, value);
    bound(json, "below", field.below, value);
    const char* names = field.one_of ? field.one_of : field.names.text;
    if (*names) json.set("names", Json(names_of(names)));
    if (field.required) json.set("required", true);
    if (field.only.key) {
      Json only = Json::object();
      only.set("key", field.only.key);
      Json::Array values = names_of(field.only.values);
      if (values.size() == 1 && values[0].as_string() == "true") values[0] = Json(true);
      only.set("values", Json(std::move(values)));
      json.set("only", std::move(only));
    }
    fields_.push(std::move(json));
  }

  Json take() {
    Json json = Json::object();
    json.set("about", about_);
    json.set("fields", std::move(fields_));
    return json;
  }

 private:
  template <class T>
  static void type_of(const T& value, Json& json) {
    if constexpr (std::is_enum_v<T>) {
      json.set("type", "enum");
      json.set("default", name(value));
      json.set("names", Json(described_names(value)));
    } else if constexpr (std::is_same_v<T, bool>) {
      scalar("boolean", value, json);
    } else if constexpr (std::is_integral_v<T>) {
      scalar("integer", static_cast<std::int64_t>(value), json);
    } else if constexpr (std::is_same_v<T, double>) {
      scalar("number", value, json);
    } else if constexpr (std::is_same_v<T, std::string>) {
      scalar("string", value, json);
    } else if constexpr (std::is_same_v<T, std::vector<std::int64_t>>) {
      json.set("type", "integers");
      if (value.size() == 1) json.set("default", value[0]);
      else json.set("default", Json(Json::Array(value.begin(), value.end())));
    } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
      json.set("type", "strings");
      json.set("default", Json::array());
    } else if constexpr (std::is_same_v<T, std::vector<std::vector<std::int64_t>>>) {
      json.set("type", "integer lists");
      json.set("default", Json::array());
    } else if constexpr (is_optional<T>) {
      Json inner = Json::object();
      type_of(typename T::value_type(), inner);
      json.set("type", *inner.find("type"));
    } else {
      json.set("type", described_shape(value));
    }
  }
  template <class T>
  static void scalar(const char* type, const T& value, Json& json) {
    json.set("type", type);
    json.set("default", Json(value));
  }
  template <class T>
  static void bound(Json& json, const char* key, double value, const T&) {
    if (value == Field::kNone || value == -Field::kNone) return;
    if constexpr (std::is_same_v<T, double> || std::is_same_v<T, std::optional<double>>)
      json.set(key, value);
    else json.set(key, static_cast<std::int64_t>(value));
  }

  const char* about_ = "";
  Json fields_ = Json::array();
};

template <class E>
Json::Array names_below(E end) {
  Json::Array names;
  for (int i = 0; i < static_cast<int>(end); ++i) names.emplace_back(name(static_cast<E>(i)));
  return names;
}

}  // namespace loom
