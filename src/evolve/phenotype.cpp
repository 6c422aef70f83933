#include "evolve/phenotype.h"

#include <algorithm>

#include "base/math/exact_math.h"

namespace loom::evolve {
namespace {

// Rows that are computed together.
constexpr std::size_t kLanes = 4;
// Values stay below it, so that no sum overflows: weights are at most 1000, edges at most 2^22.
constexpr float kLimit = 1e28f;

float limited(float x) { return std::min(std::max(x, -kLimit), kLimit); }

template <class F>
void each(float* v, F f) {
  for (std::size_t i = 0; i < kLanes; ++i) v[i] = f(v[i]);
}

void sigmoids(float* v) {
  bool within = true;
  for (std::size_t i = 0; i < kLanes; ++i) within &= exact::detail::magnitude(v[i]) <= 64;
  if (within) each(v, [](float x) { return exact::detail::sigmoid_within(x); });
  else each(v, [](float x) { return exact::sigmoid(x); });
}

void activate_lanes(GeneActivation activation, float* v) {
  using A = GeneActivation;
  switch (activation) {
    case A::linear: return each(v, limited);
    case A::sigmoid: return sigmoids(v);
    case A::steep_sigmoid: each(v, [](float x) { return 4.9f * x; }); return sigmoids(v);
    case A::tanh: return each(v, [](float x) { return exact::tanh(x); });
    case A::relu: return each(v, [](float x) { return limited(x > 0 ? x : 0.0f); });
    case A::gaussian: return each(v, [](float x) { return exact::exp(-(x * x)); });
    case A::sin: return each(v, [](float x) { return exact::sin(x); });
    case A::abs: return each(v, [](float x) { return limited(x < 0 ? -x : x); });
  }
}

constexpr std::uint32_t kNone = 0xFFFFFFFF;
// Hidden nodes with smaller ids are found by a table.
constexpr std::size_t kPlaces = 1 << 16;

}  // namespace

void Phenotype::Order::find_places(const Genome& genome) {
  for (std::size_t i = first_hidden; i < genome.nodes.size(); ++i) {
    const std::size_t at = genome.nodes[i].id - first_hidden;
    if (at >= kPlaces) break;
    if (at >= places.size()) places.resize(2 * at + 64);
    places[at] = static_cast<std::uint32_t>(i);
  }
}

std::uint32_t Phenotype::Order::index(const Genome& genome, std::uint32_t id) const {
  if (id < first_hidden) return id;
  if (id - first_hidden < kPlaces) return places[id - first_hidden];
  const auto at = std::lower_bound(genome.nodes.begin() + first_hidden, genome.nodes.end(), id,
                                   [](const NodeGene& n, std::uint32_t x) { return n.id < x; });
  return static_cast<std::uint32_t>(at - genome.nodes.begin());
}

// Nodes behind the inputs in an order in which they can be computed, only those that lead to an
// output.
void Phenotype::Order::make(const Genome& genome, const Shape& shape) {
  first_hidden = shape.first_hidden();
  find_places(genome);
  const auto count = static_cast<std::uint32_t>(genome.nodes.size());
  begin.assign(count + 2, 0);
  to.clear();
  for (const EdgeGene& edge : genome.edges) {
    if (!edge.enabled) continue;
    to.push_back(index(genome, edge.to));
    ++begin[to.back() + 2];
  }
  // One place behind, until all edges have moved in.
  for (std::uint32_t i = 2; i < count + 2; ++i) begin[i] += begin[i - 1];
  edges.resize(to.size());
  const std::uint32_t* target = to.data();
  for (const EdgeGene& edge : genome.edges)
    if (edge.enabled) edges[begin[*target++ + 1]++] = {index(genome, edge.from), edge.weight};
  slot.assign(count, kNone);
  nodes.clear();
  for (used = 0; used < shape.inputs; ++used) slot[used] = used;
  for (std::uint32_t i = shape.inputs; i < first_hidden; ++i) add(i);
}

// Depth first, without recursion: long chains are no deep stack. In a recurrent genome an edge back
// leads to a node that is begun, which is as good as done.
void Phenotype::Order::add(std::uint32_t root) {
  if (slot[root] != kNone) return;
  stack.assign(1, {root, begin[root]});
  slot[root] = kNone - 1;
  while (!stack.empty()) {
    auto& [node, next] = stack.back();
    if (next < begin[node + 1]) {
      const std::uint32_t source = edges[next++].slot;
      if (slot[source] != kNone) continue;
      slot[source] = kNone - 1;
      stack.emplace_back(source, begin[source]);
      continue;
    }
    slot[node] = used++;
    nodes.push_back(node);
    stack.pop_back();
  }
}

void Phenotype::build(const Genome& genome) {
  order_.make(genome, shape_);
  nodes_.clear();
  edges_.clear();
  output_slots_.clear();
  for (const std::uint32_t node : order_.nodes) {
    for (std::size_t i = order_.begin[node]; i < order_.begin[node + 1]; ++i)
      edges_.push_back({order_.slot[order_.edges[i].slot], order_.edges[i].weight});
    const NodeGene& gene = genome.nodes[node];
    nodes_.push_back({static_cast<std::uint32_t>(edges_.size()), gene.activation, gene.bias});
  }
  for (std::uint32_t i = shape_.inputs; i < shape_.first_hidden(); ++i)
    output_slots_.push_back(order_.slot[i]);
  values_.assign((inputs_ + nodes_.size()) * kLanes, 0);
  if (shape_.recurrent) next_ = values_;
}

// `in` and `out` are the same unless recurrent.
void Phenotype::pass(const float* in, float* out) const {
  const Edge* edge = edges_.data();
  float* y = out + inputs_ * kLanes;
  for (const Node& node : nodes_) {
    float sum[kLanes];
    for (float& s : sum) s = node.bias;
    for (const Edge* const end = edges_.data() + node.end; edge != end; ++edge) {
      const float* x = in + edge->slot * kLanes;
      for (std::size_t i = 0; i < kLanes; ++i) sum[i] += edge->weight * x[i];
    }
    activate_lanes(node.activation, sum);
    std::copy_n(sum, kLanes, y);
    y += kLanes;
  }
}

void Phenotype::load(std::span<const float> x, std::size_t rows, float* values) const {
  for (std::size_t k = 0; k < inputs_; ++k)
    for (std::size_t r = 0; r < kLanes; ++r)
      values[k * kLanes + r] = r < rows ? x[r * inputs_ + k] : 0;
}

void Phenotype::store(const float* values, std::size_t rows, std::span<float> y) const {
  for (std::size_t k = 0; k < outputs(); ++k)
    for (std::size_t r = 0; r < rows; ++r)
      y[r * outputs() + k] = values[output_slots_[k] * kLanes + r];
}

void Phenotype::run(std::span<const float> x, std::int64_t ticks, std::span<float> y) {
  const std::size_t rows = y.size() / outputs();
  for (std::size_t at = 0; at < rows; at += kLanes) {
    const std::size_t count = std::min(kLanes, rows - at);
    if (shape_.recurrent) reset();
    load(x.subspan(at * inputs_), count, values_.data());
    if (shape_.recurrent) {
      load(x.subspan(at * inputs_), count, next_.data());
      for (std::int64_t t = 0; t < ticks; ++t) {
        pass(values_.data(), next_.data());
        values_.swap(next_);
      }
    } else {
      pass(values_.data(), values_.data());
    }
    store(values_.data(), count, y.subspan(at * outputs()));
  }
}

void Phenotype::activate(std::span<const float> x, std::span<float> y) {
  load(x, 1, values_.data());
  if (shape_.recurrent) {
    pass(values_.data(), next_.data());
    values_.swap(next_);
  } else {
    pass(values_.data(), values_.data());
  }
  store(values_.data(), 1, y);
}

void Phenotype::reset() { std::ranges::fill(values_, 0.0f); }

}  // namespace loom::evolve
