#include "breed/draft.h"

#include <algorithm>

namespace loom::breed {
namespace {

constexpr std::string_view kFrom = "#from";  // no key of a topology begins so
constexpr std::string_view kInit = "#init";
constexpr std::string_view kGridKeys[] = {"at", "links", "merge", "keep_previous", "shape", "tie"};

bool of_grid(std::string_view key) {
  return std::find(std::begin(kGridKeys), std::end(kGridKeys), key) != std::end(kGridKeys);
}

Json* member(Json& object, std::string_view key) { return const_cast<Json*>(object.find(key)); }

void mark(Json& layer, const std::string& path) {
  layer.set(kFrom, path);
  if (Json* list = member(layer, "layers"))
    for (std::size_t i = 0; i < list->as_array().size(); ++i)
      mark(list->as_array()[i], path + "/" + std::to_string(i));
}

void unmark(Json& layer, const std::string& path, std::vector<Origin>& origins) {
  Origin origin{path, {}, {}};
  if (const Json* from = layer.find(kFrom)) origin.from = from->as_string();
  if (const Json* init = layer.find(kInit)) origin.init = init->as_string();
  origins.push_back(std::move(origin));
  erase(layer, kFrom);
  erase(layer, kInit);
  if (Json* list = member(layer, "layers"))
    for (std::size_t i = 0; i < list->as_array().size(); ++i)
      unmark(list->as_array()[i], path + "/" + std::to_string(i), origins);
}

void collect(std::vector<Draft::Layer>& found, const Draft::Layer& layer) {
  if (!layer.node->type) return;
  found.push_back(layer);
  Json* list = member(*layer.json, "layers");
  if (!list) return;
  for (std::size_t i = 0; i < layer.node->children.size(); ++i)
    collect(found, {layer.cell, layer.path + "/" + std::to_string(i), &list->as_array()[i], list, i,
                    &layer.node->children[i]});
}

}  // namespace

void erase(Json& object, std::string_view key) {
  std::erase_if(object.as_object(), [&](const Json::Member& m) { return m.first == key; });
}

Json take_layer(Json& cell) {
  Json layer = Json::object();
  for (auto& [key, value] : cell.as_object())
    if (!of_grid(key)) layer.set(key, std::move(value));
  std::erase_if(cell.as_object(), [](const Json::Member& m) { return !of_grid(m.first); });
  return layer;
}

void put_layer(Json& cell, Json layer) {
  for (auto& [key, value] : layer.as_object()) cell.set(key, std::move(value));
}

Json sequential(Json::Array layers) {
  Json made = Json::object();
  made.set("type", "sequential");
  made.set("layers", Json(std::move(layers)));
  return made;
}

Json parsed_layer(const std::string& text) {
  auto json = Json::parse(text);
  return json.ok() ? std::move(*json) : Json::object();
}

Draft::Draft(Network& parent) : parent(parent) {
  for (std::size_t i = 0; i < parent.size(); ++i) {
    cells.push_back(parent.cell_json(i));
    mark(cells.back(), parent.path(i));
  }
}

std::vector<Draft::Layer> Draft::layers() {
  std::vector<Layer> found;
  for (std::size_t i = 0; i < cells.size(); ++i)
    collect(found, {i, parent.path(i), &cells[i], nullptr, 0, &parent.node(i)});
  return found;
}

Json Draft::topology(std::vector<Origin>& origins) const {
  Json t = parent.to_json(), list = Json::array();
  for (std::size_t i = 0; i < cells.size(); ++i) {
    Json one = cells[i];
    unmark(one, parent.path(i), origins);
    if (one.as_object().size() > 1) list.push(std::move(one));  // an empty cell has its "at" alone
  }
  t.set("cells", std::move(list));
  return t;
}

}  // namespace loom::breed
