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
