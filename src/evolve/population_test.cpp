// Populations: the built-in tasks from many seeds, equal bits for any number of threads, files.
#include "evolve/population.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace loom::evolve {
namespace {

Population population_of(std::string_view text, std::int64_t seed = 1) {
  auto json = Json::parse(text);
  EXPECT_TRUE(json.ok());
  json->set("seed", seed);
  auto spec = spec_from_json(*json);
  EXPECT_TRUE(spec.ok()) << spec.status().to_string();
  return Population::create(std::move(*spec));
}

void expect_ok(const Status& status) { EXPECT_TRUE(status.ok()) << status.to_string(); }

TEST(Population, SolvesXorFromHundredSeeds) {
  ThreadPool pool(1);
  std::vector<std::int64_t> generations;
  for (std::int64_t seed = 1; seed <= 100; ++seed) {
    Population p = population_of(R"({"task": "xor"})", seed);
    expect_ok(p.run(500, pool, nullptr, nullptr));
    ASSERT_GE(p.champion_fitness(), 3.9) << "seed " << seed;
    expect_ok(check(*p.champion(), p.shape()));
    generations.push_back(p.generation());
  }
  std::ranges::sort(generations);
  EXPECT_LE(generations[50], 40);
}

TEST(Population, BalancesPolesFromTwentySeeds) {
  ThreadPool pool(2);
  for (const char* task : {R"({"task": "cart_pole"})", R"({"task": "double_pole"})"})
    for (std::int64_t seed = 1; seed <= 20; ++seed) {
      Population p = population_of(task, seed);
      expect_ok(p.run(200, pool, nullptr, nullptr));
      ASSERT_TRUE(p.stats().reached) << task << " seed " << seed;
    }
}

TEST(Population, HasTheSameBitsForAnyNumberOfThreads) {
  for (const char* text : {R"({"task": "xor", "recurrent": true, "goal": 100})",
                           R"({"task": "double_pole", "episode_steps": 300, "species": 6})"}) {
    std::string first;
    for (const int threads : {1, 2, 5}) {
      ThreadPool pool(threads);
      Population p = population_of(text);
      expect_ok(p.run(12, pool, nullptr, nullptr));
      const std::string all = p.save();
      if (first.empty()) first = all;
      EXPECT_EQ(all, first) << threads;
    }
  }
}

TEST(Population, HasTheBitsOfEveryTarget) {
  ThreadPool pool(1);
  Population p = population_of(R"({"task": "xor"})");
  expect_ok(p.run(500, pool, nullptr, nullptr));
  EXPECT_EQ(p.champion()->sha256(),
            "7f43958639ab6906ab9f505007c03ef489fef96cffda9fefcdea2e65f2066009");
}

TEST(Population, ContinuesFromAFileWithTheSameBits) {
  ThreadPool pool(1);
  Population p = population_of(
      R"({"task": "table", "data": {"x": [[0, 1], [0.3, 2], [1, 1]], "y": [[1], [0.1], [0]]},
          "population": 31, "species": 4, "score": "mse", "activations": ["tanh", "sin"],
          "add_node": 0.3, "change_activation": 0.2})");
  expect_ok(p.run(7, pool, nullptr, nullptr));
  auto again = Population::load(p.save());
  ASSERT_TRUE(again.ok()) << again.status().to_string();
  EXPECT_EQ(again->save(), p.save());
  expect_ok(p.run(9, pool, nullptr, nullptr));
  expect_ok(again->run(9, pool, nullptr, nullptr));
  EXPECT_EQ(again->save(), p.save());
  // Between generations there is no fitness.
  expect_ok(p.step());
  again = Population::load(p.save());
  ASSERT_TRUE(again.ok()) << again.status().to_string();
  EXPECT_EQ(again->save(), p.save());
}

TEST(Population, RefusesChangedFiles) {
  const std::string text = population_of(R"({"task": "xor", "population": 5})").save();
  const auto refused = [](std::string changed, Code code, const char* why) {
    const auto loaded = Population::load(changed);
    ASSERT_FALSE(loaded.ok()) << why;
    EXPECT_EQ(loaded.status().code(), code) << loaded.status().to_string();
    EXPECT_NE(loaded.status().message().find(why), std::string::npos)
        << loaded.status().to_string();
  };
  const auto replaced = [&](std::string_view from, std::string_view to) {
    std::string changed = text;
    const std::size_t at = changed.find(from);
    EXPECT_NE(at, std::string::npos);
    return changed.replace(at, from.size(), to);
  };
  refused(replaced("\"generation\":0", "\"generation\":1"), Code::corrupt, "SHA-256");
  refused(replaced("\"version\":1", "\"version\":2"), Code::unsupported, "version 2");
  refused(replaced("loom population", "loom porridge"), Code::corrupt, "not a file");
  refused(R"({"format": 5})", Code::corrupt, "not a file");
  refused("[1]", Code::corrupt, "not a file");
  EXPECT_FALSE(Population::load(text.substr(0, text.size() / 2)).ok());
  EXPECT_FALSE(Population::load("").ok());
}

