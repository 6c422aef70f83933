// Genomes as networks: the bits of the population's evaluation, files, learning, refusals.
#include "populations/genome_network.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <map>

#include "base/math/exact_math.h"
#include "base/math/fp_env.h"
#include "evolve/phenotype.h"
#include "evolve/population.h"
#include "exec/session.h"
#include "train/learner/learner.h"

namespace loom::populations {
namespace {

using evolve::EvolutionSpec;
using evolve::Genome;

EvolutionSpec spec_of(const std::string& text) {
  auto spec = evolve::spec_from_json(*Json::parse(text));
  EXPECT_TRUE(spec.ok()) << spec.status().to_string();
  return std::move(*spec);
}

std::vector<float> by_session(Network& network, const std::vector<float>& x, std::int64_t rows) {
  ThreadPool pool(1);
  SessionOptions options;
  options.max_rows = rows;
  options.whole_sequences = true;
  auto session = Session::create(network, pool, options);
  EXPECT_TRUE(session.ok()) << session.status().to_string();
  const auto run = session->run(x, rows);
  EXPECT_TRUE(run.ok()) << run.status().to_string();
  std::vector<float> y;
  for (std::int64_t r = 0; r < rows; ++r)
    for (const float v : session->output(r)) y.push_back(v);
  return y;
}

// Genomes of all activations, with removed nodes and disabled edges.
std::string lively(bool recurrent, const char* task) {
  return std::string(R"({"inputs": 3, "outputs": 2, "population": 60, "seed": 9, "ticks": 4,
    "add_node": 0.4, "add_edge": 0.5, "remove_node": 0.1, "toggle_edge": 0.2,
    "change_activation": 0.3, "recurrent": )") +
         (recurrent ? "true" : "false") +
         R"(, "activations": ["linear", "sigmoid", "steep_sigmoid", "tanh", "relu", "gaussian",
         "sin", "abs"], "task": ")" +
         task + "\"" +
         (std::string_view(task) == "table"
              ? R"(, "data": {"x": [[1, 2, 3], [0, 0, 1]], "y": [[1, 0], [0, 1]]})"
              : "") +
         "}";
}

// A genome computed node by node, where what an instruction stores below 2^-40 becomes 0 (numerics,
// rule 8).
struct ByHand {
  const Genome& genome;
  bool lost = false;  // such a number was there

  float stored(float x) {
    lost |= x != 0 && std::abs(x) < 0x1p-40f;
    return std::abs(x) < 0x1p-40f ? 0.0f : x;
  }
  float activated(evolve::GeneActivation kind, float x) {
    using A = evolve::GeneActivation;
    const auto limited = [](float v) { return std::min(std::max(v, -1e28f), 1e28f); };
    switch (kind) {
      case A::linear: return limited(x);
      case A::sigmoid: return stored(exact::sigmoid(x));
      case A::steep_sigmoid: return stored(exact::sigmoid(stored(4.9f * x)));
      case A::tanh: return stored(exact::tanh(x));
      case A::relu: return limited(x > 0 ? x : 0.0f);
      case A::gaussian: return stored(exact::exp(-stored(x * x)));
      case A::sin: return stored(exact::sin(x));
      case A::abs: return limited(std::abs(x));
    }
    return 0;
  }
  using Values = std::map<std::uint32_t, float>;
  // `read` has what the edges come from; null: later nodes are computed first.
  float value(std::uint32_t id, Values& values, const Values* read) {
    if (!read && values.contains(id)) return values[id];
    const auto node = std::ranges::find(genome.nodes, id, &evolve::NodeGene::id);
    float sum = stored(node->bias);
    for (const evolve::EdgeGene& edge : genome.edges) {
      if (!edge.enabled || edge.to != id) continue;
      const float from = read ? read->at(edge.from) : value(edge.from, values, nullptr);
      sum = stored(sum + stored(stored(edge.weight) * from));
    }
    return values[id] = activated(node->activation, sum);
  }
  std::vector<float> outputs(std::span<const float> x, const evolve::Shape& shape,
                             std::int64_t ticks) {
    Values values;
    for (const evolve::NodeGene& node : genome.nodes)
      if (node.id < shape.inputs) values[node.id] = stored(x[node.id]);
      else if (shape.recurrent) values[node.id] = 0;
    for (std::int64_t t = 0; shape.recurrent && t < ticks; ++t) {
      const Values read = values;
      for (const evolve::NodeGene& node : genome.nodes)
        if (node.id >= shape.inputs) value(node.id, values, &read);
    }
    std::vector<float> y;
    for (std::uint32_t id = shape.inputs; id < shape.first_hidden(); ++id)
      y.push_back(shape.recurrent ? values[id] : value(id, values, nullptr));
    return y;
  }
};

class GenomeNetworks : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Populations, GenomeNetworks, testing::Bool());

