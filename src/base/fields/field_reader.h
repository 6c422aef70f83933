// The visitor of field lists (base/fields/fields.h) that reads JSON by them and checks what it
// says: types, ranges, names, keys that no list has, required ones that are not there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/fields/fields.h"
#include "base/json/json.h"

namespace loom {
#ifdef LOOM_DESCRIBE
inline namespace described {
#endif

// A field is a scalar (int64, double, bool, string), an optional scalar, or an enum with `name` and
// `parse_as`. It may be a list of int64 (in JSON a number or a list of them), a list of such lists,
// or a list of strings. It may be an object with its list (`fields(visitor, object)`), or a type
// with
//   const char* read_field(const Json&, T&)
// which takes what is there, null too, and returns what would be right: "must be an id".
class FieldReader {
 public:
  using Integers = std::vector<std::int64_t>;
  explicit FieldReader(const Json& json) : json_(json) {}

  void about(FieldText) {}
  void operator()(std::string_view key, std::int64_t& value, const Field& field);
  void operator()(std::string_view key, double& value, const Field& field);
  void operator()(std::string_view key, bool& value, const Field& field);
  void operator()(std::string_view key, std::string& value, const Field& field);
  void operator()(std::string_view key, Integers& value, const Field& field);
  void operator()(std::string_view key, std::vector<Integers>& value, const Field& field);
  void operator()(std::string_view key, std::vector<std::string>& value, const Field& field);
  template <class T>
  void operator()(std::string_view key, std::optional<T>& value, const Field& field) {
    T given{};
    (*this)(key, given, field);
    if (status_.ok() && has(key)) value = given;
  }
  template <class E>
    requires std::is_enum_v<E>
  void operator()(std::string_view key, E& value, const Field& field) {
    std::string text(name(value));
    (*this)(key, text, {.required = field.required, .only = field.only});
    if (!status_.ok() || text == name(value)) return;
    const auto parsed = parse_as(text, value);
    if (!parsed.ok()) status_ = parsed.status();
    else if (field.one_of && !has_name(field.one_of, name(*parsed)))
      status_ = not_one_of(key, field, text);
    else value = *parsed;
  }
  template <class T>
    requires requires(const Json& json, T& value) { read_field(json, value); }
  void operator()(std::string_view key, T& value, const Field& field) {
    if (const Json* json = own(key, field)) refuse(key, read_field(*json, value));
  }
  template <class T>
    requires requires(FieldReader& reader, T& value) { fields(reader, value); }
  void operator()(std::string_view key, T& value, const Field& field) {
    if (!begin(key, field, false)) return;
    FieldReader inner(*json_.find(key));
    fields(inner, value);
    status_ = inner.finish("known are").at(key);
  }
  Status status() const { return status_; }
  // The first error; else a key that no list has, behind which `has` and the keys of this one
  // stand; else a required key that is not there. `also`: keys that others read.
  Status finish(std::string_view has, const std::vector<std::string_view>& also = {}) const;

 private:
  // Whether the key is there to be read.
  bool begin(std::string_view key, const Field& field, bool integer);
  bool has(std::string_view key) const;
  const Json* own(std::string_view key, const Field& field);
  void refuse(std::string_view key, const char* must_be);
  // Whether a value that was read is to be taken; `same`: as before.
  bool counts(std::string_view key, const Field& field, bool same);

  const Json& json_;
  std::vector<std::string_view> known_;
  Status status_, missing_;
};

#ifdef LOOM_DESCRIBE
}  // namespace described
#endif
}  // namespace loom
