// K-means: gradients by finite differences, clusters that are found, and what does not fit.
#include "conformance/same_bits.h"

namespace loom {
namespace {

using test::chain;

TEST(KMeans, Gradients) {
  const std::string f64 = R"(,"dtype":"f64")";
  for (const char* settings :
       {R"("clusters":5)", R"("clusters":3,"output":"features","temperature":0.7)",
        R"("clusters":40,"temperature":2)"})
    test::check_gradients(
        chain(R"({"width":5})", {R"("type":"dense","out":6)" + f64,
                                 R"("type":"kmeans",)" + std::string(settings) + f64,
                                 R"("type":"dense","out":3)" + f64}),
        false, 4);
}

TEST(KMeans, EveryRunGivesTheSameBits) {
  for (const char* settings : {R"("clusters":5)", R"("clusters":40,"output":"features")"})
    test::check_same_bits(
        chain(R"({"width":35})", {std::string(R"("type":"kmeans",)") + settings}));
}

// A network that gives back its input through two centers puts them on the two points that it sees.
TEST(KMeans, CentersMoveToTheirClusters) {
  auto n = Network::from_json(std::string_view(
      chain(R"({"width":2})",
            {R"("type":"kmeans","clusters":2,"output":"features","temperature":0.5)"})));
  ASSERT_TRUE(n.ok() && n->initialize(3).ok());
  ThreadPool pool(2);
  auto learner = Learner::create(
      *n, pool, {.optimizer = {.kind = OptimizerKind::sgd}, .max_rows = 4, .poison = true});
  ASSERT_TRUE(learner.ok()) << learner.status().to_string();
  const std::vector<float> x = {2, 1, -2, -1, 2, 1, -2, -1};
  for (int step = 1; step <= 300; ++step) {
    ASSERT_TRUE(learner->batch(std::span<const float>(x), std::span<const float>(x)).ok());
    ASSERT_TRUE(learner->accumulate().ok() && learner->update(0.3, 4, step).ok());
  }
  EXPECT_LT(learner->loss_sum(), 1e-4);
  const auto c = n->find("0.0.0.0", "centers")->master();
  EXPECT_NEAR(std::abs(c[0]), 2, 1e-2);
  EXPECT_NEAR(c[0] * c[3], -2, 2e-2);
}

TEST(KMeans, WhatDoesNotFitIsNamed) {
  auto error = [](const std::string& settings) {
    const auto n = Network::from_json(
        std::string_view(chain(R"({"width":6})", {R"("type":"kmeans")" + settings})));
    return n.ok() ? std::string() : n.status().message();
  };
  EXPECT_NE(error("").find("\"clusters\" must be at least 1"), std::string::npos);
  EXPECT_NE(error(R"(,"clusters":2,"temperature":0)").find("\"temperature\" must be"),
            std::string::npos);
  EXPECT_NE(error(R"(,"clusters":2,"output":"all")")
                .find("\"output\" must be one of probabilities, features, got \"all\""),
            std::string::npos);
}

}  // namespace
}  // namespace loom
