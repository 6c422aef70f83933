#include "grid/metacognition/act.h"

#include "base/message.h"

namespace loom {
namespace {

Status bad(std::string what) { return Status(Code::invalid_argument, std::move(what)); }

Json one(std::string_view key, Json value) {
  Json object = Json::object();
  object.set(key, std::move(value));
  return object;
}

const Param* first_matrix(const Node& node) {
  for (const Param& p : node.params)
    if (p.spec.quantized) return &p;
  for (const Node& child : node.children)
    if (const Param* found = first_matrix(child)) return found;
  return nullptr;
}

template <class Change>
void configure(Node& node, const Change& change) {
  auto config =
      std::make_shared<MetacognitionConfig>(static_cast<const MetacognitionConfig&>(*node.config));
  change(*config);
  node.config = std::move(config);
}

// The weight of a square layer, and its bias.
Status make_identity(Node& node, const std::string& path) {
  for (Param& p : node.params) {
    WeightStore& store = *p.store;
    if (!store.has_master())
      return bad(message(path, ":", p.spec.role, ": has no master to reset"));
    const bool matrix = p.spec.role == "weight";
    const auto cols = static_cast<std::size_t>(store.cols());
    const auto fill = [&](auto values) {
      for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = matrix && i / cols == i % cols ? 1 : 0;
    };
    if (store.master_is_f64()) fill(store.mutable_master64());
    else fill(store.mutable_master());
    store.touch();
  }
  return {};
}

// One act; `inner` is the wrapped layer.
struct Actor {
  Network& network;
  const std::string path;
  const Rule& rule;
  SavedWeights* saved;
  Node& node;
  Node& inner;

  Result<ActChange> morph() {
    const std::string before = to_string(format_in(inner));
    if (saved) saved->save(inner);
    LOOM_TRY(Network::morph(inner, path + "/0", rule.format));
    return ActChange{one("dtype", before), one("dtype", to_string(rule.format))};
  }
  Result<ActChange> gate() {
    const double before = static_cast<const MetacognitionConfig&>(*node.config).gate;
    configure(node, [&](MetacognitionConfig& c) { c.gate = rule.factor; });
    return ActChange{one("gate", before), one("gate", rule.factor)};
  }
  Result<ActChange> freeze(bool frozen) {
    const bool before = static_cast<const MetacognitionConfig&>(*node.config).frozen;
    configure(node, [&](MetacognitionConfig& c) { c.frozen = frozen; });
    return ActChange{one("frozen", before), one("frozen", frozen)};
  }
  Result<ActChange> enable(bool enabled) {
    const bool before = inner.enabled;
    inner.enabled = enabled;
    return ActChange{one("enabled", before), one("enabled", enabled)};
  }
  Result<ActChange> activation() {
    Json json = Json::object();
    inner.type->write(*inner.config, json);
    Json before = *json.find("activation");
    json.set("type", inner.type->name());
    json.set("activation", rule.activation);
    LOOM_ASSIGN(inner.config, inner.type->parse(json));
    return ActChange{one("activation", std::move(before)), one("activation", rule.activation)};
  }
  Result<ActChange> reset() {
    const bool identity = rule.to != "initial" && inner.type && inner.enabled &&
                          inner.type->has_identity(*inner.config, inner.in);
    if (!identity && rule.to == "identity")
      return bad(message(path, ": reset: the layer has no identity here"));
    if (saved) {
      saved->save(inner);
      LOOM_TRY(identity ? make_identity(inner, path + "/0")
                        : network.initialize(inner, path + "/0", rule.seed));
    }
    return ActChange{Json::object(), one("weights", identity ? "identity" : "initial")};
  }
  Result<ActChange> retype() {
    const auto type_of = [](const Node& n) {
      return Json(n.type ? n.type->name() : std::string_view("run"));
    };
    Json before = type_of(inner);
    LOOM_ASSIGN(inner, network.parse_layer(layer_of(rule, inner)));
    LOOM_TRY(network.plan());
    if (saved) LOOM_TRY(network.initialize(inner, path + "/0", rule.seed));
    return ActChange{one("type", std::move(before)), one("type", type_of(inner))};
  }
  Result<ActChange> append() {
    const auto before = static_cast<std::int64_t>(node.children.size());
    LOOM_ASSIGN(Node more, network.parse_layer(rule.layer));
    node.children.push_back(std::move(more));
    LOOM_TRY(network.plan());
    if (saved)
      LOOM_TRY(
          network.initialize(node.children.back(), path + "/" + std::to_string(before), rule.seed));
    return ActChange{one("layers", before), one("layers", before + 1)};
  }

