// Traces: what was done, as lines of JSON, and doing it again.
#include <algorithm>

#include "base/fields/field_reader.h"
#include "exec/metacognition/engine.h"

namespace loom {
namespace {

struct Line {
  std::string path, statistic, act;
  std::int64_t pass = 0, rule = 0;
  double value = 0;
  AnyJson before, after;
  template <class V>
  void fields(V& v) {
    v("pass", pass, {.min = 0, .required = true});
    v("path", path, {.required = true});
    v("rule", rule, {.min = 0, .required = true});
    v("statistic", statistic, {.required = true});
    v("value", value, {.required = true});
    v("act", act, {.required = true});
    v("before", before, {.required = true});
    v("after", after, {.required = true});
  }
};

Status does_not_fit(std::string what) {
  return Status(Code::invalid_argument, "does not fit the network: " + std::move(what));
}

// Of before and after. A host may write 1.0 as 1.
bool same(const Json& a, const Json& b) {
  if (a.is_number() && b.is_number()) return a.as_number() == b.as_number();
  if (!a.is_object() || !b.is_object()) return a.dump() == b.dump();
  return a.as_object().size() == b.as_object().size() &&
         std::ranges::all_of(a.as_object(), [&](const Json::Member& m) {
           const Json* other = b.find(m.first);
           return other && same(m.second, *other);
         });
}

}  // namespace

std::string Metacognition::trace() const {
  std::string lines;
  for (const Entry& e : trace_) {
    Json json = Json::object();
    json.set("pass", e.pass);
    json.set("path", e.path);
    json.set("rule", e.rule);
    json.set("statistic", e.statistic);
    json.set("value", e.value);
    json.set("act", e.act);
    json.set("before", e.before);
    json.set("after", e.after);
    lines += json.dump() + "\n";
  }
  return lines;
}

Result<Metacognition::Entry> Metacognition::parse(std::string_view line) {
  auto json = Json::parse(line);
  if (!json.ok()) return Status(Code::corrupt, json.status().message());
  if (!json->is_object()) return Status(Code::corrupt, "expected an object for each line");
  Line l;
  FieldReader reader(*json);
  l.fields(reader);
  if (const Status read = reader.finish("an act has"); !read.ok())
    return Status(Code::corrupt, read.message());
  Entry e;
  e.pass = l.pass, e.rule = l.rule, e.value = l.value;
  e.path = std::move(l.path), e.statistic = std::move(l.statistic), e.act = std::move(l.act);
  e.before = std::move(l.before.json), e.after = std::move(l.after.json);
  return e;
}

// The rule that an act is of.
Result<Rule> Metacognition::rule_of(Network& network, const Entry& entry) {
  const Node* node = network.find_node(entry.path);
  const MetacognitionConfig* config =
      node && node->type ? node->type->metacognition(*node->config) : nullptr;
  if (!config) return does_not_fit("no metacognition is at " + entry.path);
  const auto index = static_cast<std::size_t>(entry.rule);
  if (index >= config->rules.size())
    return does_not_fit(entry.path + " has " + std::to_string(config->rules.size()) +
                        " rules, and the act is of rule " + std::to_string(entry.rule));
  const Rule& rule = config->rules[index];
  if (name(rule.act) != entry.act || name(rule.when) != entry.statistic)
    return does_not_fit("rule " + std::to_string(entry.rule) + " of " + entry.path + " is " +
                        std::string(name(rule.act)) + " by " + std::string(name(rule.when)) +
                        ", and the act is " + entry.act + " by " + entry.statistic);
  if (entry.pass % config->every != 0 ||
      !(rule.above ? entry.value > rule.threshold : entry.value < rule.threshold))
    return does_not_fit("rule " + std::to_string(entry.rule) + " of " + entry.path +
                        " would not have fired in pass " + std::to_string(entry.pass));
  return rule;
}

Status Metacognition::rehearse(Network& network, const Entry& entry) {
  LOOM_ASSIGN(const Rule rule, rule_of(network, entry));
  LOOM_ASSIGN(const ActChange change, loom::act(network, entry.path, rule, nullptr));
  if (!same(change.before, entry.before))
    return does_not_fit(entry.path + " is " + change.before.dump() + ", and the act changed " +
                        entry.before.dump());
  if (!same(change.after, entry.after))
    return does_not_fit("the act makes " + change.after.dump() + " of " + entry.path +
                        ", and the trace says " + entry.after.dump());
  return {};
}

Result<Metacognition> Metacognition::replay(Network& network, std::string_view trace) {
  LOOM_ASSIGN(Network copy, Network::from_json(network.to_json()));
  Metacognition engine;
  engine.replays_ = true;
  for (std::int64_t number = 1; !trace.empty(); ++number) {
    const std::size_t end = std::min(trace.find('\n'), trace.size());
    const std::string_view line = trace.substr(0, end);
    trace.remove_prefix(std::min(end + 1, trace.size()));
    if (line.empty()) continue;
    const std::string where = "trace: line " + std::to_string(number);
    if (engine.script_.size() == kMaxTrace)
      return Status(Code::out_of_range,
                    where + ": the limit is " + std::to_string(kMaxTrace) + " acts");
    auto entry = parse(line);
    if (!entry.ok()) return entry.status().at(where);
    if (!engine.script_.empty() && entry->pass < engine.script_.back().pass)
      return Status(Code::corrupt, where + ": pass " + std::to_string(entry->pass) +
                                       " comes after pass " +
                                       std::to_string(engine.script_.back().pass));
    LOOM_TRY(rehearse(copy, *entry).at(where));
    engine.script_.push_back(std::move(*entry));
  }
  std::ranges::reverse(engine.script_);
  return engine;
}

}  // namespace loom
