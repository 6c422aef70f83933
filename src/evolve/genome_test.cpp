// Genomes: chains of mutations stay valid, crossover and distance by hand, values against a direct
// computation.
#include "evolve/genome.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "base/math/exact_math.h"
#include "base/random.h"
#include "evolve/phenotype.h"

namespace loom::evolve {
namespace {

EvolutionSpec spec_of(const char* text) {
  const auto json = Json::parse(text);
  EXPECT_TRUE(json.ok());
  auto spec = spec_from_json(*json);
  EXPECT_TRUE(spec.ok()) << spec.status().to_string();
  return std::move(*spec);
}

EvolutionSpec lively(bool recurrent) {
  EvolutionSpec spec = spec_of(
      R"({"inputs": 3, "outputs": 2, "add_node": 0.5, "add_edge": 0.6, "toggle_edge": 0.3,
          "remove_edge": 0.2, "remove_node": 0.2, "change_activation": 0.3,
          "activations": ["sigmoid", "tanh", "relu", "gaussian", "sin", "abs", "linear"]})");
  spec.recurrent = recurrent;
  return spec;
}

// The values of all nodes by recursion, or of one tick from the values before.
float apply(GeneActivation a, float x) {
  switch (a) {
    case GeneActivation::linear: return x;
    case GeneActivation::sigmoid: return exact::sigmoid(x);
    case GeneActivation::steep_sigmoid: return exact::sigmoid(4.9f * x);
    case GeneActivation::tanh: return exact::tanh(x);
    case GeneActivation::relu: return x > 0 ? x : 0;
    case GeneActivation::gaussian: return exact::exp(-(x * x));
    case GeneActivation::sin: return exact::sin(x);
    case GeneActivation::abs: return x < 0 ? -x : x;
  }
  return 0;
}
using Values = std::map<std::uint32_t, float>;
float value_of(const Genome& g, std::uint32_t id, Values& known) {
  if (const auto at = known.find(id); at != known.end()) return at->second;
  const auto node = std::ranges::find(g.nodes, id, &NodeGene::id);
  float sum = node->bias;
  for (const EdgeGene& e : g.edges)
    if (e.enabled && e.to == id) sum += e.weight * value_of(g, e.from, known);
  return known[id] = apply(node->activation, sum);
}

class Chains : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Evolve, Chains, testing::Bool());

TEST_P(Chains, OfFiftyMutationsStayValidAndCompute) {
  const EvolutionSpec spec = lively(GetParam());
  const Shape shape{3, 2, GetParam()};
  Innovations innovations(shape);
  std::size_t hidden = 0;
  for (std::int64_t chain = 0; chain < 1000; ++chain) {
    Draws draws(7, 0, chain, Purpose::start);
    Genome genome = first_genome(shape, spec, innovations, draws);
    for (int i = 0; i < 50; ++i) mutate(genome, shape, spec, innovations, draws);
    const Status valid = check(genome, shape);
    ASSERT_TRUE(valid.ok()) << valid.to_string();
    ASSERT_TRUE(innovations.know(genome));
    hidden = std::max(hidden, genome.nodes.size() - 5);
    const float x[6] = {0.5f, -1, 2, 0, 1, 3};
    float y[4];
    Phenotype net(genome, shape);
    net.run(x, 3, y);
    for (const float v : y) ASSERT_TRUE(std::isfinite(v));
    if (shape.recurrent) continue;
    for (std::uint32_t row = 0; row < 2; ++row) {
      Values values;
      for (std::uint32_t k = 0; k < 3; ++k) values[k] = x[3 * row + k];
      for (std::uint32_t k = 0; k < 2; ++k)
        ASSERT_EQ(y[2 * row + k], value_of(genome, 3 + k, values)) << chain;
    }
  }
  EXPECT_GT(hidden, 10u);
}

