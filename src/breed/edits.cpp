// The edits of mutation, each a change of a draft's JSON.
#include <algorithm>

#include "breed/draft.h"
#include "layers/layer.h"

namespace loom::breed {
namespace {

using evolve::Draws;
using Layer = Draft::Layer;

Json* member(Json& object, const char* key) { return const_cast<Json*>(object.find(key)); }

std::string text_of(const Json& object, const char* key) {
  const Json* value = object.find(key);
  return value && value->is_string() ? value->as_string() : std::string();
}

// Values along the last dimension of what a cell gives.
std::int64_t last_of(const Shape& shape) {
  return shape.dims.empty() ? shape.width : shape.dims.back();
}

std::optional<Layer> any_layer(Draft& draft, Draws& draws) {
  const std::vector<Layer> layers = draft.layers();
  if (layers.empty()) return std::nullopt;
  return layers[draws.below(layers.size())];
}

void note(Draft& draft, const Layer& layer, std::string what) {
  draft.cell = static_cast<std::int64_t>(layer.cell);
  draft.note.at = layer.path;
  draft.note.what = std::move(what);
}

// Replaces a layer; grid keys of a cell stay. False where its weights are tied.
template <class Make>
bool replace(const Layer& layer, const Make& make) {
  if (layer.json->find("tie")) return false;
  Json made = make(take_layer(*layer.json));
  put_layer(*layer.json, std::move(made));
  return true;
}

bool insert(Draft& draft, const MutationRates& rates, Draws& draws) {
  const auto layer = any_layer(draft, draws);
  if (!layer) return false;
  auto added = drawn_layer(*layer->node, 0, true, rates, draws);
  if (!added) return false;
  const std::string type = text_of(*added, "type");
  note(draft, *layer, type == "sequential" ? "residual block" : type);
  // Before the layer, where its input is known; where it gives as many values, behind it, too.
  const bool behind =
      draws.chance(0.5) && last_of(draft.parent.output(layer->cell)) == last_of(layer->node->in);
  return replace(*layer, [&](Json own) {
    return behind ? sequential({std::move(own), std::move(*added)})
                  : sequential({std::move(*added), std::move(own)});
  });
}

bool remove(Draft& draft, const MutationRates&, Draws& draws) {
  const auto layer = any_layer(draft, draws);
  if (!layer || layer->json->find("tie")) return false;
  note(draft, *layer, layer->type());
  if (!layer->list) {
    (void)take_layer(*layer->json);
  } else {
    Json::Array& list = layer->list->as_array();
    if (list.size() < 2) return false;
    list.erase(list.begin() + static_cast<std::ptrdiff_t>(layer->place));
  }
  return true;
}

const char* width_key(std::string_view type) {
  if (type == "dense" || type == "embedding" || type == "mixture_of_softmaxes" ||
      type == "adaptive_softmax")
    return "out";
  if (type == "swiglu" || type == "rnn" || type == "gru" || type == "lstm") return "hidden";
  if (type == "kmeans") return "clusters";
  if (type == "attention") return "heads";
  return type.starts_with("conv") ? "filters" : nullptr;
}

bool width(Draft& draft, const MutationRates& rates, Draws& draws) {
  std::vector<Layer> layers = draft.layers();
  std::erase_if(layers, [](const Layer& l) { return !width_key(l.type()); });
  if (layers.empty()) return false;
  const Layer& layer = layers[draws.below(layers.size())];
  const char* key = width_key(layer.type());
  const Json* value = layer.json->find(key);
  const std::int64_t now = value && value->is_integer() ? value->as_integer() : 1;
  const std::int64_t sizes[] = {now / 2, now - 1, now + 1, now + now / 2, 2 * now};
  const std::int64_t next = std::min(std::max<std::int64_t>(sizes[draws.below(5)], 1),
                                     std::max(rates.max_width, std::int64_t{1}));
  if (next == now || layer.json->find("tie")) return false;
  note(draft, layer, std::to_string(now) + " -> " + std::to_string(next));
  layer.json->set(key, next);
  return true;
}

bool activation(Draft& draft, const MutationRates&, Draws& draws) {
  std::vector<Layer> layers = draft.layers();
  std::erase_if(layers, [](const Layer& l) { return !l.json->find("activation"); });
  if (layers.empty()) return false;
  const Layer& layer = layers[draws.below(layers.size())];
  const std::string now = text_of(*layer.json, "activation");
  const std::string next = activation_other_than(now, draws);
  note(draft, layer, now + " -> " + next);
  layer.json->set("activation", next);
  return true;
}

bool retype(Draft& draft, const MutationRates& rates, Draws& draws) {
  const auto layer = any_layer(draft, draws);
  if (!layer) return false;
  const std::string now = layer->type();
  auto made =
      drawn_layer(*layer->node, last_of(draft.parent.output(layer->cell)), false, rates, draws);
  if (!made || text_of(*made, "type") == now) return false;
  note(draft, *layer, now + " -> " + text_of(*made, "type"));
  return replace(*layer, [&](const Json&) { return std::move(*made); });
}

Json read_of(const Network& network, std::size_t cell, const char* kind) {
  const Coordinate c = network.coordinate(cell);
  Json link = Json::object();
  link.set(kind, Json(Json::Array{Json(c.z), Json(c.y), Json(c.x), Json(c.l)}));
  return link;
}

void push_link(Json& cell, Json link) {
  if (!cell.find("links")) cell.set("links", Json::array());
  member(cell, "links")->push(std::move(link));
}

// [A, residual]: a skip around a layer.
bool add_residual(Draft& draft, Draws& draws) {
  const auto layer = any_layer(draft, draws);
  if (!layer || layer->type() == "residual") return false;
  note(draft, *layer, "residual");
  return replace(*layer, [](Json own) {
    return sequential({std::move(own), parsed_layer(R"({"type":"residual"})")});
  });
}

// A cell runs another one's layer in place of its own.
bool share_layer(Draft& draft, const Layer& to, std::size_t from) {
  const Network& n = draft.parent;
  if (to.list || to.json->find("tie") || n.node(from).in != to.node->in) return false;
  note(draft, to, "runs " + n.path(from));
  (void)take_layer(*to.json);
  push_link(*to.json, read_of(n, from, "run"));
  return true;
}

bool add_link(Draft& draft, const MutationRates&, Draws& draws) {
  Network& n = draft.parent;
  std::vector<Layer> cells = draft.layers();
  std::erase_if(cells, [](const Layer& l) { return l.list != nullptr; });
  if (cells.size() < 2 || draws.chance(0.25)) return add_residual(draft, draws);
  std::size_t source = draws.below(cells.size()), target = draws.below(cells.size());
  if (source > target) std::swap(source, target);  // the other way it would mostly be a cycle
  const Layer& to = cells[target];
  const std::size_t from = cells[source].cell;
  if (from == to.cell) return false;
  if (draws.chance(0.2)) return share_layer(draft, to, from);
  const Node& node = *to.node;
  const bool merges = n.arrivals()[to.cell].size() > 1;
  if (node.merge == Merge::operands) return false;
  const bool alike = last_of(n.output(from)) == last_of(node.in) || node.merge == Merge::add;
  const char* merge = alike && draws.chance(0.5) ? "add" : "concat";
  if (!merges) to.json->set("merge", merge);
  const bool reads =
      std::ranges::any_of(node.links, [](const Link& link) { return link.kind == LinkKind::read; });
  if (!reads) to.json->set("keep_previous", true);
  push_link(*to.json, read_of(n, from, "read"));
  note(draft, to, "reads " + n.path(from));
  return true;
}

// A cell that ran another one's layer gets a copy of it.
void unshare(Draft& draft, Json& cell, std::size_t from) {
  Json own = draft.cells[from];
  put_layer(cell, take_layer(own));
}

bool drop_link(Draft& draft, const MutationRates&, Draws& draws) {
  Network& n = draft.parent;
  std::vector<std::pair<std::size_t, std::size_t>> found;
  for (std::size_t i = 0; i < n.size(); ++i)
    for (std::size_t k = 0; k < n.node(i).links.size(); ++k) found.emplace_back(i, k);
  if (found.empty()) return false;
  const auto [cell, k] = found[draws.below(found.size())];
  Json& json = draft.cells[cell];
  const Link link = n.node(cell).links[k];
  Json::Array& links = member(json, "links")->as_array();
  links.erase(links.begin() + static_cast<std::ptrdiff_t>(k));
  const bool reads = std::ranges::any_of(links, [](const Json& l) { return l.find("read"); });
  if (!reads) erase(json, "keep_previous");
  if (links.empty()) erase(json, "links");
  if (link.kind == LinkKind::run) unshare(draft, json, n.index(link.cell));
  draft.cell = static_cast<std::int64_t>(cell);
  draft.note.at = n.path(cell);
  constexpr const char* kKinds[] = {"read of ", "send to ", "run of "};
  draft.note.what = kKinds[static_cast<std::size_t>(link.kind)] + n.path(n.index(link.cell));
  return true;
}

bool toggle(Draft& draft, const MutationRates&, Draws& draws) {
  const auto layer = any_layer(draft, draws);
  if (!layer) return false;
  const bool on = !layer->node->enabled;
  note(draft, *layer, on ? "on" : "off");
  if (on) erase(*layer->json, "enabled");
  else layer->json->set("enabled", false);
  return true;
}

bool dtype(Draft& draft, const MutationRates& rates, Draws& draws) {
  if (rates.dtypes.empty()) return false;
  std::vector<Layer> layers = draft.layers();
  std::erase_if(layers, [](const Layer& l) {
    return std::ranges::none_of(l.node->params, [](const Param& p) { return p.spec.quantized; });
  });
  if (layers.empty()) return false;
  const Layer& layer = layers[draws.below(layers.size())];
  const std::string now = layer.json->find("dtype") ? text_of(*layer.json, "dtype") : "f32";
  const std::string& next = rates.dtypes[draws.below(rates.dtypes.size())];
  if (next == now) return false;
  note(draft, layer, now + " -> " + next);
  layer.json->set("dtype", next);
  return true;
}

bool duplicate(Draft& draft, const MutationRates&, Draws& draws) {
  const auto layer = any_layer(draft, draws);
  if (!layer || layer->type() == "residual") return false;
  const bool chain = draws.chance(0.5);
  note(draft, *layer, chain ? "behind itself" : "beside itself");
  return replace(*layer, [&](Json own) {
    Json copy = own;
    if (chain) return sequential({std::move(own), std::move(copy)});
    Json both = parsed_layer(R"({"type":"parallel","combine":"avg"})");
    both.set("layers", Json(Json::Array{std::move(own), std::move(copy)}));
    return both;
  });
}

}  // namespace

const std::vector<EditRow>& edits() {
  static const std::vector<EditRow> rows = {
      {"insert", &MutationRates::insert, insert},
      {"remove", &MutationRates::remove, remove},
      {"width", &MutationRates::width, width},
      {"activation", &MutationRates::activation, activation},
      {"retype", &MutationRates::retype, retype},
      {"add_link", &MutationRates::add_link, add_link},
      {"drop_link", &MutationRates::drop_link, drop_link},
      {"toggle", &MutationRates::toggle, toggle},
      {"dtype", &MutationRates::dtype, dtype},
      {"duplicate", &MutationRates::duplicate, duplicate},
  };
  return rows;
}

}  // namespace loom::breed
