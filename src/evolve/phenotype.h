// Genomes as flat arrays that compute. Values are f32; each node sums from its bias over its edges
// in order of their innovation numbers, then applies its activation (base/math/exact_math.h): the
// same bits on every target.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "evolve/genome.h"

namespace loom::evolve {

// Only what leads to an output. A genome without cycles computes its nodes in topological order.
// A recurrent one computes all nodes at once from the values of the tick before.
class Phenotype {
 public:
  explicit Phenotype(const Shape& shape) : shape_(shape), inputs_(shape.inputs) {}
  Phenotype(const Genome& genome, const Shape& shape) : Phenotype(shape) { build(genome); }
  // Becomes another genome; memory is used again.
  void build(const Genome& genome);

  std::size_t inputs() const { return inputs_; }
  std::size_t outputs() const { return output_slots_.size(); }

  // Rows are independent; a recurrent genome runs each for `ticks` ticks from values of 0.
  // x: rows x inputs, y: rows x outputs.
  void run(std::span<const float> x, std::int64_t ticks, std::span<float> y);
  // One row; a recurrent genome runs one tick and holds its values until reset().
  void activate(std::span<const float> x, std::span<float> y);
  void reset();

 private:
  struct Node {
    std::uint32_t end;  // of its edges
    GeneActivation activation;
    float bias;
  };
  struct Edge {
    std::uint32_t slot;
    float weight;
  };
  // The order of nodes, made by build().
  struct Order {
    void make(const Genome& genome, const Shape& shape);
    void find_places(const Genome& genome);
    std::uint32_t index(const Genome& genome, std::uint32_t id) const;
    void add(std::uint32_t root);

    std::uint32_t first_hidden = 0, used = 0;  // slots in use
    std::vector<std::uint32_t> places;         // of hidden nodes by id, those with small ids
    std::vector<std::uint32_t> to;             // of each enabled edge, as an index of nodes
    std::vector<std::uint32_t> begin;          // edges into each node
    std::vector<Edge> edges;                   // their slots are indexes of nodes
    std::vector<std::uint32_t> slot, nodes;    // of each node; nodes in their order
    std::vector<std::pair<std::uint32_t, std::uint32_t>> stack;
  };
  void pass(const float* in, float* out) const;
  void load(std::span<const float> x, std::size_t rows, float* values) const;
  void store(const float* values, std::size_t rows, std::span<float> y) const;

  Shape shape_;
  std::size_t inputs_;
  Order order_;
  std::vector<Node> nodes_;  // of the slots behind the inputs
  std::vector<Edge> edges_;
  std::vector<std::uint32_t> output_slots_;
  std::vector<float> values_, next_;  // slots x lanes
};

}  // namespace loom::evolve
