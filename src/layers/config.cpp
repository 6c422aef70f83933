#include "layers/config.h"

#include <algorithm>

namespace loom {

bool is_grid_key(std::string_view key) {
  static constexpr std::string_view keys[] = {"at", "type", "dtype", "links", "merge", "keep_previous", "enabled", "layers", "tie", "name"};
  return std::find(std::begin(keys), std::end(keys), key) != std::end(keys);
}

void FieldReader::operator()(std::string_view key, Activation& value, std::string_view) {
  read(key, [&]() -> Result<Activation> {
    LOOM_ASSIGN(const std::string text, json_.get_string(key, name(value)));
    return parse_activation(text);
  }, value);
}

void FieldReader::operator()(std::string_view key, std::vector<std::int64_t>& value, std::string_view) {
  read(key, [&]() -> Result<std::vector<std::int64_t>> {
    const Json* json = json_.find(key);
    if (!json) return value;
    if (json->is_integer()) return std::vector<std::int64_t>{json->as_integer()};
    const auto wrong = [&] { return Status(Code::invalid_argument, "\"" + std::string(key) + "\": expected an integer or a list of integers"); };
    if (!json->is_array()) return wrong();
    std::vector<std::int64_t> list;
    for (const Json& v : json->as_array()) {
      if (!v.is_integer()) return wrong();
      list.push_back(v.as_integer());
    }
    return list;
  }, value);
}

void FieldWriter::operator()(std::string_view key, const std::vector<std::int64_t>& value, std::string_view) {
  if (value.size() == 1) {
    json_.set(std::string(key), value[0]);
    return;
  }
  Json list = Json::array();
  for (const std::int64_t v : value) list.push(Json(v));
  json_.set(std::string(key), std::move(list));
}

Status FieldReader::finish() const {
  if (!status_.ok()) return status_;
  for (const auto& [key, value] : json_.as_object()) {
    if (is_grid_key(key) || std::find(known_.begin(), known_.end(), key) != known_.end()) continue;
    std::string list;
    for (std::string_view k : known_) list += (list.empty() ? "" : ", ") + std::string(k);
    return Status(Code::invalid_argument, "unknown key \"" + key + "\": this layer has " + (list.empty() ? "no settings" : list));
  }
  return {};
}

}  // namespace loom
