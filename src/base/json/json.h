// JSON (RFC 8259) for untrusted input: depth, size and number limits, errors with line and column,
// own number parsing (correctly rounded on every target), duplicate keys refused, member order
// kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"

namespace loom {

struct JsonLimits {
  std::size_t max_depth = 64;
  std::size_t max_bytes = std::size_t{256} << 20;
};

class Json {
 public:
  enum class Type : std::uint8_t { null, boolean, integer, real, string, array, object };
  using Array = std::vector<Json>;
  using Member = std::pair<std::string, Json>;
  using Object = std::vector<Member>;

  Json() {}
  Json(std::nullptr_t) {}                                                // NOLINT
  Json(bool value) : type_(Type::boolean) { boolean_ = value; }          // NOLINT
  Json(int value) : Json(static_cast<std::int64_t>(value)) {}            // NOLINT
  Json(std::int64_t value) : type_(Type::integer) { integer_ = value; }  // NOLINT
  Json(std::uint32_t value) : Json(static_cast<std::int64_t>(value)) {}  // NOLINT
  Json(std::uint64_t value);  // NOLINT: above 2^63-1 it becomes a real
  Json(double value) : type_(Type::real) { real_ = value; }  // NOLINT
  Json(const char* text);                                    // NOLINT
  Json(std::string_view text);                               // NOLINT
  Json(std::string text);                                    // NOLINT
  Json(Array items);                                         // NOLINT
  Json(Object members);                                      // NOLINT
  static Json object();
  static Json array();
  Json(const Json& other);
  Json(Json&& other) noexcept;
  Json& operator=(Json other) noexcept;
  ~Json();

  static Result<Json> parse(std::string_view text, const JsonLimits& limits = {});
  // Compact when indent is 0. Reals are written so that they read back to the same bits. Always
  // UTF-8: a byte of a string that is none is written as \\x80, four characters.
  std::string dump(int indent = 0) const;

  Type type() const { return type_; }
  bool is_null() const { return type_ == Type::null; }
  bool is_bool() const { return type_ == Type::boolean; }
  bool is_integer() const { return type_ == Type::integer; }
  bool is_number() const { return type_ == Type::integer || type_ == Type::real; }
  bool is_string() const { return type_ == Type::string; }
  bool is_array() const { return type_ == Type::array; }
  bool is_object() const { return type_ == Type::object; }

  // Preconditions: the matching is_*(). Untrusted code goes through the get_* readers below.
  bool as_bool() const { return boolean_; }
  std::int64_t as_integer() const { return integer_; }
  double as_number() const {
    return type_ == Type::integer ? static_cast<double>(integer_) : real_;
  }
  const std::string& as_string() const { return *string_; }
  const Array& as_array() const { return *array_; }
  Array& as_array() { return *array_; }
  const Object& as_object() const { return *object_; }
  Object& as_object() { return *object_; }

  // Object member or nullptr (also when this is no object). Linear: iterate large objects instead.
  const Json* find(std::string_view key) const;
  // Sets or appends a member of an object.
  Json& set(std::string_view key, Json value);
  void push(Json value) { array_->push_back(std::move(value)); }

  // Typed readers of an object's member: `fallback` where the key is absent or null, an error
  // naming the key where it is of another type.
  Result<std::int64_t> get_integer(std::string_view key, std::int64_t fallback) const;
  Result<double> get_number(std::string_view key, double fallback) const;
  Result<bool> get_bool(std::string_view key, bool fallback) const;
  Result<std::string> get_string(std::string_view key, std::string_view fallback) const;

 private:
  void release();
  Type type_ = Type::null;
  union {
    bool boolean_;
    std::int64_t integer_ = 0;
    double real_;
    std::string* string_;
    Array* array_;
    Object* object_;
  };
};

// Correctly rounded decimal to double (round to nearest even). The whole text must be a JSON
// number; false otherwise or on overflow.
bool parse_double(std::string_view text, double* out);
// Shortest text that parse_double reads back to the same bits; "nan", "inf" or "-inf" otherwise.
std::string format_double(double value);
// The same of finite numbers without std::to_chars, which some targets lack; slow.
std::string format_double_portable(double value);

}  // namespace loom
