#include "evolve/genome.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "base/math/philox.h"

namespace loom::evolve {
namespace {

std::uint64_t pair_key(std::uint32_t a, std::uint32_t b) { return std::uint64_t{a} << 32 | b; }

float limited(float weight, double range) {
  const float limit = static_cast<float>(range);
  return std::min(std::max(weight, -limit), limit);
}

// Where a gene with this number is, or belongs.
template <class Gene, class Number>
auto place_of(std::vector<Gene>& genes, std::uint32_t number, Number Gene::* field) {
  return std::lower_bound(genes.begin(), genes.end(), number,
                          [field](const Gene& g, std::uint32_t n) { return g.*field < n; });
}

bool has_node(Genome& genome, std::uint32_t id) {
  const auto at = place_of(genome.nodes, id, &NodeGene::id);
  return at != genome.nodes.end() && at->id == id;
}

EdgeGene* find_edge(Genome& genome, std::uint32_t from, std::uint32_t to) {
  for (EdgeGene& edge : genome.edges)
    if (edge.from == from && edge.to == to) return &edge;
  return nullptr;
}

void insert_edge(Genome& genome, const EdgeGene& edge) {
  genome.edges.insert(place_of(genome.edges, edge.innovation, &EdgeGene::innovation), edge);
}

// Whether edges, disabled ones too, lead from `from` to `to`.
bool reaches(const Genome& genome, std::uint32_t from, std::uint32_t to) {
  std::vector<std::uint32_t> seen{from};
  for (std::size_t i = 0; i < seen.size(); ++i) {
    if (seen[i] == to) return true;
    for (const EdgeGene& edge : genome.edges)
      if (edge.from == seen[i] && std::ranges::find(seen, edge.to) == seen.end())
        seen.push_back(edge.to);
  }
  return false;
}

class Mutation {
 public:
  Mutation(Genome& genome, const Shape& shape, const EvolutionSpec& spec, Innovations& innovations,
           Draws& draws)
      : genome_(genome), shape_(shape), spec_(spec), innovations_(innovations), draws_(draws) {}

  void run() {
    if (draws_.chance(spec_.add_node)) add_node();
    if (draws_.chance(spec_.add_edge)) add_edge();
    if (draws_.chance(spec_.remove_node)) remove_node();
    if (draws_.chance(spec_.remove_edge)) remove_edge();
    if (draws_.chance(spec_.toggle_edge)) toggle_edge();
    if (draws_.chance(spec_.change_activation)) change_activation();
    if (draws_.chance(spec_.mutate_weights)) weights();
  }

 private:
  std::size_t hidden() const { return genome_.nodes.size() - shape_.first_hidden(); }

  // Splits an enabled edge: the new node begins with the effect of the edge.
  void add_node() {
    const std::size_t enabled = genome_.enabled_edges();
    if (enabled == 0 || hidden() >= static_cast<std::size_t>(spec_.max_hidden)) return;
    std::size_t index = draws_.below(enabled);
    EdgeGene* edge = genome_.edges.data();
    for (; !edge->enabled || index > 0; ++edge) index -= edge->enabled;
    edge->enabled = false;
    const EdgeGene old = *edge;
    std::uint32_t occurrence = 0, id = innovations_.node(old.innovation, 0);
    while (has_node(genome_, id)) id = innovations_.node(old.innovation, ++occurrence);
    const auto& kinds = spec_.activation_kinds;
    genome_.nodes.insert(place_of(genome_.nodes, id, &NodeGene::id),
                         {id, kinds[draws_.below(kinds.size())], 0});
    insert_edge(genome_, {innovations_.edge(old.from, id), old.from, id, 1, true});
    insert_edge(genome_, {innovations_.edge(id, old.to), id, old.to, old.weight, true});
  }

  // A few tries: a dense genome may have no place left.
  void add_edge() {
    const auto& nodes = genome_.nodes;
    for (int i = 0; i < 20; ++i) {
      const std::uint32_t from = nodes[draws_.below(nodes.size())].id;
      const std::size_t target = draws_.below(nodes.size() - shape_.inputs);
      const std::uint32_t to = nodes[shape_.inputs + target].id;
      if (!shape_.recurrent && shape_.is_output(from)) continue;
      EdgeGene* old = find_edge(genome_, from, to);
      if (old && old->enabled) continue;
      // A disabled edge is in no cycle, and nothing leads to an input.
      const bool safe = shape_.recurrent || old || shape_.is_input(from);
      if (!safe && reaches(genome_, to, from)) continue;
      if (old) old->enabled = true;
      else
        insert_edge(genome_, {innovations_.edge(from, to), from, to,
                              draws_.within(spec_.start_range), true});
      return;
    }
  }

