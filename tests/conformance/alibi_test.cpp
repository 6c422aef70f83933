// ALiBi: its slopes, and that the forms of attention agree beyond a block of 64 positions.
#include "ops/attention/alibi.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"
#include "exec/session.h"

namespace loom {
namespace {

TEST(Alibi, SlopesOfThePaper) {
  EXPECT_EQ(alibi_slopes(1), (std::vector<double>{0x1p-8}));
  EXPECT_EQ(alibi_slopes(8),
            (std::vector<double>{0x1p-1, 0x1p-2, 0x1p-3, 0x1p-4, 0x1p-5, 0x1p-6, 0x1p-7, 0x1p-8}));
  // Of 3: the two of 2, then the first of 4.
  EXPECT_EQ(alibi_slopes(3), (std::vector<double>{0x1p-4, 0x1p-8, 0x1p-2}));
  for (const int heads : {2, 4, 12, 16, 20, 32, 71, 112, 128, 1000}) {
    const std::vector<double> slopes = alibi_slopes(heads);
    ASSERT_EQ(slopes.size(), static_cast<std::size_t>(heads));
    int power = 1;
    while (2 * power <= heads) power *= 2;
    for (int h = 0; h < heads; ++h) {
      const double exponent =
          h < power ? -8.0 * (h + 1) / power : -4.0 * (2 * (h - power) + 1) / power;
      const double expected = std::exp2(exponent);
      EXPECT_NEAR(slopes[static_cast<std::size_t>(h)], expected, 1e-14 * expected)
          << h << " of " << heads;
    }
  }
}

constexpr int kRows = 150, kWidth = 12;

std::vector<float> values() {
  const RandomStream random(5, 1);
  std::vector<float> x;
  for (std::uint64_t i = 0; i < kRows * kWidth; ++i) x.push_back(2 * random.uniform(i) - 1);
  return x;
}
Network network_of(const std::string& input, const std::string& cells) {
  auto n = Network::from_json(
      *Json::parse(R"({"format":"loom-topology","version":2,"layers_per_cell":1,"input":)" + input +
                   R"(,"cells":[{"at":[0,0,0,0],)" + cells + "}]}"));
  EXPECT_TRUE(n.ok()) << n.status().to_string();
  EXPECT_TRUE(n->initialize(3).ok());
  return std::move(*n);
}
std::string attention(const std::string& more) {
  return R"("type":"attention","heads":6,"kv_heads":2,"rope":false,"alibi":true)" + more;
}

// Rows in chunks, from a cache.
std::vector<float> in_chunks(Network& network, std::size_t chunk, bool whole = false,
                             const std::string& isa = "") {
  ThreadPool pool(2);
  auto s = Session::create(network, pool,
                           {.max_rows = kRows,
                            .max_positions = 192,
                            .whole_sequences = whole,
                            .isa = isa,
                            .poison = true});
  EXPECT_TRUE(s.ok()) << s.status().to_string();
  const std::vector<float> x = values();
  std::vector<float> y;
  for (std::size_t first = 0; first < kRows; first += chunk) {
    const std::size_t n = std::min<std::size_t>(chunk, kRows - first);
    std::vector<std::uint32_t> zeros(n, 0), places;
    for (std::size_t r = 0; r < n; ++r) places.push_back(static_cast<std::uint32_t>(first + r));
    const auto ran = s->run(std::span(x).subspan(first * kWidth, n * kWidth), zeros, places);
    EXPECT_TRUE(ran.ok()) << ran.status().to_string();
    for (std::size_t r = 0; r < n; ++r) {
      const auto row = s->output(static_cast<std::int64_t>(r));
      y.insert(y.end(), row.begin(), row.end());
    }
  }
  return y;
}

TEST(Alibi, ChunksStepsAndWholeSequencesHaveTheSameBits) {
  for (const char* more : {"", R"(,"window":70)"}) {
    Network network = network_of(R"({"width":12})", attention(more));
    const auto whole = in_chunks(network, kRows, true);
    EXPECT_EQ(in_chunks(network, kRows), whole);
    EXPECT_EQ(in_chunks(network, 7), whole);
    EXPECT_EQ(in_chunks(network, 1), whole);
    EXPECT_EQ(in_chunks(network, 1, false, "generic"), whole);
    Network without =
        network_of(R"({"width":12})",
                   R"("type":"attention","heads":6,"kv_heads":2,"rope":false)" + std::string(more));
    EXPECT_NE(in_chunks(without, kRows), whole);
    const Status taken = network.morph(*parse_weight_format("i8"));
    ASSERT_TRUE(taken.ok()) << taken.to_string();
    const auto packed = in_chunks(network, kRows);
    EXPECT_EQ(in_chunks(network, 1), packed);
    EXPECT_EQ(in_chunks(network, 64, false, "generic"), packed);
    double furthest = 0;
    for (std::size_t i = 0; i < whole.size(); ++i)
      furthest = std::max(furthest, static_cast<double>(std::abs(whole[i] - packed[i])));
    EXPECT_LT(furthest, 0.03);
  }
}

// With a mask that hides nothing attention is made of other ops.
TEST(Alibi, TheFusedFormIsThatOfOps) {
  for (const char* more : {"", R"(,"window":70)", R"(,"causal":false)"}) {
    Network fused = network_of(R"({"dims":[150,12]})", attention(more));
    Network by_ops = network_of(
        R"({"parts":[{"name":"x","dims":[150,12]},{"name":"m","width":150}]})",
        R"("type":"sequential","layers":[{"type":"parallel","combine":"operands","layers":[{"type":"part","of":"x"},{"type":"part","of":"m"}]},{)" +
            attention(std::string(more) + R"(,"takes":["mask"])") + "}]");
    const auto from = fused.params(), to = by_ops.params();
    ASSERT_EQ(from.size(), to.size());
    for (std::size_t i = 0; i < from.size(); ++i) {
      const auto values = from[i].param->store->master();
      std::copy(values.begin(), values.end(), to[i].param->store->mutable_master().begin());
      to[i].param->store->touch();
    }
    ThreadPool pool(1);
    auto one = Session::create(fused, pool, {.max_rows = 1}),
         other = Session::create(by_ops, pool, {.max_rows = 1});
    ASSERT_TRUE(one.ok() && other.ok()) << other.status().to_string();
    std::vector<float> x = values();
    const auto y = one->run(x, 1);
    ASSERT_TRUE(y.ok()) << y.status().to_string();
    const std::vector<float> expected(y->begin(), y->end());
    x.resize(x.size() + kRows, 0.0f);
    const auto z = other->run(x, 1);
    ASSERT_TRUE(z.ok()) << z.status().to_string();
    for (std::size_t i = 0; i < expected.size(); ++i)
      EXPECT_NEAR((*z)[i], expected[i], 1e-5) << more << " " << i;
  }
}

}  // namespace
}  // namespace loom
