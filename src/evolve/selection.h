// Selection: what a population does with its members, be they genomes or networks. Species share
// children by their worth, the best live on, those without progress end. Order and draws depend on
// the numbers alone.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "evolve/genome.h"

namespace loom::evolve {

struct Kin {
  std::int64_t id = 0;
  std::int64_t born = 0, improved = 0;  // generations
  double best = 0;                      // key ever
  std::vector<std::uint32_t> members;   // indexes
};

struct SelectionRules {
  std::int64_t population = 0;
  std::uint64_t seed = 0;
  double mutate_only = 0, interspecies = 0, survival = 0;
  std::int64_t elites = 0, elite_size = 0, stagnation = 0, protected_species = 0;
};

// A member of the next generation.
struct Birth {
  std::uint32_t a = 0, b = 0;  // parents; a the better one
  bool elite = false;          // a itself
  bool crossed = false;        // else a copy of a; it mutates
  Draws draws;                 // what follows of the child's numbers
};

// Children of each species, by the mean worth of its members above the worst of all: each its
// floor, then one more for the largest remainders.
std::vector<std::int64_t> children_of(const std::vector<const Kin*>& species,
                                      std::span<const double> worth, std::int64_t population);

// Whose children the next generation are. `key`: larger is better; `size`: of equal keys the
// smaller is better. Sorts each species' members, best first.
std::vector<Birth> births(const std::vector<Kin*>& species,
                          const std::vector<std::int64_t>& children, std::span<const double> key,
                          std::span<const std::size_t> size, const SelectionRules& rules,
                          std::int64_t generation);

// The best keys of a generation.
void note_progress(Kin& kin, std::span<const double> key, std::int64_t generation);

// Species in order of their best, best first; those without progress leave.
template <class Species>
void drop_stagnant(std::vector<Species>& species, const SelectionRules& rules,
                   std::int64_t generation) {
  for (std::size_t i = 1; i < species.size(); ++i)
    for (std::size_t k = i; k > 0 && species[k].best > species[k - 1].best; --k)
      std::swap(species[k], species[k - 1]);
  const std::size_t safe =
      std::max<std::size_t>(static_cast<std::size_t>(rules.protected_species), 1);
  std::size_t rank = 0;
  std::erase_if(species, [&](const Species& s) {
    return rank++ >= safe && generation - s.improved >= rules.stagnation;
  });
}

inline constexpr double kMaxThreshold = 1e300;
// The threshold of species that is moved towards a number of them; 0: it stays.
double moved_threshold(double threshold, std::size_t species, std::int64_t wanted);

}  // namespace loom::evolve
