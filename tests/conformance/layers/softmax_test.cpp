// Softmax and its relatives: gradients by finite differences, values against their definitions.
#include <numeric>

#include "conformance/same_bits.h"

namespace loom {
namespace {

using test::chain;

void check(const std::string& layer, int width = 12, const std::string& dims = "3,4") {
  SCOPED_TRACE(layer);
  const std::string f64 = R"(,"dtype":"f64")";
  test::check_gradients(
      chain(R"({"width":5})", {R"("type":"dense","out":)" + std::to_string(width) + f64,
                               R"("type":"reshape","dims":[)" + dims + "]" + f64, layer + f64,
                               R"("type":"dense","out":3)" + f64}),
      false, 3);
}

TEST(Softmax, Gradients) {
  check(R"("type":"softmax")");
  check(R"("type":"log_softmax")");
  check(R"("type":"softmax","kind":"temperature","temperature":0.6,"log":true)");
  check(R"("type":"softmax","kind":"grid","rows":2,"cols":6)");
  check(R"("type":"softmax","kind":"hierarchical","levels":[2,2,3],"temperature":0.5)", 18, "18");
  check(R"("type":"softmax","kind":"gumbel","temperature":0.7)");
  check(R"("type":"softmax","kind":"masked","mask":[1,0,1,1])");
  check(R"("type":"softmax","kind":"sparsemax")");
  for (const char* alpha : {"1", "1.25", "1.5", "1.7", "2"})
    check(std::string(R"("type":"softmax","kind":"entmax","alpha":)") + alpha);
}

TEST(Softmax, GradientsOfOutputs) {
  for (const std::string more : {"", R"(,"bias":true,"log":true)"}) {
    check(R"("type":"adaptive_softmax","out":9,"cutoffs":[3,5],"divide":2)" + more);
    check(R"("type":"mixture_of_softmaxes","out":5,"mixtures":3)" + more, 4, "4");
  }
  check(R"("type":"mixture_of_softmaxes","out":4,"mixtures":2,"hidden":3,"bias":false)", 5, "5");
}

TEST(Softmax, OutputsGiveTheSameBits) {
  for (const char* layer : {R"("type":"adaptive_softmax","out":30,"cutoffs":[10,18],"log":true)",
                            R"("type":"mixture_of_softmaxes","out":20,"mixtures":3)"}) {
    SCOPED_TRACE(layer);
    test::check_same_bits(chain(R"({"width":20})", {layer}));
  }
}

TEST(Softmax, EveryRunGivesTheSameBits) {
  for (const char* layer :
       {R"("type":"softmax")", R"("type":"softmax","kind":"hierarchical","levels":[3,4,4])",
        R"("type":"softmax","kind":"masked","mask":[1,0,1,1,0,1,1])",
        R"("type":"softmax","kind":"sparsemax")", R"("type":"softmax","kind":"entmax")",
        R"("type":"softmax","kind":"entmax","alpha":1.3)", R"("type":"log_softmax")"}) {
    SCOPED_TRACE(layer);
    test::check_same_bits(
        chain(std::string(layer).find("levels") != std::string::npos ? R"({"width":63})"
                                                                     : R"({"dims":[9,7]})",
              {layer}),
        {"f32", "f64"});
  }
}

std::vector<float> run(const std::string& layer, const std::vector<float>& x,
                       const std::string& dims = "") {
  auto n = Network::from_json(std::string_view(chain(
      dims.empty() ? R"({"width":)" + std::to_string(x.size()) + "}" : R"({"dims":[)" + dims + "]}",
      {layer})));
  EXPECT_TRUE(n.ok()) << n.status().to_string();
  ThreadPool pool(1);
  auto s = Session::create(*n, pool, {.max_rows = 1, .poison = true});
  EXPECT_TRUE(s.ok()) << s.status().to_string();
  EXPECT_TRUE(s->run(x, 1).ok());
  return {s->output(0).begin(), s->output(0).end()};
}
void expect_near(const std::vector<float>& got, const std::vector<double>& want) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(got[i], want[i], 2e-6) << i;
}

// Values by the sorting algorithms of the papers, in double.
TEST(Softmax, SparseValuesAreThoseOfTheirPapers) {
  const RandomStream random(4, 4);
  for (const std::size_t n : {1u, 2u, 5u, 40u, 300u}) {
    SCOPED_TRACE(n);
    std::vector<float> x(n);
    for (std::size_t i = 0; i < n; ++i) x[i] = 6 * random.uniform(n * 1000 + i) - 3;
    std::vector<double> sorted(x.begin(), x.end());
    std::sort(sorted.rbegin(), sorted.rend());
    double sum = 0, tau = 0;
    for (std::size_t k = 1; k <= n; ++k) {
      sum += sorted[k - 1];
      if (1 + static_cast<double>(k) * sorted[k - 1] > sum)
        tau = (sum - 1) / static_cast<double>(k);
    }
    std::vector<double> want;
    for (const float v : x) want.push_back(std::max(v - tau, 0.0));
    expect_near(run(R"("type":"softmax","kind":"sparsemax")", x), want);

    double mean = 0, squares = 0;
    for (std::size_t k = 1; k <= n; ++k) {  // of the k largest halves
      const double z = sorted[k - 1] / 2, count = static_cast<double>(k);
      mean += (z - mean) / count;
      squares += z * z;
      const double candidate =
          mean - std::sqrt(std::max(0.0, (1 - (squares - count * mean * mean)) / count));
      if (candidate <= z) tau = candidate;
    }
    want.clear();
    for (const float v : x) want.push_back(std::pow(std::max(v / 2 - tau, 0.0), 2));
    expect_near(run(R"("type":"softmax","kind":"entmax","alpha":1.5)", x), want);

    // Another alpha: the defining equation, and the two exact ones from near by.
    for (const char* alpha : {"1.2", "1.5001", "1.8", "3"}) {
      const std::vector<float> y =
          run(std::string(R"("type":"softmax","kind":"entmax","alpha":)") + alpha, x);
      EXPECT_NEAR(std::accumulate(y.begin(), y.end(), 0.0), 1, 1e-5);
      const double a = std::stod(alpha) - 1;
      double level = 0;  // tau of the largest
      std::size_t best = static_cast<std::size_t>(std::max_element(x.begin(), x.end()) - x.begin());
      level = a * x[best] - std::pow(y[best], a);
      for (std::size_t i = 0; i < n; ++i)
        EXPECT_NEAR(y[i], std::pow(std::max(a * x[i] - level, 0.0), 1 / a), 2e-4)
            << alpha << " " << i;
      if (a > 0.5 && a < 0.501) {
        for (std::size_t i = 0; i < n; ++i) EXPECT_NEAR(y[i], want[i], 1e-3) << i;
      }
    }
  }
}

TEST(Softmax, ValuesOfTheOthers) {
  const std::vector<float> x = {0.5f, -1, 2, 0, 1, -0.25f};
  auto softmax = [](std::vector<double> v) {
    double sum = 0;
    for (double& e : v) sum += e = std::exp(e);
    for (double& e : v) e /= sum;
    return v;
  };
  expect_near(run(R"("type":"softmax")", x), softmax({0.5, -1, 2, 0, 1, -0.25}));
  expect_near(run(R"("type":"softmax","kind":"gumbel","temperature":2)", x),
              softmax({0.25, -0.5, 1, 0, 0.5, -0.125}));
  // no noise unless it learns
  EXPECT_EQ(run(R"("type":"softmax","kind":"gumbel","hard":true)", x),
            (std::vector<float>{0, 0, 1, 0, 0, 0}));
  const auto rows = run(R"("type":"softmax","kind":"grid","rows":2,"cols":3)", x);
  EXPECT_EQ(rows, run(R"("type":"softmax")", x, "2,3"));
  expect_near({rows.begin() + 3, rows.end()}, softmax({0, 1, -0.25}));
  const auto masked = run(R"("type":"softmax","kind":"masked","mask":[1,1,0,0,1,1])", x),
             four = run(R"("type":"softmax")", {0.5f, -1, 1, -0.25f});
  EXPECT_EQ(masked, (std::vector<float>{four[0], four[1], 0, 0, four[2], four[3]}));
  const auto tree = run(R"("type":"softmax","kind":"hierarchical","levels":[2,2])", x),
             top = run(R"("type":"softmax")", {0.5f, -1}),
             left = run(R"("type":"softmax")", {2, 0}),
             right = run(R"("type":"softmax")", {1, -0.25f});
  EXPECT_EQ(tree, (std::vector<float>{top[0] * left[0], top[0] * left[1], top[1] * right[0],
                                      top[1] * right[1]}));
  std::vector<double> logs = softmax({0.5, -1, 2, 0, 1, -0.25});
  for (double& v : logs) v = std::log(v);
  expect_near(run(R"("type":"log_softmax")", x), logs);
  EXPECT_EQ(run(R"("type":"softmax","log":true)", x), run(R"("type":"log_softmax")", x));
  // Far apart, and all the same.
  EXPECT_EQ(run(R"("type":"softmax","kind":"sparsemax")", {1000, -1000, 0}),
            (std::vector<float>{1, 0, 0}));
  expect_near(run(R"("type":"softmax","kind":"entmax","alpha":1.5)", {7, 7, 7, 7}),
              {0.25, 0.25, 0.25, 0.25});
}

// Noise makes the largest of logits log p a draw from p; the gradient of the hard choice is that of
// the soft one, whose sum is 0.
TEST(Softmax, GumbelDrawsFromTheDistribution) {
  constexpr std::int64_t kRows = 64, kSteps = 40;
  auto n = Network::from_json(std::string_view(chain(
      R"({"width":1})", {R"("type":"dense","out":3)",
                         R"("type":"softmax","kind":"gumbel","hard":true,"temperature":0.5)"})));
  ASSERT_TRUE(n.ok() && n->initialize(1).ok());
  const std::vector<double> p = {0.2, 0.5, 0.3};
  for (std::size_t i = 0; i < 3; ++i)
    n->find("0.0.0.0", "bias")->mutable_master()[i] = static_cast<float>(std::log(p[i]));
  n->find("0.0.0.0", "bias")->touch();
  ThreadPool pool(2);
  auto learner =
      Learner::create(*n, pool, {.max_rows = kRows, .seed = 5, .update = false, .poison = true});
  ASSERT_TRUE(learner.ok()) << learner.status().to_string();
  for (std::size_t which = 0; which < 3; ++which) {
    std::vector<float> x(kRows), target(3 * kRows);
    for (std::size_t r = 0; r < kRows; ++r) target[3 * r + which] = 1;
    ASSERT_TRUE(learner->batch(std::span<const float>(x), std::span<const float>(target)).ok());
    double missed = 0;
    for (std::int64_t step = 0; step < kSteps; ++step) {
      learner->resume(step);
      ASSERT_TRUE(learner->accumulate().ok());
      missed += learner->loss_sum() * 1.5;  // two of three values are off by 1
      for (const auto& g : learner->gradients()) {
        if (g.role != "bias") continue;
        const auto v = learner->executor().row<float>(g.value.buffer, 0);
        EXPECT_NE(v[0], 0);
        EXPECT_NEAR(v[0] + v[1] + v[2], 0, 1e-5);
      }
    }
    EXPECT_NEAR(1 - missed / (kRows * kSteps), p[which], 0.04) << which;
  }
}

TEST(Softmax, WhatDoesNotFitIsNamed) {
  auto error = [](const std::string& layer) {
    const auto n = Network::from_json(
        std::string_view(chain(R"({"width":6})", {R"("type":"softmax",)" + layer})));
    return n.ok() ? std::string() : n.status().message();
  };
  EXPECT_NE(error(R"("kind":"soft")")
                .find("\"kind\" must be one of standard, grid, hierarchical, temperature, gumbel, "
                      "masked, sparsemax, entmax, got \"soft\""),
            std::string::npos);
  EXPECT_NE(error(R"("kind":"grid","rows":2,"cols":2)")
                .find("must be the 6 values that arrive, got 2 x 2"),
            std::string::npos);
  EXPECT_NE(error(R"("kind":"masked","mask":[1,0])").find("must have 6 places, got 2"),
            std::string::npos);
  EXPECT_NE(error(R"("kind":"masked","mask":[0,0,0,0,0,0])").find("leaves nothing"),
            std::string::npos);
  EXPECT_NE(error(R"("kind":"hierarchical","levels":[2,3])").find("have 8 nodes, 6 values arrive"),
            std::string::npos);
  EXPECT_NE(error(R"("kind":"entmax","alpha":0.5)").find("\"alpha\" must be"), std::string::npos);
  EXPECT_NE(error(R"("kind":"sparsemax","log":true)")
                .find("\"log\" goes with \"kind\" standard, temperature, grid"),
            std::string::npos);
  const auto outputs = [](const std::string& layer) {
    const auto n = Network::from_json(std::string_view(chain(R"({"width":6})", {layer})));
    return n.ok() ? std::string() : n.status().message();
  };
  EXPECT_NE(outputs(R"("type":"adaptive_softmax","out":9,"cutoffs":[5,3])")
                .find("\"cutoffs\" must ascend between 0 and 9"),
            std::string::npos);
  EXPECT_NE(outputs(R"("type":"adaptive_softmax","out":9,"cutoffs":[3,5])")
                .find("leaves nothing of 6 values for cluster 1"),
            std::string::npos);
  EXPECT_NE(
      outputs(R"("type":"mixture_of_softmaxes","out":9)").find("\"mixtures\" must be at least 1"),
      std::string::npos);
  EXPECT_NE(error(R"("temperature":0)").find("\"temperature\" must be"), std::string::npos);
}

}  // namespace
}  // namespace loom
