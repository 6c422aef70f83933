#include "layers/config.h"

#include "layers/cell.h"

namespace loom {
namespace {

// Collects the keys of a list.
struct Keys {
  std::vector<std::string_view> list{};
  void about(FieldText) {}
  template <class T>
  void operator()(std::string_view key, T&, const Field&) {
    list.push_back(key);
  }
};

}  // namespace

const std::vector<std::string_view>& grid_keys() {
  static const std::vector<std::string_view> keys = [] {
    Keys found;
    CellConfig().fields(found);
    return found.list;
  }();
  return keys;
}

Status finish_layer(const FieldReader& reader) {
  return reader.finish("this layer has", grid_keys());
}

void FieldWriter::set(std::string_view key, Json value) {
  json_.set(std::string(key), std::move(value));
}

void FieldWriter::list(std::string_view key, const std::vector<std::int64_t>& value) {
  if (value.size() == 1) set(key, value[0]);
  else set(key, Json(Json::Array(value.begin(), value.end())));
}

void FieldWriter::list(std::string_view key, const std::vector<std::vector<std::int64_t>>& value) {
  if (value.empty()) return;
  Json lists = Json::array();
  for (const auto& one : value) lists.push(Json(Json::Array(one.begin(), one.end())));
  set(key, std::move(lists));
}

void FieldWriter::list(std::string_view key, const std::vector<std::string>& value) {
  set(key, Json(Json::Array(value.begin(), value.end())));
}

}  // namespace loom
