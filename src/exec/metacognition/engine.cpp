#include "exec/metacognition/engine.h"

#include <algorithm>
#include <cmath>

namespace loom {
namespace {

// The root mean square of the finite values; nothing where there are none.
std::optional<double> magnitude(const CellStatistics& s) {
  if (s.finite() == 0) return std::nullopt;
  const double mean_square = s.squares / static_cast<double>(s.finite()) + s.mean * s.mean;
  return std::sqrt(mean_square);
}

std::optional<double> ratio(std::optional<double> a, std::optional<double> b) {
  if (!a || !b || *b == 0) return std::nullopt;
  const double r = *a / *b;
  return std::isfinite(r) ? std::optional(r) : std::nullopt;
}

std::uint64_t bytes_of(Node& node) {
  std::uint64_t bytes = 0;
  visit_params(node, "", [&](const std::string&, Node&, Param& p) {
    const WeightStore& store = *p.store;
    const DType dtype = store.format().dtype;
    const auto count = static_cast<std::uint64_t>(store.rows() * store.cols());
    bytes += dtype == DType::f32   ? 4 * count
             : dtype == DType::f64 ? 8 * count
                                   : store.packed_bytes();
  });
  return bytes;
}

// Whether `path` is `outer` or inside of it.
bool within(std::string_view path, std::string_view outer) {
  return path.starts_with(outer) && (path.size() == outer.size() || path[outer.size()] == '/');
}

}  // namespace

std::int64_t Metacognition::rules() const {
  std::int64_t n = 0;
  for (const Layer& layer : layers_) n += static_cast<std::int64_t>(layer.rules.size());
  return n;
}

void Metacognition::sync(Network& network) {
  if (replays_) return;
  std::vector<Layer> now;
  for (const RuledLayer& ruled : ruled_layers(network)) {
    Layer layer;
    layer.path = ruled.path;
    layer.text = ruled.config->json.dump();
    layer.every = ruled.config->every;
    const auto same = std::ranges::find_if(layers_, [&](const Layer& old) {
      return old.path == layer.path && old.text == layer.text && old.every == layer.every;
    });
    if (same != layers_.end()) {
      layer = *same;
    } else {
      layer.rules = ruled.config->rules;
      layer.states.resize(layer.rules.size());
      for (const Rule& rule : layer.rules)
        if (rule.when == CellStatistic::growth)
          layer.depth = std::max(layer.depth, static_cast<std::size_t>(rule.over));
    }
    if (Node* node = network.find_node(layer.path)) layer.bytes = bytes_of(node->children[0]);
    now.push_back(std::move(layer));
  }
  layers_ = std::move(now);
}

bool Metacognition::due() const {
  return std::ranges::any_of(layers_,
                             [&](const Layer& layer) { return passes_ % layer.every == 0; });
}

std::optional<double> Metacognition::value(const Layer& layer, const Rule& rule,
                                           const Session::Watched& watched) {
  const CellStatistics& s = watched.out;
  const bool any = s.finite() > 0;
  const auto where_any = [&](double v) { return any ? std::optional(v) : std::nullopt; };
  switch (rule.when) {
    case CellStatistic::mean: return where_any(s.mean);
    case CellStatistic::std: return where_any(s.std());
    case CellStatistic::min: return where_any(s.min);
    case CellStatistic::max: return where_any(s.max);
    case CellStatistic::active_share: return s.active_share();
    case CellStatistic::nan_count: return static_cast<double>(s.nan_count);
    case CellStatistic::inf_count: return static_cast<double>(s.inf_count);
    case CellStatistic::growth: {
      const auto over = static_cast<std::size_t>(rule.over);
      if (layer.deviations.size() < over) return std::nullopt;
      return ratio(where_any(s.std()), layer.deviations[layer.deviations.size() - over]);
    }
    case CellStatistic::gain: return ratio(magnitude(s), magnitude(watched.in));
    case CellStatistic::gain_drift: {
      const auto relative = ratio(ratio(magnitude(s), magnitude(watched.in)), layer.first_gain);
      return relative ? std::optional(std::fabs(*relative - 1)) : std::nullopt;
    }
    case CellStatistic::weight_bytes: return static_cast<double>(layer.bytes);
  }
  return std::nullopt;
}

// Which rules of a layer fire in the pass that has run.
void Metacognition::observe(std::size_t index, const Session::Watched& watched) {
  Layer& layer = layers_[index];
  if (!layer.first_gain) layer.first_gain = ratio(magnitude(watched.out), magnitude(watched.in));
  for (std::size_t i = 0; i < layer.rules.size(); ++i) {
    const Rule& rule = layer.rules[i];
    RuleState& state = layer.states[i];
    const std::optional<double> v = value(layer, rule, watched);
    const auto beyond = [&](double limit) { return v && (rule.above ? *v > limit : *v < limit); };
    if (v && !beyond(rule.release)) state.armed = true;
    state.streak = beyond(rule.threshold) ? state.streak + 1 : 0;
    if (state.cooldown > 0) {
      --state.cooldown;
      continue;
    }
    if (!state.armed || state.streak < rule.passes || (rule.limit > 0 && state.fired >= rule.limit))
      continue;
    Pending pending;
    pending.layer = index;
    pending.before = state;
    state = {.armed = false, .streak = 0, .cooldown = rule.cooldown, .fired = state.fired + 1};
    pending.entry = {.pass = passes_,
                     .path = layer.path,
                     .rule = static_cast<std::int64_t>(i),
                     .value = *v,
                     .statistic = std::string(name(rule.when)),
                     .act = std::string(name(rule.act))};
    pending.rule = rule;
    pending_.push_back(std::move(pending));
  }
  if (layer.depth == 0 || watched.out.finite() == 0) return;
  if (layer.deviations.size() == layer.depth) layer.deviations.erase(layer.deviations.begin());
  layer.deviations.push_back(watched.out.std());
}

bool Metacognition::passed(const std::vector<Session::Watched>& watched) {
  pending_.clear();
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    if (passes_ % layers_[i].every != 0) continue;
    const auto at = std::ranges::find(watched, layers_[i].path, &Session::Watched::path);
    if (at != watched.end() && at->out.count > 0) observe(i, *at);
  }
  for (; !script_.empty() && script_.back().pass <= passes_; script_.pop_back()) {
    pending_.emplace_back();
    pending_.back().entry = std::move(script_.back());
  }
  ++passes_;
  return !pending_.empty();
}