TEST(Population, TakesFitnessOfItsHost) {
  Population p = population_of(R"({"inputs": 2, "outputs": 3, "population": 10})");
  ThreadPool pool(1);
  EXPECT_EQ(p.evaluate(pool).code(), Code::invalid_argument);
  EXPECT_EQ(p.step().code(), Code::invalid_argument);
  EXPECT_FALSE(p.champion());
  std::vector<double> fitness(10, 1);
  EXPECT_FALSE(p.set_fitness(std::span(fitness).first(9)).ok());
  fitness[3] = std::nan("");
  EXPECT_FALSE(p.set_fitness(fitness).ok());
  fitness[3] = 5;
  expect_ok(p.set_fitness(fitness));
  EXPECT_EQ(p.champion()->sha256(), p.genomes()[3].sha256());
  for (int i = 0; i < 30; ++i) {
    expect_ok(p.step());
    EXPECT_EQ(p.genomes().size(), 10u);
    // All equal, or as far apart as numbers go.
    for (std::size_t k = 0; k < 10; ++k) fitness[k] = i % 2 ? 0 : (k % 2 ? 1e300 : -1e300);
    expect_ok(p.set_fitness(fitness));
  }
}

TEST(Population, ElitesLiveOnAndTheChampionNeverGetsWorse) {
  ThreadPool pool(1);
  Population p = population_of(R"({"task": "xor", "goal": 5})");
  double best = -1;
  for (int i = 0; i < 60; ++i) {
    expect_ok(p.run(1, pool, nullptr, nullptr));
    EXPECT_GE(p.champion_fitness(), best);
    best = p.champion_fitness();
    std::int64_t members = 0;
    for (const SpeciesSize& s : p.stats().species) members += s.size;
    EXPECT_EQ(members, 150);
  }
}

TEST(Population, EndsAsCancelled) {
  ThreadPool pool(2);
  Population p = population_of(R"({"task": "xor", "goal": 5})");
  std::atomic<bool> cancel{true};
  EXPECT_EQ(p.evaluate(pool, &cancel).code(), Code::cancelled);
  EXPECT_FALSE(p.evaluated());
  int calls = 0;
  const auto stop = [](void* context, const GenerationStats& stats) {
    ++*static_cast<int*>(context);
    return stats.generation < 3;
  };
  EXPECT_EQ(p.run(100, pool, stop, &calls).code(), Code::cancelled);
  EXPECT_EQ(calls, 4);
  EXPECT_EQ(p.generation(), 3);
}

TEST(Population, RefusesWrongSpecs) {
  const auto refused = [](const char* text, const char* why) {
    const auto json = Json::parse(text);
    ASSERT_TRUE(json.ok()) << text;
    const auto spec = spec_from_json(*json);
    ASSERT_FALSE(spec.ok()) << text;
    EXPECT_NE(spec.status().message().find(why), std::string::npos) << spec.status().to_string();
  };
  refused("[]", "object");
  refused(R"({"tusk": "xor"})", "did you mean");
  refused(R"({"task": "xr"})", "xor");
  refused(R"({"task": "xor", "inputs": 3})", "inputs");
  refused(R"({"task": "xor", "population": 1})", "population");
  refused(R"({"task": "xor", "add_node": 1.5})", "add_node");
  refused(R"({"task": "xor", "episode_steps": 5})", "episode_steps");
  refused(R"({"task": "xor", "activations": []})", "activations");
  refused(R"({"task": "xor", "activations": ["tan"]})", "tan");
  refused(R"({"task": "xor", "output_activation": ""})", "output_activation");
  refused(R"({"task": "xor", "data": {}})", "data");
  refused(R"({"task": "host"})", "inputs");
  refused(R"({"task": "table"})", "data");
  refused(R"({"task": "table", "data": {"x": [], "y": []}})", "data.x");
  refused(R"({"task": "table", "data": {"x": [[1], [2]], "y": [[1]]}})", "rows");
  refused(R"({"task": "table", "data": {"x": [[1], [2, 3]], "y": [[1], [1]]}})", "rows of");
  refused(R"({"task": "table", "data": {"x": [[1e300]], "y": [[1]]}})", "within");
  refused(R"({"task": "table", "data": {"x": [["a"]], "y": [[1]]}})", "numbers");
  refused(R"({"inputs": 65536, "outputs": 65536})", "1048576");
}

TEST(Population, SpecsAreWrittenAsTheyAreRead) {
  const Population p = population_of(
      R"({"task": "table", "data": {"x": [[0.1]], "y": [[1]]}, "goal": -0.5, "add_node": 0.25})");
  const auto again = spec_from_json(to_json(p.spec()));
  ASSERT_TRUE(again.ok()) << again.status().to_string();
  EXPECT_EQ(to_json(*again).dump(), to_json(p.spec()).dump());
}

}  // namespace
}  // namespace loom::evolve
