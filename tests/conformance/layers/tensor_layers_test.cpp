// Layers of whole graphs: gradients by finite differences, and values worked out by hand.
#include <cmath>
#include <limits>

#include "conformance/support.h"
#include "exec/session.h"
#include "numeric/codec.h"

namespace loom {
namespace {

using test::chain;
using test::check_gradients;

const std::string kDense3 = R"("type":"dense","out":3,"dtype":"f64")";

// A dense layer first, so that the gradient of the input is seen too.
void check(std::int64_t width, const std::string& layer) {
  SCOPED_TRACE(layer);
  check_gradients(chain(R"({"width":5})", {R"("type":"dense","dtype":"f64","out":)" +
                                               std::to_string(width) + R"(,"activation":"tanh")",
                                           layer + R"(,"dtype":"f64")", kDense3}),
                  false);
}

TEST(TensorLayers, GradientsOfFunctions) {
  for (int kind = 0; kind < kUnaryCount; ++kind) {
    const auto k = static_cast<Unary>(kind);
    if (!differentiable(k) || k == Unary::fp8e4m3 || k == Unary::fp8e5m2)
      continue;  // the gradient of steps goes through
    // Where the function wants positive values, of a sigmoid.
    const bool positive = k == Unary::sqrt || k == Unary::log || k == Unary::reciprocal;
    const std::string layer =
        R"("type":"unary","op":")" + std::string(name(k)) + R"(","a":0.3,"b":0.7,"dtype":"f64")";
    SCOPED_TRACE(layer);
    check_gradients(chain(R"({"width":5})",
                          {std::string(R"("type":"dense","dtype":"f64","out":6,"activation":")") +
                               (positive ? "sigmoid\"" : "tanh\""),
                           layer, kDense3}),
                    false);
  }
}

TEST(TensorLayers, GradientsOfPairs) {
  for (int kind = 0; kind < kBinaryCount; ++kind) {
    const auto k = static_cast<Binary>(kind);
    if (!differentiable(k)) continue;
    const std::string op = std::string(R"("type":"binary","op":")") + std::string(name(k)) + "\"";
    // Powers and quotients want a positive second or first operand.
    const bool positive = k == Binary::pow || k == Binary::div;
    const std::string values = std::string(R"("type":"dense","dtype":"f64","out":)"),
                      act = std::string(R"(,"activation":")") + (positive ? "sigmoid\"" : "tanh\"");
    for (const auto& [width, shapes] :
         {std::pair{10, "[[2,3],[2,2,1]]"}, {12, "[[6],[6]]"}, {8, "[[2,3],[2,1]]"}}) {
      SCOPED_TRACE(op + shapes);
      check_gradients(
          chain(R"({"width":5})", {values + std::to_string(width) + act,
                                   op + R"(,"dtype":"f64","shapes":)" + shapes, kDense3}),
          false);
    }
    if (positive) continue;  // the learned operand below has both signs
    check(6, op + R"(,"shapes":[[2,3]],"constant":[3])");
    check(6, op + R"(,"shapes":[[6]],"constant":[4,6],"constant_first":true)");
  }
}

TEST(TensorLayers, GradientsOfReductions) {
  for (int kind = 0; kind < kReduceCount; ++kind) {
    const auto k = static_cast<Reduce>(kind);
    if (!differentiable(k)) continue;
    const std::string op = std::string(R"("type":"reduce","op":")") + std::string(name(k)) + "\"";
    if (k == Reduce::log_sum) {
      check_gradients(chain(R"({"width":5})",
                            {R"("type":"dense","dtype":"f64","out":12,"activation":"sigmoid")",
                             op + R"(,"dtype":"f64","dims":[2,3,2],"axes":[1])", kDense3}),
                      false);
      continue;
    }
    check(12, op + R"(,"dims":[2,3,2],"axes":[1])");
    check(12, op + R"(,"dims":[2,3,2],"axes":[0,2],"keep":false)");
    check(12, op);
  }
}

TEST(TensorLayers, GradientsOfPlacesAndProducts) {
  check(24, R"("type":"permute","dims":[2,3,4],"order":[2,0,1])");
  check(7, R"("type":"pick","runs":[6,-2,4,-1,0,2,3,0,5],"fill":0.5)");
  check(7, R"("type":"pick","runs":[2,1,4])");
  check(10, R"("type":"select","shapes":[[2,1],[2,3],[2,1]])");
  check(18, R"("type":"batched_matmul","shapes":[[2,3],[2,3,2]])");
  check(24, R"("type":"batched_matmul","shapes":[[2,3,2],[2,2,3]])");
  check(12, R"("type":"each","count":3,"layers":[{"type":"dense","out":2,"activation":"tanh"}])");
  check(
      12,
      R"("type":"sequential","layers":[{"type":"reshape","dims":[2,2,3]},{"type":"each","layers":[{"type":"cnn1","filters":2,"kernel":2}]}])");
}

// Behind a rounding, or an index, nothing learns; what goes around it does.
TEST(TensorLayers, WhatHasNoGradientEndsItInsideContainers) {
  for (const char* step : {R"({"type":"unary","op":"round"})", R"({"type":"reduce","op":"argmax"})",
                           R"({"type":"binary","op":"less","shapes":[[3],[3]]})"}) {
    const std::string inside =
        R"([{"type":"dense","out":6},{"type":"activation","activation":"tanh"},)" +
        std::string(step) + "]";
    check(6, R"("type":"sequential","layers":)" + inside);
    check(6, R"("type":"each","count":2,"layers":[{"type":"sequential","layers":)" + inside + "}]");
    check(6, R"("type":"parallel","layers":[{"type":"sequential","layers":)" + inside +
                 R"(},{"type":"dense","out":2}])");
    check(
        6,
        R"("type":"sequential","layers":[{"type":"dense","out":6},{"type":"sequential","layers":[{"type":"unary","op":"floor"},{"type":"unary","op":"neg"}]},{"type":"residual"}])");
  }
}

std::vector<float> run(const std::string& cell, const std::vector<float>& x,
                       std::string* shape = nullptr) {
  auto network = Network::from_json(
      std::string_view(chain("{\"width\":" + std::to_string(x.size()) + "}", {cell})));
  EXPECT_TRUE(network.ok()) << network.status().to_string();
  if (!network.ok()) return {};
  if (shape) *shape = network->output().to_string();
  ThreadPool pool(2);
  auto session = Session::create(*network, pool, {.max_rows = 1, .poison = true});
  EXPECT_TRUE(session.ok()) << session.status().to_string();
  if (!session.ok()) return {};
  const auto y = session->run(x, 1);
  EXPECT_TRUE(y.ok()) << y.status().to_string();
  return y.ok() ? std::vector<float>(y->begin(), y->end()) : std::vector<float>();
}
using Values = std::vector<float>;

TEST(TensorLayers, ValuesByHand) {
  EXPECT_EQ(run(R"("type":"unary","op":"round")", {0.5f, 1.5f, 2.5f, -0.5f, -1.5f, 2.4f, 8388609}),
            (Values{0, 2, 2, 0, -2, 2, 8388609}));
  EXPECT_EQ(run(R"("type":"unary","op":"floor")", {0.5f, -0.5f, -2, 3.99f}),
            (Values{0, -1, -2, 3}));
  EXPECT_EQ(run(R"("type":"unary","op":"ceil")", {0.5f, -0.5f, -2, 3.01f}), (Values{1, 0, -2, 4}));
  EXPECT_EQ(run(R"("type":"unary","op":"clip","a":-1,"b":2)", {-3, 0.5f, 7}),
            (Values{-1, 0.5f, 2}));
  std::string shape;
  EXPECT_EQ(
      run(R"("type":"binary","op":"sub","shapes":[[2,2],[2,1,1]])", {1, 2, 3, 4, 10, 20}, &shape),
      (Values{-9, -8, -7, -6, -19, -18, -17, -16}));
  EXPECT_EQ(shape, "[B, 2, 2, 2]");
  EXPECT_EQ(run(R"("type":"binary","op":"less","shapes":[[3],[1]])", {1, 2, 3, 2}),
            (Values{1, 0, 0}));
  EXPECT_EQ(run(R"("type":"select","shapes":[[2],[2],[1]])", {1, 0, 5, 6, 9}), (Values{5, 9}));
  EXPECT_EQ(
      run(R"("type":"reduce","op":"max","dims":[2,3],"axes":[0])", {1, 5, 2, 4, 0, 3}, &shape),
      (Values{4, 5, 3}));
  EXPECT_EQ(shape, "[B, 1, 3]");
  EXPECT_EQ(run(R"("type":"reduce","op":"argmin","dims":[2,3],"axes":[1],"keep":false)",
                {1, 5, 1, 4, 0, 3}),
            (Values{0, 1}));
  EXPECT_EQ(run(R"("type":"permute","dims":[2,3],"order":[1,0])", {1, 2, 3, 4, 5, 6}, &shape),
            (Values{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(shape, "[B, 3, 2]");
  EXPECT_EQ(run(R"("type":"pick","runs":[2,-1,3,-1,0,1,0,0,2],"fill":7)", {1, 2, 3}),
            (Values{3, 2, 1, 7, 1, 1}));
  EXPECT_EQ(run(R"("type":"batched_matmul","shapes":[[2,2],[2,1]])", {1, 2, 3, 4, 5, 6}, &shape),
            (Values{17, 39}));
  EXPECT_EQ(shape, "[B, 2, 1]");
}

// Against the codec of stored weights, whose tables come from elsewhere: all codes, what lies
// between them, what lies beyond; in double too.
TEST(TensorLayers, RoundingToFp8EqualsTheCodec) {
  Values x;
  for (int code = 0; code < 256; ++code)
    for (const float v : {fp8e4m3_to_f32(static_cast<std::uint8_t>(code)),
                          fp8e5m2_to_f32(static_cast<std::uint8_t>(code))})
      for (const float part :
           {1.0f, 1.0624f, 1.0625f, 1.0626f, 1.125f, 1.1251f, 1.2f, 1.5f, 1.501f})
        if (v - v == 0) x.push_back(v * part);
  for (const float v : {449.0f, 463.9f, 464.0f, 500.0f, 61439.0f, 61440.0f, 1e9f, 3e38f,
                        std::numeric_limits<float>::infinity()})
    x.push_back(v), x.push_back(-v);
  for (const std::string dtype : {"f32", "f64"}) {
    const Values e4m3 = run(R"("type":"unary","op":"fp8e4m3","dtype":")" + dtype + "\"", x),
                 e5m2 = run(R"("type":"unary","op":"fp8e5m2","dtype":")" + dtype + "\"", x);
    ASSERT_EQ(e4m3.size(), x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      EXPECT_EQ(e4m3[i], fp8e4m3_to_f32(f32_to_fp8e4m3(x[i]))) << x[i] << " in " << dtype;
      const float wide = std::abs(x[i]) >= 61440
                             ? std::copysign(std::numeric_limits<float>::infinity(), x[i])
                             : fp8e5m2_to_f32(f32_to_fp8e5m2(x[i]));
      EXPECT_EQ(e5m2[i], wide) << x[i] << " in " << dtype;
    }
  }
}

TEST(TensorLayers, WhatDoesNotFitIsNamed) {
  auto error = [](const std::string& layer) {
    const auto n = Network::from_json(std::string_view(chain(R"({"width":6})", {layer})));
    return n.ok() ? std::string() : n.status().message();
  };
  EXPECT_NE(error(R"("type":"unary","op":"magic")").find("unknown op \"magic\": one of abs"),
            std::string::npos);
  EXPECT_NE(error(R"("type":"binary","op":"add","shapes":[[2],[4]])")
                .find("shapes [2] and [4] do not spread"),
            std::string::npos);
  EXPECT_NE(error(R"("type":"binary","op":"add","shapes":[[2],[2]])")
                .find("hold 4 values together, [B, 6] arrive"),
            std::string::npos);
  EXPECT_NE(error(R"("type":"pick","runs":[0,1,7])").find("leaves the row"), std::string::npos);
  EXPECT_NE(
      error(R"("type":"permute","dims":[2,3],"order":[0,0])").find("\"order\" must name each"),
      std::string::npos);
  EXPECT_NE(error(R"("type":"batched_matmul","shapes":[[1,2],[4,1]])")
                .find("cannot multiply [1, 2] by [4, 1]"),
            std::string::npos);
  EXPECT_NE(
      error(R"("type":"each","count":4,"layers":[{"type":"dense","out":1}])").find("into 4 parts"),
      std::string::npos);
}

}  // namespace
}  // namespace loom
