#include "grid/emit/emitter.h"

#include <algorithm>

#include "base/files/bytes.h"
#include "base/files/sha256.h"
#include "base/message.h"
#include "layers/metacognition/rules.h"
#include "layers/pull.h"

namespace loom {

Noise named_noise(std::uint64_t seed, std::string_view name, RegisterId run) {
  return {seed, load_le<std::uint64_t>(Sha256::of(as_bytes(name)).data()), run};
}

// What a layer sees of the network while it emits.
class NodeContext : public LayerContext {
 public:
  NodeContext(NetworkEmitter& emitter, NetworkEmitter::Tape& tape)
      : LayerContext(emitter.emit_), e_(emitter), tape_(tape) {
    type = tape.type;
    training = emitter.options_.training;
    learning = emitter.options_.learning;
    pulls = emitter.options_.pulls;
    const std::vector<Param>& params = tape.node->params;
    frozen = emitter.frozen() ||
             (!params.empty() && std::all_of(params.begin(), params.end(), [&](const Param& p) {
               return e_.frozen_.contains(p.store.get());
             }));
    max_positions = emitter.options_.max_positions;
    sequences = emitter.options_.sequences;
    steps = emitter.options_.steps;
    streams = emitter.options_.streams;
  }

  const Shape& in() const override { return tape_.node->in; }
  std::string_view path() const override { return tape_.path; }
  View weight(std::string_view role) override {
    const Named p = named(role);
    return emit.weight(p.path, p.role, p.store->rows(), p.store->cols(), p.store->format(), type);
  }
  double adapter_scale(std::string_view role) const override {
    const Adapter::Target* target =
        e_.options_.adapter ? e_.options_.adapter->find(tape_.path, role) : nullptr;
    return target ? target->scale : 0;
  }

  // Where the network does not learn its gradients are values that nobody reads, which are then not
  // computed.
  Gradient gradient(std::string_view role) override {
    const Named p = named(role);
    if (const auto known = e_.sum_of_.find(p.store); known != e_.sum_of_.end())
      return {e_.sums_[known->second].value, Accumulate::yes};
    if (e_.frozen_.contains(p.store))
      return {emit.temp(type, {p.store->rows()}, p.store->cols()), Accumulate::no};
    const BufferKind kind = e_.frozen() && !p.adapter ? BufferKind::temp : BufferKind::grad;
    const std::int64_t rows = p.store->rows(), cols = p.store->cols();
    const View to = emit.buffer(
        {.type = type, .kind = kind, .rows = {rows}, .cols = cols, .path = p.path, .role = p.role});
    e_.sum_of_[p.store] = e_.sums_.size();
    e_.sums_.push_back({p.store, p.path, p.role, to, true, rows, cols, type});
    return {to, Accumulate::no};
  }

  void learn_average(std::string_view role, View value, double momentum,
                     std::int64_t places) override {
    if (tape_.again) return;
    const Named p = named(role);
    if (e_.frozen_.contains(p.store)) return;
    e_.averages_.push_back({p.path, p.role, p.store, type, value, momentum, places});
  }

  Noise noise(std::string_view name) override {
    std::string stream = tape_.path + ":" + std::string(name);
    if (tape_.tick > 0) stream += "@" + std::to_string(tape_.tick);
    return named_noise(e_.options_.seed, stream, emit.u32_register("noise", UINT32_MAX));
  }

  View positions() override { return place("positions"); }
  View sequence_ids() override { return place("sequences"); }
  View next_sequence_ids() override { return streams ? place("next_sequences") : sequence_ids(); }
  View goes_on() override {
    by_ticks_alone();
    return emit.input("goes_on", ValueType::f32, emit.rows(e_.input_), 1);
  }
  View state(std::string_view role, ValueType state_type, Rows rows, std::int64_t cols) override {
    by_ticks_alone();
    if (!streams) return emit.state(tape_.path, role, state_type, rows, cols);
    const auto [at, first] = e_.states_.try_emplace(tape_.path + ":" + std::string(role));
    if (first) at->second = emit.state(tape_.path, role, state_type, rows, cols);
    else if (!tape_.again) e_.shared_state_ = tape_.path;
    return at->second;
  }
  void save(std::string_view name, View value) override {
    tape_.saved.insert_or_assign(std::string(name), value);
  }
  View saved(std::string_view name) const override { return tape_.saved.find(name)->second; }

