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

SelectionRules rules_of(const EvolutionSpec& s) {
  return {s.population, seed_of(s),   s.mutate_only, s.interspecies,     s.survival,
          s.elites,     s.elite_size, s.stagnation,  s.protected_species};
}

struct Evaluation {
  const std::vector<Genome>& genomes;
  const EvolutionSpec& spec;
  const std::atomic<bool>* cancel;
  std::vector<Phenotype>& nets;  // one for each worker
  std::vector<double> fitness;
  std::atomic<std::size_t> next{0};

  static Status work(void* context, int worker, int) {
    auto& e = *static_cast<Evaluation*>(context);
    const FpEnvGuard guard;
    Phenotype& net = e.nets[static_cast<std::size_t>(worker)];
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
  const auto workers = static_cast<std::size_t>(pool.size());
  while (nets_.size() < workers) nets_.emplace_back(shape_);
  Evaluation e{genomes_, spec_, cancel, nets_, std::vector<double>(genomes_.size()), {}};
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
  for (Species& s : species_) note_progress(s, fitness_, generation_);
  return {};
}

void Population::take_champion() {
  const auto best = std::ranges::max_element(fitness_);
  if (champion_ && *best <= champion_fitness_) return;
  champion_ = genomes_[static_cast<std::size_t>(best - fitness_.begin())];
  champion_fitness_ = *best;
}

void Population::breed() {
  std::vector<Kin*> kin;
  std::vector<const Kin*> same;
  for (Species& s : species_) kin.push_back(&s), same.push_back(&s);
  std::vector<std::size_t> sizes;
  for (const Genome& genome : genomes_) sizes.push_back(genome.edges.size());
  const SelectionRules rules = rules_of(spec_);
  std::vector<Birth> children = births(kin, children_of(same, fitness_, spec_.population), fitness_,
                                       sizes, rules, generation_);
  next_.resize(genomes_.size());
  for (std::size_t i = 0; i < children.size(); ++i) {
    Birth& birth = children[i];
    if (birth.crossed)
      crossover(genomes_[birth.a], genomes_[birth.b], spec_, birth.draws, next_[i]);
    else next_[i] = genomes_[birth.a];
    if (birth.elite) continue;
    Draws mutation(rules.seed, generation_ + 1, static_cast<std::int64_t>(i), Purpose::mutate);
    mutate(next_[i], shape_, spec_, innovations_, mutation);
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
  drop_stagnant(species_, rules_of(spec_), generation_);
  for (Species& s : species_) {
    Draws draws(seed_of(spec_), generation_ + 1, s.id & 0xFFFFFF, Purpose::represent);
    s.representative = genomes_[s.members[draws.below(s.members.size())]];
  }
  breed();
  ++generation_;
  fitness_.clear();
  speciate(generation_);
  return {};
}

// Each genome joins the first species that it is near to, or founds one.
void Population::speciate(std::int64_t generation) {
  for (Species& s : species_) s.members.clear();
  for (std::size_t i = 0; i < genomes_.size(); ++i) {
    const auto home = std::ranges::find_if(species_, [&](const Species& s) {
      return near(genomes_[i], s.representative, spec_, threshold_);
    });
    if (home != species_.end()) home->members.push_back(static_cast<std::uint32_t>(i));
    else
      species_.push_back(
          {{next_species_++, generation, generation, 0, {static_cast<std::uint32_t>(i)}},
           genomes_[i]});
  }
  std::erase_if(species_, [](const Species& s) { return s.members.empty(); });
  threshold_ = moved_threshold(threshold_, species_.size(), spec_.species);
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
