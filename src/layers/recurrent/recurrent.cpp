// Recurrent layers over rows of [steps, features], or over rows that are positions of sequences:
// RNN (Elman 1990), GRU (Cho et al. 2014), LSTM (Hochreiter and Schmidhuber 1997), stacked and in
// both directions. The inputs of all steps are one product; each step multiplies the state before
// it in the arithmetic of the cell's dtype. Weights, gate orders and names are PyTorch's:
// weight_ih_l0 [gates x hidden, features], weight_hh_l0, bias_ih_l0, bias_hh_l0, then
// "_reverse", then layer 1.
#include "base/message.h"
#include "layers/takes.h"

namespace loom {
namespace {

constexpr std::int64_t kMaxSteps =
    1 << 15;  // in all directions and layers: each is some instructions

enum class Kind { rnn, gru, lstm };

struct RecurrentConfig : LayerConfig {
  Kind kind = Kind::rnn;
  std::int64_t hidden = 0, num_layers = 1;
  bool bias = true, bidirectional = false, stateful = false, linear_before_reset = true;
  bool return_state = false;
  std::string output = "all";
  Names takes;
  bool step = false;  // by_step: initial states are taken over rows too, and lengths are not
  Activation activation = Activation::tanh;
  template <class V>
  void fields(V& v) {
    if (kind == Kind::rnn)
      v.about(
          "Elman's network over [steps, features]; a row without dimensions is one step, and "
          "where rows are positions of a sequence (behind single ids), the next step of that. "
          "Names, layouts and gate orders (LSTM: i f g o; GRU: r z n) of recurrent layers are "
          "PyTorch's: `weight_ih_l0` [gates x hidden, features], `weight_hh_l0` [gates x "
          "hidden, hidden], `bias_ih_l0`, `bias_hh_l0`, then `..._l0_reverse`, `..._l1`. Behind "
          "the length of a row outputs are 0 and states stay; the reverse direction begins at its "
          "last step.");
    else if (kind == Kind::gru)
      v.about(
          "Gated recurrent units over [steps, features]. Without `linear_before_reset` "
          "`weight_hh` and `bias_hh` have r and z, `weight_hn` [hidden, hidden] and `bias_hn` "
          "the rest.");
    else v.about("Long short-term memory over [steps, features].");
    v("hidden", hidden, {.doc = "values of a state", .min = 1, .max = INT32_MAX, .required = true});
    v("num_layers", num_layers,
      {.doc = "layers on one another: each takes all steps of the one before",
       .min = 1,
       .max = kMaxSteps});
    v("bias", bias, {.doc = "adds learned numbers to both products"});
    v("bidirectional", bidirectional,
      {.doc = "a second state runs from the last step to the first"});
    v("output", output,
      {.doc = "`all`: the states of all steps, [steps, directions x hidden]; "
              "`last`: that after the last, directions x hidden",
       .one_of = "all, last"});
    v("stateful", stateful,
      {.doc = "a run continues from the state that the sequence's last run left, "
              "unless its position is 0; in training where that has `streams`"});
    if (kind == Kind::rnn)
      v("activation", activation, {.doc = "of the sum", .one_of = "tanh, relu"});
    if (kind == Kind::gru)
      v("linear_before_reset", linear_before_reset,
        {.doc = "the reset gate acts on the state's product, as in PyTorch; false: on the state, "
                "ONNX's default"});
    // Not written where they change nothing: a network of before has the topology it had.
    v("takes", takes,
      {.doc =
           kind == Kind::lstm
               ? "operands behind the first, in their order: `lengths`, steps of a row, an input "
                 "of one id; `h0`, `c0`, states before the first step, [num_layers x directions, "
                 "hidden], else 0"
               : "operands behind the first, in their order: `lengths`, steps of a row, an input "
                 "of one id; `h0`, states before the first step, [num_layers x directions, "
                 "hidden], "
                 "else 0",
       .written = !takes.empty()});
    v("return_state", return_state,
      {.doc = kind == Kind::lstm
                  ? "the last states are further operands of the output, `h` and `c`, as `h0` and "
                    "`c0` are"
                  : "the last states are a further operand of the output, `h`, as `h0` is",
       .written = return_state});
  }
  std::string_view known() const { return kind == Kind::lstm ? "lengths, h0, c0" : "lengths, h0"; }
  std::int64_t runs() const { return num_layers * directions(); }  // each with a state of its own
  std::int64_t directions() const { return bidirectional ? 2 : 1; }
  std::int64_t gates() const { return kind == Kind::rnn ? 1 : kind == Kind::gru ? 3 : 4; }
  bool reset_first() const { return kind == Kind::gru && !linear_before_reset; }
};

// The states of a run, h or c.
struct Memory {
  View states;   // by time, one more than steps
  View entry;    // in a stream over rows: what each step begins with, 0 where a document begins
  View carried;  // for the next run
};

// One direction of one layer, as a visit emits it. States lie in one buffer by time, the initial
// one before the first step, or, in reverse, after the last.
struct Run {
  const RecurrentConfig& c;
  LayerContext& v;
  std::int64_t steps;
  bool reverse;
  std::string suffix;  // "_l0", "_l0_reverse"