void Metacognition::give_up() {
  for (; !pending_.empty(); pending_.pop_back()) {
    Pending& p = pending_.back();
    if (replays_) script_.push_back(std::move(p.entry));
    else layers_[p.layer].states[static_cast<std::size_t>(p.entry.rule)] = p.before;
  }
}

Status Metacognition::perform(Network& network, Pending& pending, SavedWeights& saved) {
  Entry& entry = pending.entry;
  if (replays_) {
    LOOM_ASSIGN(pending.rule, rule_of(network, entry));
  }
  LOOM_ASSIGN(ActChange change, loom::act(network, entry.path, pending.rule, &saved));
  entry.before = std::move(change.before);
  entry.after = std::move(change.after);
  if (pending.rule.act == ActKind::freeze || pending.rule.act == ActKind::unfreeze) return {};
  // What was measured was of another layer.
  for (Layer& layer : layers_)
    if (within(entry.path, layer.path)) layer.deviations.clear(), layer.first_gain.reset();
  return {};
}

void Metacognition::add_to_trace(std::vector<Pending> done) {
  for (Pending& p : done) trace_.push_back(std::move(p.entry));
  acts_ += static_cast<std::int64_t>(done.size());
  if (trace_.size() > kMaxTrace)
    trace_.erase(trace_.begin(), trace_.end() - static_cast<std::ptrdiff_t>(kMaxTrace));
}

Status Metacognition::act(Network& network, const std::function<Status()>& prepare) {
  SavedWeights saved;
  const Status acted = network.change([&]() -> Status {
    for (Pending& pending : pending_) LOOM_TRY(perform(network, pending, saved));
    return prepare();
  });
  if (!acted.ok()) {
    saved.restore();
    give_up();
    return acted;
  }
  add_to_trace(std::move(pending_));
  pending_.clear();
  sync(network);
  return {};
}

}  // namespace loom
