#include "evolve/population.h"

#include <algorithm>
#include <cmath>

#include "base/math/fp_env.h"

namespace loom::evolve {
namespace {

Shape shape_of(const EvolutionSpec& spec) {
  return {static_cast<std::uint32_t>(spec.inputs), static_cast<std::uint32_t>(spec.outputs),
          spec.recurrent};
}

std::uint64_t seed_of(const EvolutionSpec& spec) { return static_cast<std::uint64_t>(spec.seed); }

// Distributes `total` by these shares: each its floor, then one more for the largest remainders.
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

struct Evaluation {
  const std::vector<Genome>& genomes;
  const EvolutionSpec& spec;
  const Shape& shape;
  const std::atomic<bool>* cancel;
  std::vector<double> fitness;
  std::atomic<std::size_t> next{0};

  static Status work(void* context, int, int) {
    auto& e = *static_cast<Evaluation*>(context);
    const FpEnvGuard guard;
    Phenotype net(e.shape);
    for (std::size_t i; (i = e.next.fetch_add(1)) < e.genomes.size();) {
      if (e.cancel && e.cancel->load()) return {Code::cancelled, "evaluation was cancelled"};
      net.build(e.genomes[i]);
      e.fitness[i] = task_fitness(net, e.spec);
    }
    return {};
  }
};

}  // namespace

Population Population::create(EvolutionSpec spec) {
  const FpEnvGuard guard;
  const Shape shape = shape_of(spec);
  Population made(std::move(spec), shape);
  made.threshold_ = made.spec_.threshold;
  for (std::int64_t i = 0; i < made.spec_.population; ++i) {
    Draws draws(seed_of(made.spec_), 0, i, Purpose::start);
    made.genomes_.push_back(first_genome(shape, made.spec_, made.innovations_, draws));
  }
  made.speciate(0);
  return made;
}

Status Population::evaluate(ThreadPool& pool, const std::atomic<bool>* cancel) {
  if (evaluated()) return {};
  if (spec_.kind == Task::host)
    return {Code::invalid_argument, "task host: the caller sets the fitness"};
  Evaluation e{genomes_, spec_, shape_, cancel, std::vector<double>(genomes_.size()), {}};
  LOOM_TRY(pool.run_allocating(Evaluation::work, &e));
  return set_fitness(e.fitness);
}

Status Population::set_fitness(std::span<const double> values) {
  if (values.size() != genomes_.size())
    return {Code::invalid_argument, "fitness: " + std::to_string(values.size()) + " values for " +
                                        std::to_string(genomes_.size()) + " genomes"};
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!(std::abs(values[i]) <= 1e300))
      return {Code::invalid_argument,
              "fitness " + std::to_string(i) + ": must be a number within +-1e300"};
  if (!evaluated()) evaluations_ += static_cast<std::int64_t>(values.size());
  fitness_.assign(values.begin(), values.end());
  take_champion();
  for (Species& s : species_) {
    double best = fitness_[s.members[0]];
    for (const std::uint32_t m : s.members) best = std::max(best, fitness_[m]);
    if (s.born == generation_ || best > s.best) {
      s.best = best;
      s.improved = generation_;
    }
  }
  return {};
}

void Population::take_champion() {
  const auto best = std::ranges::max_element(fitness_);
  if (champion_ && *best <= champion_fitness_) return;
  champion_ = genomes_[static_cast<std::size_t>(best - fitness_.begin())];
  champion_fitness_ = *best;
}

// Species in order of their best fitness, best first; those without progress leave.
void Population::drop_stagnant() {
  for (std::size_t i = 1; i < species_.size(); ++i)
    for (std::size_t k = i; k > 0 && species_[k].best > species_[k - 1].best; --k)
      std::swap(species_[k], species_[k - 1]);
  const std::size_t safe =
      std::max<std::size_t>(static_cast<std::size_t>(spec_.protected_species), 1);
  std::size_t rank = 0;
  std::erase_if(species_, [&](const Species& s) {
    return rank++ >= safe && generation_ - s.improved >= spec_.stagnation;
  });
}

// Children of each species, by its mean fitness above the worst of the population.
std::vector<std::int64_t> Population::shares() const {
  const auto [low, high] = std::ranges::minmax(fitness_);
  // Halves, so that no difference overflows.
  const double range = high / 2 - low / 2;
  std::vector<double> means;
  for (const Species& s : species_) {
    double sum = 0;
    for (const std::uint32_t m : s.members)
      sum += range > 0 ? (fitness_[m] / 2 - low / 2) / range : 1.0;
    means.push_back(sum / static_cast<double>(s.members.size()));
  }
  if (std::ranges::max(means) <= 0) std::ranges::fill(means, 1.0);
  return distribute(means, spec_.population);
}

