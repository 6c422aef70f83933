// Nodes and edges: neighbors of one function that do not read one another are one product with the
// values of all nodes, in which an edge that is not there has a weight of 0.
#include <algorithm>

#include "onnx/export/graph.h"

namespace loom::onnx {
namespace {

constexpr std::int64_t kMaxWeights = std::int64_t{1} << 24;  // of all products
constexpr double kLimit = 1e28;

struct Group {
  std::int64_t node = 0, count = 0;  // counted from the first behind the row
};

struct Genome {
  LayerVisit& v;
  std::int64_t inputs, nodes, ticks;
  std::vector<std::string> activations;
  Dims edges;
  std::vector<double> weights, bias;

  std::int64_t slots() const { return inputs + nodes; }

  std::vector<Group> groups() const {
    std::vector<Group> all;
    for (std::int64_t i = 0; i < nodes; ++i) {
      const auto at = static_cast<std::size_t>(i);
      bool joins = !all.empty() &&
                   activations[static_cast<std::size_t>(all.back().node)] == activations[at];
      for (std::size_t e = 0; e + 1 < edges.size() && joins && ticks == 0; e += 2)
        joins = edges[e + 1] != inputs + i || edges[e] < inputs + all.back().node;
      if (!joins) all.push_back({i, 0});
      ++all.back().count;
    }
    return all;
  }

  Edge activated(const Edge& x, const std::string& kind) const {
    GraphWriter& g = v.g;
    const auto limited = [&](const Edge& y) {
      return g.add("Clip", {y, g.number(-kLimit), g.number(kLimit)}, y.dims);
    };
    if (kind == "linear") return limited(x);
    if (kind == "relu") return limited(g.add("Relu", {x}, x.dims));
    if (kind == "abs") return limited(g.add("Abs", {x}, x.dims));
    if (kind == "sin") return g.add("Sin", {x}, x.dims);
    if (kind == "gaussian") return g.add("Exp", {g.scale(g.pair("Mul", x, x), -1)}, x.dims);
    if (kind == "steep_sigmoid") return g.activation(g.scale(x, 4.9), "sigmoid");
    return g.activation(x, kind);
  }

  // The nodes of a group from the values [0, known) of all.
  Edge computed(const Group& group, const Edge& values, std::int64_t known) const {
    GraphWriter& g = v.g;
    std::vector<double> matrix(static_cast<std::size_t>(known * group.count), 0), own;
    for (std::size_t e = 0; e + 1 < edges.size(); e += 2) {
      const std::int64_t to = edges[e + 1] - inputs - group.node;
      if (to < 0 || to >= group.count) continue;
      matrix[static_cast<std::size_t>(edges[e] * group.count + to)] += weights[e / 2];
    }
    for (std::int64_t i = 0; i < group.count; ++i)
      own.push_back(bias[static_cast<std::size_t>(group.node + i)]);
    Dims dims = values.dims;
    dims.back() = group.count;
    const Edge sum = g.add("MatMul", {values, g.numbers({known, group.count}, matrix)}, dims);
    return activated(g.pair("Add", sum, g.numbers({group.count}, own)),
                     activations[static_cast<std::size_t>(group.node)]);
  }
};

std::vector<double> values_of(const Param* p) {
  if (!p) return {};
  std::vector<double> out(static_cast<std::size_t>(p->store->cols()));
  if (!p->store->values(std::span<double>(out)).ok()) out.clear();
  return out;
}

}  // namespace

Result<Edge> export_genome(LayerVisit& v, const Edge& row) {
  GraphWriter& g = v.g;
  const Edge x = v.last(row);
  Genome n{v, x.dims.back(), 0, v.integer("ticks"), v.texts("activations"), v.list("edges"),
           values_of(v.node.find("weight")), values_of(v.node.find("bias"))};
  n.nodes = static_cast<std::int64_t>(n.activations.size());
  if (n.nodes > kMaxWeights / n.slots())
    return v.refuse("has " + std::to_string(n.nodes) + " nodes, more than products of all take");
  const std::vector<Group> groups = n.groups();
  const auto last = static_cast<std::int64_t>(x.dims.size()) - 1;
  Edge values = x;
  if (n.ticks > 0) {
    Edge none = g.pair("Mul", g.slice(x, last, 0, 1), g.number(0));
    none = g.pair("Mul", none,
                  g.numbers({n.nodes}, std::vector<double>(static_cast<std::size_t>(n.nodes), 0)));
    values = g.joined({x, none}, last);
  }
  for (std::int64_t tick = 0; tick < std::max<std::int64_t>(n.ticks, 1); ++tick) {
    Edges next{x};
    for (const Group& group : groups) {
      const Edge y = n.computed(group, values, n.ticks > 0 ? n.slots() : n.inputs + group.node);
      if (n.ticks > 0) next.push_back(y);
      else values = g.joined({values, y}, last);
    }
    if (n.ticks > 0) values = g.joined(next, last);
  }
  const std::int64_t out = v.integer("out");
  return g.slice(values, last, n.slots() - out, out);
}

}  // namespace loom::onnx
