// RNN, GRU, LSTM: the steps one after another as the operator defines them, with initial states,
// both directions, peepholes, rows that end before the others. Weights are known.
#include <algorithm>

#include "base/borrowed_call.h"
#include "onnx/graph.h"

namespace loom::onnx {
namespace {

std::vector<float> cut(const std::vector<float>& v, std::int64_t first, std::int64_t count) {
  return {v.begin() + first, v.begin() + first + count};
}
struct Recurrence {
  StepCall& c;
  std::int64_t gates, steps, batch, inputs, hidden, directions;
  bool batch_first;
  std::vector<float> w, r, b;  // b: both halves, or empty
  std::vector<std::string> activations;
  // [steps, batch or 1, 1]: 1 where a row has a step, else 0; no data: all have all steps.
  Ref seen;
  Ref unknown;  // [batch, 1]: 0, and NaN for a length that no row can have; no dims: there is none

  Dims state() const { return {batch, hidden}; }
  // x of several rows times the transposed rows [first, first + count) of a direction's matrix.
  Ref times(const Ref& x, const std::vector<float>& matrix, std::int64_t direction,
            std::int64_t first, std::int64_t count, std::int64_t cols, std::vector<float> bias,
            Dims out) const {
    return known_product(c, x, cols, count,
                         cut(matrix, (direction * gates * hidden + first) * cols, count * cols),
                         std::move(bias), out);
  }
  std::vector<float> bias(std::int64_t direction, bool recurrent, std::int64_t first,
                          std::int64_t count) const {
    if (b.empty()) return {};
    return cut(b, (2 * direction + recurrent) * gates * hidden + first, count);
  }
  // [B, n, H] to n values of [B, H].
  std::vector<Ref> split(const Ref& z, std::int64_t n) const {
    Ref transposed = GraphBuilder::reshape(z, {batch, n, hidden});
    if (batch > 1 && n > 1) transposed = c.graph.permute(transposed, {1, 0, 2});
    std::vector<Ref> list;
    for (std::int64_t i = 0; i < n; ++i) list.push_back(part_of(transposed, i, state()));
    return list;
  }
  Ref add(const Ref& a, const Ref& b2) const { return c.graph.binary(a, b2, "add"); }
  Ref mul(const Ref& a, const Ref& b2) const { return c.graph.binary(a, b2, "mul"); }
  // Whether some rows may have step t, or not have it.
  bool some(std::int64_t t, bool have) const {
    if (seen.constant() && seen.data.empty()) return have;
    const auto first = seen.data.begin() + (seen.constant() ? t * batch : 0);
    return !seen.constant() || std::find(first, first + batch, have ? 1.0f : 0.0f) != first + batch;
  }
  // `a` in the rows that have step t, else `b`.
  Ref where_seen(std::int64_t t, const Ref& a, const Ref& b2) const {
    if (!some(t, false)) return a;
    if (!some(t, true)) return b2;
    return c.graph.select(seen.constant()
                              ? GraphBuilder::constant({batch, 1}, cut(seen.data, t * batch, batch))
                              : part_of(seen, t, {seen.dims[1], 1}),
                          a, b2);
  }
  Ref checked(const Ref& y) const { return unknown.dims.empty() ? y : add(y, unknown); }
  Ref act(const Ref& x, std::int64_t direction, std::size_t which, std::size_t of) const {
    return c.graph.activation(x, activations[static_cast<std::size_t>(direction) * of + which]);
  }
};

Result<std::vector<std::string>> activations_of(StepCall& c, std::int64_t directions,
                                                const std::vector<std::string>& usual) {
  std::vector<std::string> names;
  if (const Attribute* a = c.node().find("activations")) names = a->strings;
  if (names.empty())
    for (std::int64_t d = 0; d < directions; ++d)
      names.insert(names.end(), usual.begin(), usual.end());
  if (names.size() != usual.size() * static_cast<std::size_t>(directions))
    return StepCall::refuse("expects " +
                            std::to_string(usual.size() * static_cast<std::size_t>(directions)) +
                            " activations");
  for (std::string& n : names) {
    if (n == "Sigmoid") n = "sigmoid";
    else if (n == "Tanh") n = "tanh";
    else if (n == "Relu") n = "relu";
    else return StepCall::refuse("the activation " + n + " is not mapped here");
  }
  return names;
}

// Which steps the rows have: by sequence_lens, and by the length of an open dimension.
Status read_lengths(Recurrence& k) {
  StepCall& c = k.c;
  const bool given = c.has(4);
  if (!given && !c.length) return {};
  Ref steps = GraphBuilder::constant({k.steps, 1, 1}, {});
  for (std::int64_t t = 0; t < k.steps; ++t) steps.data.push_back(static_cast<float>(t));
  if (c.length || !c.value(4).constant()) {
    Ref lengths = given ? GraphBuilder::reshape(c.in(4), {k.batch}) : *c.length;
    if (given) k.unknown = poison(c, one_hot(c, lengths, k.steps + 1, 1, false), 1, true);
    if (given && c.length) lengths = c.graph.binary(lengths, *c.length, "min");
    lengths.dims.push_back(1);
    k.seen = c.graph.binary(lengths, steps, "greater");
    return c.graph.fault();
  }
  LOOM_ASSIGN(const auto lengths, c.ints(4));
  for (const std::int64_t n : lengths)
    if (n < 0 || n > k.steps)
      return Status(Code::invalid_argument, "its sequence_lens hold " + std::to_string(n) +
                                                ", expected 0 to " + std::to_string(k.steps));
  if (std::count(lengths.begin(), lengths.end(), k.steps) == k.batch) return {};
  LOOM_TRY(c.graph.makes(k.steps * k.batch));
  for (const float t : steps.data)
    for (const std::int64_t n : lengths) k.seen.data.push_back(static_cast<float>(n) > t);
  return {};
}

Result<Recurrence> read(StepCall& c, std::int64_t gates, const std::vector<std::string>& usual) {
  for (const char* key : {"clip", "input_forget"})
    if (c.node().find(key)) {
      LOOM_ASSIGN(const std::int64_t set, c.node().find(key)->type == AttributeType::i
                                              ? c.node().get_int(key, 0)
                                              : Result<std::int64_t>(std::int64_t{1}));
      if (set != 0) return StepCall::refuse("\"" + std::string(key) + "\" is not mapped");
    }
  LOOM_ASSIGN(const std::int64_t layout, c.node().get_int("layout", 0));
  LOOM_ASSIGN(std::vector<float> w, c.floats(1));
  LOOM_ASSIGN(std::vector<float> r, c.floats(2));
  std::vector<float> b;
  if (c.has(3)) {
    LOOM_ASSIGN(b, c.floats(3));
  }
  const Dims &x = c.dims(0), &rd = c.dims(2);
  Recurrence k{c,     gates,       layout ? x[1] : x[0], layout ? x[0] : x[1], x[2],         rd[2],
               rd[0], layout != 0, std::move(w),         std::move(r),         std::move(b), {},
               {},    {}};
  // Every step takes some cells in each direction.
  if (k.steps * k.directions > kMaxCells / 4)
    return StepCall::refuse("of " + std::to_string(k.steps) +
                            " steps it is not mapped, the limit is 2^18 in all directions");
  LOOM_TRY(c.graph.makes(k.batch * k.hidden));
  LOOM_ASSIGN(k.activations, activations_of(c, k.directions, usual));
  LOOM_TRY(read_lengths(k));
  return k;
}

// A step of a direction: takes the input's product and the states, and makes the new ones.
using StepRule = BorrowedCall<Status(std::int64_t, const Ref&, std::vector<Ref>&)>;

Status run(Recurrence& k, std::size_t states, StepRule step) {
  StepCall& c = k.c;
  Ref x = c.graph.value(c.in(0));
  if (k.batch_first && k.batch > 1) x = c.graph.permute(x, {1, 0, 2});
  x = GraphBuilder::reshape(x, {k.steps, k.batch, k.inputs});
  LOOM_ASSIGN(const std::string direction, c.node().get_string("direction", "forward"));
  std::vector<Ref> all(static_cast<std::size_t>(k.steps * k.directions));  // by step, direction
  std::vector<std::vector<Ref>> last(states);                              // by state, direction
  const std::int64_t width = k.gates * k.hidden;
  Ref zeros = GraphBuilder::constant(
      k.state(), std::vector<float>(static_cast<std::size_t>(k.batch * k.hidden)));
  if (!k.seen.constant() || !k.seen.data.empty()) zeros = c.graph.value(zeros);
  for (std::int64_t d = 0; d < k.directions; ++d) {
    const bool reverse = direction == "reverse" || d == 1;
    const Ref products = k.times(x, k.w, d, 0, width, k.inputs, k.bias(d, false, 0, width),
                                 {k.steps, k.batch, width});
    std::vector<Ref> state;
    for (std::size_t s = 0; s < states; ++s) {
      const std::size_t input = 5 + s;
      if (c.has(input)) {
        Ref initial = c.graph.value(c.in(input));
        if (k.batch_first && k.directions > 1 && k.batch > 1)
          initial = c.graph.permute(initial, {1, 0, 2});
        state.push_back(part_of(GraphBuilder::reshape(initial, {k.directions, k.batch, k.hidden}),
                                d, k.state()));
      } else {
        state.push_back(zeros);
      }
    }
    for (std::int64_t n = 0; n < k.steps; ++n) {
      const std::int64_t t = reverse ? k.steps - 1 - n : n;
      Ref& here = all[static_cast<std::size_t>(t * k.directions + d)] = zeros;
      if (!k.some(t, true)) continue;
      std::vector<Ref> next = state;
      LOOM_TRY(step(d, part_of(products, t, {k.batch, width}), next));
      here = k.where_seen(t, next[0], zeros);
      for (std::size_t s = 0; s < states; ++s) state[s] = k.where_seen(t, next[s], state[s]);
      LOOM_TRY(c.graph.fault());
    }
    // A row without steps has no state either, as onnxruntime has it.
    for (std::size_t s = 0; s < states; ++s) last[s].push_back(k.where_seen(0, state[s], zeros));
  }
  if (c.wants(0)) {
    Ref y = k.checked(c.graph.add(Json::object(), all, {k.steps, k.directions, k.batch, k.hidden}));
    if (k.batch_first) y = c.graph.permute(y, {2, 0, 1, 3});
    c.set(y, 0);
  }
  for (std::size_t s = 0; s < states; ++s) {
    if (!c.wants(1 + s)) continue;
    Ref y = k.checked(c.graph.add(Json::object(), last[s], {k.directions, k.batch, k.hidden}));
    if (k.batch_first) y = c.graph.permute(y, {1, 0, 2});
    c.set(y, 1 + s);
  }
  return {};
}

Status rnn(StepCall& c) {
  LOOM_ASSIGN(Recurrence k, read(c, 1, {"Tanh"}));
  return run(k, 1, [&](std::int64_t d, const Ref& x, std::vector<Ref>& state) -> Status {
    const Ref s = k.times(c.graph.value(state[0]), k.r, d, 0, k.hidden, k.hidden,
                          k.bias(d, true, 0, k.hidden), k.state());
    const Ref z = k.add(x, s);
    state[0] = k.act(z, d, 0, 1);
    return {};
  });
}

Status gru(StepCall& c) {
  LOOM_ASSIGN(Recurrence k, read(c, 3, {"Sigmoid", "Tanh"}));
  LOOM_ASSIGN(const std::int64_t linear_first, c.node().get_int("linear_before_reset", 0));
  const std::int64_t h = k.hidden;
  return run(k, 1, [&](std::int64_t d, const Ref& x, std::vector<Ref>& state) -> Status {
    const Ref before = c.graph.value(state[0]);
    const std::vector<Ref> in = k.split(x, 3),
                           gates = k.split(k.times(before, k.r, d, 0, 2 * h, h,
                                                   k.bias(d, true, 0, 2 * h), {k.batch, 2 * h}),
                                           2);
    const Ref zs = k.add(in[0], gates[0]);
    const Ref rs = k.add(in[1], gates[1]);
    const Ref z = k.act(zs, d, 0, 2), r = k.act(rs, d, 0, 2);
    Ref inner;
    if (linear_first) {
      inner = k.mul(r, k.times(before, k.r, d, 2 * h, h, h, k.bias(d, true, 2 * h, h), k.state()));
    } else {
      const Ref reset = k.mul(r, before);
      inner = k.times(reset, k.r, d, 2 * h, h, h, k.bias(d, true, 2 * h, h), k.state());
    }
    const Ref ns = k.add(in[2], inner);
    const Ref n = k.act(ns, d, 1, 2);
    // (1 - z) n + z h
    const Ref rest = c.graph.binary(GraphBuilder::number(1), z, "sub");
    const Ref fresh = k.mul(rest, n);
    const Ref kept = k.mul(z, before);
    state[0] = k.add(fresh, kept);
    return {};
  });
}

Status lstm(StepCall& c) {
  LOOM_ASSIGN(Recurrence k, read(c, 4, {"Sigmoid", "Tanh", "Tanh"}));
  std::vector<float> peepholes;
  if (c.has(7)) {
    LOOM_ASSIGN(peepholes, c.floats(7));
  }
  const std::int64_t h = k.hidden;
  return run(k, 2, [&](std::int64_t d, const Ref& x, std::vector<Ref>& state) -> Status {
    const Ref before = c.graph.value(state[0]), cell = c.graph.value(state[1]);
    const Ref z =
        k.add(x, k.times(before, k.r, d, 0, 4 * h, h, k.bias(d, true, 0, 4 * h), {k.batch, 4 * h}));
    std::vector<Ref> gate = k.split(z, 4);  // i, o, f, c
    const auto peep = [&](Ref& to, std::int64_t which, const Ref& of) -> Status {
      if (peepholes.empty()) return {};
      const Ref seen = k.mul(of, Ref{-1, 0, {h}, cut(peepholes, (3 * d + which) * h, h)});
      to = k.add(to, seen);
      return {};
    };
    LOOM_TRY(peep(gate[0], 0, cell));
    LOOM_TRY(peep(gate[2], 2, cell));
    const Ref kept = k.mul(k.act(gate[2], d, 0, 3), cell);
    const Ref fresh = k.mul(k.act(gate[0], d, 0, 3), k.act(gate[3], d, 1, 3));
    state[1] = k.add(kept, fresh);
    LOOM_TRY(peep(gate[1], 1, state[1]));
    state[0] = k.mul(k.act(gate[1], d, 0, 3), k.act(state[1], d, 2, 3));
    return {};
  });
}

}  // namespace

std::span<const Operator> recurrent_mappings() {
  static constexpr Operator kRows[] = {
#define LOOM_MAP_recurrent(op, map, cell, traits) {op, map, cell, traits},
#include "formats/onnx/operators.def"
  };
  return kRows;
}

}  // namespace loom::onnx