  std::int64_t width() const { return c.gates() * c.hidden; }
  std::int64_t time(std::int64_t n) const {
    return reverse ? steps - 1 - n : n;
  }  // of the n-th step taken
  std::string role(const char* name) const { return name + suffix; }
  View bias(const char* name) const { return c.bias ? v.weight(role(name)) : View{}; }
  View of_step(View all, std::int64_t t, std::int64_t cols) const {
    return ProgramBuilder::slice(all, t * cols, cols);
  }
  // From a buffer of steps + 1 states: that before step t, that after it, and those of all steps.
  View before(const Memory& m, std::int64_t t) const {
    return m.entry.valid() ? of_step(m.entry, t, c.hidden) : left_before(m.states, t);
  }
  View left_before(View states, std::int64_t t) const {
    return of_step(states, reverse ? t + 1 : t, c.hidden);
  }
  View after(View states, std::int64_t t) const {
    return of_step(states, reverse ? t : t + 1, c.hidden);
  }
  View all_before(const Memory& m) const {
    return m.entry.valid()
               ? m.entry
               : ProgramBuilder::slice(m.states, reverse ? c.hidden : 0, steps * c.hidden);
  }
  View all_after(View states) const {
    return ProgramBuilder::slice(states, reverse ? 0 : c.hidden, steps * c.hidden);
  }
  View per_row(std::int64_t cols) const { return v.emit.temp(v.type, rows, cols); }
  void save(const std::string& name, View value) const { v.save(name + suffix, value); }
  View saved(const std::string& name) const { return v.saved(name + suffix); }
  void save(const std::string& name, const Memory& m) const {
    save(name, m.states);
    save(name + "_entry", m.entry);
  }
  Memory kept_memory(const std::string& name) const {
    return {saved(name), saved(name + "_entry"), {}};
  }
  std::string numbered(const char* name, std::int64_t t) const { return name + std::to_string(t); }

