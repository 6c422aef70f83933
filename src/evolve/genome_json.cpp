// Genomes and innovation numbers as JSON, and the rules that they keep.
#include <algorithm>
#include <cmath>

#include "evolve/genome.h"

namespace loom::evolve {
namespace {

Status broken(std::string text) { return {Code::corrupt, "genome: " + std::move(text)}; }

std::string number(std::uint64_t value) { return std::to_string(value); }

bool acyclic(const Genome& genome) {
  // Edges whose source is done are removed until none is left.
  std::vector<std::uint32_t> open(genome.nodes.size(), 0), ready;
  const auto index = [&](std::uint32_t id) {
    const auto at = std::ranges::lower_bound(genome.nodes, id, {}, &NodeGene::id);
    return static_cast<std::uint32_t>(at - genome.nodes.begin());
  };
  std::vector<std::pair<std::uint32_t, std::uint32_t>> edges;
  for (const EdgeGene& e : genome.edges) edges.emplace_back(index(e.from), index(e.to));
  std::ranges::sort(edges);
  for (const auto& [from, to] : edges) ++open[to];
  for (std::uint32_t i = 0; i < open.size(); ++i)
    if (open[i] == 0) ready.push_back(i);
  for (std::size_t i = 0; i < ready.size(); ++i) {
    auto at = std::lower_bound(edges.begin(), edges.end(), std::pair(ready[i], 0u));
    for (; at != edges.end() && at->first == ready[i]; ++at)
      if (--open[at->second] == 0) ready.push_back(at->second);
  }
  return ready.size() == genome.nodes.size();
}

Status check_nodes(const Genome& genome, const Shape& shape) {
  const auto& nodes = genome.nodes;
  if (nodes.size() < shape.first_hidden())
    return broken(number(nodes.size()) + " nodes; inputs and outputs are " +
                  number(shape.first_hidden()));
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const std::string where = "node " + number(nodes[i].id) + ": ";
    if (i < shape.first_hidden() ? nodes[i].id != i : nodes[i].id <= nodes[i - 1].id)
      return broken(where + "ids must be 0, 1, ... for inputs and outputs, then ascend");
    if (!(std::abs(nodes[i].bias) <= 1000)) return broken(where + "bias beyond +-1000");
  }
  return {};
}

Status check_edges(const Genome& genome, const Shape& shape) {
  const auto known = [&](std::uint32_t id) {
    return std::ranges::binary_search(genome.nodes, id, {}, &NodeGene::id);
  };
  std::vector<std::uint64_t> pairs;
  const EdgeGene* last = nullptr;
  for (const EdgeGene& e : genome.edges) {
    const std::string where = "edge " + number(e.innovation) + ": ";
    if (last && e.innovation <= last->innovation)
      return broken(where + "innovation numbers must ascend");
    last = &e;
    if (!known(e.from) || !known(e.to)) return broken(where + "leads to or from no node");
    if (shape.is_input(e.to)) return broken(where + "leads to an input");
    if (!shape.recurrent && shape.is_output(e.from)) return broken(where + "leaves an output");
    if (!(std::abs(e.weight) <= 1000)) return broken(where + "weight beyond +-1000");
    pairs.push_back(std::uint64_t{e.from} << 32 | e.to);
  }
  std::ranges::sort(pairs);
  if (std::ranges::adjacent_find(pairs) != pairs.end())
    return broken("two edges between the same nodes");
  if (!shape.recurrent && !acyclic(genome)) return broken("edges form a cycle");
  return {};
}

// A member of an object of a list, or what is wrong with it.
class Member {
 public:
  Member(const Json& object, std::string where) : object_(object), where_(std::move(where)) {}
  std::uint32_t id(const char* key) {
    const auto value = object_.get_integer(key, -1);
    if (!value.ok()) fail(value.status());
    else if (*value < 0 || *value >= 0xFFFFFFF0)
      fail({Code::corrupt, std::string(key) + " must be from 0 to 4294967279"});
    else return static_cast<std::uint32_t>(*value);
    return 0;
  }
  float real(const char* key) {
    const auto value = object_.get_number(key, 0);
    if (!value.ok()) fail(value.status());
    return value.ok() ? static_cast<float>(*value) : 0;
  }
  bool flag(const char* key) {
    const auto value = object_.get_bool(key, true);
    if (!value.ok()) fail(value.status());
    return !value.ok() || *value;
  }
  GeneActivation activation() {
    const auto text = object_.get_string("activation", "linear");
    const auto named = text.ok() ? activation_named(*text) : Result<GeneActivation>(text.status());
    if (!named.ok()) fail(named.status());
    return named.ok() ? *named : GeneActivation::linear;
  }
  void fail(const Status& status) {
    if (status_.ok()) status_ = status.at(where_);
  }
  const Status& status() const { return status_; }

