// A table of costs from networks such as a search makes: their times on this machine, and how much
// of which op each of them runs.
#include <algorithm>
#include <array>
#include <map>

#include "breed/mutate.h"
#include "breed/weights.h"
#include "populations/cost.h"

namespace loom::populations {
namespace {

// Of one op or of all: instructions, values, products.
using Amounts = std::array<double, 3>;
// One network: ns, and amounts for each of the columns.
struct Sample {
  double ns = 0;
  std::vector<double> amounts;
};

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

// Positive factors by the multiplicative updates of Lee and Seung ("Algorithms for non-negative
// matrix factorization", 2001), of relative errors; no step makes the sum of their squares larger.
void fit(const std::vector<Sample>& samples, std::vector<double>& factors) {
  for (int round = 0; round < 2000; ++round) {
    std::vector<double> up(factors.size(), 0), down(factors.size(), 0);
    for (const Sample& s : samples) {
      const double guess = dot(s.amounts, factors) / s.ns;
      for (std::size_t i = 0; i < factors.size(); ++i) {
        up[i] += s.amounts[i] / s.ns;
        down[i] += s.amounts[i] / s.ns * guess;
      }
    }
    for (std::size_t i = 0; i < factors.size(); ++i)
      if (down[i] > 0) factors[i] = std::max(factors[i] * up[i] / down[i], 1e-6);
  }
}

// Three columns for each op, of all networks.
struct Measured {
  std::vector<std::string> ops;
  std::vector<std::map<std::string, Amounts>> networks;
  std::vector<double> ns;

  Status add(Network& network, std::int64_t rows) {
    LOOM_ASSIGN(std::vector<OpCost> amounts, op_amounts(network, rows));
    LOOM_ASSIGN(const double took, milliseconds_here(network, rows));
    std::map<std::string, Amounts> own;
    for (const OpCost& a : amounts) {
      own[a.op] = {a.ns, a.ns_per_value, a.ns_per_product};
      if (std::ranges::find(ops, a.op) == ops.end()) ops.push_back(a.op);
    }
    networks.push_back(std::move(own));
    ns.push_back(std::max(took * 1e6, 1.0));
    return {};
  }
  // By op, or of all ops together.
  std::vector<Sample> samples(bool together) const {
    std::vector<Sample> all;
    for (std::size_t n = 0; n < networks.size(); ++n) {
      Sample s{ns[n], std::vector<double>(together ? 3 : 3 * ops.size(), 0)};
      for (std::size_t k = 0; k < ops.size(); ++k) {
        const auto own = networks[n].find(ops[k]);
        if (own == networks[n].end()) continue;
        for (std::size_t i = 0; i < 3; ++i) s.amounts[(together ? 0 : 3 * k) + i] += own->second[i];
      }
      all.push_back(std::move(s));
    }
    return all;
  }
};

}  // namespace

Result<Costs> measure_costs(Network& seed, const breed::MutationRates& rates, std::int64_t rows) {
  constexpr int kChains = 12, kMutations = 6;
  Measured measured;
  LOOM_TRY(measured.add(seed, rows));
  for (int chain = 0; chain < kChains; ++chain) {
    LOOM_ASSIGN(Network now, breed::copy_of(seed));
    for (int i = 0; i < kMutations; ++i) {
      LOOM_ASSIGN(Network next,
                  breed::mutate(now, rates, static_cast<std::uint64_t>(chain * kMutations + i)));
      now = std::move(next);
      LOOM_TRY(measured.add(now, rows));
    }
  }
  // All ops alike first: where the networks say little of one, its row stays near that.
  const Costs guess = reference_costs();
  std::vector<double> all = {guess.others.ns, guess.others.ns_per_value,
                             guess.others.ns_per_product};
  fit(measured.samples(true), all);
  std::vector<double> factors;
  for (std::size_t k = 0; k < measured.ops.size(); ++k)
    factors.insert(factors.end(), all.begin(), all.end());
  fit(measured.samples(false), factors);
  Costs costs{{"", all[0], all[1], all[2]}, {}};
  for (std::size_t k = 0; k < measured.ops.size(); ++k)
    costs.ops.push_back({measured.ops[k], factors[3 * k], factors[3 * k + 1], factors[3 * k + 2]});
  std::ranges::sort(costs.ops, {}, &OpCost::op);
  return costs;
}

}  // namespace loom::populations