  Rows rows;     // of the layer's input
  bool carries;  // from one run to the next
  // Not 0 at the values of steps within a row's length; invalid: all rows have all steps.
  View wide;
  View h0, c0;  // before the first step; invalid: 0
  // In a stream over rows, not 0 at the values of steps that go on from the one before them; and 0,
  // which others begin with.
  View on, nothing;
  View later{};  // over rows: not 0 where a row is not the first, which begins with h0 and c0
  void enter(const Memory& m, std::int64_t t) const {
    if (!m.entry.valid() || t == 0) return;
    v.emit.append(Op::select, {of_step(on, t, c.hidden), left_before(m.states, t), nothing,
                               of_step(m.entry, t, c.hidden)});
  }
  // The gradient of the state that step t begins with, as far as it is that of the step before.
  View left(View gradient, std::int64_t t) const {
    return on.valid() && gradient.valid()
               ? v.emit.select(of_step(on, t, c.hidden), gradient, nothing)
               : gradient;
  }
  // One of two by whether step t counts.
  void choose(View counts, View otherwise, View to, std::int64_t t) const {
    v.emit.append(Op::select, {of_step(wide, t, c.hidden), counts, otherwise, to});
  }
};
// States of the last step that counts, in the order of the runs.
struct States {
  std::vector<View> h, c;
};

// `role`: of what is kept for the sequence's next run.
Memory begin(const Run& run, const char* role, View given) {
  Memory m{run.per_row((run.steps + 1) * run.c.hidden), {}, {}};
  if (run.on.valid()) m.entry = run.per_row(run.steps * run.c.hidden);
  const View first = run.before(m, run.time(0));
  if (run.carries) {
    m.carried = run.v.state(run.role(role), run.v.type, {run.v.sequences}, run.c.hidden);
    const View left = given.valid() ? run.per_row(run.c.hidden) : first;
    run.v.emit.state_read(m.carried, run.v.sequence_ids(), run.v.positions(), left);
    if (given.valid()) run.v.emit.append(Op::select, {run.later, left, given, first});
  } else if (given.valid()) {
    run.v.emit.copy_to(given, first);
  } else {
    run.v.emit.fill(first, 0);
  }
  return m;
}
void end(const Run& run, const Memory& m) {
  if (m.carried.valid())
    run.v.emit.state_write(run.after(m.states, run.time(run.steps - 1)), run.v.next_sequence_ids(),
                           m.carried);
}

// One step of an RNN or GRU: x and s are its sums.
void step_of(const Run& run, View xt, View s, View before, View after, View resets,
             std::int64_t t) {
  ProgramBuilder& emit = run.v.emit;
  const std::int64_t n = run.c.hidden;
  if (run.c.kind == Kind::rnn) {
    const View z = emit.add(xt, s);
    run.save(run.numbered("z", t), z);
    return emit.copy_to(emit.activation(z, run.c.activation), after);
  }
  if (!run.c.reset_first()) return emit.gru_cell(xt, s, before, after);
  // h' = n + z (h - n), n = tanh(x + W (r h))
  const View sums = emit.add(ProgramBuilder::slice(xt, 0, 2 * n), s),
             gates = emit.activation(sums, Activation::sigmoid);
  emit.copy_to(emit.mul(ProgramBuilder::slice(gates, 0, n), before), run.of_step(resets, t, n));
  const View product = emit.matmul(run.v.weight(run.role("weight_hn")), run.of_step(resets, t, n),
                                   run.bias("bias_hn"));
  const View candidate = emit.add(ProgramBuilder::slice(xt, 2 * n, n), product);
  const View tanh = emit.activation(candidate, Activation::tanh);
  const View away = emit.add(before, emit.scale(tanh, -1));
  emit.copy_to(emit.add(tanh, emit.mul(ProgramBuilder::slice(gates, n, n), away)), after);
  const std::pair<const char*, View> values[] = {
      {"sums", sums}, {"gates", gates}, {"candidate", candidate}, {"tanh", tanh}, {"away", away}};
  for (const auto& [name, value] : values) run.save(run.numbered(name, t), value);
}

void step(const Run& run, View x, const Memory& h, const Memory& c, View resets, std::int64_t t) {
  ProgramBuilder& emit = run.v.emit;
  const std::int64_t n = run.c.hidden;
  run.enter(h, t);
  run.enter(c, t);
  const View xt = run.of_step(x, t, run.width()), before = run.before(h, t);
  const View after = run.wide.valid() ? run.per_row(n) : run.after(h.states, t);
  const View s = emit.matmul(run.v.weight(run.role("weight_hh")), before, run.bias("bias_hh"));
  run.save(run.numbered("s", t), s);
  if (run.c.kind == Kind::lstm) {
    const View next = run.wide.valid() ? run.per_row(n) : run.after(c.states, t);
    emit.lstm_cell(xt, s, run.before(c, t), after, next);
    if (run.wide.valid()) run.choose(next, run.before(c, t), run.after(c.states, t), t);
  } else {
    step_of(run, xt, s, before, after, resets, t);
  }
  // Behind its length a row keeps its state: the last one is that of its last step, and in reverse
  // the first step that counts finds the initial one.
  if (run.wide.valid()) run.choose(after, before, run.after(h.states, t), t);
}

// Emits one direction over x [R x steps, features]; returns the states of all steps, 0 behind a
// row's length, and adds those of the last.
View forward_run(const Run& run, View x, States& last) {
  ProgramBuilder& emit = run.v.emit;
  const View sums =
      emit.reshape(emit.matmul(run.v.weight(run.role("weight_ih")), x, run.bias("bias_ih")),
                   run.steps * run.width());
  const Memory h = begin(run, "h", run.h0),
               c = run.c.kind == Kind::lstm ? begin(run, "c", run.c0) : Memory{};
  const View resets = run.c.reset_first() ? run.per_row(run.steps * run.c.hidden) : View{};
  run.save("sums", sums);
  run.save("h", h);
  run.save("c", c);
  run.save("resets", resets);
  for (std::int64_t i = 0; i < run.steps; ++i) step(run, sums, h, c, resets, run.time(i));
  end(run, h);
  end(run, c);
  const std::int64_t t = run.time(run.steps - 1);
  last.h.push_back(run.after(h.states, t));
  if (c.states.valid()) last.c.push_back(run.after(c.states, t));
  const View all = run.all_after(h.states);
  return run.wide.valid() ? only_seen(emit, run.wide, all) : all;
}

// The gap of what an activation gave, to a target within its range, from `low` to 1.
View within(ProgramBuilder& e, View y, View gap, double low) {
  const View target = e.unary(e.add(y, e.scale(gap, -1)), Unary::clip, low, 1);
  return e.add(y, e.scale(target, -1));
}

// The gaps of one step, as step_back has gradients: a factor of a product has the gap times the
// other one, and the target of a gate or candidate is a value that it can give.
View step_pull(const Run& run, View xt, View s, View g, View gc, View gx, View gs, View gc_before,
               std::int64_t t) {
  ProgramBuilder& e = run.v.emit;
  const std::int64_t n = run.c.hidden;
  const auto part = [&](View all, std::int64_t i) { return ProgramBuilder::slice(all, i * n, n); };
  const auto gate = [&](std::int64_t i, Activation kind = Activation::sigmoid) {
    return e.activation(e.add(part(xt, i), part(s, i)), kind);
  };
  const auto put = [&](View y, View gap, std::int64_t i, double low = 0) {
    e.copy_to(within(e, y, gap, low), part(gx, i));
  };
  if (run.c.kind == Kind::lstm) {
    const Memory c = run.kept_memory("c");
    const View in = gate(0), forget = gate(1), candidate = gate(2, Activation::tanh), out = gate(3);
    View cell = e.mul(g, out);
    if (gc.valid()) cell = e.add(cell, gc);
    put(in, e.mul(cell, candidate), 0);
    put(forget, e.mul(cell, run.before(c, t)), 1);
    put(candidate, e.mul(cell, in), 2, -1);
    put(out, e.mul(g, e.activation(run.after(c.states, t), Activation::tanh)), 3);
    e.copy_to(e.mul(cell, forget), gc_before);
    return {};
  }
  // h' = n + z (h - n), n = tanh(x + r s)
  const View r = gate(0), z = gate(1), direct = e.mul(g, z), now = e.mul(r, part(s, 2));
  const View candidate = e.activation(e.add(part(xt, 2), now), Activation::tanh);
  const View gn = within(e, candidate, e.add(g, e.scale(direct, -1)), -1);
  const View away = e.add(run.before(run.kept_memory("h"), t), e.scale(candidate, -1));
  put(r, e.mul(gn, part(s, 2)), 0);
  put(z, e.mul(g, away), 1);
  e.copy_to(ProgramBuilder::slice(gx, 0, 2 * n), ProgramBuilder::slice(gs, 0, 2 * n));
  e.copy_to(gn, part(gx, 2));
  e.copy_to(e.mul(gn, r), part(gs, 2));
  return direct;
}

// The gradients of one step: gx and gs get those of the sums, the result is that of the state
// before it, but for what goes through weight_hh.
View step_back(const Run& run, View g, View gc, View gx, View gs, View gc_before, std::int64_t t) {
  ProgramBuilder& emit = run.v.emit;
  const std::int64_t n = run.c.hidden;
  const View h = run.before(run.kept_memory("h"), t),
             xt = run.of_step(run.saved("sums"), t, run.width()),
             s = run.saved(run.numbered("s", t));
  if (run.v.pulls.on && run.c.kind != Kind::rnn && !run.c.reset_first())
    return step_pull(run, xt, s, g, gc, gx, gs, gc_before, t);
  switch (run.c.kind) {
    case Kind::lstm: {
      const Memory c = run.kept_memory("c");
      emit.lstm_cell_back(xt, s, run.before(c, t), run.after(c.states, t), g, gc, gx, gc_before);
      return {};
    }
    case Kind::rnn:
      if (run.v.pulls.on && run.c.activation == Activation::tanh)
        g = within(emit, emit.activation(run.saved(run.numbered("z", t)), run.c.activation), g, -1);
      emit.copy_to(run.v.activation_back(run.saved(run.numbered("z", t)), g, run.c.activation), gx);
      return {};
    case Kind::gru: break;
  }
  if (!run.c.reset_first()) {
    const View direct = run.per_row(n);
    emit.gru_cell_back(xt, s, h, g, gx, gs, direct);
    return direct;
  }
  const View gates = run.saved(run.numbered("gates", t)), r = ProgramBuilder::slice(gates, 0, n),
             z = ProgramBuilder::slice(gates, n, n);
  const View direct = emit.mul(g, z);
  const View gn = run.v.activation_back(run.saved(run.numbered("candidate", t)),
                                        emit.add(g, emit.scale(direct, -1)), Activation::tanh);
  const View greset = run.v.weight_back(run.role("weight_hn"), gn), ggates = run.per_row(2 * n);
  emit.copy_to(emit.mul(greset, h), ProgramBuilder::slice(ggates, 0, n));
  emit.copy_to(emit.mul(g, run.saved(run.numbered("away", t))),
               ProgramBuilder::slice(ggates, n, n));
  emit.copy_to(
      run.v.activation_back(run.saved(run.numbered("sums", t)), ggates, Activation::sigmoid),
      ProgramBuilder::slice(gx, 0, 2 * n));
  emit.copy_to(gn, ProgramBuilder::slice(gx, 2 * n, n));
  return emit.add(direct, emit.mul(greset, r));
}

void learn(const Run& run, const char* weight, const char* bias, View g, View x) {
  const auto gw = run.v.gradient(run.role(weight));
  run.v.emit.weight_grad(g, x, gw.to, gw.accumulate);
  if (!run.c.bias) return;
  const auto gb = run.v.gradient(run.role(bias));
  run.v.emit.bias_grad(g, gb.to, gb.accumulate);
}

// The gradients of a run: those of its states of all steps and of its last ones come in, any of
// which may be missing; those of its input [R x steps, features] and of its initial states go out.
struct RunGradients {
  View all, h, c;
};
RunGradients backward_run(const Run& run, View x, RunGradients g, bool initial) {
  ProgramBuilder& emit = run.v.emit;
  const std::int64_t n = run.c.hidden, width = run.width(),
                     through = run.c.reset_first() ? 2 * n : width;
  const bool two =
      run.c.kind == Kind::gru && !run.c.reset_first();  // the reset gate makes them differ
  const View gx = run.per_row(run.steps * width), gs = two ? run.per_row(run.steps * width) : gx;
  const bool ragged = run.wide.valid();
  View nothing;
  if (ragged) {
    emit.fill(nothing = run.per_row(n), 0);
    if (g.all.valid()) g.all = only_seen(emit, run.wide, g.all);
  }
  for (std::int64_t i = run.steps; i-- > 0;) {
    const std::int64_t t = run.time(i);
    View gh = g.all.valid() ? run.of_step(g.all, t, n) : View{};
    if (g.h.valid()) gh = gh.valid() ? emit.add(gh, g.h) : g.h;
    // What a row without this step hands on as it is.
    View past_h, past_c;
    const auto part = [&](View& all, View& past) {
      if (!ragged || !all.valid()) return;
      const View counts = run.per_row(n);
      past = run.per_row(n);
      run.choose(all, nothing, counts, t);
      run.choose(nothing, all, past, t);
      all = counts;
    };
    part(gh, past_h);
    part(g.c, past_c);
    const View gx_t = run.of_step(gx, t, width), gs_t = run.of_step(gs, t, width);
    const View gc_before = run.c.kind == Kind::lstm ? run.per_row(n) : View{};
    const View direct = step_back(run, gh, g.c, gx_t, gs_t, gc_before, t);
    g.c = run.left(past_c.valid() ? emit.add(gc_before, past_c) : gc_before, t);
    if (i == 0 && !initial) break;
    g.h = run.v.weight_back(run.role("weight_hh"), ProgramBuilder::slice(gs_t, 0, through));
    if (direct.valid()) g.h = emit.add(direct, g.h);
    if (past_h.valid()) g.h = emit.add(g.h, past_h);
    g.h = run.left(g.h, t);
  }
  const View gx_rows = emit.reshape(gx, width), gs_rows = two ? emit.reshape(gs, width) : gx_rows;
  learn(run, "weight_ih", "bias_ih", gx_rows, x);
  learn(run, "weight_hh", "bias_hh", ProgramBuilder::slice(gs_rows, 0, through),
        emit.reshape(run.all_before(run.kept_memory("h")), n));
  if (run.c.reset_first())
    learn(run, "weight_hn", "bias_hn", ProgramBuilder::slice(gx_rows, 2 * n, n),
          emit.reshape(run.saved("resets"), n));
  g.all = run.v.weight_back(run.role("weight_ih"), gx_rows);
  return g;
}

class Recurrent : public LayerWith<RecurrentConfig> {
 public:
  Recurrent(std::string_view name, Kind kind) : name_(name), kind_(kind) {}
  std::string_view name() const override { return name_; }
  std::string_view row_dependence(const LayerConfig& config, const Shape& in) const override {
    return of(config).stateful || recurs_over_rows(config, in)
               ? "goes on from a state that a sequence's rows leave"
               : "";
  }
  bool recurs_over_rows(const LayerConfig&, const Shape& in) const override {
    return first_operand(in).axis == Axis::positions;
  }

