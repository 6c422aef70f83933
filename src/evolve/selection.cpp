#include "evolve/selection.h"

#include <cmath>

namespace loom::evolve {
namespace {

std::vector<std::int64_t> distribute(const std::vector<double>& shares, std::int64_t total) {
  double sum = 0;
  for (const double s : shares) sum += s;
  std::vector<std::int64_t> counts;
  std::vector<std::pair<double, std::size_t>> rests;
  std::int64_t left = total;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const double exact = static_cast<double>(total) * (shares[i] / sum);
    counts.push_back(std::min(static_cast<std::int64_t>(exact), left));
    left -= counts.back();
    rests.emplace_back(static_cast<double>(counts.back()) - exact, i);
  }
  std::ranges::sort(rests);
  for (std::size_t i = 0; left > 0; i = (i + 1) % rests.size(), --left) ++counts[rests[i].second];
  return counts;
}

std::size_t parents(const Kin& s, const SelectionRules& rules) {
  const auto size = static_cast<double>(s.members.size());
  return std::max<std::size_t>(static_cast<std::size_t>(std::ceil(rules.survival * size)), 1);
}

}  // namespace

std::vector<std::int64_t> children_of(const std::vector<const Kin*>& species,
                                      std::span<const double> worth, std::int64_t population) {
  const auto [low, high] = std::ranges::minmax(worth);
  // Halves, so that no difference overflows.
  const double range = high / 2 - low / 2;
  std::vector<double> means;
  for (const Kin* s : species) {
    double sum = 0;
    for (const std::uint32_t m : s->members)
      sum += range > 0 ? (worth[m] / 2 - low / 2) / range : 1.0;
    means.push_back(sum / static_cast<double>(s->members.size()));
  }
  if (std::ranges::max(means) <= 0) std::ranges::fill(means, 1.0);
  return distribute(means, population);
}

std::vector<Birth> births(const std::vector<Kin*>& species,
                          const std::vector<std::int64_t>& children, std::span<const double> key,
                          std::span<const std::size_t> size, const SelectionRules& rules,
                          std::int64_t generation) {
  for (Kin* s : species)
    std::ranges::sort(s->members, [&](std::uint32_t a, std::uint32_t b) {
      return key[a] != key[b] ? key[a] > key[b] : a < b;
    });
  // Equal ones: the smaller, as in the paper's program.
  const auto rank = [&](std::uint32_t m) { return std::pair(-key[m], size[m]); };
  std::vector<Birth> all;
  all.reserve(static_cast<std::size_t>(rules.population));
  for (std::size_t k = 0; k < species.size(); ++k) {
    const Kin& s = *species[k];
    const auto members = static_cast<std::int64_t>(s.members.size());
    const std::int64_t elites = members >= rules.elite_size ? std::min(rules.elites, members) : 0;
    const std::size_t own = parents(s, rules);
    for (std::int64_t i = 0; i < children[k]; ++i) {
      const auto child = static_cast<std::int64_t>(all.size());
      Birth& birth = all.emplace_back(
          Birth{0, 0, i < elites, false, Draws(rules.seed, generation + 1, child, Purpose::breed)});
      if (birth.elite) {
        birth.a = birth.b = s.members[static_cast<std::size_t>(i)];
        continue;
      }
      birth.a = birth.b = s.members[birth.draws.below(own)];
      birth.crossed = !birth.draws.chance(rules.mutate_only);
      if (birth.crossed) {
        const Kin& other = birth.draws.chance(rules.interspecies)
                               ? *species[birth.draws.below(species.size())]
                               : s;
        birth.b = other.members[birth.draws.below(parents(other, rules))];
        if (rank(birth.b) < rank(birth.a)) std::swap(birth.a, birth.b);
      }
    }
  }
  return all;
}

void note_progress(Kin& kin, std::span<const double> key, std::int64_t generation) {
  double best = key[kin.members[0]];
  for (const std::uint32_t m : kin.members) best = std::max(best, key[m]);
  if (kin.born != generation && best <= kin.best) return;
  kin.best = best;
  kin.improved = generation;
}

double moved_threshold(double threshold, std::size_t species, std::int64_t wanted) {
  const auto count = static_cast<std::int64_t>(species);
  if (wanted == 0 || count == wanted) return threshold;
  return count > wanted ? std::min(threshold * 1.1, kMaxThreshold) : threshold / 1.1;
}

}  // namespace loom::evolve
