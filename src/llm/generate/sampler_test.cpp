#include "llm/generate/sampler.h"

#include <gtest/gtest.h>

#include <limits>

#include "llm/generate/stop_filter.h"

namespace loom {
namespace {

Sampler sampler(const SamplerOptions& options) {
  auto s = Sampler::create(options);
  EXPECT_TRUE(s.ok()) << s.status().to_string();
  return *s;
}

// Made by tests/parity/models/sampler.py, an independent sampler in NumPy.
struct Row {
  SamplerOptions options;
  std::vector<std::int32_t> picks;
};
const Row kTable[] = {
    {{1, 0, 1, 0, 1, 0ull}, {206, 511, 175, 607, 14, 833, 48, 833, 271, 655, 480, 361}},
    {{0.7, 0, 1, 0, 1, 0ull}, {960, 175, 576, 816, 223, 785, 48, 785, 672, 864, 929, 203}},
    {{1, 5, 1, 0, 1, 7ull}, {144, 96, 689, 48, 48, 689, 96, 96, 48, 144, 689, 144}},
    {{2, 0, 0.9, 0, 1, 1ull}, {48, 937, 271, 381, 186, 734, 977, 567, 960, 39, 689, 144}},
    {{1.5, 0, 1, 0.05, 1, 2ull}, {299, 864, 381, 319, 141, 703, 240, 254, 960, 48, 573, 833}},
    {{1, 0, 1, 0, 1.3, 3ull}, {175, 432, 494, 432, 155, 463, 799, 381, 96, 384, 384, 192}},
    {{3, 200, 0.8, 0.02, 1.1, 1099511627776ull},
     {336, 689, 720, 415, 350, 528, 796, 875, 864, 220, 525, 367}},
    {{100, 0, 0.999, 0, 1, 9ull}, {947, 418, 157, 688, 231, 300, 360, 94, 931, 230, 750, 87}},
    {{0, 0, 1, 0, 1, 0ull}, {48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48}},
    {{0, 0, 1, 0, 2, 0ull}, {48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48}},
    {{1, 1, 1, 0, 1, 5ull}, {48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48}},
    {{1, 0, 1e-06, 0, 1, 5ull}, {48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48}},
};

TEST(Sampler, picks_as_the_reference_does) {
  std::vector<float> logits(1000);
  for (int i = 0; i < 1000; ++i)
    logits[static_cast<std::size_t>(i)] = static_cast<float>(i * 7919 % 641 - 320) / 32;
  std::vector<std::int32_t> history;
  for (std::int32_t i = 0; i < 40; ++i) history.push_back(i * 37 % 1000);
  for (std::size_t r = 0; r < std::size(kTable); ++r) {
    Sampler s = sampler(kTable[r].options);
    for (std::size_t i = 0; i < kTable[r].picks.size(); ++i) {
      const auto id = s.pick(logits, history, i);
      ASSERT_TRUE(id.ok());
      EXPECT_EQ(*id, kTable[r].picks[i]) << "row " << r << " index " << i;
    }
  }
}

TEST(Sampler, ties_go_to_the_lower_id) {
  const std::vector<float> logits = {1, 3, 3, 3, 2};
  EXPECT_EQ(*sampler({}).pick(logits, {}, 0), 1);
  for (std::uint64_t i = 0; i < 50; ++i) {
    EXPECT_EQ(*sampler({.temperature = 1, .top_k = 1}).pick(logits, {}, i), 1);
    EXPECT_LE(*sampler({.temperature = 1, .top_k = 2}).pick(logits, {}, i), 2);
  }
}

TEST(Sampler, draws_in_proportion) {
  // Probabilities 0.5, 0.25, 0.25 within four standard deviations of 20,000 draws.
  const std::vector<float> logits = {0.69314718f, 0, 0, -40};
  Sampler s = sampler({.temperature = 1, .seed = 3});
  int count[4] = {};
  for (std::uint64_t i = 0; i < 20000; ++i) ++count[*s.pick(logits, {}, i)];
  EXPECT_NEAR(count[0], 10000, 283);
  EXPECT_NEAR(count[1], 5000, 245);
  EXPECT_NEAR(count[2], 5000, 245);
  EXPECT_EQ(count[3], 0);
}

TEST(Sampler, penalty_divides_positive_and_multiplies_negative_logits) {
  // 4 / 2 = 2 < 3; -1 * 2 = -2 < -1.5; once per id, however often it was seen.
  EXPECT_EQ(*sampler({.repetition_penalty = 2})
                 .pick(std::vector<float>{4, 3}, std::vector<std::int32_t>{0, 0}, 0),
            1);
  EXPECT_EQ(*sampler({.repetition_penalty = 2})
                 .pick(std::vector<float>{-1, -1.5f}, std::vector<std::int32_t>{0}, 0),
            1);
  EXPECT_EQ(*sampler({.repetition_penalty = 2})
                 .pick(std::vector<float>{5, 2}, std::vector<std::int32_t>{0, 0, -1, 99}, 0),
            0);
}

TEST(Sampler, a_temperature_that_is_0_as_f32_is_greedy) {
  for (const double temperature : {1e-50, 1e-40})
    EXPECT_EQ(*sampler({.temperature = temperature}).pick(std::vector<float>{1, 3, 2}, {}, 0), 1);
}

TEST(Sampler, not_a_number) {
  const float nan = std::numeric_limits<float>::quiet_NaN(),
              infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(*sampler({}).pick(std::vector<float>{nan, 1, nan}, {}, 0), 1);
  EXPECT_EQ(*sampler({.temperature = 1}).pick(std::vector<float>{nan, 1, -infinity}, {}, 0), 1);
  for (const std::vector<float>& bad :
       {std::vector<float>{nan, nan}, {-infinity}, {infinity, 0}, {}})
    EXPECT_FALSE(sampler({.temperature = 1}).pick(bad, {}, 0).ok());
}

TEST(Sampler, settings_are_checked) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const SamplerOptions& bad : {SamplerOptions{.temperature = -1},
                                    {.temperature = nan},
                                    {.top_k = -1},
                                    {.top_p = 0},
                                    {.top_p = 1.5},
                                    {.min_p = -0.1},
                                    {.repetition_penalty = 0}}) {
    const auto s = Sampler::create(bad);
    ASSERT_FALSE(s.ok());
    EXPECT_EQ(s.status().code(), Code::invalid_argument);
  }
}

TEST(StopFilter, any_cut_of_the_stream_gives_the_same_text) {
  const std::string text = "one two END three ENDS";
  for (std::size_t a = 0; a <= text.size(); ++a) {
    for (std::size_t b = a; b <= text.size(); ++b) {
      StopFilter f({"", "ENDS", " END ", "nothing"});
      std::string out;
      for (const std::string& piece : {text.substr(0, a), text.substr(a, b - a), text.substr(b)})
        out += f.push(piece);
      out += f.finish();
      EXPECT_EQ(out, "one two");
      EXPECT_TRUE(f.stopped());
    }
  }
}

TEST(StopFilter, what_only_begins_like_a_stop_is_delivered) {
  StopFilter f({"aab"});
  EXPECT_EQ(f.push("a"), "");
  EXPECT_EQ(f.push("a"), "");
  EXPECT_EQ(f.push("a"), "a");
  EXPECT_EQ(f.push("x"), "aax");
  EXPECT_EQ(f.push("aa"), "");
  EXPECT_EQ(f.finish(), "aa");
  EXPECT_FALSE(f.stopped());
}

}  // namespace
}  // namespace loom
