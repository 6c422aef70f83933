// Parallel branches: gradients of every way to meet, nested four deep, and a mixture of experts
// that learns what no expert can.
#include "conformance/support.h"
#include "exec/session.h"

namespace loom {
namespace {

using test::chain;
using test::check_gradients;

std::string dense(int out, const char* activation = "tanh") {
  return R"({"type":"dense","out":)" + std::to_string(out) + R"(,"activation":")" + activation +
         "\"}";
}
std::string parallel(const std::string& settings, const std::string& branches) {
  return R"("type":"parallel","dtype":"f64",)" + settings + R"(,"layers":[)" + branches + "]";
}
const std::string kFirst = R"("type":"dense","out":6,"dtype":"f64","activation":"tanh")",
                  kLast = R"("type":"dense","out":3,"dtype":"f64")";

TEST(Parallel, GradientsOfEveryWayToMeet) {
  const std::string equal = dense(4) + "," + dense(4, "sigmoid") + "," + dense(4, "silu"),
                    unequal = dense(4) + "," + dense(2) + "," + dense(7);
  for (const char* settings : {R"("combine":"concat")", R"("combine":"add")", R"("combine":"avg")",
                               R"("combine":"gated")", R"("combine":"gated","temperature":0.5)",
                               R"("combine":"grid_scatter","grid":[2,2],"places":[1,1,0,0,1,0])"}) {
    for (const char* input : {R"("input":"broadcast")", R"("input":"split")"}) {
      const std::string all = std::string(settings) + "," + input;
      SCOPED_TRACE(all);
      check_gradients(chain(R"({"width":4})", {kFirst, parallel(all, equal), kLast}), false);
      const bool joins = all.find("concat") != std::string::npos;  // whatever the widths
      check_gradients(
          chain(R"({"width":4})",
                {kFirst, parallel(all + (joins ? "" : R"(,"stitch":true)"), unequal), kLast}),
          false);
    }
  }
}

TEST(Parallel, GradientsFourDeep) {
  std::string inner = dense(6) + "," + dense(6, "sigmoid");
  for (const char* combine : {"gated", "add", "avg", "gated"})
    inner = std::string(R"({"type":"parallel","combine":")") + combine + R"(","layers":[)" + inner +
            R"(]},{"type":"sequential","layers":[)" + dense(6) + R"(,{"type":"residual"}]})";
  check_gradients(chain(R"({"width":4})", {kFirst, parallel(R"("combine":"gated")", inner), kLast}),
                  false);
}

TEST(Parallel, AGraftOfUnequalExperts) {
  check_gradients(chain(R"({"width":4})", {kFirst,
                                           parallel(R"("combine":"gated","stitch":true)",
                                                    dense(16) + "," + dense(32) + "," + dense(7)),
                                           kLast}),
                  false);
}

// The gate's shares are those of a grid softmax over the same scores.
TEST(Parallel, FilterIsASoftmaxGate) {
  auto made = Network::from_json(std::string_view(chain(
      R"({"width":3})",
      {R"("type":"parallel","combine":"gated","layers":[{"type":"dense","out":2},{"type":"dense","out":2}])"})));
  ASSERT_TRUE(made.ok()) << made.status().to_string();
  ASSERT_TRUE(made->initialize(4).ok());
  auto gate = Network::from_json(std::string_view(
      chain(R"({"width":3})",
            {R"("type":"dense","out":2)", R"("type":"softmax","kind":"grid","rows":1,"cols":2)"})));
  ASSERT_TRUE(gate.ok()) << gate.status().to_string();
  std::ranges::copy(made->find("0.0.0.0", "gate")->mutable_master(),
                    gate->find("0.0.0.0", "weight")->mutable_master().begin());
  const std::vector<float> x = {0.3f, -1.2f, 2.0f};
  ThreadPool pool(1);
  const auto run = [&](Network& n) {
    auto s = Session::create(n, pool, {.max_rows = 1});
    EXPECT_TRUE(s.ok() && s->run(x, 1).ok());
    return std::vector<float>(s->output(0).begin(), s->output(0).end());
  };
  const auto shares = run(*gate), y = run(*made);
  std::vector<float> want(2, 0.0f), parts[2];
  for (int i = 0; i < 2; ++i) {
    const auto w = made->find("0.0.0.0/" + std::to_string(i), "weight")->mutable_master();
    auto one = Network::from_json(
        std::string_view(chain(R"({"width":3})", {R"("type":"dense","out":2)"})));
    std::ranges::copy(w, one->find("0.0.0.0", "weight")->mutable_master().begin());
    parts[i] = run(*one);
  }
  for (std::size_t k = 0; k < 2; ++k) want[k] = parts[0][k] * shares[0] + parts[1][k] * shares[1];
  EXPECT_EQ(y, want);
}

// y = x where x > 0, else -3 x - 1: linear experts alone cannot, two with a gate can.
TEST(Parallel, AMixtureLearnsWhatNoExpertCan) {
  const auto loss_of = [](const std::string& cell) {
    auto n = Network::from_json(std::string_view(chain(R"({"width":1})", {cell})));
    EXPECT_TRUE(n.ok()) << n.status().to_string();
    EXPECT_TRUE(n->initialize(3).ok());
    ThreadPool pool(1);
    LearnerOptions options;
    options.loss = Loss::mse;
    options.optimizer.kind = OptimizerKind::adamw;
    options.max_rows = 64;
    auto learner = Learner::create(*n, pool, options);
    EXPECT_TRUE(learner.ok()) << learner.status().to_string();
    std::vector<float> x, y;
    for (int i = 0; i < 64; ++i) {
      const float v = static_cast<float>(i - 32) / 16;
      x.push_back(v);
      y.push_back(v > 0 ? v : -3 * v - 1);
    }
    double loss = 0;
    for (std::int64_t step = 1; step <= 1500; ++step) {
      EXPECT_TRUE(learner->batch(std::span<const float>(x), std::span<const float>(y)).ok());
      EXPECT_TRUE(learner->accumulate().ok());
      loss = learner->loss_sum() / 64;
      EXPECT_TRUE(learner->update(0.03, 64, step).ok());
    }
    return loss;
  };
  const double
      alone = loss_of(R"("type":"dense","out":1)"),
      mixed = loss_of(
          R"("type":"parallel","combine":"gated","layers":[{"type":"dense","out":1},{"type":"dense","out":1}])");
  EXPECT_GT(alone, 0.5);
  EXPECT_LT(mixed, 0.05 * alone);
}

TEST(Parallel, WhatDoesNotMeetIsNamed) {
  auto error = [](const std::string& settings, const std::string& branches) {
    const auto n = Network::from_json(std::string_view(
        chain(R"({"width":6})",
              {R"("type":"parallel",)" + settings + R"(,"layers":[)" + branches + "]"})));
    return n.ok() ? std::string() : n.status().message();
  };
  EXPECT_NE(error(R"("combine":"add")", dense(4) + "," + dense(5))
                .find("branch 0 gives 4 values and branch 1 5"),
            std::string::npos);
  EXPECT_NE(error(R"("combine":"sum")", dense(4)).find("\"combine\" must be"), std::string::npos);
  EXPECT_NE(error(R"("input":"split")", dense(1) + "," + dense(1) + "," + dense(1) + "," + dense(1))
                .find("cannot split [B, 6] among 4"),
            std::string::npos);
  EXPECT_NE(error(R"("combine":"grid_scatter","grid":[1,2],"places":[0,0,0,0])",
                  dense(2) + "," + dense(2))
                .find("stands on another"),
            std::string::npos);
}

}  // namespace
}  // namespace loom
