// A population of genomes that evolves by NEAT: species that share fitness, innovation numbers,
// elites, stagnation. A population is a pure function of its spec and of the fitness that a host
// sets; threads only evaluate.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/threads/thread_pool.h"
#include "evolve/genome.h"
#include "evolve/phenotype.h"
#include "evolve/selection.h"

namespace loom::evolve {

struct Species : Kin {
  Genome representative;
};

struct SpeciesSize {
  std::int64_t id = 0, size = 0;
};

// Of one generation, evaluated.
struct GenerationStats {
  std::int64_t generation = 0;   // from 0
  std::int64_t evaluations = 0;  // of genomes, until now
  double best = 0, mean = 0, worst = 0;
  double champion_fitness = 0;  // the best ever
  std::int64_t champion_nodes = 0, champion_edges = 0;
  bool reached = false;  // the goal
  std::vector<SpeciesSize> species;
};

class Population {
 public:
  // The first generation.
  static Population create(EvolutionSpec spec);

  const EvolutionSpec& spec() const { return spec_; }
  const Shape& shape() const { return shape_; }
  std::int64_t generation() const { return generation_; }
  const std::vector<Genome>& genomes() const { return genomes_; }
  const std::vector<Species>& species() const { return species_; }
  bool evaluated() const { return !fitness_.empty(); }
  std::span<const double> fitness() const { return fitness_; }
  // None before the first evaluation.
  const std::optional<Genome>& champion() const { return champion_; }
  double champion_fitness() const { return champion_fitness_; }

  // Fitness of every genome by the task; refused for task `host`. Nothing is done where the
  // generation has its fitness. `cancel`: ends as cancelled, and the generation stays without
  // fitness.
  Status evaluate(ThreadPool& pool, const std::atomic<bool>* cancel = nullptr);
  // The same by values of a host, finite and one for each genome. May be called again.
  Status set_fitness(std::span<const double> values);
  // Breeds the next generation. Needs fitness.
  Status step();
  // Evaluates and breeds until the goal is reached or `generations` more are evaluated; the last
  // one keeps its fitness. The run ends as cancelled where `progress` returns false.
  using Progress = bool (*)(void* context, const GenerationStats& stats);
  Status run(std::int64_t generations, ThreadPool& pool, Progress progress, void* context,
             const std::atomic<bool>* cancel = nullptr);
  GenerationStats stats() const;

  // A JSON text with its own SHA-256. What is loaded continues with the same bits.
  std::string save() const;
  // Errors: corrupt, unsupported (another version), invalid_argument, by what is wrong.
  static Result<Population> load(std::string_view text);

 private:
  Population(EvolutionSpec spec, Shape shape)
      : spec_(std::move(spec)), shape_(shape), innovations_(shape) {}
  void breed();
  void speciate(std::int64_t generation);
  void take_champion();
  Status read_state(const Json& state);

  EvolutionSpec spec_;
  Shape shape_;
  Innovations innovations_;
  std::int64_t generation_ = 0, evaluations_ = 0, next_species_ = 0;
  double threshold_ = 0;
  std::vector<Genome> genomes_, next_;  // the memory of the next generation stays
  std::vector<Species> species_;
  std::vector<double> fitness_;
  std::vector<Phenotype> nets_;  // that evaluate; their memory stays
  std::optional<Genome> champion_;
  double champion_fitness_ = 0;
};

// Fitness of a genome by a built-in task or a table.
double task_fitness(Phenotype& net, const EvolutionSpec& spec);

}  // namespace loom::evolve
