#include <algorithm>

#include "base/files/sha256.h"
#include "base/math/exact_math.h"
#include "breed/weights.h"
#include "populations/population.h"

namespace loom::populations {
namespace {

void collect(const Node& node, std::vector<const Node*>& list) {
  if (node.type && node.children.empty()) list.push_back(&node);
  for (const Node& child : node.children) collect(child, list);
}

std::vector<const Node*> layers_of(const Network& network) {
  std::vector<const Node*> list;
  for (std::size_t i = 0; i < network.size(); ++i) collect(network.node(i), list);
  return list;
}

bool same_shape(const Node& a, const Node& b) {
  if (a.params.size() != b.params.size()) return false;
  for (std::size_t i = 0; i < a.params.size(); ++i)
    if (a.params[i].spec.rows != b.params[i].spec.rows ||
        a.params[i].spec.cols != b.params[i].spec.cols)
      return false;
  return true;
}

// Halves of a layer: of one type, and of one shape, too.
int likeness(const Node& a, const Node& b) {
  return a.type != b.type ? 0 : same_shape(a, b) ? 2 : 1;
}

Result<double> cosine(const Node& a, const Node& b) {
  double ab = 0, aa = 0, bb = 0;
  for (std::size_t i = 0; i < a.params.size(); ++i) {
    LOOM_ASSIGN(const std::vector<double> x, breed::master_of(*a.params[i].store));
    LOOM_ASSIGN(const std::vector<double> y, breed::master_of(*b.params[i].store));
    for (std::size_t k = 0; k < x.size(); ++k)
      ab += x[k] * y[k], aa += x[k] * x[k], bb += y[k] * y[k];
  }
  return aa > 0 && bb > 0 ? ab / (exact::sqrt(aa) * exact::sqrt(bb)) : aa == bb ? 1.0 : 0.0;
}

// The pairs of an alignment in order with the largest sum of likeness.
struct Alignment {
  int halves = 0;
  std::vector<std::pair<std::size_t, std::size_t>> pairs;  // of equal shapes
};

Alignment aligned(const std::vector<const Node*>& a, const std::vector<const Node*>& b) {
  const std::size_t cols = b.size() + 1;
  std::vector<int> best((a.size() + 1) * cols, 0);
  for (std::size_t i = a.size(); i-- > 0;)
    for (std::size_t j = b.size(); j-- > 0;)
      best[i * cols + j] = std::max({best[(i + 1) * cols + j], best[i * cols + j + 1],
                                     best[(i + 1) * cols + j + 1] + likeness(*a[i], *b[j])});
  Alignment found{best[0], {}};
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const int like = likeness(*a[i], *b[j]);
    if (like > 0 && best[i * cols + j] == best[(i + 1) * cols + j + 1] + like) {
      if (like == 2) found.pairs.emplace_back(i, j);
      ++i, ++j;
    } else if (best[i * cols + j] == best[(i + 1) * cols + j]) {
      ++i;
    } else {
      ++j;
    }
  }
  return found;
}

}  // namespace

double distance(Network& a, Network& b, double weight_difference) {
  const auto of_a = layers_of(a), of_b = layers_of(b);
  const std::size_t layers = of_a.size() + of_b.size();
  if (layers == 0) return 0;
  const Alignment alignment = aligned(of_a, of_b);
  const double topology = 1 - static_cast<double>(alignment.halves) / static_cast<double>(layers);
  double apart = 0;
  std::size_t weighted = 0;
  for (const auto& [i, j] : alignment.pairs) {
    if (of_a[i]->params.empty()) continue;
    const auto like = cosine(*of_a[i], *of_b[j]);
    apart += like.ok() ? (1 - *like) / 2 : 0.5;
    ++weighted;
  }
  if (weighted > 0) apart /= static_cast<double>(weighted);
  return (1 - weight_difference) * topology + weight_difference * apart;
}

MemberSize size_of(Network& network) {
  return {static_cast<std::int64_t>(layers_of(network).size()), network.parameter_count()};
}

std::string digest_of(Network& network) {
  Sha256 hash;
  hash.update_text(network.to_json().dump());
  for (const Network::NamedParam& p : network.params()) {
    if (p.tied) continue;
    const auto values = breed::master_of(*p.param->store);
    if (values.ok()) hash.update_f64(*values);
  }
  return Sha256::hex(hash.finish());
}

}  // namespace loom::populations
