// JSON of the program: the library's public interface takes and gives it as text, and leaves to its
// users what reads it. This program uses the reader that the library itself has.
#pragma once

#include <string>
#include <string_view>

#include "base/json/json.h"

namespace loom::cli {

// What the library answered.
inline Json parsed(std::string_view text) { return *Json::parse(text); }

// Of an object: the member, which is there; the others where it is absent or null.
inline const Json& member(const Json& object, std::string_view key) { return *object.find(key); }
inline std::int64_t integer_in(const Json& object, std::string_view key, std::int64_t absent = 0) {
  const Json* value = object.find(key);
  return value && value->is_number() ? value->as_integer() : absent;
}
inline double number_in(const Json& object, std::string_view key, double absent = 0) {
  const Json* value = object.find(key);
  return value && value->is_number() ? value->as_number() : absent;
}
inline std::string text_in(const Json& object, std::string_view key) {
  const Json* value = object.find(key);
  return value && value->is_string() ? value->as_string() : std::string();
}
inline bool flag_in(const Json& object, std::string_view key) {
  const Json* value = object.find(key);
  return value && value->is_bool() && value->as_bool();
}

}  // namespace loom::cli