  void remove_node() {
    if (hidden() == 0) return;
    const auto at = genome_.nodes.begin() + shape_.first_hidden() +
                    static_cast<std::ptrdiff_t>(draws_.below(hidden()));
    const std::uint32_t id = at->id;
    genome_.nodes.erase(at);
    std::erase_if(genome_.edges, [id](const EdgeGene& e) { return e.from == id || e.to == id; });
  }

  void remove_edge() {
    if (genome_.edges.empty()) return;
    genome_.edges.erase(genome_.edges.begin() +
                        static_cast<std::ptrdiff_t>(draws_.below(genome_.edges.size())));
  }

  void toggle_edge() {
    if (genome_.edges.empty()) return;
    bool& enabled = genome_.edges[draws_.below(genome_.edges.size())].enabled;
    enabled = !enabled;
  }

  void change_activation() {
    if (hidden() == 0) return;
    NodeGene& node = genome_.nodes[shape_.first_hidden() + draws_.below(hidden())];
    node.activation = spec_.activation_kinds[draws_.below(spec_.activation_kinds.size())];
  }

  float changed(float weight) {
    // One draw for both: where it lies within its share is uniform, too.
    const double u = draws_.uniform(), share = spec_.perturb_share;
    const auto spread = [](double x, double range) {
      return static_cast<float>(range * (2 * x - 1));
    };
    if (u < share) weight += spread(u / share, spec_.perturb_range);
    else weight = spread((u - share) / (1 - share), spec_.replace_range);
    return limited(weight, spec_.weight_range);
  }
  void weights() {
    for (std::size_t i = shape_.inputs; i < genome_.nodes.size(); ++i)
      genome_.nodes[i].bias = changed(genome_.nodes[i].bias);
    for (EdgeGene& edge : genome_.edges) edge.weight = changed(edge.weight);
  }

  Genome& genome_;
  const Shape& shape_;
  const EvolutionSpec& spec_;
  Innovations& innovations_;
  Draws& draws_;
};

// Two genomes side by side.
class Difference {
 public:
  Difference(const Genome& a, const Genome& b, const EvolutionSpec& spec)
      : a_(a), b_(b), spec_(spec) {
    const std::size_t larger = std::max(a.edges.size(), b.edges.size());
    const bool small = larger < static_cast<std::size_t>(spec.small_genome) || larger == 0;
    size_ = small ? 1.0 : static_cast<double>(larger);
  }

  // The distance; infinite as soon as it cannot be below `limit`: no term is negative, and sums are
  // rounded in the same direction with more of them.
  double within(double limit) {
    constexpr double kFar = std::numeric_limits<double>::infinity();
    count_excess();
    if (structure() >= limit || !edges_within(limit)) return kFar;
    nodes();
    return structure() +
           (both_ ? spec_.weight_difference * difference_ / static_cast<double>(both_) : 0.0);
  }

 private:
  double structure() const {
    return spec_.excess * static_cast<double>(excess_) / size_ +
           spec_.disjoint * static_cast<double>(disjoint_) / size_;
  }
  void add(float x, float y) {
    difference_ += std::abs(double{x} - double{y});
    ++both_;
  }

  // Edges behind the last one of the other genome.
  void count_excess() {
    x_end_ = a_.edges.data() + a_.edges.size();
    y_end_ = b_.edges.data() + b_.edges.size();
    const auto cut = [](const Genome& genome, const EdgeGene*& end, const Genome& other) {
      const EdgeGene* const begin = genome.edges.data();
      const EdgeGene* const old = end;
      if (other.edges.empty()) end = begin;
      else
        while (end != begin && end[-1].innovation > other.edges.back().innovation) --end;
      return old - end;
    };
    excess_ = cut(a_, x_end_, b_) + cut(b_, y_end_, a_);
  }

  bool edges_within(double limit) {
    const EdgeGene *x = a_.edges.data(), *y = b_.edges.data();
    while (x != x_end_ && y != y_end_) {
      if (x->innovation == y->innovation) {
        add((x++)->weight, (y++)->weight);
        continue;
      }
      ++disjoint_;
      if (structure() >= limit) return false;
      if (x->innovation < y->innovation) ++x;
      else ++y;
    }
    disjoint_ += (x_end_ - x) + (y_end_ - y);
    return structure() < limit;
  }

  void nodes() {
    auto n = b_.nodes.begin();
    for (const NodeGene& node : a_.nodes) {
      while (n != b_.nodes.end() && n->id < node.id) ++n;
      if (n == b_.nodes.end()) break;
      // Inputs have no bias.
      if (n->id != node.id || (node.activation == GeneActivation::linear && node.bias == 0))
        continue;
      add(node.bias, n->bias);
      disjoint_ += node.activation != n->activation;
    }
  }