TEST(Evolve, ChildrenOfMutatedParentsAreValid) {
  const EvolutionSpec spec = lively(false);
  const Shape shape{3, 2, false};
  Innovations innovations(shape);
  Draws draws(3, 0, 0, Purpose::start);
  std::vector<Genome> genomes;
  for (int i = 0; i < 40; ++i) {
    genomes.push_back(first_genome(shape, spec, innovations, draws));
    for (int k = 0; k < i; ++k) mutate(genomes.back(), shape, spec, innovations, draws);
  }
  for (const Genome& a : genomes)
    for (const Genome& b : genomes) {
      Genome child;
      crossover(a, b, spec, draws, child);
      ASSERT_TRUE(check(child, shape).ok());
      ASSERT_EQ(child.edges.size(), a.edges.size());
      const double far = distance(a, b, spec);
      ASSERT_EQ(far, distance(b, a, spec));
      for (const double threshold : {0.0, 0.5 * far, far, std::nextafter(far, 1e9), 2 * far})
        ASSERT_EQ(near(a, b, spec, threshold), far < threshold) << far << " " << threshold;
    }
}

TEST(Evolve, SigmoidsHaveTheBitsOfTheExactFunction) {
  const Shape shape{1, 1, false};
  for (const auto& [kind, factor] :
       {std::pair(GeneActivation::sigmoid, 1.0f), std::pair(GeneActivation::steep_sigmoid, 4.9f)}) {
    Phenotype net(Genome{{{0}, {1, kind, 0}}, {{0, 0, 1, 1, true}}}, shape);
    std::vector<float> x = {0, -0.0f, 64, -64, std::nextafter(64.0f, 65.0f), 1e30f, -1e30f, 1e-40f};
    for (float v = -140; v < 140; v += 0.0137f) x.push_back(v);
    std::vector<float> y(x.size());
    net.run(x, 1, y);
    for (std::size_t i = 0; i < x.size(); ++i)
      ASSERT_EQ(y[i], exact::sigmoid(factor * (x[i] + 0.0f))) << x[i];
  }
}

TEST(Evolve, NodesAreFoundByTheirNumbers) {
  // Beyond those of the table, and in the order of neither ids nor edges.
  const Shape shape{1, 1, false};
  const auto kind = GeneActivation::linear;
  const Genome genome{{{0}, {1, kind, 1}, {2, kind, 2}, {65537, kind, 3}, {4000000000u, kind, 4}},
                      {{0, 0, 4000000000u, 2, true},
                       {1, 4000000000u, 2, 3, true},
                       {2, 2, 65537, 5, true},
                       {3, 65537, 1, 7, true},
                       {4, 2, 1, 1, false}}};
  ASSERT_TRUE(check(genome, shape).ok());
  Phenotype net(genome, shape);
  const float x = 1;
  float y = 0;
  net.run({&x, 1}, 1, {&y, 1});
  EXPECT_EQ(y, 1 + 7 * (3 + 5 * (2 + 3 * (4 + 2.0f))));
}

TEST(Evolve, RecurrentGenomesComputeByTicks) {
  // An input, an output that adds its own value: a counter.
  const Shape shape{1, 1, true};
  const Genome genome{{{0}, {1, GeneActivation::linear, 0}},
                      {{0, 0, 1, 1, true}, {1, 1, 1, 1, true}}};
  ASSERT_TRUE(check(genome, shape).ok());
  Phenotype net(genome, shape);
  const float one = 1;
  float y = 0;
  for (int t = 1; t <= 5; ++t) {
    net.activate({&one, 1}, {&y, 1});
    EXPECT_EQ(y, static_cast<float>(t));
  }
  net.reset();
  net.activate({&one, 1}, {&y, 1});
  EXPECT_EQ(y, 1);
  net.run({&one, 1}, 4, {&y, 1});
  EXPECT_EQ(y, 4);
}

TEST(Evolve, ValuesStayFinite) {
  // A loop that multiplies by 1000 has a limit.
  const Shape shape{1, 1, true};
  const Genome genome{{{0}, {1, GeneActivation::linear, 0}},
                      {{0, 0, 1, 1000, true}, {1, 1, 1, 1000, true}}};
  Phenotype net(genome, shape);
  const float one = 1;
  float y = 0;
  net.run({&one, 1}, 1000, {&y, 1});
  EXPECT_EQ(y, 1e28f);
}

