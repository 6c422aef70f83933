#include "base/fields/field_reader.h"

#include <algorithm>

namespace loom {
#ifdef LOOM_DESCRIBE
inline namespace described {
#endif
namespace {

Status wrong(std::string_view key, const char* expected) {
  return Status(Code::invalid_argument, "\"" + std::string(key) + "\": expected " + expected);
}

bool read_integers(const Json& json, std::vector<std::int64_t>* to) {
  if (!json.is_array()) return false;
  for (const Json& v : json.as_array()) {
    if (!v.is_integer()) return false;
    to->push_back(v.as_integer());
  }
  return true;
}

bool contains(const std::vector<std::string_view>& list, std::string_view key) {
  return std::find(list.begin(), list.end(), key) != list.end();
}

}  // namespace

bool FieldReader::has(std::string_view key) const {
  const Json* json = json_.find(key);
  return json && !json->is_null();
}

bool FieldReader::begin(std::string_view key, const Field& field, bool integer) {
  known_.push_back(key);
  if (!status_.ok()) return false;
  if (has(key)) return true;
  if (field.required && field.only.holds && missing_.ok()) missing_ = missing(key, field, integer);
  return false;
}

const Json* FieldReader::own(std::string_view key, const Field& field) {
  begin(key, field, false);
  return status_.ok() ? json_.find(key) : nullptr;
}

void FieldReader::refuse(std::string_view key, const char* must_be) {
  if (!must_be) return;
  status_ = Status(Code::invalid_argument, "\"" + std::string(key) + "\" " + must_be);
}

bool FieldReader::counts(std::string_view key, const Field& field, bool same) {
  if (field.only.holds) return true;
  // Writers put the default there, too.
  if (!same) status_ = not_applicable(key, field.only);
  return false;
}

void FieldReader::operator()(std::string_view key, std::int64_t& value, const Field& field) {
  if (!begin(key, field, true)) return;
  const auto got = json_.get_integer(key, value);
  if (!got.ok()) status_ = got.status();
  else if (!counts(key, field, *got == value)) return;
  else if (!in_range(static_cast<double>(*got), field))
    status_ = out_of_range(key, field, true, std::to_string(*got));
  else value = *got;
}

void FieldReader::operator()(std::string_view key, double& value, const Field& field) {
  if (!begin(key, field, false)) return;
  const auto got = json_.get_number(key, value);
  if (!got.ok()) status_ = got.status();
  else if (!counts(key, field, *got == value)) return;
  else if (!in_range(*got, field)) status_ = out_of_range(key, field, false, format_double(*got));
  else value = *got;
}

void FieldReader::operator()(std::string_view key, bool& value, const Field& field) {
  if (!begin(key, field, false)) return;
  const auto got = json_.get_bool(key, value);
  if (!got.ok()) status_ = got.status();
  else if (counts(key, field, *got == value)) value = *got;
}

void FieldReader::operator()(std::string_view key, std::string& value, const Field& field) {
  if (!begin(key, field, false)) return;
  auto got = json_.get_string(key, value);
  if (!got.ok()) status_ = got.status();
  else if (!counts(key, field, *got == value)) return;
  else if (field.one_of && !has_name(field.one_of, *got)) status_ = not_one_of(key, field, *got);
  else value = std::move(*got);
}

void FieldReader::operator()(std::string_view key, Integers& value, const Field& field) {
  if (!begin(key, field, true)) return;
  const Json& json = *json_.find(key);
  auto got = json.is_integer() ? Integers{json.as_integer()} : Integers();
  if (!json.is_integer() && !read_integers(json, &got)) {
    status_ = wrong(key, "an integer or a list of integers");
    return;
  }
  if (!counts(key, field, got == value)) return;
  for (const std::int64_t v : got) {
    if (in_range(static_cast<double>(v), field)) continue;
    status_ = out_of_range(key, field, true, std::to_string(v));
    return;
  }
  value = std::move(got);
}

void FieldReader::operator()(std::string_view key, std::vector<Integers>& value,
                             const Field& field) {
  if (!begin(key, field, true)) return;
  const Json& json = *json_.find(key);
  bool lists = json.is_array();
  std::vector<Integers> got;
  for (std::size_t i = 0; lists && i < json.as_array().size(); ++i)
    lists = read_integers(json.as_array()[i], &got.emplace_back());
  if (!lists) {
    status_ = wrong(key, "a list of lists of integers");
    return;
  }
  for (const Integers& list : got)
    for (const std::int64_t v : list)
      if (!in_range(static_cast<double>(v), field) && status_.ok())
        status_ = out_of_range(key, field, true, std::to_string(v));
  value = std::move(got);
}

void FieldReader::operator()(std::string_view key, std::vector<std::string>& value,
                             const Field& field) {
  if (!begin(key, field, false)) return;
  const Json& json = *json_.find(key);
  bool strings = json.is_array();
  std::vector<std::string> got;
  for (std::size_t i = 0; strings && i < json.as_array().size(); ++i) {
    strings = json.as_array()[i].is_string();
    if (strings) got.push_back(json.as_array()[i].as_string());
  }
  if (strings) value = std::move(got);
  else refuse(key, "must be a list of strings");
}

Status FieldReader::finish(std::string_view has, const std::vector<std::string_view>& also) const {
  if (!status_.ok()) return status_;
  if (!json_.is_object()) return Status(Code::invalid_argument, "expected a JSON object");
  for (const auto& [key, value] : json_.as_object()) {
    if (contains(also, key) || contains(known_, key)) continue;
    std::string list;
    for (std::string_view k : known_) list += (list.empty() ? "" : ", ") + std::string(k);
    std::vector<std::string_view> all = known_;
    all.insert(all.end(), also.begin(), also.end());
    return Status(Code::invalid_argument, "unknown key \"" + key + "\": " + std::string(has) + " " +
                                              (list.empty() ? "no settings" : list) +
                                              nearest(key, all));
  }
  return missing_;
}

#ifdef LOOM_DESCRIBE
}  // namespace described
#endif
}  // namespace loom