  bool carries(const LayerConfig& config, const Shape& in) const override {
    return of(config).stateful || recurs_over_rows(config, in);
  }

  Result<ConfigPtr> by_step(const ConfigPtr& config, const Shape& in,
                            std::int64_t steps) const override {
    const RecurrentConfig& c = of(*config);
    if (first_operand(in).axis != Axis::positions || c.bidirectional || c.output == "last" ||
        c.stateful)
      return LayerType::by_step(config, in, steps);
    if (c.return_state)
      return Status(Code::unsupported,
                    "gives the state after the last step, and a decoder has not taken it yet: "
                    "leave out \"return_state\"");
    return changed(config, [](RecurrentConfig& changes) { changes.step = true; });
  }

  void prepare(RecurrentConfig& config) const override { config.kind = kind_; }
  bool takes_operands() const override { return true; }

  Result<LayerPlan> plan(const LayerConfig& config, const Shape& row, const Shape*,
                         ChildPlanner&) const override {
    const RecurrentConfig& c = of(config);
    const Shape& in = first_operand(row);
    auto bad = [](const std::string& what) { return Status(Code::invalid_argument, what); };
    if (in.ids > 0 || (!in.dims.empty() && in.dims.size() != 2))
      return bad(message(
          "expects an input of [steps, features], got ", in.to_string(),
          ": say so by the network's \"input\": {\"dims\": [...]}, or with a reshape before it"));
    if (in.axis == Axis::channels)
      return bad(message("runs over [steps, features], and the first dimension of ", in.to_string(),
                         " is channels: put a permute before it, \"order\": [1, 0]"));
    if ((c.stateful || in.axis == Axis::positions) && c.bidirectional)
      return bad(message(
          c.stateful ? "\"stateful\"" : "a sequence that goes on in other rows",
          " has one direction: the other would begin at the end of what has not arrived yet"));
    const std::int64_t steps = steps_of(in);  // of a row
    LOOM_TRY(check_operands(c, row, steps));
    if (steps > kMaxSteps / c.directions() / c.num_layers)
      return bad(message("steps x directions x layers must be at most ", kMaxSteps, ", got ", steps,
                         " x ", c.directions(), " x ", c.num_layers));
    if (c.hidden > INT32_MAX / c.gates() / (steps + 1) / c.directions())
      return bad("gives more than 2^31-1 values");

    LayerPlan plan{{}, params_of(c, in.width / steps)};
    const std::int64_t out = c.directions() * c.hidden;
    plan.out = {steps * out, 0, {steps, out}, Axis::steps};
    if (c.output == "last" || in.dims.empty()) plan.out = {out};
    if (in.axis == Axis::positions) plan.out.axis = in.axis;
    if (c.return_state) add_states(c, plan.out);
    return plan;
  }

