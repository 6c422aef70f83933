#include "populations/genome_network.h"

#include <algorithm>
#include <tuple>

#include "breed/weights.h"

namespace loom::populations {
namespace {

using evolve::EdgeGene;
using evolve::NodeGene;

// Nodes in the order of the layer: those of a level and an activation side by side, the ones with
// most edges first, so that few instructions compute them; outputs last. Edges likewise.
class Layout {
 public:
  Layout(const evolve::Genome& genome, const evolve::Shape& shape)
      : genome_(genome), shape_(shape), into_(genome.nodes.size()), level_(genome.nodes.size()) {
    for (const EdgeGene& edge : genome.edges)
      if (edge.enabled) into_[index(edge.to)].push_back(&edge);
    find_used();
    if (!shape.recurrent) find_levels();
    order_nodes();
    order_edges();
  }

  const std::vector<std::size_t>& nodes() const { return order_; }
  const std::vector<const EdgeGene*>& edges() const { return edges_; }
  // Of a node in the layer.
  std::int64_t number(std::uint32_t id) const {
    return static_cast<std::int64_t>(number_[index(id)]);
  }

 private:
  std::size_t index(std::uint32_t id) const {
    const auto at = std::lower_bound(genome_.nodes.begin(), genome_.nodes.end(), id,
                                     [](const NodeGene& n, std::uint32_t x) { return n.id < x; });
    return static_cast<std::size_t>(at - genome_.nodes.begin());
  }

  // Behind the inputs, what leads to an output.
  void find_used() {
    std::vector<bool> seen(genome_.nodes.size(), false);
    for (std::size_t i = 0; i < shape_.first_hidden(); ++i) {
      seen[i] = true;
      if (i >= shape_.inputs) used_.push_back(i);
    }
    for (std::size_t i = 0; i < used_.size(); ++i)
      for (const EdgeGene* edge : into_[used_[i]]) {
        const std::size_t from = index(edge->from);
        if (seen[from]) continue;
        seen[from] = true;
        used_.push_back(from);
      }
  }

  // The longest path from an input, node by node once all that it reads are known.
  void find_levels() {
    std::vector<std::vector<std::size_t>> readers(genome_.nodes.size());
    std::vector<std::size_t> missing(genome_.nodes.size(), 0), ready;
    for (const std::size_t node : used_) {
      for (const EdgeGene* edge : into_[node]) {
        if (shape_.is_input(edge->from)) continue;
        readers[index(edge->from)].push_back(node);
        ++missing[node];
      }
      if (missing[node] == 0) ready.push_back(node);
    }
    for (std::size_t i = 0; i < ready.size(); ++i)
      for (const std::size_t reader : readers[ready[i]]) {
        level_[reader] = std::max(level_[reader], level_[ready[i]] + 1);
        if (--missing[reader] == 0) ready.push_back(reader);
      }
  }

  void order_nodes() {
    for (const std::size_t node : used_)
      if (node >= shape_.first_hidden()) order_.push_back(node);
    std::ranges::sort(order_, {}, [this](std::size_t n) {
      return std::tuple(level_[n], genome_.nodes[n].activation, ~into_[n].size(), n);
    });
    for (std::size_t i = shape_.inputs; i < shape_.first_hidden(); ++i) order_.push_back(i);
    number_.resize(genome_.nodes.size());
    for (std::size_t i = 0; i < shape_.inputs; ++i) number_[i] = i;
    for (std::size_t i = 0; i < order_.size(); ++i) number_[order_[i]] = shape_.inputs + i;
  }

  // The first edges of all nodes of a block, their second ones, ...
  void order_edges() {
    const auto block = [this](std::size_t i) {
      const std::size_t n = order_[i];
      return std::tuple(n < shape_.first_hidden(), level_[n] * (n >= shape_.first_hidden()),
                        genome_.nodes[n].activation);
    };
    for (std::size_t begin = 0, end; begin < order_.size(); begin = end) {
      for (end = begin; end < order_.size() && block(end) == block(begin);) ++end;
      bool more = true;
      for (std::size_t k = 0; more; ++k) {
        more = false;
        for (std::size_t i = begin; i < end; ++i) {
          if (into_[order_[i]].size() <= k) continue;
          edges_.push_back(into_[order_[i]][k]);
          more = true;
        }
      }
    }
  }

  const evolve::Genome& genome_;
  const evolve::Shape& shape_;
  std::vector<std::vector<const EdgeGene*>> into_;  // each node, enabled ones
  std::vector<std::size_t> level_, used_, order_, number_;
  std::vector<const EdgeGene*> edges_;
};

Json topology_of(const Layout& layout, const evolve::Genome& genome, const evolve::Shape& shape,
                 std::int64_t ticks) {
  Json activations = Json::array(), edges = Json::array(), at = Json::array();
  for (const std::size_t node : layout.nodes())
    activations.push(std::string(evolve::name(genome.nodes[node].activation)));
  for (const EdgeGene* edge : layout.edges()) {
    edges.push(layout.number(edge->from));
    edges.push(layout.number(edge->to));
  }
  for (int i = 0; i < 4; ++i) at.push(0);
  Json cell = Json::object(), input = Json::object(), topology = Json::object();
  cell.set("at", std::move(at));
  cell.set("type", "genome");
  cell.set("out", static_cast<std::int64_t>(shape.outputs));
  cell.set("activations", std::move(activations));
  cell.set("edges", std::move(edges));
  cell.set("ticks", ticks);
  input.set("width", static_cast<std::int64_t>(shape.inputs));
  topology.set("format", "loom-topology");
  topology.set("version", Network::kVersion);
  topology.set("layers_per_cell", 1);
  topology.set("input", std::move(input));
  topology.set("cells", Json(Json::Array{std::move(cell)}));
  return topology;
}

}  // namespace

Result<Network> network_of(const evolve::Genome& genome, const evolve::Shape& shape,
                           const evolve::EvolutionSpec& spec) {
  const bool by_rows = spec.kind == evolve::Task::xor_gate || spec.kind == evolve::Task::table;
  if (shape.recurrent && !by_rows)
    return Status(Code::unsupported,
                  "network: a recurrent genome of the task " + spec.task +
                      " holds its values from row to row, which the layer genome does not; those "
                      "of xor and table compute each row in `ticks`");
  const Layout layout(genome, shape);
  LOOM_ASSIGN(Network network, Network::from_json(topology_of(layout, genome, shape,
                                                              shape.recurrent ? spec.ticks : 0)));
  std::vector<double> weights, biases;
  for (const EdgeGene* edge : layout.edges()) weights.push_back(double{edge->weight});
  for (const std::size_t node : layout.nodes()) biases.push_back(double{genome.nodes[node].bias});
  const Node& cell = *breed::layer_at(network, "0.0.0.0");
  if (!weights.empty()) breed::set_master(*cell.find("weight")->store, weights);
  breed::set_master(*cell.find("bias")->store, biases);
  return network;
}

}  // namespace loom::populations
