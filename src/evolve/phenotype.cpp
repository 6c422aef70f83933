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

void activate_lanes(GeneActivation activation, float* v) {
  using A = GeneActivation;
  switch (activation) {
    case A::linear: return each(v, limited);
    case A::sigmoid: return each(v, [](float x) { return exact::sigmoid(x); });
    case A::steep_sigmoid: return each(v, [](float x) { return exact::sigmoid(4.9f * x); });
    case A::tanh: return each(v, [](float x) { return exact::tanh(x); });
    case A::relu: return each(v, [](float x) { return limited(x > 0 ? x : 0.0f); });
    case A::gaussian: return each(v, [](float x) { return exact::exp(-(x * x)); });
    case A::sin: return each(v, [](float x) { return exact::sin(x); });
    case A::abs: return each(v, [](float x) { return limited(x < 0 ? -x : x); });
  }
}

constexpr std::uint32_t kNone = 0xFFFFFFFF;

}  // namespace

std::uint32_t Phenotype::Order::index(const Genome& genome, std::uint32_t id) const {
  if (id < first_hidden) return id;
  const auto at = std::lower_bound(genome.nodes.begin(), genome.nodes.end(), id,
                                   [](const NodeGene& n, std::uint32_t x) { return n.id < x; });
  return static_cast<std::uint32_t>(at - genome.nodes.begin());
}

// Nodes behind the inputs in an order in which they can be computed, only those that lead to an
// output.
void Phenotype::Order::make(const Genome& genome, const Shape& shape) {
  inputs = shape.inputs;
  first_hidden = shape.first_hidden();
  begin.assign(genome.nodes.size() + 1, 0);
  from.clear();
  to.clear();
  for (const EdgeGene& edge : genome.edges) {
    from.push_back(index(genome, edge.from));
    to.push_back(edge.enabled ? index(genome, edge.to) : kNone);
    if (edge.enabled) ++begin[to.back()];
  }
  std::size_t sum = 0;
  for (std::size_t& at : begin) at = sum += at;
  edges.resize(sum);
  for (std::size_t e = genome.edges.size(); e-- > 0;)
    if (to[e] != kNone) edges[--begin[to[e]]] = e;
  slot.assign(genome.nodes.size(), kNone);
  nodes.clear();
  for (std::uint32_t i = 0; i < inputs; ++i) slot[i] = i;
  for (std::uint32_t i = inputs; i < first_hidden; ++i) add(i);
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
      const std::uint32_t source = from[edges[next++]];
      if (slot[source] != kNone) continue;
      slot[source] = kNone - 1;
      stack.emplace_back(source, begin[source]);
      continue;
    }
    slot[node] = inputs + static_cast<std::uint32_t>(nodes.size());
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
    for (std::size_t i = order_.begin[node]; i < order_.begin[node + 1]; ++i) {
      const std::size_t e = order_.edges[i];
      edges_.push_back({order_.slot[order_.from[e]], genome.edges[e].weight});
    }
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