  Result<View> forward(const LayerConfig& config, LayerContext& v, View row, View) const override {
    const RecurrentConfig& c = of(config);
    LOOM_ASSIGN(const std::int64_t steps, steps_of(v));
    const bool over_rows = recurs_over_rows(config, v.in()),
               goes_on = carries(config, v.in()) && (!v.training || v.streams);
    const std::int64_t width = c.directions() * c.hidden;
    const View h0 = taken(c, v, row, "h0"), c0 = taken(c, v, row, "c0");
    const View lengths = c.step ? View{} : taken(c, v, row, "lengths");
    View wide;
    if (lengths.valid()) wide = spread_steps(v.emit, seen_steps(v.emit, lengths, steps), c.hidden);
    v.save("wide", wide);
    View x = operand(v.in(), row, 0);
    if (over_rows) x = v.emit.reshape(x, x.cols * steps);
    const Rows rows = v.emit.rows(x);
    View on, nothing;
    if (over_rows && v.streams) {
      on = spread_steps(v.emit, v.emit.reshape(v.emit.convert(v.goes_on(), v.type), steps),
                        c.hidden);
      v.emit.fill(nothing = v.emit.temp(v.type, rows, c.hidden), 0);
    }
    v.save("on", on);
    v.save("nothing", nothing);
    View later;
    if (c.step && (h0.valid() || c0.valid()))
      later = spread_steps(v.emit, v.emit.convert(v.goes_on(), v.type), c.hidden);
    States ends;
    for (std::int64_t l = 0; l < c.num_layers; ++l) {
      const View in = v.emit.reshape(x, x.cols / steps);
      v.save("x" + std::to_string(l), in);
      const bool last = l == c.num_layers - 1 && c.output == "last" && !over_rows;
      const auto ran = [&](std::int64_t d) {
        const std::int64_t i = l * c.directions() + d;
        const Run run{c,    v,       steps, d == 1,          suffix(l, d),
                      rows, goes_on, wide,  state(c, h0, i), state(c, c0, i),
                      on,   nothing, later};
        const View all = forward_run(run, in, ends);
        return last ? ends.h.back() : all;
      };
      if (c.directions() == 1) {
        x = ran(0);
        continue;
      }
      const View both = v.emit.temp(v.type, rows, last ? width : steps * width);
      for (std::int64_t d = 0; d < 2; ++d)
        v.emit.copy_to(ran(d), ProgramBuilder::slice(both, d * both.cols / 2, both.cols / 2));
      x = last || steps == 1
              ? both
              : v.emit.transpose(both, {1, 1, 2, steps, c.hidden}, {0, 1, 3, 2, 4}, both.cols);
    }
    if (over_rows) return v.emit.reshape(x, x.cols / steps);
    if (!c.return_state) return x;
    std::vector<View> parts{x};
    parts.insert(parts.end(), ends.h.begin(), ends.h.end());
    parts.insert(parts.end(), ends.c.begin(), ends.c.end());
    return joined(v.emit, parts);
  }

