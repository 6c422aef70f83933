#include "grid/blueprint.h"

#include <span>
#include <string>
#include <utility>

namespace loom {
namespace {

using Params = std::span<const Network::NamedParam>;

Json dims_of(const Shape& shape) {
  if (!shape.dims.empty()) return Json(Json::Array(shape.dims.begin(), shape.dims.end()));
  Json dims = Json::array();
  dims.push(shape.count());
  return dims;
}

void set_shapes(Json& out, const Shape& in, const Shape& given) {
  out.set("input_shape", dims_of(in));
  if (in.ids > 0) out.set("input_ids", in.ids);
  out.set("output_shape", dims_of(given));
}

bool is_within(std::string_view path, std::string_view layer) {
  return path.starts_with(layer) && (path.size() == layer.size() || path[layer.size()] == '/');
}

// Of the layer at a path and those in it.
std::int64_t parameters_in(Params params, const std::string& path) {
  std::int64_t count = 0;
  for (const Network::NamedParam& p : params)
    if (!p.tied && is_within(p.path, path)) count += p.param->spec.rows * p.param->spec.cols;
  return count;
}

// `json`: the layer as the topology has it; `params`: of its cell.
Json layer_json(const Network& network, const Node& node, const Json& json, Params params,
                const std::string& path) {
  std::string at = path;
  // Null where that hands on what it gets.
  const Node* runs = node.type || node.links.empty() ? &node : network.executed(node, at);
  const auto known = [&json](const char* key, Json absent) {
    const Json* value = json.find(key);
    return value ? *value : absent;
  };
  Json out = Json::object();
  out.set("path", path);
  out.set("type", runs && runs->type ? std::string(runs->type->name()) : "empty");
  out.set("name", node.name);
  out.set("enabled", node.enabled && (!runs || runs->enabled));
  out.set("activation", known("activation", {}));
  out.set("dtype", known("dtype", "f32"));
  out.set("parameters", parameters_in(params, path));
  set_shapes(out, node.arrives, node.out);
  out.set("combine_mode", known("combine", {}));
  out.set("links", known("links", Json::array()));
  Json branches = Json::array();
  const Json* layers = json.find("layers");
  for (std::size_t i = 0; layers && i < node.children.size(); ++i)
    branches.push(layer_json(network, node.children[i], layers->as_array()[i], params,
                             path + "/" + std::to_string(i)));
  out.set("branches", std::move(branches));
  return out;
}

Json cell_json(const Network& network, std::size_t i, Params params, bool joins) {
  const Json json = network.cell_json(i);
  const Node &node = network.node(i), &ran = network.node(network.executed(i));
  Json out = Json::object();
  const Coordinate at = network.coordinate(i);
  const std::pair<const char*, std::int64_t> place[] = {
      {"z", at.z}, {"y", at.y}, {"x", at.x}, {"l", at.l}};
  for (const auto& [key, value] : place) out.set(key, value);
  // Of a cell that runs another's layer, that layer's type and shapes.
  const Json layer = layer_json(network, node, json, params, network.path(i));
  for (const auto& [key, value] : layer.as_object()) out.set(key, value);
  out.set("type", ran.type ? std::string(ran.type->name()) : "empty");
  out.set("enabled", node.enabled && ran.enabled);
  set_shapes(out, ran.type ? ran.arrives : network.output(i), network.output(i));
  if (out.find("combine_mode")->is_null() && joins) {
    const Json* merge = json.find("merge");
    out.set("combine_mode", merge ? *merge : Json("concat"));
  }
  return out;
}

}  // namespace

Json blueprint(Network& network, std::string_view id) {
  const std::vector<std::vector<std::int64_t>> arrivals = network.arrivals();
  const std::vector<Network::NamedParam> params = network.params();  // by cells
  std::size_t begin = 0;
  Json layers = Json::array();
  for (std::size_t i = 0; i < network.size(); ++i) {
    const Node& node = network.node(i);
    const std::string path = network.path(i);
    std::size_t end = begin;
    while (end < params.size() && is_within(params[end].path, path)) ++end;
    if (node.type || !node.links.empty() || !node.enabled)
      layers.push(cell_json(network, i, Params(params).subspan(begin, end - begin),
                            arrivals[i].size() > 1));
    begin = end;
  }
  Json model = Json::object();
  model.set("id", std::string(id));
  model.set("total_layers", static_cast<std::int64_t>(layers.as_array().size()));
  model.set("total_parameters", network.parameter_count());
  model.set("layers", std::move(layers));
  Json models = Json::array(), json = Json::object();
  models.push(std::move(model));
  json.set("models", std::move(models));
  return json;
}

}  // namespace loom
