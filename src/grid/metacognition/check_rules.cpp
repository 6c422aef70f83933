// Whether the acts of rules fit the layer that is wrapped, and every layer that one of them may put
// in its place: an error then comes with the topology, and not when a rule fires.
#include "base/message.h"
#include "grid/metacognition/act.h"

namespace loom {
namespace {

Status bad(std::string what) { return Status(Code::invalid_argument, std::move(what)); }

// A layer that the rules may meet.
struct Met {
  const Node* node;
  std::string what;  // "the layer", "the layer of rule 2"
};

bool has_params(const Node& node, bool matrices) {
  for (const Param& p : node.params)
    if (!matrices || p.spec.quantized) return true;
  for (const Node& child : node.children)
    if (has_params(child, matrices)) return true;
  return false;
}

Status check_activation(const Rule& rule, const Met& met) {
  Json json = Json::object();
  if (met.node->type) met.node->type->write(*met.node->config, json);
  if (!json.find("activation")) return bad(message(met.what, " has no activation"));
  json.set("type", met.node->type->name());
  json.set("activation", rule.activation);
  return met.node->type->parse(json).status();
}

Status check_statistic(const Rule& rule, const Shape& in, const Met& met) {
  const bool gain = rule.when == CellStatistic::gain || rule.when == CellStatistic::gain_drift;
  if (gain && in.ids > 0) return bad("of ids, which arrive, there is no gain");
  if (rule.when == CellStatistic::weight_bytes && !has_params(*met.node, false))
    return bad(message(met.what, " has no weights of its own"));
  return {};
}

Status check_act(const Rule& rule, const Shape& in, const Shape& out, const Met& met) {
  const Node& node = *met.node;
  switch (rule.act) {
    case ActKind::morph:
      return has_params(node, true) ? Status()
                                    : bad(message(met.what, " has no matrix of its own"));
    case ActKind::gate: return expect_values(out);
    case ActKind::reset:
      if (!has_params(node, false)) return bad(message(met.what, " has no weights of its own"));
      if (rule.to == "identity" &&
          !(node.type && node.type->has_identity(
                             *node.config, node.in.width > 0 || node.in.ids > 0 ? node.in : in)))
        return bad(message(met.what,
                           " has no identity: it takes a dense layer with as many outputs as "
                           "inputs"));
      return {};
    case ActKind::activation: return check_activation(rule, met);
    case ActKind::freeze:
    case ActKind::unfreeze:
      return has_params(node, false) ? Status()
                                     : bad(message(met.what, " has no weights of its own"));
    case ActKind::disable:
    case ActKind::enable:
      return in == out
                 ? Status()
                 : bad(message(met.what, " takes ", in.to_string(), " and gives ", out.to_string(),
                               ": switched off it would pass on another shape"));
    case ActKind::retype:
    case ActKind::append: return {};
  }
  return {};
}

}  // namespace

Status Network::check_rules(const Node& node, const Shape& in, const Shape* skip, const Shape& out,
                            const std::string& path) {
  const std::vector<Rule>& rules = node.type->metacognition(*node.config)->rules;
  const auto named = [](std::size_t i) { return "rule " + std::to_string(i); };
  std::vector<Node> others;
  others.reserve(rules.size());
  std::vector<Met> met{{&node.children[0], "the layer"}};
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const Rule& rule = rules[i];
    const bool retype = rule.act == ActKind::retype;
    if (!retype && rule.act != ActKind::append) continue;
    const std::string where = named(i) + ": " + std::string(loom::name(rule.act));
    auto parsed = parse_layer(retype ? layer_of(rule, node.children[0]) : rule.layer);
    if (!parsed.ok()) return parsed.status().at(where);
    if (!parsed->type) return bad(message(where, ": the layer has no \"type\""));
    auto gives = retype ? plan_node(*parsed, in, skip, path + "/0")
                        : plan_node(*parsed, out, nullptr,
                                    path + "/" + std::to_string(node.children.size()));
    if (!gives.ok()) return gives.status().at(where);
    if (*gives != out)
      return bad(message(where, ": the layer gives ", gives->to_string(), ", and ", out.to_string(),
                         " must come out"));
    if (!retype) continue;
    others.push_back(std::move(*parsed));
    met.push_back({&others.back(), "the layer of " + named(i)});
  }
  for (std::size_t i = 0; i < rules.size(); ++i)
    for (const Met& m : met) {
      Status fits = check_statistic(rules[i], in, m);
      if (fits.ok()) fits = check_act(rules[i], in, out, m);
      if (!fits.ok()) return fits.at(named(i) + ": " + std::string(loom::name(rules[i].act)));
    }
  return {};
}

}  // namespace loom
