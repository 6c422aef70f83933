// Neuroevolution, a part of loom.hpp, which includes it.
#ifndef LOOM_POPULATION_HPP
#define LOOM_POPULATION_HPP

#include "loom.hpp"

namespace loom {
inline namespace api {

// Genomes whose nodes and edges evolve by NEAT, or whole networks: docs/reference/evolution.md.
class Population : public Object {
 public:
  using Object::Object;
  // spec: JSON. threads: that evaluate; 0: one per core.
  explicit Population(std::string_view spec, std::int64_t threads = 0)
      : Object(detail::made<Object>(loom_population_create, spec.data(), spec.size(), threads)) {}
  // Of whole networks, of which this is the first (spec: of level networks).
  Population(const Network& network, std::string_view spec, std::int64_t threads = 0)
      : Object(detail::made<Object>(loom_population_create_from, network.handle(), spec.data(),
                                    spec.size(), threads)) {}
  // Continues from what save() wrote, with the same bits.
  static Population load(const Bytes& file, std::int64_t threads = 0) {
    return detail::made<Population>(loom_population_load, file.handle(), threads);
  }
  Bytes save() const { return detail::made<Bytes>(loom_population_save, handle()); }

  // Fitness by the task of the spec; by the host; then the next generation.
  void evaluate() { check(loom_population_evaluate, handle()); }
  void set_fitness(std::span<const double> fitness) {
    check(loom_population_set_fitness, handle(), fitness.data(), fitness.size());
  }
  void step() { check(loom_population_step, handle()); }
  // Evaluates as many generations, fewer where the goal is reached.
  void run(std::int64_t generations) { check(loom_population_run, handle(), generations); }
  // From any thread: the run inside, or else the next one, throws Error{LOOM_CANCELLED}.
  void cancel() { check(loom_cancel, handle()); }

  // x: rows x inputs, y: rows x outputs. index: of a genome; -1: the champion. A recurrent genome
  // runs a tick a row and holds its values until reset().
  void activate(std::int64_t index, std::span<const float> x, std::span<float> y) {
    check(loom_population_activate, handle(), index, x.data(), x.size(), y.data(), y.size());
  }
  void reset() { check(loom_population_reset, handle()); }
  // JSON: docs/reference/c-api.md.
  std::string genome(std::int64_t index = -1) const {
    return detail::text(loom_population_genome, handle(), index);
  }
  // A copy of a member (-1: the champion); of a genome the network that answers as it does. Of
  // networks: the weights of a member after training.
  Network network(std::int64_t index = -1) const {
    return detail::made<Network>(loom_population_network, handle(), index);
  }
  void set_network(std::int64_t index, const Network& network) {
    check(loom_population_set_network, handle(), index, network.handle());
  }
  std::string info() const { return detail::text(loom_population_info, handle()); }
};

}  // namespace api
}  // namespace loom

#endif