void Population::breed(const std::vector<std::int64_t>& counts) {
  next_.resize(genomes_.size());
  std::size_t made = 0;
  for (Species& s : species_)
    std::ranges::sort(s.members, [this](std::uint32_t a, std::uint32_t b) {
      return fitness_[a] != fitness_[b] ? fitness_[a] > fitness_[b] : a < b;
    });
  const auto parents = [this](const Species& s) {
    const auto size = static_cast<double>(s.members.size());
    return std::max<std::size_t>(static_cast<std::size_t>(std::ceil(spec_.survival * size)), 1);
  };
  for (std::size_t k = 0; k < species_.size(); ++k) {
    const Species& s = species_[k];
    const auto size = static_cast<std::int64_t>(s.members.size());
    const std::int64_t elites = size >= spec_.elite_size ? std::min(spec_.elites, size) : 0;
    for (std::int64_t i = 0; i < counts[k]; ++i) {
      if (i < elites) {
        next_[made++] = genomes_[s.members[static_cast<std::size_t>(i)]];
        continue;
      }
      const auto child = static_cast<std::int64_t>(made);
      Draws draws(seed_of(spec_), generation_ + 1, child, Purpose::breed);
      std::uint32_t a = s.members[draws.below(parents(s))];
      if (draws.chance(spec_.mutate_only)) {
        next_[made] = genomes_[a];
      } else {
        const Species& other =
            draws.chance(spec_.interspecies) ? species_[draws.below(species_.size())] : s;
        std::uint32_t b = other.members[draws.below(parents(other))];
        // Equal ones: the smaller, as in the paper's program.
        const auto rank = [this](std::uint32_t g) {
          return std::pair(-fitness_[g], genomes_[g].edges.size());
        };
        if (rank(b) < rank(a)) std::swap(a, b);
        crossover(genomes_[a], genomes_[b], spec_, draws, next_[made]);
      }
      Draws mutation(seed_of(spec_), generation_ + 1, child, Purpose::mutate);
      mutate(next_[made++], shape_, spec_, innovations_, mutation);
    }
  }
  genomes_.swap(next_);
}

Status Population::step() {
  if (!evaluated())
    return {Code::invalid_argument, "generation " + std::to_string(generation_) +
                                        ": needs fitness before the next one is bred"};
  if (generation_ >= (std::int64_t{1} << 35))
    return {Code::out_of_range, "more than 2^35 generations"};
  const FpEnvGuard guard;
  drop_stagnant();
  const std::vector<std::int64_t> counts = shares();
  for (Species& s : species_) {
    Draws draws(seed_of(spec_), generation_ + 1, s.id & 0xFFFFFF, Purpose::represent);
    s.representative = genomes_[s.members[draws.below(s.members.size())]];
  }
  breed(counts);
  ++generation_;
  fitness_.clear();
  speciate(generation_);
  return {};
}

// Each genome joins the first species that it is near to, or founds one.
void Population::speciate(std::int64_t generation) {
  for (Species& s : species_) s.members.clear();
  for (std::size_t i = 0; i < genomes_.size(); ++i) {
    const auto near = std::ranges::find_if(species_, [&](const Species& s) {
      return distance(genomes_[i], s.representative, spec_) < threshold_;
    });
    if (near != species_.end()) near->members.push_back(static_cast<std::uint32_t>(i));
    else
      species_.push_back({next_species_++,
                          generation,
                          generation,
                          0,
                          genomes_[i],
                          {static_cast<std::uint32_t>(i)}});
  }
  std::erase_if(species_, [](const Species& s) { return s.members.empty(); });
  if (spec_.species == 0) return;
  const auto count = static_cast<std::int64_t>(species_.size());
  if (count > spec_.species) threshold_ *= 1.1;
  else if (count < spec_.species) threshold_ /= 1.1;
}

Status Population::run(std::int64_t generations, ThreadPool& pool, Progress progress, void* context,
                       const std::atomic<bool>* cancel) {
  for (std::int64_t i = 0; i < generations; ++i) {
    if (evaluated()) {
      if (spec_.goal && champion_fitness_ >= *spec_.goal) return {};
      LOOM_TRY(step());
    }
    LOOM_TRY(evaluate(pool, cancel));
    if (progress && !progress(context, stats())) return {Code::cancelled, "the run was cancelled"};
  }
  return {};
}

GenerationStats Population::stats() const {
  GenerationStats s;
  s.generation = generation_;
  s.evaluations = evaluations_;
  for (const Species& one : species_)
    s.species.push_back({one.id, static_cast<std::int64_t>(one.members.size())});
  if (!evaluated()) return s;
  const auto [worst, best] = std::ranges::minmax(fitness_);
  s.best = best;
  s.worst = worst;
  for (const double f : fitness_) s.mean += f / static_cast<double>(fitness_.size());
  s.champion_fitness = champion_fitness_;
  s.champion_nodes = static_cast<std::int64_t>(champion_->nodes.size());
  s.champion_edges = static_cast<std::int64_t>(champion_->enabled_edges());
  s.reached = spec_.goal && champion_fitness_ >= *spec_.goal;
  return s;
}

}  // namespace loom::evolve