  Result<ActChange> run() {
    switch (rule.act) {
      case ActKind::morph: return morph();
      case ActKind::gate: return gate();
      case ActKind::reset: return reset();
      case ActKind::activation: return activation();
      case ActKind::retype: return retype();
      case ActKind::append: return append();
      case ActKind::freeze: return freeze(true);
      case ActKind::unfreeze: return freeze(false);
      case ActKind::disable: return enable(false);
      case ActKind::enable: return enable(true);
    }
    return Status(Code::internal, "act: unknown");
  }
};

void find_rules(const Node& node, const std::string& path, std::vector<RuledLayer>& list) {
  if (!node.type) return;
  for (std::size_t i = 0; i < node.children.size(); ++i)
    find_rules(node.children[i], path + "/" + std::to_string(i), list);
  const MetacognitionConfig* config = node.type->metacognition(*node.config);
  if (config && !config->rules.empty()) list.push_back({path, config});
}

std::string frozen_in(const Node& node, const std::string& path) {
  const MetacognitionConfig* config = node.type ? node.type->metacognition(*node.config) : nullptr;
  if (config && config->frozen) return path;
  for (std::size_t i = 0; i < node.children.size(); ++i)
    if (std::string found = frozen_in(node.children[i], path + "/" + std::to_string(i));
        !found.empty())
      return found;
  return {};
}

}  // namespace

void SavedWeights::save(Node& node) {
  visit_params(node, "", [&](const std::string&, Node&, Param& param) {
    stores_.emplace_back(param.store, *param.store);
  });
}

// What was saved first is the oldest.
void SavedWeights::restore() {
  for (; !stores_.empty(); stores_.pop_back())
    *stores_.back().first = std::move(stores_.back().second);
}

WeightFormat format_in(const Node& node) {
  const Param* matrix = first_matrix(node);
  return matrix && matrix->store ? matrix->store->format() : node.format;
}

Json layer_of(const Rule& rule, const Node& layer) {
  Json json = rule.layer;
  if (!json.find("dtype")) json.set("dtype", to_string(format_in(layer)));
  return json;
}

Result<ActChange> act(Network& network, std::string_view path, const Rule& rule,
                      SavedWeights* saved) {
  Node* node = network.find_node(path);
  if (!node || !node->type || !node->type->metacognition(*node->config))
    return Status(Code::not_found, message(path, ": no metacognition is there"));
  const std::string where(path);
  auto done = Actor{network, where, rule, saved, *node, node->children[0]}.run();
  if (done.ok()) {
    if (const Status planned = network.plan(); !planned.ok()) done = planned;
  }
  if (!done.ok())
    return done.status().at("metacognition at " + where + ": " + std::string(name(rule.act)));
  return done;
}

std::vector<RuledLayer> ruled_layers(const Network& network) {
  std::vector<RuledLayer> list;
  for (std::size_t i = 0; i < network.size(); ++i)
    find_rules(network.node(i), network.path(i), list);
  return list;
}

std::string frozen_layer(const Network& network) {
  for (std::size_t i = 0; i < network.size(); ++i)
    if (std::string found = frozen_in(network.node(i), network.path(i)); !found.empty())
      return found;
  return {};
}

Status refuse_rules(const Network& network, std::string_view what) {
  const std::vector<RuledLayer> found = ruled_layers(network);
  if (found.empty()) return {};
  return Status(Code::unsupported,
                message("metacognition at ", found[0].path, " has rules, which ", what,
                        " does not evaluate: run the network in a session, or take "
                        "\"rules\" out of the cell"));
}

}  // namespace loom
