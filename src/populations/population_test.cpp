// Populations of networks: limits, equal bits for any number of threads, files, learning.
#include "populations/population.h"

#include <gtest/gtest.h>

#include <cmath>

#include "breed/weights.h"

namespace loom::populations {
namespace {

// Two rings that no straight line parts: x of the plane, class 0 inside, 1 outside.
Json rings(std::int64_t rows) {
  Json x = Json::array(), y = Json::array();
  const RandomStream random(3, 9);
  for (std::int64_t r = 0; r < rows; ++r) {
    const double a = random.uniform(static_cast<std::uint64_t>(2 * r)) * 2 - 1,
                 b = random.uniform(static_cast<std::uint64_t>(2 * r + 1)) * 2 - 1;
    x.push(Json(Json::Array{Json(a), Json(b)}));
    y.push(Json(Json::Array{Json(a * a + b * b > 0.5 ? 1 : 0)}));
  }
  Json data = Json::object();
  data.set("x", std::move(x));
  data.set("y", std::move(y));
  return data;
}

constexpr char kTopology[] =
    R"({"format":"loom-topology","version":3,"layers_per_cell":2,"input":{"width":2},"cells":[
      {"at":[0,0,0,0],"type":"dense","out":4,"activation":"tanh"},
      {"at":[0,0,0,1],"type":"dense","out":2}]})";

Json rings_spec(const char* more) {
  Json spec = *Json::parse(more);
  spec.set("level", "networks");
  spec.set("task", "table");
  spec.set("score", "accuracy");
  spec.set("network", *Json::parse(kTopology));
  spec.set("data", rings(120));
  return spec;
}

NetworkPopulation created(const Json& json) {
  auto spec = search_spec(json);
  EXPECT_TRUE(spec.ok()) << spec.status().to_string();
  auto made = NetworkPopulation::create(std::move(*spec));
  EXPECT_TRUE(made.ok()) << made.status().to_string();
  return std::move(*made);
}

const char* const kSmall = R"({"population":8,"seed":5,"costs":"reference","species":3,
  "rates":{"insert":0.3,"width":0.3,"activation":0.2,"retype":0.1,"max_width":16},
  "train":{"steps":20,"loss":"cross_entropy","lr":0.02,"lamarckian":true},
  "limits":{"bytes":2048,"milliseconds":0.01}})";

std::string bits_of(const NetworkPopulation& p) {
  auto text = p.save();
  EXPECT_TRUE(text.ok());
  return *text;
}

TEST(NetworkPopulation, SearchesWithinLimits) {
  Json json = rings_spec(R"({"population":16,"seed":1,"costs":"reference","goal":0.96,
    "rates":{"insert":0.2,"width":0.4,"activation":0.2,"duplicate":0.1,"max_width":64},
    "train":{"steps":60,"loss":"cross_entropy","lr":0.02,"lamarckian":true},
    "limits":{"bytes":65536,"milliseconds":1.0}})");
  NetworkPopulation p = created(json);
  ThreadPool pool(2);
  ASSERT_TRUE(p.run(30, pool).ok());
  ASSERT_TRUE(p.champion());
  EXPECT_TRUE(p.reached()) << p.champion()->fitness;
  EXPECT_LE(p.champion()->bytes, 65536);
  EXPECT_LE(p.champion()->milliseconds, 1.0);
  std::printf("generation %lld: accuracy %.3f, %lld bytes, %.4f ms, %s\n",
              static_cast<long long>(p.generation()), p.champion()->fitness,
              static_cast<long long>(p.champion()->bytes), p.champion()->milliseconds,
              digest_of(*p.champion()->network).c_str());
}

TEST(NetworkPopulation, SameBitsForAnyThreads) {
  std::string first;
  for (const int threads : {1, 2, 5}) {
    NetworkPopulation p = created(rings_spec(kSmall));
    ThreadPool pool(threads);
    ASSERT_TRUE(p.run(4, pool).ok());
    if (first.empty()) first = bits_of(p);
    EXPECT_EQ(bits_of(p), first) << threads;
  }
}

TEST(NetworkPopulation, ResumesToTheBit) {
  ThreadPool pool(1);
  NetworkPopulation straight = created(rings_spec(kSmall));
  ASSERT_TRUE(straight.run(6, pool).ok());
  NetworkPopulation p = created(rings_spec(kSmall));
  ASSERT_TRUE(p.run(3, pool).ok());
  auto again = NetworkPopulation::load(bits_of(p));
  ASSERT_TRUE(again.ok()) << again.status().to_string();
  EXPECT_EQ(bits_of(*again), bits_of(p));
  ASSERT_TRUE(again->run(3, pool).ok());
  EXPECT_EQ(bits_of(*again), bits_of(straight));
}

