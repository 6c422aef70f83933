// The visitor of field lists (base/fields/fields.h) that checks a struct however it was made:
// ranges, names, and that what is required is there. Objects inside have `fields(visitor, object)`.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "base/fields/fields.h"

namespace loom {

class FieldChecker {
 public:
  // `where` stands in front of errors: "data: ".
  explicit FieldChecker(std::string where = "") : where_(std::move(where)) {}

  // Inlined, so that no call makes a Field of which nothing is used.
  template <class T>
  [[gnu::always_inline]] void operator()(std::string_view key, T& value, const Field& field) {
    if constexpr (!std::is_enum_v<T> && !std::is_same_v<T, bool>) check(key, value, field);
  }
  template <class T>
  void standard(T&, T) {}
  const Status& status() const { return status_; }

 private:
  template <class T>
  void check(std::string_view key, T& value, const Field& field) {
    static_assert(!std::is_const_v<T>, "the comparisons below are of types that are not const");
    if (!status_.ok() || !field.only.holds) return;
    if constexpr (std::is_same_v<T, std::int64_t>) number(key, value, field);
    else if constexpr (std::is_same_v<T, double>) number(key, value, field);
    else if constexpr (std::is_same_v<T, std::string>) text(key, value, field);
    else if constexpr (std::is_same_v<T, std::vector<std::int64_t>>) numbers(key, value, field);
    else if constexpr (std::is_same_v<T, std::vector<std::string>> || std::is_same_v<T, Json>) {
    } else {
      static_assert(!std::is_scalar_v<T>, "a kind of number that is not checked yet");
      inside(std::string(key), value);
    }
  }
  void number(std::string_view key, std::int64_t value, const Field& field) {
    if (!in_range(static_cast<double>(value), field))
      refuse(out_of_range(key, field, true, std::to_string(value)));
  }
  void number(std::string_view key, double value, const Field& field) {
    if (!in_range(value, field)) refuse(out_of_range(key, field, false, format_double(value)));
  }
  void numbers(std::string_view key, const std::vector<std::int64_t>& list, const Field& field) {
    if (field.required && list.empty()) refuse(missing(key, field, true));
    for (const std::int64_t value : list) number(key, value, field);
  }
  void text(std::string_view key, const std::string& value, const Field& field) {
    if (field.required && value.empty()) refuse(missing(key, field, false));
    else if (field.one_of && !has_name(field.one_of, value)) refuse(not_one_of(key, field, value));
  }
  void refuse(const Status& status) {
    if (status_.ok()) status_ = Status(status.code(), where_ + status.message());
  }
  template <class T>
  void inside(const std::string& key, std::vector<T>& list) {
    for (std::size_t i = 0; i < list.size(); ++i) inside(key + " " + std::to_string(i), list[i]);
  }
  template <class T>
  void inside(const std::string& key, T& value) {
    FieldChecker inner(where_ + key + ": ");
    fields(inner, value);
    if (status_.ok()) status_ = inner.status_;
  }
  std::string where_;
  Status status_;
};

}  // namespace loom
