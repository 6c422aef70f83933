// Nested layers that run a cell of the grid: its weights work and learn in all of these places.
#include <map>

#include "checkpoint/entity.h"
#include "conformance/support.h"
#include "exec/session.h"

namespace loom {
namespace {

using test::chain;
using test::check_gradients;

const std::string kFirst = R"("type":"dense","out":6,"dtype":"f64","activation":"tanh")",
                  kLast = R"("type":"dense","out":3,"dtype":"f64")";
std::string run(int l) { return R"({"links":[{"run":[0,0,0,)" + std::to_string(l) + "]}]}"; }

// Cell 2 is one of 6 -> 6, which cell 1 runs too: in two branches and behind another layer.
TEST(RunLinks, GradientsEqualFiniteDifferences) {
  const std::string block =
      R"("type":"sequential","dtype":"f64","layers":[{"type":"layer_norm"},{"type":"swiglu","hidden":5},{"type":"residual"}])";
  for (const char* settings :
       {R"("combine":"add")", R"("combine":"gated")", R"("combine":"gated","top_k":2)",
        R"("combine":"avg","input":"broadcast")"}) {
    SCOPED_TRACE(settings);
    check_gradients(
        chain(R"({"width":4})",
              {kFirst,
               R"("type":"parallel","dtype":"f64",)" + std::string(settings) + R"(,"layers":[)" +
                   run(2) + R"(,{"type":"dense","out":6},{"type":"sequential","layers":[)" +
                   run(2) + "," + run(2) + R"(,{"type":"residual"}]}])",
               block, kLast}),
        false, 5);
  }
  check_gradients(
      chain(R"({"width":12})",
            {R"("type":"time_distributed","count":2,"dtype":"f64","layers":[)" + run(1) + "]",
             R"("type":"dense","out":6,"dtype":"f64","links":[{"read":[0,0,0,3]}])",
             R"("type":"dense","out":3,"dtype":"f64")",
             R"("type":"dense","out":6,"dtype":"f64","links":[{"read":[0,0,0,0]}])"}),
      false, 3);
}

// A cell of another type among f32 ones: what goes in and comes out is converted. The gradients are
// those of the same network in f64 throughout, up to the rounding of what passes through f32: two
// ulp of the parameter's largest gradient.
TEST(RunLinks, GradientsThroughACellOfAnotherType) {
  const auto topology = [](const std::string& dtype) {
    return chain(R"({"width":4})",
                 {kFirst,
                  R"("type":"parallel","combine":"add","dtype":")" + dtype + R"(","layers":[)" +
                      run(2) + "," + run(2) + "]",
                  R"("type":"dense","out":6,"dtype":"f64","activation":"silu")", kLast});
  };
  const std::vector<float> x = {0.5f, -1, 0.25f, 2, 1, 0, -0.5f, 0.75f, -2, 1, 1, 0.5f}, y(9, 0.5f);
  ThreadPool pool(1);
  const auto gradients = [&](const std::string& dtype) {
    auto n = Network::from_json(std::string_view(topology(dtype)));
    EXPECT_TRUE(n.ok() && n->initialize(3).ok()) << n.status().to_string();
    auto learner = Learner::create(
        *n, pool, {.loss = Loss::mse, .max_rows = 3, .update = false, .poison = true});
    EXPECT_TRUE(learner.ok()) << learner.status().to_string();
    EXPECT_TRUE(learner->batch(std::span<const float>(x), std::span<const float>(y)).ok());
    EXPECT_TRUE(learner->accumulate().ok());
    std::map<std::string, std::vector<double>> out;
    for (const auto& g : learner->gradients()) {
      const WeightStore& store = *n->find(g.path, g.role);
      for (std::int64_t r = 0; r < store.rows(); ++r) {
        const auto row = learner->executor().row<double>(g.value.buffer, r);
        auto& all = out[g.path + ":" + g.role];
        all.insert(all.end(), row.begin(), row.begin() + store.cols());
      }
    }
    return out;
  };
  const auto mixed = gradients("f32"), exact = gradients("f64");
  ASSERT_EQ(mixed.size(), 6u);
  for (const auto& [name, want] : exact) {
    double largest = 0;
    for (const double g : want) largest = std::max(largest, std::fabs(g));
    EXPECT_GT(largest, 1e-3) << name;
    ASSERT_EQ(mixed.at(name).size(), want.size()) << name;
    double worst = 0;
    for (std::size_t i = 0; i < want.size(); ++i)
      worst = std::max(worst, std::fabs(mixed.at(name)[i] - want[i]));
    EXPECT_LE(worst, 2 * 0x1p-24 * largest) << name;
    EXPECT_GT(worst, 0) << name << ": nothing passed through f32";
  }
}

// The bits of a network in which the same weights stand three times; the gradients of the three add
// up.
TEST(RunLinks, EqualsCopiesOfTheCell) {
  const std::string dense = R"({"type":"dense","out":5,"activation":"tanh"})",
                    last = R"("type":"dense","out":5,"activation":"tanh")";
  auto shared = Network::from_json(std::string_view(chain(
      R"({"width":5})",
      {R"("type":"parallel","combine":"avg","layers":[)" + run(1) + "," + run(1) + "]", last})));
  auto copies = Network::from_json(std::string_view(chain(
      R"({"width":5})",
      {R"("type":"parallel","combine":"avg","layers":[)" + dense + "," + dense + "]", last})));
  ASSERT_TRUE(shared.ok() && copies.ok()) << shared.status().to_string();
  EXPECT_EQ(shared->parameter_count(), 30);
  EXPECT_EQ(copies->parameter_count(), 90);
  ASSERT_TRUE(shared->initialize(9).ok());
  for (const char* path : {"0.0.0.0/0", "0.0.0.0/1", "0.0.0.1"})
    for (const char* role : {"weight", "bias"})
      std::ranges::copy(shared->find("0.0.0.1", role)->mutable_master(),
                        copies->find(path, role)->mutable_master().begin());
  const std::vector<float> x = {0.5f, -1, 0.25f, 2, 1}, y = {1, 0, -1, 0.5f, 2};
  std::map<std::string, std::vector<float>> slopes[2];
  int side = 0;
  std::vector<float> outputs[2];
  for (Network* n : {&*shared, &*copies}) {
    ThreadPool pool(2);
    auto s = Session::create(*n, pool, {.max_rows = 1});
    ASSERT_TRUE(s.ok() && s->run(x, 1).ok()) << s.status().to_string();
    outputs[side].assign(s->output(0).begin(), s->output(0).end());
    auto learner = Learner::create(*n, pool, {.loss = Loss::mse, .max_rows = 1, .update = false});
    ASSERT_TRUE(learner.ok() &&
                learner->batch(std::span<const float>(x), std::span<const float>(y)).ok() &&
                learner->accumulate().ok())
        << learner.status().to_string();
    for (const auto& g : learner->gradients())
      for (std::int64_t r = 0; r < g.rows; ++r)
        for (const float v : learner->executor().row<float>(g.value.buffer, r))
          slopes[side][g.path + ":" + g.role].push_back(v);
    ++side;
  }
  EXPECT_EQ(outputs[0], outputs[1]);
  ASSERT_EQ(slopes[0].size(), 2u);
  for (const char* role : {":weight", ":bias"}) {
    const auto& all = slopes[0]["0.0.0.1" + std::string(role)];
    for (std::size_t i = 0; i < all.size(); ++i)
      EXPECT_NEAR(all[i],
                  slopes[1]["0.0.0.1" + std::string(role)][i] +
                      slopes[1]["0.0.0.0/0" + std::string(role)][i] +
                      slopes[1]["0.0.0.0/1" + std::string(role)][i],
                  1e-6f);
  }
}

TEST(RunLinks, StandInFilesAndFollowTheirCell) {
  auto n = Network::from_json(std::string_view(chain(
      R"({"width":5})",
      {R"("type":"parallel","dtype":"i8","layers":[)" + run(1) + R"(,{"type":"dense","out":2}])",
       R"("type":"dense","out":3,"links":[{"read":[0,0,0,2]}])",
       R"("type":"dense","out":5,"links":[{"read":[0,0,0,0]}])"})));
  ASSERT_TRUE(n.ok()) << n.status().to_string();
  ASSERT_TRUE(n->initialize(2).ok());
  const std::string topology = n->to_json().dump(),
                    path = testing::TempDir() + "loom_run_links.entity";
  EXPECT_NE(topology.find(R"({"links":[{"run":[0,0,0,1]}]})"), std::string::npos) << topology;
  ASSERT_TRUE(save_network(path, *n).ok());
  auto source = open_source(path);
  ASSERT_TRUE(source.ok());
  auto entity = Entity::open(*source);
  ASSERT_TRUE(entity.ok());
  auto loaded = load_network(*entity);
  ASSERT_TRUE(loaded.ok()) << loaded.status().to_string();
  EXPECT_EQ(loaded->to_json().dump(), topology);
  // A cell that is switched off hands on what it gets, where it stands and where it is run.
  const auto widths = [&] { return std::pair(n->output(0).width, n->output(1).width); };
  EXPECT_EQ(widths(), std::pair(std::int64_t{5}, std::int64_t{3}));
  n->node(1).enabled = false;
  ASSERT_TRUE(n->plan().ok());
  EXPECT_EQ(widths(), std::pair(std::int64_t{7}, std::int64_t{5}));
  std::remove(path.c_str());
}

TEST(RunLinks, WhatCannotRunIsNamed) {
  const auto error = [](const std::vector<std::string>& cells) {
    const auto n = Network::from_json(std::string_view(chain(R"({"width":5})", cells)));
    EXPECT_EQ(n.status().code(), Code::invalid_argument);
    return n.ok() ? std::string() : n.status().message();
  };
  const auto branch = [](const std::string& layer) {
    return R"("type":"parallel","combine":"add","layers":[)" + layer + "]";
  };
  const auto expect = [](const std::string& message, const std::string& part) {
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  expect(error({branch(run(0))}), "the cells run one another in a circle: (0,0,0,0) -> (0,0,0,0)");
  expect(error({branch(run(1)), branch(run(2)), branch(run(0))}),
         "the cells run one another in a circle: (0,0,0,0) -> (0,0,0,1) -> (0,0,0,2) -> (0,0,0,0)");
  expect(error({branch(run(7))}), "0.0.0.0/0: runs (0,0,0,7), which is outside of the grid");
  expect(error({branch(run(1)), R"("links":[{"run":[0,0,0,2]}])", R"("type":"dense","out":5)"}),
         "0.0.0.0/0: runs (0,0,0,1), which itself runs another");
  expect(error({R"("type":"dense","out":4)", branch(run(0))}),
         "(0,0,0,0) is executed on [B, 5] at (0,0,0,0) and on [B, 4] at 0.0.0.1/0: a cell has "
         "weights for one input");
  expect(error({branch(R"({"links":[{"read":[0,0,0,1]}]})"), R"("type":"dense","out":5)"}),
         "a nested layer has no links but one {\"run\": [z,y,x,l]}");
  expect(error({branch(R"({"links":[{"run":[0,0,0,1]}],"type":"dense","out":5})"),
                R"("type":"dense","out":5)"}),
         "a cell that runs another has no type of its own");
  expect(error({branch(R"({"enabled":true})")}), "\"type\" is missing");
  // Each of 20 cells runs the next one twice.
  std::vector<std::string> cells;
  for (int l = 0; l < 20; ++l) cells.push_back(branch(run(l + 1) + "," + run(l + 1)));
  cells.push_back(R"("type":"dense","out":5)");
  expect(error(cells), "nested layers run other cells of more than 65536 layers together");
  cells.clear();
  for (int l = 0; l < 40; ++l) cells.push_back(branch(run(l + 1)));
  cells.push_back(R"("type":"dense","out":5)");
  expect(error(cells), "cells run one another more than 32 deep");
  // In a routed branch the layers of the cell count.
  expect(error({R"("type":"parallel","combine":"gated","top_k":1,"layers":[)" + run(1) + "," +
                    run(1) + "]",
                R"("type":"batch_norm")"}),
         "batch_norm at 0.0.0.1 takes statistics of all rows");
}

}  // namespace
}  // namespace loom