TEST(NetworkPopulation, FilesThatAreChangedAreRefused) {
  ThreadPool pool(1);
  NetworkPopulation p = created(rings_spec(kSmall));
  const std::string text = bits_of(p);
  EXPECT_FALSE(NetworkPopulation::load(text.substr(0, text.size() / 2)).ok());
  for (std::size_t at = 150; at < text.size(); at += text.size() / 40) {
    std::string changed = text;
    changed[at] = changed[at] == '1' ? '2' : '1';
    EXPECT_TRUE(changed == text || !NetworkPopulation::load(changed).ok()) << at;
  }
}

TEST(NetworkPopulation, FeasibleBeatsFitterOnesOverALimit) {
  Json json = *Json::parse(R"({"level":"networks","population":6,"start_mutations":0,
    "limits":{"bytes":88},"rates":{"weights":0}})");
  json.set("network", *Json::parse(kTopology));  // 22 values, 88 bytes
  NetworkPopulation p = created(json);
  ASSERT_TRUE(p.set_fitness(std::vector<double>{1, 2, 3, 4, 5, 6}).ok());
  EXPECT_EQ(p.champion()->fitness, 6);
  EXPECT_EQ(p.champion()->violation, 0);
  EXPECT_EQ(p.champion()->bytes, 88);
  json.set("limits", *Json::parse(R"({"bytes":87})"));
  NetworkPopulation over = created(json);
  ASSERT_TRUE(over.set_fitness(std::vector<double>{1, 2, 3, 4, 5, 6}).ok());
  EXPECT_GT(over.champion()->violation, 0);
  EXPECT_FALSE(over.reached());
}

TEST(NetworkPopulation, HostsTrainMembers) {
  Json json = *Json::parse(R"({"level":"networks","population":4})");
  json.set("network", *Json::parse(kTopology));
  NetworkPopulation p = created(json);
  Network trained = std::move(*breed::copy_of(*p.members()[2].network));
  for (float& v : trained.find("0.0.0.0", "bias")->mutable_master()) v = 3;
  trained.find("0.0.0.0", "bias")->touch();
  const bool same = p.members()[2].network->to_json().dump() == trained.to_json().dump();
  ASSERT_TRUE(same);
  ASSERT_TRUE(p.set_network(2, trained).ok());
  EXPECT_EQ(p.members()[2].network->find("0.0.0.0", "bias")->master()[0], 3);
  Network other = std::move(*Network::from_json(std::string_view(
      R"({"format":"loom-topology","version":3,"input":{"width":2},
          "cells":[{"at":[0,0,0,0],"type":"dense","out":2}]})")));
  EXPECT_FALSE(p.set_network(2, other).ok());
  EXPECT_FALSE(p.step().ok());  // no fitness yet
  ThreadPool pool(1);
  EXPECT_FALSE(p.evaluate(pool).ok());
}

TEST(NetworkPopulation, MembersShareNothing) {
  NetworkPopulation p = created(rings_spec(kSmall));
  ThreadPool pool(1);
  ASSERT_TRUE(p.run(3, pool).ok());
  std::vector<const WeightStore*> seen;
  for (const Member& m : p.members())
    for (const Network::NamedParam& param : m.network->params()) {
      if (param.tied) continue;
      EXPECT_EQ(std::ranges::count(seen, param.param->store.get()), 0);
      seen.push_back(param.param->store.get());
    }
}

TEST(NetworkPopulation, RefusesBySpec) {
  const auto refused = [](const char* text) {
    auto spec = search_spec(*Json::parse(text));
    return spec.ok() ? "" : spec.status().message();
  };
  EXPECT_EQ(refused(R"({"train":{"steps":3}})"), "train: steps: task host: the caller trains");
  EXPECT_EQ(refused(R"({"task":"table"})"),
            R"("task": "table" needs "data": {"x": [[...]], "y": [[...]]})");
  EXPECT_NE(refused(R"({"populations":3})"), "");
  EXPECT_NE(refused(R"({"rates":{"inserts":0.1}})"), "");
  EXPECT_NE(refused(R"({"limits":{"bytes":0}})"), "");
  EXPECT_NE(refused(R"({"costs":"cheap"})"), "");
  EXPECT_NE(refused(R"({"score":"accuracy"})"), "");
  auto spec = search_spec(*Json::parse(R"({"level":"networks"})"));
  ASSERT_TRUE(spec.ok());
  EXPECT_FALSE(NetworkPopulation::create(std::move(*spec)).ok());
}

TEST(Costs, FollowTheProgram) {
  Network n = std::move(*Network::from_json(std::string_view(kTopology)));
  const double one = *milliseconds_by(reference_costs(), n, 1),
               many = *milliseconds_by(reference_costs(), n, 64);
  EXPECT_GT(one, 0);
  EXPECT_GT(many, one);
  EXPECT_LT(many, 64 * one);
  const Costs again = *costs_from_json(to_json(reference_costs()));
  EXPECT_EQ(*milliseconds_by(again, n, 1), one);
  EXPECT_GT(*milliseconds_here(n, 1), 0);
}

}  // namespace
}  // namespace loom::populations