TEST_P(GenomeNetworks, AnswerWithTheBitsOfThePopulation) {
  auto population = evolve::Population::create(spec_of(lively(GetParam(), "table")));
  ThreadPool pool(1);
  ASSERT_TRUE(population.run(25, pool, nullptr, nullptr).ok());
  const evolve::Shape& shape = population.shape();
  const FpEnvGuard guard;
  std::vector<float> x;
  for (int i = 0; i < 21; ++i) x.push_back(3 * exact::sin(static_cast<float>(i * i)));
  std::size_t edges = 0, same = 0, tiny = 0;
  for (const Genome& genome : population.genomes()) {
    edges = std::max(edges, genome.enabled_edges());
    auto network = network_of(genome, shape, population.spec());
    ASSERT_TRUE(network.ok()) << network.status().to_string();
    const std::vector<float> got = by_session(*network, x, 7);
    evolve::Phenotype net(genome, shape);
    std::vector<float> evaluated(14);
    net.run(x, population.spec().ticks, evaluated);
    for (std::size_t row = 0; row < 7; ++row) {
      ByHand by_hand{genome};
      const auto want =
          by_hand.outputs(std::span(x).subspan(3 * row, 3), shape, population.spec().ticks);
      for (std::size_t k = 0; k < 2; ++k) {
        const auto bits = std::bit_cast<std::uint32_t>(got[2 * row + k]);
        ASSERT_EQ(bits, std::bit_cast<std::uint32_t>(want[k]))
            << got[2 * row + k] << " for " << want[k] << ": "
            << evolve::to_json(genome, shape).dump();
        if (!by_hand.lost) {
          ASSERT_EQ(bits, std::bit_cast<std::uint32_t>(evaluated[2 * row + k]));
        }
        ++(by_hand.lost ? tiny : same);
      }
    }
  }
  EXPECT_GT(edges, 12u);
  EXPECT_GT(same, 200u);
  EXPECT_GT(tiny, 0u);
}

TEST(GenomeNetwork, LearnsOnWhereEvolutionEnded) {
  EvolutionSpec spec = spec_of(R"({"task": "xor"})");
  const evolve::Shape shape{2, 1, false};
  auto population = evolve::Population::create(spec);
  ThreadPool pool(1);
  ASSERT_TRUE(population.run(300, pool, nullptr, nullptr).ok());
  ASSERT_TRUE(population.stats().reached);
  auto network = network_of(*population.champion(), shape, spec);
  ASSERT_TRUE(network.ok()) << network.status().to_string();
  const std::vector<float> x = {0, 0, 0, 1, 1, 0, 1, 1}, y = {0, 1, 1, 0};
  std::vector<float> evaluated(4);
  evolve::Phenotype(*population.champion(), shape).run(x, 1, evaluated);
  EXPECT_EQ(by_session(*network, x, 4), evaluated);
  LearnerOptions options;
  options.loss = Loss::mse;
  options.max_rows = 4;
  auto learner = Learner::create(*network, pool, options);
  ASSERT_TRUE(learner.ok()) << learner.status().to_string();
  double first = 0, last = 0;
  for (int step = 1; step <= 200; ++step) {
    ASSERT_TRUE(learner->batch(x, y).ok());
    ASSERT_TRUE(learner->accumulate().ok());
    last = learner->loss_sum() / learner->weight();
    if (step == 1) first = last;
    ASSERT_TRUE(learner->update(0.02, learner->weight(), step).ok());
  }
  EXPECT_NEAR(first, (4 - population.champion_fitness()) / 4, 1e-6);
  EXPECT_LT(last, 0.1 * first);
}

TEST(GenomeNetwork, WithoutEdgesOrWithDeepChains) {
  const EvolutionSpec spec = spec_of(R"({"inputs": 1, "outputs": 1, "task": "host"})");
  const evolve::Shape shape{1, 1, false};
  const auto kind = evolve::GeneActivation::linear;
  Genome genome{{{0}, {1, kind, 0.5f}}, {}};
  auto alone = network_of(genome, shape, spec);
  ASSERT_TRUE(alone.ok()) << alone.status().to_string();
  EXPECT_EQ(by_session(*alone, {7, 8}, 2), (std::vector<float>{0.5f, 0.5f}));
  // 0 -> 2 -> 3 -> ... -> 1; node 1000 leads nowhere.
  genome.edges.push_back({0, 0, 2, 1, true});
  for (std::uint32_t id = 2; id < 500; ++id) {
    genome.nodes.push_back({id, kind, 1});
    genome.edges.push_back({id, id, id == 499 ? 1 : id + 1, 1, true});
  }
  genome.nodes.push_back({1000, kind, 3});
  genome.edges.push_back({1000, 0, 1000, 1, true});
  ASSERT_TRUE(evolve::check(genome, shape).ok());
  auto deep = network_of(genome, shape, spec);
  ASSERT_TRUE(deep.ok()) << deep.status().to_string();
  EXPECT_EQ(by_session(*deep, {2}, 1), (std::vector<float>{500.5f}));
}

TEST(GenomeNetwork, RecurrentOnesThatHoldValuesAreRefused) {
  const EvolutionSpec spec = spec_of(lively(true, "host"));
  const auto population = evolve::Population::create(spec);
  const auto network = network_of(population.genomes()[0], population.shape(), spec);
  ASSERT_FALSE(network.ok());
  EXPECT_EQ(network.status().code(), Code::unsupported);
  EXPECT_NE(network.status().message().find("from row to row"), std::string::npos);
}

}  // namespace
}  // namespace loom::populations
