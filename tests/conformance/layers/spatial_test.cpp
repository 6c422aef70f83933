// Layers over space: gradients by finite differences, and values against sums written out.
#include "conformance/support.h"
#include "exec/session.h"

namespace loom {
namespace {

using test::chain;
using test::check_gradients;

const std::string kDense3 = R"("type":"dense","out":3,"dtype":"f64")";
std::string cell(const std::string& type, const std::string& settings) {
  return "\"type\":\"" + type + "\",\"dtype\":\"f64\"" + (settings.empty() ? "" : "," + settings);
}
std::string dims(const std::string& list) { return R"({"dims":[)" + list + "]}"; }

// A dense layer first, so that the gradient of the input is seen too.
void check(const std::string& input, std::int64_t width, const std::string& layer) {
  SCOPED_TRACE(input + " " + layer);
  check_gradients(chain(dims(input), {cell("dense", "\"out\":" + std::to_string(width) +
                                                        ",\"activation\":\"tanh\""),
                                      cell("reshape", "\"dims\":[" + input + "]"), layer, kDense3}),
                  false);
}

TEST(Spatial, GradientsOfConvolutions) {
  check("2,9", 18, cell("conv1d", R"("filters":3,"kernel":3,"padding":1,"activation":"tanh")"));
  check("4,8", 32,
        cell("conv1d", R"("filters":6,"kernel":[2],"stride":2,"groups":2,"padding":[0,1])"));
  check(
      "2,5,6", 60,
      cell("conv2d", R"("filters":3,"kernel":[3,2],"stride":[2,1],"padding":[1,0],"bias":false)"));
  check(
      "3,7,5", 105,
      cell(
          "conv2d",
          R"("filters":3,"kernel":3,"dilation":[2,1],"padding":[1,2,0,1],"groups":3,"activation":"silu")"));
  check("2,3,4,3", 72, cell("conv3d", R"("filters":2,"kernel":2,"stride":[1,2,1],"padding":1)"));
}

TEST(Spatial, GradientsOfTransposedConvolutions) {
  check(
      "3,4", 12,
      cell(
          "conv_transpose1d",
          R"("filters":2,"kernel":3,"stride":2,"padding":1,"output_padding":1,"activation":"tanh")"));
  check(
      "4,3,3", 36,
      cell(
          "conv_transpose2d",
          R"("filters":4,"kernel":[3,2],"stride":[2,3],"groups":2,"output_padding":[1,2],"padding":[1,0])"));
  check("2,2,2,3", 24,
        cell("conv_transpose3d", R"("filters":2,"kernel":2,"dilation":[1,2,1],"bias":false)"));
}

TEST(Spatial, GradientsOfPools) {
  check("2,9", 18, cell("max_pool1d", R"("kernel":3,"stride":2,"padding":1)"));
  check("2,5,6", 60,
        cell("max_pool2d", R"("kernel":[2,3],"stride":[1,2],"dilation":[2,1],"ceil_mode":true)"));
  check("1,4,4,4", 64, cell("max_pool3d", ""));
  check("2,7", 14,
        cell("avg_pool1d", R"("kernel":3,"stride":2,"padding":1,"count_include_pad":false)"));
  check("2,5,6", 60, cell("avg_pool2d", R"("kernel":3,"stride":2,"padding":1,"ceil_mode":true)"));
  check("2,3,4,3", 72, cell("avg_pool3d", R"("global":true)"));
}

Result<std::vector<float>> run(const std::string& topology, std::span<const float> x,
                               std::int64_t rows, const std::function<void(Network&)>& set = {}) {
  LOOM_ASSIGN(Network network, Network::from_json(std::string_view(topology)));
  LOOM_TRY(network.initialize(1));
  if (set) set(network);
  ThreadPool pool(3);
  LOOM_ASSIGN(Session session, Session::create(network, pool, {.max_rows = rows, .poison = true}));
  LOOM_TRY(session.run(x, rows).status());
  std::vector<float> y;
  for (std::int64_t r = 0; r < rows; ++r)
    y.insert(y.end(), session.output(r).begin(), session.output(r).end());
  return y;
}

TEST(Spatial, AConvolutionIsItsSum) {
  constexpr std::int64_t kRows = 2, kC = 2, kH = 4, kW = 5, kF = 3, kK = 3;
  std::vector<float> x(kRows * kC * kH * kW), w(kF * kC * kK * kK), b = {0.5f, -1, 2};
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = static_cast<float>(static_cast<int>(i * 7 % 11) - 5);
  for (std::size_t i = 0; i < w.size(); ++i)
    w[i] = static_cast<float>(static_cast<int>(i * 5 % 13) - 6);
  const auto y =
      run(chain(dims("2,4,5"),
                {R"("type":"conv2d","filters":3,"kernel":3,"stride":[1,2],"padding":1)"}),
          x, kRows, [&](Network& n) {
            std::copy(w.begin(), w.end(), n.find("0.0.0.0", "weight")->mutable_master().begin());
            std::copy(b.begin(), b.end(), n.find("0.0.0.0", "bias")->mutable_master().begin());
          });
  ASSERT_TRUE(y.ok()) << y.status().to_string();
  std::size_t at = 0;
  for (int r = 0; r < kRows; ++r)
    for (int f = 0; f < kF; ++f)
      for (int oy = 0; oy < 4; ++oy)
        for (int ox = 0; ox < 3; ++ox) {
          float sum = b[static_cast<std::size_t>(f)];
          for (int c = 0; c < kC; ++c)
            for (int ky = 0; ky < kK; ++ky)
              for (int kx = 0; kx < kK; ++kx) {
                const int iy = oy + ky - 1, ix = 2 * ox + kx - 1;
                if (iy >= 0 && iy < kH && ix >= 0 && ix < kW)
                  sum += w[static_cast<std::size_t>(((f * kC + c) * kK + ky) * kK + kx)] *
                         x[static_cast<std::size_t>(((r * kC + c) * kH + iy) * kW + ix)];
              }
          EXPECT_EQ((*y)[at++], sum) << r << " " << f << " " << oy << " " << ox;
        }
  EXPECT_EQ(at, y->size());
}

TEST(Spatial, PoolsOfASmallImage) {
  const std::vector<float> x = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  auto pool = [&](const std::string& settings) {
    const auto y = run(chain(dims("1,3,3"), {settings}), x, 1);
    EXPECT_TRUE(y.ok()) << y.status().to_string();
    return y.ok() ? *y : std::vector<float>();
  };
  EXPECT_EQ(pool(R"("type":"max_pool2d")"), (std::vector<float>{5}));
  EXPECT_EQ(pool(R"("type":"max_pool2d","ceil_mode":true)"), (std::vector<float>{5, 6, 8, 9}));
  EXPECT_EQ(pool(R"("type":"avg_pool2d","ceil_mode":true)"), (std::vector<float>{3, 4.5, 7.5, 9}));
  EXPECT_EQ(pool(R"("type":"avg_pool2d","padding":1)"), (std::vector<float>{0.25, 1.25, 2.75, 7}));
  EXPECT_EQ(pool(R"("type":"avg_pool2d","padding":1,"count_include_pad":false)"),
            (std::vector<float>{1, 2.5, 5.5, 7}));
  EXPECT_EQ(pool(R"("type":"avg_pool2d","global":true)"), (std::vector<float>{5}));
}

TEST(Spatial, WhatDoesNotFitIsNamed) {
  auto error = [](const std::string& input, const std::string& layer) {
    const auto n = Network::from_json(std::string_view(chain(input, {layer})));
    return n.ok() ? std::string() : n.status().message();
  };
  EXPECT_NE(error(R"({"width":9})", R"("type":"conv2d","filters":1)")
                .find("[channels, height, width], got [B, 9]"),
            std::string::npos);
  EXPECT_NE(error(dims("3,4,4"), R"("type":"conv2d","filters":4,"groups":2)")
                .find("\"groups\" must divide 3 channels"),
            std::string::npos);
  EXPECT_NE(
      error(dims("1,2,2"), R"("type":"conv2d","filters":1,"kernel":3)").find("does not fit into 2"),
      std::string::npos);
  EXPECT_NE(
      error(dims("1,8"), R"("type":"max_pool1d","padding":2)").find("\"padding\" must be below"),
      std::string::npos);
  EXPECT_NE(error(dims("1,8"), R"("type":"conv1d","filters":1,"stride":[1,1])")
                .find("\"stride\": expected one number or 1"),
            std::string::npos);
  EXPECT_NE(
      error(dims("2,3"), R"("type":"reshape","dims":[4,-1])").find("cannot arrange [B, 2, 3] as"),
      std::string::npos);
}

// What a topology says is what it was read from.
TEST(Spatial, TopologyRoundTrip) {
  const std::string text =
      chain(dims("4,6,6"),
            {R"("type":"conv2d","filters":6,"kernel":[3,2],"padding":[1,0,0,1],"groups":2)",
             R"("type":"avg_pool2d","stride":1,"count_include_pad":false)",
             R"("type":"conv_transpose2d","filters":2,"stride":2,"output_padding":1)",
             R"("type":"flatten")"});
  auto n = Network::from_json(std::string_view(text));
  ASSERT_TRUE(n.ok()) << n.status().to_string();
  const std::string written = n->to_json().dump();
  auto again = Network::from_json(std::string_view(written));
  ASSERT_TRUE(again.ok()) << again.status().to_string();
  EXPECT_EQ(again->to_json().dump(), written);
  EXPECT_EQ(again->output(), n->output());
}

}  // namespace
}  // namespace loom
