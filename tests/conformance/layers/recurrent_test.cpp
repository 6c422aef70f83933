// Recurrent layers: gradients through time by finite differences, and what does not fit.
#include "conformance/same_bits.h"

namespace loom {
namespace {

using test::chain;
using test::check_gradients;

// A dense layer first, so that the gradient of the input is seen too.
void check(const std::string& type, const std::string& settings, int steps = 4, int features = 3) {
  SCOPED_TRACE(type + " " + settings);
  const std::string dims = std::to_string(steps) + "," + std::to_string(features),
                    f64 = R"(,"dtype":"f64")";
  check_gradients(chain(R"({"width":5})", {R"("type":"dense","activation":"tanh","out":)" +
                                               std::to_string(steps * features) + f64,
                                           R"("type":"reshape","dims":[)" + dims + "]" + f64,
                                           "\"type\":\"" + type + "\"," + settings + f64,
                                           R"("type":"dense","out":3)" + f64}),
                  false);
}

TEST(Recurrent, GradientsThroughTime) {
  for (const std::string type : {"rnn", "gru", "lstm"}) {
    check(type, R"("hidden":4)");
    check(type, R"("hidden":3,"output":"last")");
    check(type, R"("hidden":2,"bidirectional":true,"num_layers":2)");
    check(type, R"("hidden":2,"bidirectional":true,"num_layers":2,"output":"last","bias":false)");
    check(type, R"("hidden":3)", 1);
  }
  check("rnn", R"("hidden":4,"activation":"relu")");
  check("gru", R"("hidden":3,"linear_before_reset":false)");
  check(
      "gru",
      R"("hidden":2,"linear_before_reset":false,"bidirectional":true,"num_layers":2,"output":"last")");
  check("gru", R"("hidden":2,"linear_before_reset":false,"bias":false)");
}

// A run over all steps, and the same steps one run after another.
TEST(Recurrent, StatesCarryOverRuns) {
  constexpr std::int64_t kSteps = 6, kFeatures = 3, kHidden = 4;
  for (const std::string type : {"rnn", "gru", "lstm"}) {
    SCOPED_TRACE(type);
    const std::string layer = "\"type\":\"" + type + R"(","hidden":4,"num_layers":2)";
    Network whole = test::random_network(chain(R"({"dims":[6,3]})", {layer}), "f32"),
            parts = test::random_network(
                chain(R"({"dims":[2,3]})", {layer + R"(,"stateful":true)"}), "f32");
    ThreadPool pool(2);
    auto a = Session::create(whole, pool, {.max_rows = 2, .poison = true}),
         b = Session::create(parts, pool, {.max_rows = 2, .sequences = 3, .poison = true});
    ASSERT_TRUE(a.ok() && b.ok());
    for (const std::uint32_t pass : {0u, 1u}) {  // the second begins anew
      std::vector<float> x(2 * kSteps * kFeatures);
      for (std::size_t i = 0; i < x.size(); ++i) x[i] = RandomStream(5, pass).uniform(i) - 0.5f;
      ASSERT_TRUE(a->run(x, 2).ok());
      for (std::int64_t part = 0; part < 3; ++part) {
        std::vector<float> piece;
        for (std::int64_t r = 0; r < 2; ++r)
          piece.insert(piece.end(), x.begin() + (r * kSteps + 2 * part) * kFeatures,
                       x.begin() + (r * kSteps + 2 * part + 2) * kFeatures);
        const auto position = static_cast<std::uint32_t>(part);
        const auto run = b->run(piece, std::vector<std::uint32_t>{2, 0},
                                std::vector<std::uint32_t>{position, position});
        ASSERT_TRUE(run.ok()) << run.status().to_string();
        for (std::int64_t r = 0; r < 2; ++r)
          EXPECT_EQ(std::memcmp(b->output(r).data(), a->output(r).data() + 2 * part * kHidden,
                                2 * kHidden * sizeof(float)),
                    0)
              << "row " << r << " part " << part;
      }
    }
    EXPECT_FALSE(b->run(std::vector<float>(12), 2).ok());
    EXPECT_FALSE(
        b->run(std::vector<float>(6), std::vector<std::uint32_t>{3}, std::vector<std::uint32_t>{0})
            .ok());
  }
}

// The GRU whose reset gate acts on the state before its product (ONNX linear_before_reset = 0),
// written out.
TEST(Recurrent, AGruThatResetsItsState) {
  constexpr std::size_t kSteps = 3, kHidden = 2, kFeatures = 2;
  Network n = test::random_network(
      chain(R"({"dims":[3,2]})", {R"("type":"gru","hidden":2,"linear_before_reset":false)"}),
      "f32");
  auto at = [&](const char* role, std::size_t i) {
    return static_cast<double>(n.find("0.0.0.0", role)->master()[i]);
  };
  auto sigmoid = [](double v) { return 1 / (1 + std::exp(-v)); };
  const std::vector<float> x = {0.3f, -0.7f, 1.1f, 0.2f, -0.4f, 0.9f};
  double h[kHidden] = {};
  std::vector<double> want;
  for (std::size_t t = 0; t < kSteps; ++t) {
    auto input = [&](std::size_t row) {
      double sum = at("bias_ih_l0", row);
      for (std::size_t f = 0; f < kFeatures; ++f)
        sum += at("weight_ih_l0", row * kFeatures + f) * x[t * kFeatures + f];
      return sum;
    };
    auto gate = [&](std::size_t row) {
      double sum = input(row) + at("bias_hh_l0", row);
      for (std::size_t k = 0; k < kHidden; ++k) sum += at("weight_hh_l0", row * kHidden + k) * h[k];
      return sigmoid(sum);
    };
    double next[kHidden];
    for (std::size_t j = 0; j < kHidden; ++j) {
      double sum = input(2 * kHidden + j) + at("bias_hn_l0", j);
      for (std::size_t k = 0; k < kHidden; ++k)
        sum += at("weight_hn_l0", j * kHidden + k) * (gate(k) * h[k]);
      const double z = gate(kHidden + j);
      next[j] = (1 - z) * std::tanh(sum) + z * h[j];
    }
    for (std::size_t j = 0; j < kHidden; ++j) want.push_back(h[j] = next[j]);
  }
  ThreadPool pool(1);
  auto s = Session::create(n, pool, {.max_rows = 1});
  ASSERT_TRUE(s.ok());
  ASSERT_TRUE(s->run(x, 1).ok());
  for (std::size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(s->output(0)[i], want[i], 1e-6) << i;
}

TEST(Recurrent, EveryRunGivesTheSameBits) {
  for (const char* layer : {R"("type":"rnn","hidden":5)",
                            R"("type":"gru","hidden":5,"num_layers":2,"bidirectional":true)",
                            R"("type":"gru","hidden":5,"linear_before_reset":false)",
                            R"("type":"lstm","hidden":17,"bidirectional":true,"output":"last")"}) {
    SCOPED_TRACE(layer);
    test::check_same_bits(chain(R"({"dims":[5,3]})", {layer}));
  }
}

TEST(Recurrent, WhatDoesNotFitIsNamed) {
  auto error = [](const std::string& input, const std::string& layer) {
    const auto n = Network::from_json(std::string_view(chain(input, {layer})));
    return n.ok() ? std::string() : n.status().message();
  };
  EXPECT_NE(error(R"({"dims":[2,3,4]})", R"("type":"lstm","hidden":2)")
                .find("[steps, features], got [B, 2, 3, 4]"),
            std::string::npos);
  EXPECT_NE(
      error(R"({"dims":[2,3]})", R"("type":"gru","hidden":2,"stateful":true,"bidirectional":true)")
          .find("\"stateful\" has one direction"),
      std::string::npos);
  EXPECT_NE(error(R"({"dims":[2,3]})", R"("type":"gru")").find("\"hidden\" must be at least 1"),
            std::string::npos);
  EXPECT_NE(error(R"({"dims":[2,3]})", R"("type":"rnn","hidden":2,"output":"first")")
                .find("\"output\" must be one of all, last, got \"first\""),
            std::string::npos);
  EXPECT_NE(error(R"({"dims":[2,3]})", R"("type":"rnn","hidden":2,"activation":"silu")")
                .find("\"activation\" must be one of tanh, relu, got \"silu\""),
            std::string::npos);
  EXPECT_NE(error(R"({"dims":[20000,1]})", R"("type":"rnn","hidden":2,"num_layers":2)")
                .find("20000 x 1 x 2"),
            std::string::npos);
  EXPECT_NE(error(R"({"dims":[2,3]})", R"("type":"lstm","hidden":2,"linear_before_reset":true)")
                .find("linear_before_reset"),
            std::string::npos);
}

}  // namespace
}  // namespace loom
