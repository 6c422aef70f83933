// RNN, GRU and LSTM: an operator for each layer of a stack, in one direction or both. Gates are in
// PyTorch's order here and in another one there.
#include "onnx/export/graph.h"

namespace loom::onnx {
namespace {

struct RecurrentOp {
  std::string_view type, op;
  Dims gates;  // the operator's, by their numbers here
};

// Tensors with the steps in front, [steps, batch, ...], which no row is: dimensions are as they
// stand.
struct Recurrence {
  LayerVisit& v;
  const RecurrentOp& kind;
  std::int64_t hidden, directions;
  Edge lengths;  // int32; without a name: all steps

  GraphWriter& g() const { return v.g; }
  std::int64_t gates() const { return static_cast<std::int64_t>(kind.gates.size()); }

  // [gates x hidden, n] with the gates in the operator's order, in front a dimension of one
  // direction.
  Edge ordered(const Edge& w) const {
    const std::int64_t n = elements(w.dims) / gates() / hidden;
    Edge y = g().shaped(w, {gates(), hidden, n});
    if (gates() > 1)
      y = g().add("Gather", {y, g().index(kind.gates)}, y.dims, {attr("axis", std::int64_t{0})});
    return g().shaped(y, n == 1 && w.dims.size() == 1 ? Dims{1, gates() * hidden}
                                                      : Dims{1, gates() * hidden, n});
  }
  Result<Edge> matrix(const std::string& role, const std::string& suffix) const {
    LOOM_ASSIGN(Edge w, v.weight(role + suffix));
    // Of a GRU whose reset comes first the candidate stands by itself.
    const std::string candidate = role == "weight_hh" ? "weight_hn" : "bias_hn";
    if (role != "weight_hh" && role != "bias_hh") return ordered(w);
    if (v.node.find(candidate + suffix)) {
      LOOM_ASSIGN(const Edge last, v.weight(candidate + suffix));
      w = g().joined({w, last}, 0);
    }
    return ordered(w);
  }
  // Both directions of a kind of matrix.
  Result<Edge> matrices(const std::string& role, std::int64_t layer) const {
    Edges all;
    for (std::int64_t d = 0; d < directions; ++d) {
      LOOM_ASSIGN(all.emplace_back(), matrix(role, suffix_of(layer, d)));
    }
    return g().joined(all, 0);
  }
  static std::string suffix_of(std::int64_t layer, std::int64_t direction) {
    return "_l" + std::to_string(layer) + (direction == 1 ? "_reverse" : "");
  }
  // States of a layer before the first step, [directions, batch, hidden].
  Edge initial(const Edge* all, std::int64_t layer) const {
    Edge none;
    if (!all) return none;
    const std::int64_t runs = elements(all->dims) / hidden;
    const Edge own = g().slice(g().shaped(*all, {runs, hidden}), 0, layer * directions, directions);
    return g().add("Transpose", {own}, own.dims, {attr("perm", Dims{1, 0, 2})});
  }
};

struct Ran {
  Edge all;         // [steps, directions, batch, hidden]
  Edges last;       // h, and c: [directions, batch, hidden]
};

// Names that a node leaves out.
Edge left_out() {
  Edge e;
  e.name = "-";
  return e;
}

Result<Ran> run(const Recurrence& r, const Edge& x, std::int64_t layer, const Edge& h0,
                const Edge& c0) {
  GraphWriter& g = r.g();
  Edges in{x};
  for (const char* role : {"weight_ih", "weight_hh"}) {
    LOOM_ASSIGN(in.emplace_back(), r.matrices(role, layer));
  }
  if (r.v.flag("bias", true)) {
    LOOM_ASSIGN(const Edge of_input, r.matrices("bias_ih", layer));
    LOOM_ASSIGN(const Edge of_state, r.matrices("bias_hh", layer));
    in.push_back(g.joined({of_input, of_state}, 1));
  } else {
    in.emplace_back();
  }
  for (const Edge& e : {r.lengths, h0, c0}) in.push_back(e);
  while (in.back().name.empty()) in.pop_back();
  Attributes attributes{attr("hidden_size", r.hidden)};
  if (r.directions == 2) attributes.push_back(attr("direction", std::string_view("bidirectional")));
  if (r.kind.op == "GRU")
    attributes.push_back(
        attr("linear_before_reset", std::int64_t{r.v.flag("linear_before_reset", true)}));
  if (r.v.text("activation") == "relu")
    attributes.push_back(attr(
        "activations", std::vector<std::string>(static_cast<std::size_t>(r.directions), "Relu")));
  Edge y = x;
  y.name.clear();
  Edges out{y, y};
  if (r.kind.op == "LSTM") out.push_back(y);
  const bool kept = r.v.flag("return_state") || r.v.text("output", "all") == "last";
  if (!kept)
    for (std::size_t i = 1; i < out.size(); ++i) out[i] = left_out();
  while (out.back().name == "-") out.pop_back();
  out = g.add_all(r.kind.op, in, out, std::move(attributes));
  return Ran{out[0], {out.begin() + 1, out.end()}};
}

// [directions, batch, hidden] as rows.
Edge as_rows(const Recurrence& r, const Edge& state) {
  return r.g().add("Transpose", {state}, {r.directions, r.hidden}, {attr("perm", Dims{1, 0, 2})});
}

constexpr std::string_view kStateful =
    "continues from the run before, and a graph has no state: leave out \"stateful\", or take "
    "\"h0\" and give \"return_state\"";

}  // namespace

Result<Edge> export_recurrent(LayerVisit& v, const Edge& row) {
  static const RecurrentOp kinds[] = {
      {"rnn", "RNN", {0}}, {"gru", "GRU", {1, 0, 2}}, {"lstm", "LSTM", {0, 3, 1, 2}}};
  const RecurrentOp* kind = kinds;
  while (kind->type != v.node.type->name()) ++kind;
  if (v.flag("stateful")) return v.refuse(std::string(kStateful));
  GraphWriter& g = v.g;
  Recurrence r{v, *kind, v.integer("hidden"), v.flag("bidirectional") ? 2 : 1, {}};
  if (const Edge* lengths = v.taken(row, "lengths"))
    r.lengths = g.cast(g.shaped(*lengths, {}), Type::i32);
  const Edge& first = row.parts.empty() ? row : row.parts[0];
  const bool in_row = first.dims.size() == 2, over_rows = g.lead == 2;
  const std::int64_t steps = in_row ? first.dims[0] : 1, width = r.directions * r.hidden;
  // Three dimensions: batch, steps, features.
  Edge x = in_row || over_rows ? first : g.shaped(first, {1, first.dims.back()});
  Ran ran;
  Edges h, c;
  for (std::int64_t l = 0; l < v.integer("num_layers", 1); ++l) {
    const Edge turned = g.add("Transpose", {x}, x.dims, {attr("perm", Dims{1, 0, 2})});
    LOOM_ASSIGN(ran, run(r, turned, l, r.initial(v.taken(row, "h0"), l),
                         r.initial(v.taken(row, "c0"), l)));
    if (!ran.last.empty()) h.push_back(as_rows(r, ran.last[0]));
    if (ran.last.size() > 1) c.push_back(as_rows(r, ran.last[1]));
    x = g.add("Transpose", {ran.all}, {steps, r.directions, r.hidden},
              {attr("perm", Dims{2, 0, 1, 3})});
    if (over_rows) x.dims = {r.directions, r.hidden};
    x = g.shaped(x, over_rows ? Dims{width} : Dims{steps, width});
  }
  if (v.text("output", "all") == "last" && !over_rows) x = g.shaped(h.back(), {width});
  if (!v.flag("return_state")) return x;
  Edge all;
  all.parts = {x, g.joined(h, 0)};
  if (!c.empty()) all.parts.push_back(g.joined(c, 0));
  return all;
}

}  // namespace loom::onnx
