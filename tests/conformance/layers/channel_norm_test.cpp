// Norms of channels: gradients by finite differences, and how running statistics come about.
#include "conformance/same_bits.h"

namespace loom {
namespace {

using test::chain;

void check(const std::string& dims, int width, const std::string& layer) {
  SCOPED_TRACE(dims + " " + layer);
  const std::string f64 = R"(,"dtype":"f64")";
  test::check_gradients(chain(R"({"width":5})", {R"("type":"dense","activation":"tanh","out":)" +
                                                     std::to_string(width) + f64,
                                                 R"("type":"reshape","dims":[)" + dims + "]" + f64,
                                                 layer + f64, R"("type":"dense","out":3)" + f64}),
                        false, 4);
}

TEST(ChannelNorm, Gradients) {
  for (const std::string affine : {R"(,"affine":true)", R"(,"affine":false)"}) {
    check("6", 6, R"("type":"batch_norm")" + affine);
    check("3,4", 12, R"("type":"batch_norm","eps":0.01)" + affine);
    check("2,3,2", 12, R"("type":"batch_norm")" + affine);
    check("2,3,2", 12, R"("type":"instance_norm")" + affine);
    check("4,3", 12, R"("type":"group_norm","groups":2)" + affine);
    check("6", 6, R"("type":"group_norm","groups":3)" + affine);
  }
}

TEST(ChannelNorm, EveryRunGivesTheSameBits) {
  for (const char* layer : {R"("type":"batch_norm")", R"("type":"instance_norm")",
                            R"("type":"group_norm","groups":3)"}) {
    SCOPED_TRACE(layer);
    test::check_same_bits(chain(R"({"dims":[6,5]})", {layer}), {"f32", "f64"});
  }
}

// A running variance is that of a sample.
TEST(ChannelNorm, RunningStatisticsFollowTheBatches) {
  auto network = Network::from_json(
      std::string_view(chain(R"({"dims":[1,2]})", {R"("type":"batch_norm","momentum":0.25)"})));
  ASSERT_TRUE(network.ok());
  ASSERT_TRUE(network->initialize(1).ok());
  ThreadPool pool(2);
  auto learner = Learner::create(
      *network, pool, {.optimizer = {.kind = OptimizerKind::sgd}, .max_rows = 2, .poison = true});
  ASSERT_TRUE(learner.ok()) << learner.status().to_string();
  const std::vector<float> x = {1, 2, 3, 6}, target = {0, 0, 0, 0};
  for (int step = 1; step <= 2; ++step) {
    ASSERT_TRUE(learner->batch(std::span<const float>(x), std::span<const float>(target)).ok());
    ASSERT_TRUE(learner->accumulate().ok());
    ASSERT_TRUE(learner->update(0, 2, step).ok());
  }
  // Mean 3, squares 4 + 1 + 0 + 9 over three.
  EXPECT_NEAR(network->find("0.0.0.0", "running_mean")->master()[0], 3 * (0.25 + 0.75 * 0.25),
              1e-6);
  EXPECT_NEAR(network->find("0.0.0.0", "running_var")->master()[0], 0.5625 + 14.0 / 3 * 0.4375,
              1e-6);
}

TEST(ChannelNorm, WhatDoesNotFitIsNamed) {
  auto error = [](const std::string& input, const std::string& layer) {
    const auto n = Network::from_json(std::string_view(chain(input, {layer})));
    return n.ok() ? std::string() : n.status().message();
  };
  EXPECT_NE(error(R"({"dims":[3,2]})", R"("type":"group_norm","groups":2)")
                .find("\"groups\" must divide 3 channels, got 2"),
            std::string::npos);
  EXPECT_NE(error(R"({"width":3})", R"("type":"instance_norm")").find("a norm over one value"),
            std::string::npos);
  EXPECT_NE(error(R"({"width":3})", R"("type":"batch_norm","momentum":2)")
                .find("\"momentum\" must be in [0, 1]"),
            std::string::npos);
  EXPECT_NE(error(R"({"ids":3})", R"("type":"batch_norm")").find("expects real values"),
            std::string::npos);
}

}  // namespace
}  // namespace loom