  void watch(View x, View y) override {
    if (e_.options_.watch)
      e_.watched_.push_back({tape_.path, x, y, tape_.begin, emit.program().code.size()});
  }

  std::size_t child_count() const override { return tape_.node->children.size(); }
  Result<View> child_forward(std::size_t i, View x, View skip) override {
    if (tape_.children.empty()) tape_.children.resize(child_count());
    NetworkEmitter::Tape& child = tape_.children[i];
    const Node& node = tape_.node->children[i];
    child.path = tape_.path + "/" + std::to_string(i);
    child.node = e_.network_.executed(node, child.path);
    child.type = type;
    child.again = tape_.again;
    child.tick = tape_.tick;
    const bool here = !child.node || child.node == &node;
    if (!here) child.type = computes_in_f64(*child.node) ? ValueType::f64 : ValueType::f32;
    if (!here && emit.type(x) == type) x = emit.convert(x, child.type);
    LOOM_ASSIGN(const View y, e_.run_node(child, x, here ? skip : View{}));
    if (e_.options_.record_nested && !child.again) e_.record(child.path, false, y);
    return !here && emit.type(y) == child.type ? emit.convert(y, type) : y;
  }
  Result<View> child_backward(std::size_t i, View gy, View* gskip) override {
    NetworkEmitter::Tape& child = tape_.children[i];
    if (e_.options_.record_nested) e_.record(child.path, true, gy);
    if (!gy.valid() || child.type == type) return e_.run_node_back(child, gy, gskip);
    LOOM_ASSIGN(const View gx, e_.run_node_back(child, emit.convert(gy, child.type), gskip));
    return gx.valid() ? emit.convert(gx, type) : gx;
  }

 private:
  // Ticks have no sequences of rows.
  void by_ticks_alone() {
    if (e_.network_.ticks() > 0)
      e_.looks_outside_ = std::string(tape_.node->type->name()) + " at " + tape_.path;
  }
  // Where a row stands; in a stream over rows, where a window does.
  View place(std::string_view name) {
    by_ticks_alone();
    Rows rows = emit.rows(e_.input_);
    if (streams && steps > 0) rows.constant /= steps;
    return emit.input(name, ValueType::u32, rows, 1);
  }
  struct Named {
    std::string path, role;
    WeightStore* store;
    bool adapter;
  };
  // A tied parameter goes by its owner's name, so that it is prepared, and learned, once.
  Named named(std::string_view role) const {
    const Param* p = tape_.node->find(role);
    if (!p)
      return {tape_.path, std::string(role), e_.options_.adapter->store(tape_.path, role), true};
    if (!tape_.node->tie.empty() && p == &tape_.node->params[0]) {
      const std::size_t colon = tape_.node->tie.find(':');
      return {tape_.node->tie.substr(0, colon), tape_.node->tie.substr(colon + 1), p->store.get(),
              false};
    }
    return {tape_.path, std::string(role), p->store.get(), false};
  }