  const Genome &a_, &b_;
  const EvolutionSpec& spec_;
  double size_ = 1, difference_ = 0;
  std::int64_t excess_ = 0, disjoint_ = 0, both_ = 0;
  const EdgeGene *x_end_ = nullptr, *y_end_ = nullptr;
};

}  // namespace

Draws::Draws(std::uint64_t seed, std::int64_t generation, std::int64_t child, Purpose purpose)
    : key_{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)},
      stream_(static_cast<std::uint64_t>(generation) << 28 |
              static_cast<std::uint64_t>(child) << 4 | static_cast<std::uint64_t>(purpose)) {}

void Draws::draw() {
  PhiloxBlock x(block_, stream_), y(block_ + 1, stream_);
  philox_rounds(key_, x, y);
  numbers_ = {x.a, x.b, x.c, x.d, y.a, y.b, y.c, y.d};
  block_ += 2;
  used_ = 0;
}

std::size_t Genome::enabled_edges() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(edges, [](const EdgeGene& e) { return e.enabled; }));
}

std::string Genome::sha256() const {
  Sha256 hash;
  hash.update_text("genome");
  hash.update_u64(nodes.size());
  for (const NodeGene& n : nodes) {
    hash.update_u64(pair_key(n.id, static_cast<std::uint32_t>(n.activation)));
    hash.update_f32({&n.bias, 1});
  }
  hash.update_u64(edges.size());
  for (const EdgeGene& e : edges) {
    hash.update_u64(pair_key(e.innovation, e.enabled));
    hash.update_u64(pair_key(e.from, e.to));
    hash.update_f32({&e.weight, 1});
  }
  return Sha256::hex(hash.finish());
}

std::uint32_t Innovations::edge(std::uint32_t from, std::uint32_t to) {
  const auto [at, fresh] = edges_.try_emplace(pair_key(from, to), edges());
  if (fresh) edge_list_.push_back(at->first);
  return at->second;
}

std::uint32_t Innovations::node(std::uint32_t split_edge, std::uint32_t occurrence) {
  const auto [at, fresh] = splits_.try_emplace(pair_key(split_edge, occurrence), next_node_);
  if (fresh) {
    split_list_.push_back(at->first);
    ++next_node_;
  }
  return at->second;
}

Genome first_genome(const Shape& shape, const EvolutionSpec& spec, Innovations& innovations,
                    Draws& draws) {
  Genome genome;
  for (std::uint32_t id = 0; id < shape.inputs; ++id) genome.nodes.push_back({.id = id});
  for (std::uint32_t id = shape.inputs; id < shape.first_hidden(); ++id)
    genome.nodes.push_back({id, spec.output_kind, draws.within(spec.start_range)});
  if (spec.connect == "empty") return genome;
  for (std::uint32_t to = shape.inputs; to < shape.first_hidden(); ++to)
    for (std::uint32_t from = 0; from < shape.inputs; ++from)
      genome.edges.push_back(
          {innovations.edge(from, to), from, to, draws.within(spec.start_range), true});
  return genome;
}

void mutate(Genome& genome, const Shape& shape, const EvolutionSpec& spec, Innovations& innovations,
            Draws& draws) {
  Mutation(genome, shape, spec, innovations, draws).run();
}

void crossover(const Genome& fitter, const Genome& other, const EvolutionSpec& spec, Draws& draws,
               Genome& child) {
  child = fitter;
  const bool average = draws.chance(spec.average_share);
  const auto mix = [&](float& mine, float theirs) {
    if (average) {
      mine = 0.5f * mine + 0.5f * theirs;
      return;
    }
    // Without a branch, which would be predicted wrongly every second time.
    const std::uint32_t take = 0u - static_cast<std::uint32_t>(draws.chance(0.5));
    const auto old = std::bit_cast<std::uint32_t>(mine);
    mine = std::bit_cast<float>(old ^ ((old ^ std::bit_cast<std::uint32_t>(theirs)) & take));
  };
  auto node = other.nodes.begin();
  for (NodeGene& mine : child.nodes) {
    while (node != other.nodes.end() && node->id < mine.id) ++node;
    if (node == other.nodes.end()) break;
    if (node->id != mine.id) continue;
    mix(mine.bias, node->bias);
    if (node->activation != mine.activation && draws.chance(0.5))
      mine.activation = node->activation;
  }
  auto edge = other.edges.begin();
  for (EdgeGene& mine : child.edges) {
    while (edge != other.edges.end() && edge->innovation < mine.innovation) ++edge;
    const bool both = edge != other.edges.end() && edge->innovation == mine.innovation;
    if (both) mix(mine.weight, edge->weight);
    if (!mine.enabled || (both && !edge->enabled)) mine.enabled = !draws.chance(spec.stay_disabled);
  }
}

double distance(const Genome& a, const Genome& b, const EvolutionSpec& spec) {
  return Difference(a, b, spec).within(std::numeric_limits<double>::infinity());
}

bool near(const Genome& a, const Genome& b, const EvolutionSpec& spec, double threshold) {
  return Difference(a, b, spec).within(threshold) < threshold;
}

}  // namespace loom::evolve
