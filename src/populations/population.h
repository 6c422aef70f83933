// A population of whole networks: mutation, crossing and grafting of topologies with their weights,
// species by likeness, and limits that members must keep to. A population is a pure function of its
// spec, its first network and the fitness that a host sets, except for milliseconds that are
// measured; threads only evaluate. Members own their weights.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/threads/thread_pool.h"
#include "breed/mutate.h"
#include "evolve/population.h"
#include "populations/spec.h"

namespace loom::populations {

struct Member {
  std::shared_ptr<Network> network;  // of this member alone
  std::shared_ptr<Network> trained;  // what was scored, until the generation has its champion
  double fitness = 0;
  std::int64_t bytes = 0;
  double milliseconds = 0;  // 0: nobody asked for it
  double violation = 0;     // of limits: the sum of what is over, each as a share; 0: feasible
  std::string failed;       // why it could not be trained or timed; its fitness is the lowest
  std::string note;         // the mutations that made it, for people
};

struct NetworkSpecies : evolve::Kin {
  std::shared_ptr<Network> representative;
};

// What a member is, for reports.
struct MemberSize {
  std::int64_t layers = 0, parameters = 0;
};
MemberSize size_of(Network& network);
// Of topology and all values.
std::string digest_of(Network& network);

// How unlike two networks are, 0 to 1: (1 - w) of layers without a partner of their type and shape,
// in the order of execution, plus w of how far the weights of partners point apart.
double distance(Network& a, Network& b, double weight_difference);

class NetworkPopulation {
 public:
  // The first generation: the seed network itself, then its mutants. `seed`: null: the spec's
  // topology, with random weights, other ones for each member.
  static Result<NetworkPopulation> create(SearchSpec spec, Network* seed = nullptr);

  const SearchSpec& spec() const { return spec_; }
  std::int64_t generation() const { return generation_; }
  std::int64_t evaluations() const { return evaluations_; }
  bool evaluated() const { return evaluated_; }
  const std::vector<Member>& members() const { return members_; }
  const std::vector<NetworkSpecies>& species() const { return species_; }
  // None before the first evaluation. It may be infeasible while no member was feasible.
  const std::optional<Member>& champion() const { return champion_; }
  bool reached() const;

  // Fitness of every member by the task; refused for task `host`.
  Status evaluate(ThreadPool& pool, const std::atomic<bool>* cancel = nullptr);
  // By values of a host, finite and one for each member; bytes and milliseconds are taken here.
  Status set_fitness(std::span<const double> values);
  // Weights of a member after a host has trained it. Errors: invalid_argument for another topology.
  Status set_network(std::size_t index, Network& trained);
  // Breeds the next generation. Needs fitness.
  Status step();
  // As evolve::Population::run.
  Status run(std::int64_t generations, ThreadPool& pool, const std::atomic<bool>* cancel = nullptr);

  // A JSON text with its own SHA-256. What is loaded continues with the same bits.
  Result<std::string> save() const;
  static Result<NetworkPopulation> load(std::string_view text);

 private:
  explicit NetworkPopulation(SearchSpec spec) : spec_(std::move(spec)) {}
  Result<Network> first_member(std::int64_t index, Network* seed);
  Result<Member> child_of(evolve::Birth& birth, std::int64_t index);
  void speciate(std::int64_t generation);
  Status measure();
  Status finish_fitness();
  std::vector<double> keys() const;
  Status read_state(const Json& state);

  SearchSpec spec_;
  std::int64_t generation_ = 0, evaluations_ = 0, next_species_ = 0;
  double threshold_ = 0;
  bool evaluated_ = false;
  std::vector<Member> members_;
  std::vector<NetworkSpecies> species_;
  std::optional<Member> champion_;
};

// Whether a text is a file of such a population.
bool is_network_population(std::string_view text);

// Trains a member as the spec says and scores it on the held-out rows. `key` names its numbers.
// Errors that the member is to blame for come back in `failed`.
Result<double> train_and_score(Network& network, const SearchSpec& spec, std::int64_t generation,
                               std::int64_t index, const std::atomic<bool>* cancel,
                               std::string& failed);

}  // namespace loom::populations
