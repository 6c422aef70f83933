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

// Indexes of the nodes behind the inputs in an order in which they can be computed, only those that
// lead to an output.
class Order {
 public:
  Order(const Genome& genome, const Shape& shape) : genome_(genome), shape_(shape) {
    begin_.assign(genome.nodes.size() + 1, 0);
    to_.reserve(genome.edges.size());
    for (const EdgeGene& edge : genome.edges) {
      to_.push_back(edge.enabled ? index(edge.to) : kNone);
      if (edge.enabled) ++begin_[to_.back()];
    }
    for (std::size_t sum = 0; std::size_t& at : begin_) at = sum += at;
    in_.resize(begin_.back());
    for (std::size_t e = genome.edges.size(); e-- > 0;)
      if (to_[e] != kNone) in_[--begin_[to_[e]]] = e;
    slot_.assign(genome.nodes.size(), kNone);
    for (std::uint32_t i = 0; i < shape.inputs; ++i) slot_[i] = i;
    for (std::uint32_t i = shape.inputs; i < shape.first_hidden(); ++i) add(i);
  }

  std::uint32_t index(std::uint32_t id) const {
    if (id < shape_.first_hidden()) return id;
    const auto at = std::lower_bound(genome_.nodes.begin(), genome_.nodes.end(), id,
                                     [](const NodeGene& n, std::uint32_t x) { return n.id < x; });
    return static_cast<std::uint32_t>(at - genome_.nodes.begin());
  }
  const std::vector<std::uint32_t>& nodes() const { return nodes_; }
  std::span<const std::size_t> edges_into(std::uint32_t node) const {
    return std::span(in_).subspan(begin_[node], begin_[node + 1] - begin_[node]);
  }
  std::uint32_t slot(std::uint32_t node) const { return slot_[node]; }

 private:
  // Depth first, without recursion: long chains are no deep stack. In a recurrent genome an edge
  // back leads to a node that is begun, which is as good as done.
  void add(std::uint32_t root) {
    if (slot_[root] != kNone) return;
    std::vector<std::pair<std::uint32_t, std::size_t>> stack{{root, 0}};
    slot_[root] = kNone - 1;
    while (!stack.empty()) {
      auto& [node, next] = stack.back();
      if (next < edges_into(node).size()) {
        const std::uint32_t from = index(genome_.edges[edges_into(node)[next++]].from);
        if (slot_[from] != kNone) continue;
        slot_[from] = kNone - 1;
        stack.emplace_back(from, 0);
        continue;
      }
      slot_[node] = shape_.inputs + static_cast<std::uint32_t>(nodes_.size());
      nodes_.push_back(node);
      stack.pop_back();
    }
  }

  const Genome& genome_;
  const Shape& shape_;
  std::vector<std::size_t> begin_, in_;
  std::vector<std::uint32_t> to_, slot_, nodes_;
};

}  // namespace

Phenotype::Phenotype(const Genome& genome, const Shape& shape)
    : inputs_(shape.inputs), recurrent_(shape.recurrent) {
  const Order order(genome, shape);
  for (const std::uint32_t node : order.nodes()) {
    for (const std::size_t e : order.edges_into(node)) {
      const EdgeGene& edge = genome.edges[e];
      edges_.push_back({order.slot(order.index(edge.from)), edge.weight});
    }
    const NodeGene& gene = genome.nodes[node];
    nodes_.push_back({static_cast<std::uint32_t>(edges_.size()), gene.activation, gene.bias});
  }
  for (std::uint32_t i = shape.inputs; i < shape.first_hidden(); ++i)
    output_slots_.push_back(order.slot(i));
  values_.resize((inputs_ + nodes_.size()) * kLanes);
  if (recurrent_) next_ = values_;
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
    if (recurrent_) reset();
    load(x.subspan(at * inputs_), count, values_.data());
    if (recurrent_) {
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
  if (recurrent_) {
    pass(values_.data(), next_.data());
    values_.swap(next_);
  } else {
    pass(values_.data(), values_.data());
  }
  store(values_.data(), 1, y);
}

void Phenotype::reset() { std::ranges::fill(values_, 0.0f); }

}  // namespace loom::evolve