TEST(Evolve, DistanceOfThePaperByHand) {
  EvolutionSpec spec = spec_of(R"({"inputs": 1, "outputs": 1, "excess": 2, "disjoint": 3,
                                  "weight_difference": 0.5})");
  Genome a{{{0}, {1}, {2}, {3}}, {{0, 0, 1, 1, true}, {1, 0, 2, 1, true}, {4, 3, 1, 2, true}}};
  const Genome b{{{0}, {1}, {2}, {3}},
                 {{0, 0, 1, 3, true}, {2, 2, 1, 1, true}, {5, 2, 3, 1, true}, {6, 0, 3, 1, true}}};
  // Excess 5, 6; disjoint 1, 2, 4; one pair of weights that differ by 2.
  EXPECT_EQ(distance(a, b, spec), 2.0 * 2 + 3.0 * 3 + 0.5 * 2);
  spec.small_genome = 0;
  EXPECT_EQ(distance(a, b, spec), (2.0 * 2 + 3.0 * 3) / 4 + 0.5 * 2);
  EXPECT_EQ(distance(a, a, spec), 0);
}

TEST(Evolve, EqualStructureHasEqualNumbers) {
  const Shape shape{2, 1, false};
  Innovations innovations(shape);
  EXPECT_EQ(innovations.edge(0, 2), 0u);
  EXPECT_EQ(innovations.edge(1, 2), 1u);
  EXPECT_EQ(innovations.edge(0, 2), 0u);
  EXPECT_EQ(innovations.node(0, 0), 3u);
  EXPECT_EQ(innovations.node(1, 0), 4u);
  EXPECT_EQ(innovations.node(0, 0), 3u);
  EXPECT_EQ(innovations.node(0, 1), 5u);
  const auto again = Innovations::from_json(innovations.to_json(), shape);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->to_json().dump(), innovations.to_json().dump());
}

TEST(Evolve, BrokenGenomesAreRefused) {
  const Shape shape{1, 1, false};
  const std::string nodes = R"({"nodes": [{"id": 0}, {"id": 1}, {"id": 2}], "edges": [)";
  const auto refused = [&](const std::string& edges, const char* why) {
    const auto json = Json::parse(nodes + edges + "]}");
    ASSERT_TRUE(json.ok()) << edges;
    const auto genome = genome_from_json(*json, shape);
    ASSERT_FALSE(genome.ok()) << edges;
    EXPECT_NE(genome.status().message().find(why), std::string::npos)
        << genome.status().to_string();
  };
  refused(R"({"innovation": 0, "from": 0, "to": 9, "weight": 1})", "no node");
  refused(R"({"innovation": 0, "from": 2, "to": 0, "weight": 1})", "an input");
  refused(R"({"innovation": 0, "from": 1, "to": 2, "weight": 1})", "an output");
  refused(R"({"innovation": 0, "from": 2, "to": 2, "weight": 1})", "cycle");
  refused(R"({"innovation": 0, "from": 0, "to": 2, "weight": 1e9})", "weight");
  refused(R"({"innovation": -1, "from": 0, "to": 2, "weight": 1})", "innovation");
  refused(R"({"innovation": 0, "from": 0, "to": 2, "weight": "x"})", "weight");
  refused(R"(5)", "edges 0");
  refused(R"({"innovation": 0, "from": 0, "to": 2}, {"innovation": 1, "from": 0, "to": 2})",
          "two edges");
  refused(R"({"innovation": 1, "from": 0, "to": 2}, {"innovation": 1, "from": 0, "to": 1})",
          "ascend");
}

TEST(Evolve, DrawsAreThoseOfTheStream) {
  Draws draws(5, 0, 0, Purpose::start);
  const RandomStream stream(5, 0);
  for (std::uint64_t i = 0; i < 10; ++i) EXPECT_EQ(draws.uniform(), stream.uniform(i));
  std::set<float> first;
  for (int child = 0; child < 4; ++child)
    for (int generation = 0; generation < 4; ++generation)
      first.insert(Draws(5, generation, child, Purpose::mutate).uniform());
  EXPECT_EQ(first.size(), 16u);
}

}  // namespace
}  // namespace loom::evolve