  NetworkEmitter& e_;
  NetworkEmitter::Tape& tape_;
};

// A layer that works on the last dimension has a row for each place of the others.
Result<View> NetworkEmitter::run_node(Tape& tape, View x, View skip) {
  if (!tape.node || !tape.node->enabled) return x;
  NodeContext visit(*this, tape);
  tape.begin = emit_.program().code.size();
  const std::int64_t parts = tape.node->parts;
  const auto cut = [&](View v) {
    return v.valid() && parts > 1 ? emit_.reshape(v, v.cols / parts) : v;
  };
  // Of another shape it is none that this layer adds.
  const View other = skip.valid() && skip.cols == x.cols ? cut(skip) : skip;
  auto y = tape.node->type->forward(*tape.node->config, visit, cut(x), other);
  if (!y.ok()) return y.status().at(std::string(tape.node->type->name()) + " at " + tape.path);
  if (options_.pulls.absolute) visit.save("given", *y);
  return parts > 1 ? emit_.reshape(*y, y->cols * parts) : *y;
}

// Without a gradient of its output (behind a rounding, or an index) a node has none to hand on
// either.
Result<View> NetworkEmitter::run_node_back(Tape& tape, View gy, View* gskip) {
  if (!tape.node || !tape.node->enabled || !gy.valid()) return gy;
  if (options_.pulls.on && pull_rule(tape.node->type->name()) == PullRule::passes) return gy;
  NodeContext visit(*this, tape);
  const std::int64_t parts = tape.node->parts;
  const auto join = [&](View v) {
    return v.valid() && parts > 1 ? emit_.reshape(v, v.cols * parts) : v;
  };
  auto gx = tape.node->type->backward(*tape.node->config, visit,
                                      parts > 1 ? emit_.reshape(gy, gy.cols / parts) : gy, gskip);
  if (!gx.ok()) return gx.status().at(std::string(tape.node->type->name()) + " at " + tape.path);
  if (gskip) *gskip = join(*gskip);
  return join(*gx);
}

ValueType input_type(const Network& network) {
  const std::vector<std::vector<std::int64_t>> arrivals = network.arrivals();
  std::vector<std::vector<std::size_t>> readers(arrivals.size() + 1);  // the input's first
  for (std::size_t i = 0; i < arrivals.size(); ++i)
    for (const std::int64_t from : arrivals[i])
      readers[static_cast<std::size_t>(from + 1)].push_back(i);
  std::vector<bool> seen(arrivals.size());
  std::vector<std::size_t> as_it_is{0};  // the input, and cells that hand it on
  bool any = false;
  while (!as_it_is.empty()) {
    const std::size_t from = as_it_is.back();
    as_it_is.pop_back();
    for (const std::size_t i : readers[from]) {
      if (seen[i]) continue;
      seen[i] = true;
      if (network.passes(i)) {
        if (arrivals[i].size() == 1) as_it_is.push_back(i + 1);
        else if (network.version() == 1) return ValueType::f32;  // merges in it
      } else if (computes_in_f64(network.node(network.executed(i)))) {
        any = true;
      } else {
        return ValueType::f32;
      }
    }
  }
  return any ? ValueType::f64 : ValueType::f32;
}

View emit_input(ProgramBuilder& emit, const Network& network, Rows rows) {
  const Shape& in = network.input();
  if (in.ids == 0) return emit.input("x", input_type(network), rows, in.width);
  rows.constant *= in.count();
  return emit.input("ids", ValueType::u32, rows, 1);
}

View NetworkEmitter::arriving(std::int64_t from) const {
  return from < 0 ? outside_[static_cast<std::size_t>(-1 - from)]
                  : executions_[static_cast<std::size_t>(from)].y;
}

ValueType NetworkEmitter::type_of(const Execution& execution) const {
  const auto arrives_wide = [&](std::int64_t from) {
    return emit_.type(arriving(from)) == ValueType::f64;
  };
  // An empty cell merges in f64 what has f64 in it; in version 1 it merged in f32.
  const std::size_t i = execution.cell;
  const bool wide = !network_.passes(i) ? computes_in_f64(network_.node(network_.executed(i)))
                                        : network_.version() >= 2 &&
                                              std::ranges::any_of(execution.from, arrives_wide);
  return wide ? ValueType::f64 : ValueType::f32;
}

void NetworkEmitter::convert_arrivals(Execution& execution, ValueType type) {
  for (const std::int64_t from : execution.from) {
    const View v = arriving(from);
    const ValueType t = emit_.type(v);
    execution.arrival_types.push_back(t);
    // Ids stay ids. An empty cell passes its single arrival as it is.
    const bool real = t == ValueType::f32 || t == ValueType::f64;
    const bool as_it_is = network_.passes(execution.cell) && execution.from.size() == 1;
    execution.arrivals.push_back(real && !as_it_is ? emit_.convert(v, type) : v);
  }
}

View NetworkEmitter::merged(const Execution& execution, ValueType type) {
  const std::vector<View>& arrivals = execution.arrivals;
  const Merge merge = network_.node(execution.cell).merge;
  if (arrivals.size() == 1) return arrivals[0];
  if (!side_by_side(merge)) {
    View sum = arrivals[0];
    for (std::size_t k = 1; k < arrivals.size(); ++k) sum = emit_.add(sum, arrivals[k]);
    return merge == Merge::avg ? emit_.scale(sum, 1.0 / static_cast<double>(arrivals.size())) : sum;
  }
  const std::int64_t parts = network_.joined_parts(execution.cell, arrivals_[execution.cell]);
  std::int64_t width = 0, col = 0;
  for (const View& v : arrivals) width += v.cols / parts;
  View joined;
  for (const View& arrival : arrivals) {
    const View v = emit_.reshape(arrival, arrival.cols / parts);
    if (!joined.valid()) joined = emit_.temp(type, emit_.rows(v), width);
    emit_.copy_to(v, ProgramBuilder::slice(joined, col, v.cols));
    col += v.cols;
  }
  return emit_.reshape(joined, width * parts);
}

Status NetworkEmitter::list_once(View x) {
  if (network_.step_mesh)
    return Status(Code::invalid_argument,
                  "the network is a step mesh: it runs by ticks, and not in a pass");
  LOOM_ASSIGN(const std::vector<std::size_t> order, network_.order());
  outside_ = {x};
  std::vector<std::int64_t> execution_of(network_.size());
  for (const std::size_t i : order) {
    execution_of[i] = static_cast<std::int64_t>(executions_.size());
    Execution execution;
    execution.cell = i;
    for (const std::int64_t from : arrivals_[i])
      execution.from.push_back(from < 0 ? -1 : execution_of[static_cast<std::size_t>(from)]);
    executions_.push_back(std::move(execution));
  }
  answering_ = {static_cast<std::size_t>(execution_of.back())};
  return {};
}

Status NetworkEmitter::run(Execution& execution) {
  const ValueType type = type_of(execution);
  convert_arrivals(execution, type);
  execution.x = merged(execution, type);
  if (network_.head == static_cast<std::int64_t>(execution.cell) && options_.head_rows.valid()) {
    execution.selected_from = execution.x;
    execution.x = emit_.gather_rows(execution.x, options_.head_rows);
  }
  if (network_.passes(execution.cell)) {
    execution.y = execution.x;
    record(network_.path(execution.cell), false, execution.y);
    return {};
  }
  const std::size_t executed = network_.executed(execution.cell);
  execution.tape.node = &network_.node(executed);
  execution.tape.path = network_.path(executed);
  execution.tape.type = type;
  LOOM_ASSIGN(execution.y, run_node(execution.tape, execution.x, View{}));
  record(network_.path(execution.cell), false, execution.y);
  if (looks_outside_.empty()) return {};
  return Status(Code::unsupported,
                message(looks_outside_,
                        " looks at other rows, and each row of a step mesh is a stream of "
                        "its own: give it the steps of a row"));
}

View NetworkEmitter::answer() {
  std::vector<View> answers;
  for (const std::size_t i : answering_) answers.push_back(executions_[i].y);
  return answers.size() == 1 ? answers[0] : joined(emit_, answers);
}

// The weights of a metacognition that is frozen, and those that a cell says are fixed.
void NetworkEmitter::find_frozen(const Node& node, bool frozen) {
  const MetacognitionConfig* own = node.type ? node.type->metacognition(*node.config) : nullptr;
  frozen = frozen || (own && own->frozen) || node.fixes("all");
  for (const Param& p : node.params)
    if (frozen || node.fixes(p.spec.role)) frozen_.insert(p.store.get());
  for (const Node& child : node.children) find_frozen(child, frozen);
}

Status NetworkEmitter::begin(View x) {
  input_ = x;
  if (options_.learning)
    for (std::size_t i = 0; i < network_.size(); ++i) find_frozen(network_.node(i), false);
  if (options_.adapter) LOOM_TRY(options_.adapter->fit(network_));
  arrivals_ = network_.arrivals();
  executions_.clear();
  return network_.ticks() > 0 ? list_by_ticks(x) : list_once(x);
}

Result<View> NetworkEmitter::forward(View x) {
  LOOM_TRY(begin(x));
  for (Execution& execution : executions_) LOOM_TRY(run(execution));
  return answer();
}

void NetworkEmitter::record(const std::string& path, bool gradient, View value) {
  if (options_.record && value.valid())
    recorded_.push_back({path, gradient, value, emit_.program().code.size()});
}

// Readers' gradients are added in the order in which they were emitted.
View NetworkEmitter::total(const Execution& execution) {
  View g;
  for (const View& part : execution.gradients) g = g.valid() ? emit_.add(g, part) : part;
  return g;
}

Status NetworkEmitter::backward(View gy) {
  std::int64_t col = 0;
  for (const std::size_t i : answering_) {
    Execution& execution = executions_[i];
    execution.gradients.push_back(
        answering_.size() == 1 ? gy : ProgramBuilder::slice(gy, col, execution.y.cols));
    col += execution.y.cols;
  }
  for (std::size_t n = executions_.size(); n-- > 0;) LOOM_TRY(run_back(executions_[n]));
  return {};
}

Status NetworkEmitter::run_back(Execution& execution) {
  View g = total(execution);
  if (!g.valid()) return {};  // nothing downstream learns from this cell
  if (options_.look) options_.look(options_.looker, execution.cell, execution.y, g);
  record(network_.path(execution.cell), true, g);
  if (execution.tape.node) {
    View gskip;
    if (options_.recompute) {
      execution.tape = {.node = execution.tape.node,
                        .path = execution.tape.path,
                        .type = execution.tape.type,
                        .again = true,
                        .tick = execution.tape.tick};
      emit_.forget_packed();
      LOOM_TRY(run_node(execution.tape, execution.x, View{}).status());
    }
    LOOM_ASSIGN(g, run_node_back(execution.tape, g, &gskip));
  }
  if (execution.selected_from.valid() && g.valid())
    g = emit_.scatter_rows(g, options_.head_rows, emit_.rows(execution.selected_from));
  if (g.valid()) hand_back(execution, g);  // ids have no gradient
  return {};
}

// The gradient of what an execution merged, to each of those that it came from.
void NetworkEmitter::hand_back(Execution& execution, View g) {
  std::int64_t col = 0;
  const Merge merge = network_.node(execution.cell).merge;
  const bool beside = execution.from.size() > 1 && side_by_side(merge);
  const std::int64_t parts =
      beside ? network_.joined_parts(execution.cell, arrivals_[execution.cell]) : 1;
  g = emit_.reshape(g, g.cols / parts);
  if (options_.handed_back != 1) g = emit_.scale(g, options_.handed_back);
  if (execution.from.size() > 1 && merge == Merge::avg)
    g = emit_.scale(g, 1.0 / static_cast<double>(execution.from.size()));
  for (std::size_t k = 0; k < execution.from.size(); ++k) {
    View part = g;
    if (beside) {
      part = ProgramBuilder::slice(g, col, execution.arrivals[k].cols / parts);
      col += part.cols;
      part = emit_.reshape(part, execution.arrivals[k].cols);
    }
    if (execution.from[k] < 0) {
      if (network_.ticks() == 0) input_gradient_ = part;
      continue;
    }
    if (options_.truncate > 0 && execution.tape.tick % options_.truncate == 0) continue;
    executions_[static_cast<std::size_t>(execution.from[k])].gradients.push_back(
        emit_.convert(part, execution.arrival_types[k]));
  }
}

std::vector<NetworkEmitter::Gradient> NetworkEmitter::gradients() const {
  std::vector<Gradient> list;
  const auto add = [&](const WeightStore* store) {
    const auto at = sum_of_.find(store);
    if (at == sum_of_.end()) return;
    const Sum& s = sums_[at->second];
    list.push_back({s.path, s.role, s.store, s.rows, s.cols, s.type, s.value});
  };
  if (frozen()) {
    for (const Adapter::Target& t : options_.adapter->targets)
      for (const WeightStore* store : {t.a.get(), t.b.get()}) add(store);
    return list;
  }
  for (const Network::NamedParam& p : network_.params()) {
    if (!p.tied) add(p.param->store.get());
  }
  return list;
}

}  // namespace loom