 private:
  const Json& object_;
  std::string where_;
  Status status_;
};

Result<const Json*> list_of(const Json& json, const char* key) {
  const Json* list = json.find(key);
  if (!list || !list->is_array())
    return Status(Code::corrupt, std::string("genome: ") + key + " must be a list");
  if (list->as_array().size() > (std::size_t{1} << 22))
    return Status(Code::out_of_range, std::string("genome: more than 4194304 ") + key);
  return list;
}

Json numbers_of(const std::vector<std::uint64_t>& pairs) {
  Json list = Json::array();
  for (const std::uint64_t pair : pairs) {
    list.push(static_cast<std::uint32_t>(pair >> 32));
    list.push(static_cast<std::uint32_t>(pair));
  }
  return list;
}

Result<std::vector<std::uint64_t>> pairs_of(const Json& json, const char* key) {
  const Json* list = json.find(key);
  const auto wrong = [key] {
    return Status(Code::corrupt, std::string("innovations: ") + key + " must be pairs of numbers");
  };
  if (!list || !list->is_array() || list->as_array().size() % 2) return wrong();
  std::vector<std::uint64_t> pairs;
  std::uint64_t first = 0;
  for (std::size_t i = 0; i < list->as_array().size(); ++i) {
    const Json& item = list->as_array()[i];
    if (!item.is_integer() || item.as_integer() < 0 || item.as_integer() >= 0xFFFFFFF0)
      return wrong();
    const auto value = static_cast<std::uint64_t>(item.as_integer());
    if (i % 2) pairs.push_back(first << 32 | value);
    else first = value;
  }
  return pairs;
}

}  // namespace

Status check(const Genome& genome, const Shape& shape) {
  LOOM_TRY(check_nodes(genome, shape));
  return check_edges(genome, shape);
}

Json to_json(const Genome& genome, const Shape& shape) {
  Json nodes = Json::array(), edges = Json::array();
  for (const NodeGene& n : genome.nodes) {
    Json node = Json::object();
    node.set("id", n.id);
    node.set("kind", shape.is_input(n.id) ? "input" : shape.is_output(n.id) ? "output" : "hidden");
    if (!shape.is_input(n.id)) {
      node.set("activation", name(n.activation));
      node.set("bias", double{n.bias});
    }
    nodes.push(std::move(node));
  }
  for (const EdgeGene& e : genome.edges) {
    Json edge = Json::object();
    edge.set("innovation", e.innovation);
    edge.set("from", e.from);
    edge.set("to", e.to);
    edge.set("weight", double{e.weight});
    edge.set("enabled", e.enabled);
    edges.push(std::move(edge));
  }
  Json json = Json::object();
  json.set("nodes", std::move(nodes));
  json.set("edges", std::move(edges));
  return json;
}

Result<Genome> genome_from_json(const Json& json, const Shape& shape) {
  Genome genome;
  LOOM_ASSIGN(const Json* nodes, list_of(json, "nodes"));
  LOOM_ASSIGN(const Json* edges, list_of(json, "edges"));
  for (const Json& item : nodes->as_array()) {
    Member m(item, "nodes " + number(genome.nodes.size()));
    genome.nodes.push_back({m.id("id"), m.activation(), m.real("bias")});
    LOOM_TRY(m.status());
  }
  for (const Json& item : edges->as_array()) {
    Member m(item, "edges " + number(genome.edges.size()));
    genome.edges.push_back(
        {m.id("innovation"), m.id("from"), m.id("to"), m.real("weight"), m.flag("enabled")});
    LOOM_TRY(m.status());
  }
  LOOM_TRY(check(genome, shape));
  return genome;
}

bool Innovations::know(const Genome& genome) const {
  return std::ranges::all_of(genome.nodes, [&](const NodeGene& n) { return n.id < next_node_; }) &&
         std::ranges::all_of(genome.edges, [&](const EdgeGene& e) {
           return e.innovation < edges() &&
                  edge_list_[e.innovation] == (std::uint64_t{e.from} << 32 | e.to);
         });
}

Json Innovations::to_json() const {
  Json json = Json::object();
  json.set("edges", numbers_of(edge_list_));
  json.set("splits", numbers_of(split_list_));
  return json;
}

Result<Innovations> Innovations::from_json(const Json& json, const Shape& shape) {
  LOOM_ASSIGN(const std::vector<std::uint64_t> edges, pairs_of(json, "edges"));
  LOOM_ASSIGN(const std::vector<std::uint64_t> splits, pairs_of(json, "splits"));
  Innovations made(shape);
  for (const std::uint64_t e : edges)
    made.edge(static_cast<std::uint32_t>(e >> 32), static_cast<std::uint32_t>(e));
  for (const std::uint64_t s : splits)
    made.node(static_cast<std::uint32_t>(s >> 32), static_cast<std::uint32_t>(s));
  if (made.edges() != edges.size() || made.split_list_.size() != splits.size())
    return Status(Code::corrupt, "innovations: a pair stands twice");
  return made;
}

}  // namespace loom::evolve
