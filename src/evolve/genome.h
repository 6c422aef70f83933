// Genomes of NEAT (Stanley and Miikkulainen, "Evolving neural networks through augmenting
// topologies", Evolutionary Computation 10(2), 2002): networks whose nodes and edges are data.
// Every random choice is a draw of a counter-based generator, so that a child is a pure function of
// its parents and its key.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/files/sha256.h"
#include "base/json/json.h"
#include "base/status.h"
#include "evolve/spec.h"

namespace loom::evolve {

// What a stream of random numbers is for; a part of its key.
enum class Purpose : std::uint8_t { start, breed, mutate, represent, learn };

// Numbers of one stream, in order. A stream is keyed by (seed, generation, child, purpose).
class Draws {
 public:
  Draws(std::uint64_t seed, std::int64_t generation, std::int64_t child, Purpose purpose);
  // In [0, 1), a multiple of 2^-24.
  float uniform() { return static_cast<float>(bits() >> 8) * 0x1p-24f; }
  bool chance(double probability) { return uniform() < probability; }
  // In [0, bound), bound > 0.
  std::size_t below(std::size_t bound) {
    return static_cast<std::size_t>((std::uint64_t{bits()} * bound) >> 32);
  }
  // Uniform in [-range, range).
  float within(double range) { return static_cast<float>(range) * (2 * uniform() - 1); }

 private:
  std::uint32_t bits() {
    if (used_ == numbers_.size()) draw();
    return numbers_[used_++];
  }
  void draw();
  std::array<std::uint32_t, 2> key_;
  std::uint64_t stream_, block_ = 0;
  std::array<std::uint32_t, 8> numbers_;  // of two blocks
  unsigned used_ = 8;
};

struct NodeGene {
  std::uint32_t id = 0;  // inputs come first, then outputs, then hidden nodes
  GeneActivation activation = GeneActivation::linear;
  float bias = 0;  // the weight of an edge from a node that is always 1
};

struct EdgeGene {
  std::uint32_t innovation = 0;
  std::uint32_t from = 0, to = 0;
  float weight = 0;
  bool enabled = true;
};

// Nodes in order of their ids, edges in order of their innovation numbers. Two nodes have at most
// one edge in each direction. Without cycles, disabled edges included, unless `recurrent`.
struct Genome {
  std::vector<NodeGene> nodes;
  std::vector<EdgeGene> edges;

  std::size_t enabled_edges() const;
  // Of everything above, as 64 hexadecimal digits.
  std::string sha256() const;
};

struct Shape {
  std::uint32_t inputs = 0, outputs = 0;
  bool recurrent = false;
  std::uint32_t first_hidden() const { return inputs + outputs; }
  bool is_input(std::uint32_t id) const { return id < inputs; }
  bool is_output(std::uint32_t id) const { return id >= inputs && id < first_hidden(); }
};

// Numbers of structural innovations. Equal structure has one number during a whole run: an edge by
// its two nodes, a node by the edge that it splits and by how often the genome has split it before.
class Innovations {
 public:
  explicit Innovations(const Shape& shape) : next_node_(shape.first_hidden()) {}
  std::uint32_t edge(std::uint32_t from, std::uint32_t to);
  std::uint32_t node(std::uint32_t split_edge, std::uint32_t occurrence);
  std::uint32_t edges() const { return static_cast<std::uint32_t>(edge_list_.size()); }
  std::uint32_t next_node() const { return next_node_; }

  // Whether all numbers of a genome are of this list.
  bool know(const Genome& genome) const;

  // {"edges": [from, to, ...], "splits": [edge, occurrence, ...]}, in the order of the numbers.
  Json to_json() const;
  static Result<Innovations> from_json(const Json& json, const Shape& shape);

 private:
  std::unordered_map<std::uint64_t, std::uint32_t> edges_, splits_;
  std::vector<std::uint64_t> edge_list_, split_list_;
  std::uint32_t next_node_;
};

// A genome of the first generation.
Genome first_genome(const Shape& shape, const EvolutionSpec& spec, Innovations& innovations,
                    Draws& draws);
// Changes weights and structure. The genome stays valid.
void mutate(Genome& genome, const Shape& shape, const EvolutionSpec& spec, Innovations& innovations,
            Draws& draws);
// A child with the structure of `fitter`. Genes that both have are taken from either one. `child`
// is none of the parents; its memory is used again.
void crossover(const Genome& fitter, const Genome& other, const EvolutionSpec& spec, Draws& draws,
               Genome& child);
// The compatibility distance of the paper, c1 E/N + c2 D/N + c3 W. E and D count excess and
// disjoint edges. N counts the edges of the larger genome, and is 1 below `small_genome`. W is the
// mean difference of weights of edges, and biases of nodes, that both have. A node with another
// activation counts as a disjoint edge.
double distance(const Genome& a, const Genome& b, const EvolutionSpec& spec);
// Whether it is below `threshold`; does not count further than that takes.
bool near(const Genome& a, const Genome& b, const EvolutionSpec& spec, double threshold);

// Errors: corrupt, with the gene that breaks a rule.
Status check(const Genome& genome, const Shape& shape);

Json to_json(const Genome& genome, const Shape& shape);
// Errors: corrupt or invalid_argument, by the key; checked as by check().
Result<Genome> genome_from_json(const Json& json, const Shape& shape);

}  // namespace loom::evolve
