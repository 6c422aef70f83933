// Dropout: a mask of its seed, step and place while learning, nothing otherwise.
#include "conformance/same_bits.h"

namespace loom {
namespace {

using test::chain;

// The mask stays for a step's finite differences.
TEST(Dropout, GradientsPassWhatPassed) {
  const std::string f64 = R"(,"dtype":"f64")";
  test::check_gradients(
      chain(R"({"width":5})",
            {R"("type":"dense","activation":"tanh","out":20)" + f64,
             R"("type":"dropout","rate":0.3)" + f64, R"("type":"dense","out":3)" + f64}),
      false, 4);
}

TEST(Dropout, InferencePassesEverything) {
  Network n = test::random_network(
      chain(R"({"width":8})", {R"("type":"dense","out":8)", R"("type":"dropout")"}), "f32");
  Network without =
      test::random_network(chain(R"({"width":8})", {R"("type":"dense","out":8)"}), "f32");
  EXPECT_EQ(test::outputs_of(n, 4, 1, 4, ""), test::outputs_of(without, 4, 1, 4, ""));
}

// The gradient of a bias before the mask tells which values passed.
std::vector<float> masks(std::uint64_t seed, int threads, std::int64_t from, int steps,
                         std::int64_t micro_batches) {
  auto n = Network::from_json(std::string_view(
      chain(R"({"width":1})", {R"("type":"dense","out":40)", R"("type":"dropout","rate":0.25)"})));
  EXPECT_TRUE(n.ok() && n->initialize(1).ok());
  ThreadPool pool(threads);
  auto learner = Learner::create(*n, pool,
                                 {.optimizer = {.kind = OptimizerKind::sgd},
                                  .max_rows = 1,
                                  .micro_batches = micro_batches,
                                  .seed = seed,
                                  .poison = true});
  EXPECT_TRUE(learner.ok()) << learner.status().to_string();
  learner->resume(from);
  const std::vector<float> x = {0}, target(40, -1);
  std::vector<float> got;
  for (std::int64_t step = from + 1; step <= from + steps; ++step) {
    for (std::int64_t micro = 0; micro < micro_batches; ++micro)
      EXPECT_TRUE(learner->batch(std::span<const float>(x), std::span<const float>(target)).ok() &&
                  learner->accumulate(micro).ok());
    for (const auto& g : learner->gradients())
      if (g.role == "bias")
        got.insert(got.end(), learner->executor().row<float>(g.value.buffer, 0).begin(),
                   learner->executor().row<float>(g.value.buffer, 0).end());
    EXPECT_TRUE(learner->update(0, 1, step).ok());
  }
  return got;
}

TEST(Dropout, AMaskIsOfItsSeedStepAndPlace) {
  const std::vector<float> four = masks(9, 1, 0, 4, 1);
  ASSERT_EQ(four.size(), 160u);
  EXPECT_EQ(four, masks(9, 3, 0, 4, 1));
  EXPECT_NE(four, masks(10, 1, 0, 4, 1));
  // A training that goes on has the masks it would have had.
  EXPECT_EQ(std::vector<float>(four.begin() + 80, four.end()), masks(9, 1, 2, 2, 1));
  EXPECT_NE(std::vector<float>(four.begin(), four.begin() + 80),
            std::vector<float>(four.begin() + 80, four.end()));
  EXPECT_NEAR(static_cast<double>(std::count(four.begin(), four.end(), 0.0f)), 40, 16);
  for (const float v : four) EXPECT_TRUE(v == 0 || std::abs(v - 2.0f / 40 / 0.75f) < 1e-6f) << v;
  // Micro-batches are runs of their own.
  const std::vector<float> two = masks(9, 1, 0, 1, 2);
  for (std::size_t i = 0; i < 40; ++i) EXPECT_FLOAT_EQ(two[i], four[i] + four[40 + i]);
}

TEST(Dropout, RatesAreChecked) {
  for (const char* rate : {"1", "-0.1", "2"})
    EXPECT_FALSE(Network::from_json(
                     std::string_view(chain(R"({"width":8})",
                                            {std::string(R"("type":"dropout","rate":)") + rate})))
                     .ok())
        << rate;
}

}  // namespace
}  // namespace loom