  Result<View> backward(const LayerConfig& config, LayerContext& v, View gy, View*) const override {
    const RecurrentConfig& c = of(config);
    LOOM_ASSIGN(const std::int64_t steps, steps_of(v));
    const bool over_rows = recurs_over_rows(config, v.in());
    if (over_rows) gy = v.emit.reshape(gy, gy.cols * steps);
    const Rows rows = v.emit.rows(gy);
    View gh, gc;  // of the last states
    if (c.return_state) {
      const std::int64_t states = c.runs() * c.hidden, cells = c.kind == Kind::lstm ? states : 0;
      const std::int64_t y = gy.cols - states - cells;
      gh = ProgramBuilder::slice(gy, y, states);
      if (cells > 0) gc = ProgramBuilder::slice(gy, y + states, cells);
      gy = ProgramBuilder::slice(gy, 0, y);
    }
    const bool initial = place_of(c.takes, "h0") + place_of(c.takes, "c0") > 0;
    States firsts{std::vector<View>(static_cast<std::size_t>(c.runs())),
                  std::vector<View>(static_cast<std::size_t>(c.runs()))};
    for (std::int64_t l = c.num_layers; l-- > 0;) {
      const bool all = l < c.num_layers - 1 || c.output == "all" || over_rows;
      if (c.directions() == 2 && all && steps > 1)
        gy = v.emit.transpose(gy, {1, 1, steps, 2, c.hidden}, {0, 1, 3, 2, 4}, gy.cols);
      View gx;
      for (std::int64_t d = 0; d < c.directions(); ++d) {
        const std::int64_t i = l * c.directions() + d, part = gy.cols / c.directions();
        const Run run{c,
                      v,
                      steps,
                      d == 1,
                      suffix(l, d),
                      rows,
                      false,
                      v.saved("wide"),
                      {},
                      {},
                      v.saved("on"),
                      v.saved("nothing")};
        const View own = ProgramBuilder::slice(gy, d * part, part);
        RunGradients g{all ? own : View{}, state(c, gh, i), state(c, gc, i)};
        if (!all) g.h = g.h.valid() ? v.emit.add(own, g.h) : own;
        g = backward_run(run, v.saved("x" + std::to_string(l)), g, initial);
        firsts.h[static_cast<std::size_t>(i)] = g.h;
        firsts.c[static_cast<std::size_t>(i)] = g.c;
        gx = gx.valid() ? v.emit.add(gx, g.all) : g.all;
      }
      gy = v.emit.reshape(gx, gx.cols * steps);
    }
    if (over_rows) return v.emit.reshape(gy, gy.cols / steps);
    std::vector<View> gradients(1 + c.takes.size());
    gradients[0] = gy;
    if (const std::size_t i = place_of(c.takes, "h0")) gradients[i] = joined(v.emit, firsts.h);
    if (const std::size_t i = place_of(c.takes, "c0")) gradients[i] = joined(v.emit, firsts.c);
    return joined_gradients(v.emit, v.in(), std::move(gradients));
  }

