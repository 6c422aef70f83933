// Metacognition: computes what the layer in it computes. What changes the layer by its rules is a
// session (exec/metacognition).
#include <algorithm>
#include <span>

#include "base/message.h"
#include "layers/layer.h"
#include "layers/metacognition/rules.h"

namespace loom {
namespace {

Status bad(std::string what) { return Status(Code::invalid_argument, std::move(what)); }

// The first engine's rules, with conditions under which they leave a healthy layer alone
// (docs/decisions/0029-metacognition.md).
constexpr std::string_view kDefaultRules = R"([
  {"when": "gain_drift", "above": 0.05, "for": 3, "cooldown": 5, "do": "reset"},
  {"when": "std", "above": 10, "cooldown": 5, "limit": 1, "do": "append",
   "layer": {"type": "rms_norm"}},
  {"when": "active_share", "below": 0.05, "cooldown": 10, "do": "reset", "to": "initial"}])";

Result<Json> expanded(const Json& json) {
  if (!json.is_string()) return json;
  if (json.as_string() == "default") return Json::parse(kDefaultRules);
  return bad("\"rules\": expected a list, or \"default\"");
}

// The keys of an act, and whether they are needed.
Status check_keys(const RuleConfig& c, const Json& json, ActKind act) {
  struct Key {
    const char* key;
    bool used, needed;
  };
  const bool layer = act == ActKind::retype || act == ActKind::append;
  const Key keys[] = {{"dtype", act == ActKind::morph, true},
                      {"factor", act == ActKind::gate, true},
                      {"to", act == ActKind::reset, false},
                      {"seed", layer || act == ActKind::reset, false},
                      {"activation", act == ActKind::activation, true},
                      {"layer", layer, true}};
  for (const Key& k : keys) {
    const bool given = json.find(k.key) != nullptr;
    if (given && !k.used) return bad(message("\"", k.key, "\" is not of \"", c.act, "\""));
    if (!given && k.used && k.needed) return bad(message("\"", c.act, "\" needs \"", k.key, "\""));
  }
  if (json.find("over") && c.when != name(CellStatistic::growth))
    return bad(message("\"over\" is of \"growth\", not of \"", c.when, "\""));
  return {};
}

// Its reader has checked that it is one of them.
template <class E>
E by_name(std::span<const std::string_view> names, const std::string& text) {
  return static_cast<E>(std::ranges::find(names, text) - names.begin());
}

Result<Rule> parse_rule(const Json& json) {
  if (!json.is_object()) return bad("expected an object");
  RuleConfig c;
  FieldReader reader(json);
  c.fields(reader);
  LOOM_TRY(reader.finish("a rule has"));
  if (c.above.has_value() == c.below.has_value())
    return bad("one of \"above\" and \"below\" says when");
  Rule rule;
  rule.when = by_name<CellStatistic>(kStatisticNames, c.when);
  rule.act = by_name<ActKind>(kActNames, c.act);
  LOOM_TRY(check_keys(c, json, rule.act));
  rule.above = c.above.has_value();
  rule.threshold = rule.above ? *c.above : *c.below;
  rule.release = c.release.value_or(rule.threshold);
  if (rule.above ? rule.release > rule.threshold : rule.release < rule.threshold)
    return bad(message("\"release\" lies beyond \"", (rule.above ? "above" : "below"),
                       "\": the rule would be armed while it holds"));
  rule.passes = c.passes, rule.cooldown = c.cooldown, rule.limit = c.limit, rule.over = c.over;
  rule.seed = static_cast<std::uint64_t>(c.seed);
  rule.to = c.to;
  rule.activation = c.activation;
  if (c.factor) rule.factor = *c.factor;
  if (rule.act == ActKind::morph) {
    LOOM_ASSIGN(rule.format, parse_weight_format(c.dtype));
  }
  if (const Json* layer = json.find("layer")) {
    if (!layer->is_object()) return bad("\"layer\": expected an object like a cell");
    rule.layer = *layer;
  }
  return rule;
}

class Metacognition : public LayerWith<MetacognitionConfig> {
 public:
  std::string_view name() const override { return "metacognition"; }
  bool is_container() const override { return true; }
  bool takes_operands() const override { return true; }
  const MetacognitionConfig* metacognition(const LayerConfig& config) const override {
    return &of(config);
  }
  Result<ConfigPtr> by_step(const ConfigPtr& config, const Shape&, std::int64_t) const override {
    return config;
  }

  Result<ConfigPtr> parse(const Json& cell) const override {
    auto config = std::make_shared<MetacognitionConfig>();
    FieldReader reader(cell);
    config->fields(reader);
    LOOM_TRY(finish_layer(reader));
    if (const Json* rules = cell.find("rules")) {
      config->json = *rules;
      LOOM_ASSIGN(config->rules, parse_rules(*rules));
    }
    return ConfigPtr(std::move(config));
  }
  void write(const LayerConfig& config, Json& cell) const override {
    if (!of(config).json.is_null()) cell.set("rules", of(config).json);
    LayerWith::write(config, cell);
  }

  Result<LayerPlan> plan(const LayerConfig& config, const Shape& in, const Shape* skip,
                         ChildPlanner& children) const override {
    if (children.count() == 0) return bad("\"layers\" is empty: it wraps one layer");
    Shape x = in;
    for (std::size_t i = 0; i < children.count(); ++i) {
      LOOM_ASSIGN(x, children.plan(i, x, i == 0 ? skip : nullptr));
    }
    if (of(config).gate != 1) LOOM_TRY(expect_values(x));
    return LayerPlan{x, {}};
  }

  Result<View> forward(const LayerConfig& config, LayerContext& v, View x,
                       View skip) const override {
    View y = x;
    for (std::size_t i = 0; i < v.child_count(); ++i) {
      LOOM_ASSIGN(y, v.child_forward(i, y, i == 0 ? skip : View{}));
    }
    const double gate = of(config).gate;
    if (!of(config).rules.empty()) v.watch(x, y);
    if (gate == 1) return y;
    if (gate != 0) return v.emit.scale(y, gate);
    // Not a product: NaN times 0 is NaN.
    const View closed = v.emit.temp(v.emit.type(y), v.emit.rows(y), y.cols);
    v.emit.fill(closed, 0);
    return closed;
  }
  Result<View> backward(const LayerConfig& config, LayerContext& v, View gy,
                        View* gskip) const override {
    const double gate = of(config).gate;
    if (gate == 0) return View{};
    if (gate != 1) gy = v.emit.scale(gy, gate);
    for (std::size_t i = v.child_count(); i-- > 0;) {
      LOOM_ASSIGN(gy, v.child_backward(i, gy, i == 0 ? gskip : nullptr));
    }
    return gy;
  }
};

}  // namespace

Result<std::vector<Rule>> parse_rules(const Json& json) {
  LOOM_ASSIGN(const Json list, expanded(json));
  if (!list.is_array()) return bad("\"rules\": expected a list, or \"default\"");
  std::vector<Rule> rules;
  for (const Json& one : list.as_array()) {
    auto rule = parse_rule(one);
    if (!rule.ok()) return rule.status().at("rule " + std::to_string(rules.size()));
    rules.push_back(std::move(*rule));
  }
  return rules;
}

void register_metacognition(LayerList& layers) {
  static const Metacognition type;
  layers.push_back(&type);
}

}  // namespace loom
