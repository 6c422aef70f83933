// Genome: single nodes and edges, as evolution makes them. Emitted with ops of other layers: nodes
// of one activation that do not read one another are computed together, edge by edge in the order
// in which the edges stand, so that a node's sum has the bits of src/evolve/phenotype.cpp.
#include <array>
#include <cmath>
#include <numeric>

#include "base/message.h"
#include "layers/layer.h"

namespace loom {
namespace {

// Edges and nodes in all ticks: a few bytes of ticks ask for any number of instructions.
constexpr std::int64_t kMaxParts = 1 << 20;
// No sum of the largest weights overflows.
constexpr double kLimit = 1e28;

// A function as a chain of the ops that there are.
struct Piece {
  enum Kind : std::uint8_t { none, scale, activation, unary } kind = none;
  std::uint8_t which = 0;
  double a = 0, b = 0;
};
constexpr Piece unary(Unary which, double a = 0, double b = 0) {
  return {Piece::unary, static_cast<std::uint8_t>(which), a, b};
}
constexpr Piece activation(Activation which) {
  return {Piece::activation, static_cast<std::uint8_t>(which)};
}
constexpr Piece kClip = unary(Unary::clip, -kLimit, kLimit);

struct Function {
  std::string_view name;
  std::array<Piece, 3> pieces;
};
constexpr Function kFunctions[] = {
    {"linear", {kClip}},
    {"sigmoid", {activation(Activation::sigmoid)}},
    {"steep_sigmoid", {Piece{Piece::scale, 0, 4.9}, activation(Activation::sigmoid)}},
    {"tanh", {activation(Activation::tanh)}},
    {"relu", {activation(Activation::relu), kClip}},
    {"gaussian", {unary(Unary::square), Piece{Piece::scale, 0, -1}, unary(Unary::exp)}},
    {"sin", {unary(Unary::sin)}},
    {"abs", {unary(Unary::abs), kClip}},
};

const Function* function_named(std::string_view name) {
  for (const Function& f : kFunctions)
    if (f.name == name) return &f;
  return nullptr;
}

struct GenomeConfig : LayerConfig {
  std::int64_t out = 0, ticks = 0;
  std::vector<std::string> activations;
  std::vector<std::int64_t> edges;
  template <class V>
  void fields(V& v) {
    v.about(
        "Single nodes and edges, as evolution makes them (docs/reference/evolution.md). Values of "
        "the row are the nodes 0, 1, ...; a node behind them is its activation of the sum of its "
        "`bias` and, edge by edge in their order, of `weight` times the value that the edge comes "
        "from. The last `out` nodes are the output. Parameters: `weight` [1, edges], `bias` "
        "[1, nodes].");
    v("out", out, {.doc = "how many of the last nodes are the output", .min = 1, .required = true});
    v("activations", activations,
      {.doc = "of each node behind the values of the row: `linear`, `sigmoid`, `steep_sigmoid` "
              "(sigmoid(4.9 x)), `tanh`, `relu`, `gaussian` (exp(-x^2)), `sin` or `abs`; "
              "`linear`, `relu` and `abs` are limited to +-1e28",
       .required = true});
    v("edges", edges,
      {.doc = "the two nodes of each edge, one edge behind the other: from, to, from, to, ...; "
              "without any, nodes have their bias alone",
       .min = 0});
    v("ticks", ticks,
      {.doc = "0: edges lead to later nodes. Else they may form cycles: from values of 0, all "
              "nodes compute at once as many times, from the values of the time before",
       .min = 0,
       .max = 1000});
  }
  std::int64_t nodes() const { return static_cast<std::int64_t>(activations.size()); }
  std::int64_t count() const { return static_cast<std::int64_t>(edges.size()) / 2; }
};

// Edges to neighbors among a group's nodes, the next one of each, whose weights are neighbors too.
struct Run {
  std::int64_t node = 0, weight = 0;  // the first; the node counted from that of the group
  bool first = false;                 // edge of its nodes: their bias comes in
  std::vector<std::int64_t> from;
  std::int64_t count() const { return static_cast<std::int64_t>(from.size()); }
};
// Neighboring nodes that are computed together.
struct Group {
  std::int64_t node = 0, count = 0;  // counted from the first behind the row
  const Function* function = nullptr;
  std::vector<Run> runs;
  std::vector<std::int64_t> alone;  // nodes without an edge
};

using Incoming = std::vector<std::vector<std::int64_t>>;  // edges into each node

std::vector<Group> group_nodes(const GenomeConfig& c, std::int64_t inputs, const Incoming& into) {
  std::vector<Group> groups;
  for (std::int64_t i = 0; i < c.nodes(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    const Function* function = function_named(c.activations[at]);
    bool joins = !groups.empty() && groups.back().function == function;
    for (const std::int64_t e : into[at])
      joins = joins && (c.ticks > 0 ||
                        c.edges[static_cast<std::size_t>(2 * e)] < inputs + groups.back().node);
    if (!joins) groups.push_back({i, 0, function, {}, {}});
    ++groups.back().count;
  }
  return groups;
}

std::vector<Group> groups_of(const GenomeConfig& c, std::int64_t inputs) {
  Incoming into(c.activations.size());
  for (std::int64_t e = 0; e < c.count(); ++e)
    into[static_cast<std::size_t>(c.edges[static_cast<std::size_t>(2 * e + 1)] - inputs)].push_back(
        e);
  std::vector<Group> groups = group_nodes(c, inputs, into);
  for (Group& g : groups) {
    bool more = true;
    for (std::size_t k = 0; more; ++k) {
      more = false;
      bool open = false;
      for (std::int64_t i = 0; i < g.count; ++i) {
        const auto& edges = into[static_cast<std::size_t>(g.node + i)];
        if (edges.empty() && k == 0) g.alone.push_back(i);
        if (edges.size() <= k) {
          open = false;
          continue;
        }
        more = true;
        if (!open || g.runs.back().weight + g.runs.back().count() != edges[k])
          g.runs.push_back({i, edges[k], k == 0, {}});
        open = true;
        g.runs.back().from.push_back(c.edges[static_cast<std::size_t>(2 * edges[k])]);
      }
    }
  }
  return groups;
}

// A row and a vector, column by column.
View with_vector(ProgramBuilder& emit, View x, View vector, Binary kind) {
  return emit.binary(x, vector, kind, {x.cols, 1, 1, 1, 1}, {1, 0, 0, 0, 0}, {1, 0, 0, 0, 0},
                     emit.rows(x));
}

// Parameters as values of which parts can be taken, and their gradients.
struct Parameters {
  View weight, bias;
  LayerContext::Gradient to_weight{}, to_bias{};

  Parameters(const GenomeConfig& c, LayerContext& v) {
    if (c.count() > 0) weight = copied(v, "weight");
    bias = copied(v, "bias");
  }
  void want_gradients(LayerContext& v) {
    if (weight.valid()) to_weight = v.gradient("weight");
    to_bias = v.gradient("bias");
  }

 private:
  static View copied(LayerContext& v, std::string_view role) {
    const View stored = v.weight(role), copy = v.emit.like(stored, stored.cols);
    v.emit.copy_to(stored, copy);
    return copy;
  }
};

std::string label(std::string_view what, std::int64_t tick, std::size_t group, std::size_t part) {
  std::string text(what);
  for (const std::int64_t n :
       {tick, static_cast<std::int64_t>(group), static_cast<std::int64_t>(part)})
    text += "." + std::to_string(n);
  return text;
}

class Genome : public LayerWith<GenomeConfig> {
 public:
  std::string_view name() const override { return "genome"; }
  Works works() const override { return Works::on_last; }
  std::int64_t width(const LayerConfig& config) const override { return of(config).out; }

  Result<LayerPlan> plan(const LayerConfig& config, const Shape& in, const Shape*,
                         ChildPlanner&) const override {
    const GenomeConfig& c = of(config);
    LOOM_TRY(expect_values(in));
    LOOM_TRY(check(c, in.width));
    LayerPlan plan{Shape{c.out}, {}};
    const double inputs = static_cast<double>(c.count()) / static_cast<double>(c.nodes());
    if (c.count() > 0)
      plan.params.push_back(
          {"weight", 1, c.count(), Init::normal, 1 / std::sqrt(std::max(inputs, 1.0)), false});
    plan.params.push_back({"bias", 1, c.nodes(), Init::zeros, 0, false});
    return plan;
  }

  Result<View> forward(const LayerConfig& config, LayerContext& v, View x, View) const override {
    const GenomeConfig& c = of(config);
    const std::int64_t slots = x.cols + c.nodes();
    const std::vector<Group> groups = groups_of(c, x.cols);
    const Parameters p(c, v);
    const auto fresh = [&] {
      const View values = v.emit.like(x, slots);
      v.emit.copy_to(x, ProgramBuilder::slice(values, 0, x.cols));
      return values;
    };
    View values = fresh();
    if (c.ticks > 0) v.emit.fill(ProgramBuilder::slice(values, x.cols, c.nodes()), 0);
    for (std::int64_t tick = 0; tick < std::max<std::int64_t>(c.ticks, 1); ++tick) {
      const View next = c.ticks > 0 ? fresh() : values;
      for (std::size_t i = 0; i < groups.size(); ++i) {
        View y = sums(v, p, groups[i], values, tick, i);
        for (std::size_t k = 0; k < 3; ++k) {
          const Piece& piece = groups[i].function->pieces[k];
          if (piece.kind == Piece::none) break;
          v.save(label("piece", tick, i, k), y);
          y = apply(v.emit, piece, y);
        }
        v.emit.copy_to(y, ProgramBuilder::slice(next, x.cols + groups[i].node, groups[i].count));
      }
      values = next;
    }
    return ProgramBuilder::slice(values, slots - c.out, c.out);
  }

  Result<View> backward(const LayerConfig& config, LayerContext& v, View gy, View*) const override {
    const GenomeConfig& c = of(config);
    const std::int64_t inputs = v.in().width, slots = inputs + c.nodes();
    const std::vector<Group> groups = groups_of(c, inputs);
    Parameters p(c, v);
    p.want_gradients(v);
    const auto zeros = [&](std::int64_t cols) {
      const View g = v.emit.like(gy, cols);
      v.emit.fill(g, 0);
      return g;
    };
    View g = zeros(slots), gx{};
    v.emit.copy_to(gy, ProgramBuilder::slice(g, slots - c.out, c.out));
    for (std::int64_t tick = std::max<std::int64_t>(c.ticks, 1); tick-- > 0;) {
      // Of the values that the nodes read: with ticks those of the tick before.
      View before = c.ticks > 0 ? zeros(slots) : g;
      for (std::size_t i = groups.size(); i-- > 0;) {
        View gs = ProgramBuilder::slice(c.ticks > 0 ? g : before, inputs + groups[i].node,
                                        groups[i].count);
        for (std::size_t k = 3; k-- > 0;) {
          const Piece& piece = groups[i].function->pieces[k];
          if (piece.kind == Piece::none) continue;
          gs = apply_back(v.emit, piece, v.saved(label("piece", tick, i, k)), gs);
        }
        before = sums_back(v, p, groups[i], gs, before, tick, i);
      }
      p.to_weight.accumulate = p.to_bias.accumulate = Accumulate::yes;
      const View part = ProgramBuilder::slice(before, 0, inputs);
      gx = gx.valid() ? v.emit.add(gx, part) : part;
      g = before;
    }
    return gx;
  }

 private:
  static Status check(const GenomeConfig& c, std::int64_t inputs) {
    const auto bad = [](std::string text) {
      return Status(Code::invalid_argument, std::move(text));
    };
    if (c.out > c.nodes())
      return bad(message("\"out\": ", c.out, " of ", c.nodes(), " nodes in \"activations\""));
    for (const std::string& one : c.activations)
      if (!function_named(one)) {
        std::vector<std::string_view> names;
        for (const Function& f : kFunctions) names.push_back(f.name);
        return bad(
            message("\"activations\": unknown activation \"", one, "\"", nearest(one, names)));
      }
    if (c.edges.size() % 2 != 0)
      return bad(message("\"edges\": pairs of nodes, got ", c.edges.size(), " numbers"));
    if ((c.count() + c.nodes()) > kMaxParts / std::max<std::int64_t>(c.ticks, 1))
      return bad("\"edges\": more than 2^20 edges and nodes in all ticks");
    for (std::int64_t e = 0; e < c.count(); ++e) {
      const std::int64_t from = c.edges[static_cast<std::size_t>(2 * e)];
      const std::int64_t to = c.edges[static_cast<std::size_t>(2 * e + 1)];
      const std::string edge = "\"edges\": edge " + std::to_string(e) + " from " +
                               std::to_string(from) + " to " + std::to_string(to) + ": ";
      if (std::max(from, to) >= inputs + c.nodes())
        return bad(message(edge, "there are the nodes 0 to ", inputs + c.nodes() - 1));
      if (to < inputs) return bad(message(edge, "leads to a value of the row"));
      if (c.ticks == 0 && from >= to)
        return bad(message(edge, "must lead to a later node where \"ticks\" is 0"));
    }
    return {};
  }

  static View apply(ProgramBuilder& emit, const Piece& p, View x) {
    if (p.kind == Piece::scale) return emit.scale(x, p.a);
    return p.kind == Piece::activation ? emit.activation(x, static_cast<Activation>(p.which))
                                       : emit.unary(x, static_cast<Unary>(p.which), p.a, p.b);
  }
  static View apply_back(ProgramBuilder& emit, const Piece& p, View x, View gy) {
    if (p.kind == Piece::scale) return emit.scale(gy, p.a);
    return p.kind == Piece::activation
               ? emit.activation_back(x, gy, static_cast<Activation>(p.which))
               : emit.unary_back(x, gy, static_cast<Unary>(p.which), p.a, p.b);
  }

  // Of a group's nodes, from the values that they read.
  static View sums(LayerContext& v, const Parameters& p, const Group& group, View values,
                   std::int64_t tick, std::size_t index) {
    View sum{};
    const auto put = [&](View part, std::int64_t node) {
      if (part.cols == group.count) {
        sum = part;
        return;
      }
      if (!sum.valid()) sum = v.emit.like(values, group.count);
      v.emit.copy_to(part, ProgramBuilder::slice(sum, node, part.cols));
    };
    for (const std::int64_t node : group.alone) {
      const View one = v.emit.like(values, 1);
      v.emit.fill(one, 1);
      put(with_vector(v.emit, one, ProgramBuilder::slice(p.bias, group.node + node, 1),
                      Binary::mul),
          node);
    }
    for (std::size_t r = 0; r < group.runs.size(); ++r) {
      const Run& run = group.runs[r];
      const View x = v.emit.index_select(values, GatherIndices::runs(run.from), run.count(), 0);
      v.save(label("from", tick, index, r), x);
      const View product = with_vector(
          v.emit, x, ProgramBuilder::slice(p.weight, run.weight, run.count()), Binary::mul);
      put(run.first ? with_vector(v.emit, product,
                                  ProgramBuilder::slice(p.bias, group.node + run.node, run.count()),
                                  Binary::add)
                    : v.emit.add(ProgramBuilder::slice(sum, run.node, run.count()), product),
          run.node);
    }
    return sum;
  }

  // From the gradient of these sums: those of weights and biases; returns `before` with those of
  // the values added.
  static View sums_back(LayerContext& v, const Parameters& p, const Group& group, View gs,
                        View before, std::int64_t tick, std::size_t index) {
    const auto to = [&](const LayerContext::Gradient& all, std::int64_t at, View g) {
      v.emit.bias_grad(g, ProgramBuilder::slice(all.to, at, g.cols), all.accumulate);
    };
    to(p.to_bias, group.node, gs);
    for (std::size_t r = group.runs.size(); r-- > 0;) {
      const Run& run = group.runs[r];
      const View g = ProgramBuilder::slice(gs, run.node, run.count());
      to(p.to_weight, run.weight, v.emit.mul(g, v.saved(label("from", tick, index, r))));
      const View gx = with_vector(
          v.emit, g, ProgramBuilder::slice(p.weight, run.weight, run.count()), Binary::mul);
      before = v.emit.add(before,
                          v.emit.index_select_back(gx, GatherIndices::runs(run.from), before.cols));
    }
    return before;
  }
};

}  // namespace

void register_genome(LayerList& layers) {
  static const Genome type;
  layers.push_back(&type);
}

}  // namespace loom