 private:
  static std::int64_t steps_of(const Shape& in) {
    const Shape& x = first_operand(in);
    return x.dims.empty() ? 1 : x.dims[0];
  }
  static View taken(const RecurrentConfig& c, const LayerContext& v, View row,
                    std::string_view name) {
    const std::size_t i = place_of(c.takes, name);
    return i > 0 ? operand(v.in(), row, i) : View{};
  }
  static std::vector<ParamSpec> params_of(const RecurrentConfig& c, std::int64_t features) {
    std::vector<ParamSpec> list;
    const double std = __builtin_sqrt(
        1.0 / (3.0 * static_cast<double>(c.hidden)));  // that of PyTorch's uniform numbers
    for (std::int64_t l = 0; l < c.num_layers; ++l, features = c.directions() * c.hidden) {
      for (std::int64_t d = 0; d < c.directions(); ++d) {
        const std::int64_t through = c.reset_first() ? 2 : c.gates();
        auto matrix = [&](const char* role, std::int64_t gates, std::int64_t cols) {
          list.push_back({role + suffix(l, d), gates * c.hidden, cols, Init::normal, std});
        };
        auto vector = [&](const char* role, std::int64_t gates) {
          if (c.bias)
            list.push_back({role + suffix(l, d), 1, gates * c.hidden, Init::zeros, 0, false});
        };
        matrix("weight_ih", c.gates(), features);
        matrix("weight_hh", through, c.hidden);
        if (c.reset_first()) matrix("weight_hn", 1, c.hidden);
        vector("bias_ih", c.gates());
        vector("bias_hh", through);
        if (c.reset_first()) vector("bias_hn", 1);
      }
    }
    return list;
  }
  // The row of several operands that `return_state` makes of an output.
  static void add_states(const RecurrentConfig& c, Shape& out) {
    Shape all, state{c.runs() * c.hidden};
    if (c.runs() > 1) state.dims = {c.runs(), c.hidden};
    all.parts = {out, state};
    if (c.kind == Kind::lstm) all.parts.push_back(state);
    for (std::size_t i = 0; i < all.parts.size(); ++i) {
      all.parts[i].name = i == 0 ? "output" : i == 1 ? "h" : "c";
      all.width += all.parts[i].width;
    }
    out = std::move(all);
  }
  // That of a run, from those of all.
  static View state(const RecurrentConfig& c, View all, std::int64_t run) {
    return all.valid() ? ProgramBuilder::slice(all, run * c.hidden, c.hidden) : View{};
  }
  // The operands beside the first, and what goes with states.
  static Status check_operands(const RecurrentConfig& c, const Shape& in, std::int64_t steps) {
    auto bad = [](const std::string& what) { return Status(Code::invalid_argument, what); };
    LOOM_TRY(check_takes(c.takes, c.known(), in));
    const bool goes_on = c.stateful || (in.axis == Axis::positions && !c.step);
    if (goes_on && (c.return_state || !c.takes.empty()))
      return bad(
          message(c.stateful ? "\"stateful\"" : "a sequence that goes on in other rows",
                  " keeps its states by itself: it has no \"takes\" and no \"return_state\""));
    if (!c.step) LOOM_TRY(check_lengths(in, place_of(c.takes, "lengths"), steps));
    for (const char* name : {"h0", "c0"}) {
      const std::size_t i = place_of(c.takes, name);
      const std::vector<std::int64_t> dims{c.runs(), c.hidden};
      if (i == 0 || (in.parts[i].width == c.runs() * c.hidden &&
                     (in.parts[i].dims.size() < 2 || in.parts[i].dims == dims)))
        continue;
      return bad(message(name, " is [num_layers x directions, hidden], [", dims[0], ", ", dims[1],
                         "], got ", in.parts[i].to_string()));
    }
    return {};
  }
  // Of what the layer sees in a run: where rows are positions, one of each sequence, or, in
  // training, all.
  static Result<std::int64_t> steps_of(const LayerContext& v) {
    if (first_operand(v.in()).axis != Axis::positions) return steps_of(v.in());
    if (!v.training) return 1;
    if (v.steps == 0)
      return Status(Code::unsupported,
                    "goes from row to row of a sequence: use a session with a cache");
    if (v.steps > kMaxSteps)
      return Status(Code::unsupported, message("learns over at most ", kMaxSteps,
                                               " rows of a sequence, got ", v.steps));
    return v.steps;
  }
  static std::string suffix(std::int64_t layer, std::int64_t direction) {
    return "_l" + std::to_string(layer) + (direction == 1 ? "_reverse" : "");
  }
  std::string_view name_;
  Kind kind_;
};

}  // namespace

void register_recurrent(LayerList& layers) {
  static const Recurrent rnn("rnn", Kind::rnn), gru("gru", Kind::gru), lstm("lstm", Kind::lstm);
  for (const LayerType* type : {&rnn, &gru, &lstm}) layers.push_back(type);
}

}  // namespace loom
