// Networks that answer together: cases worked out by hand.
#include "ensemble/ensemble.h"

#include <gtest/gtest.h>

#include <cmath>

namespace loom::ensemble {
namespace {

TEST(Ensemble, PairsThatCompleteEachOtherComeFirst) {
  const std::vector<std::int32_t> right = {1, 1, 1, 0, 0, 0,   // 0
                                           0, 0, 0, 1, 1, 0,   // 1
                                           1, 1, 1, 1, 0, 0,   // 2
                                           0, 0, 0, 0, 0, 0};  // 3
  auto correct = correctness_of(right, 6);
  ASSERT_TRUE(correct.ok()) << correct.status().to_string();
  const auto matches = complementary_matches(*correct, 0.6);
  ASSERT_EQ(matches.size(), 4u);
  const auto is = [&](std::size_t i, int a, int b, double coverage, double overlap, double cosine) {
    EXPECT_EQ(matches[i].first, a);
    EXPECT_EQ(matches[i].second, b);
    EXPECT_DOUBLE_EQ(matches[i].coverage, coverage);
    EXPECT_DOUBLE_EQ(matches[i].overlap, overlap);
    EXPECT_DOUBLE_EQ(matches[i].cosine, cosine);
  };
  is(0, 0, 1, 5 / 6.0, 0, 0);
  is(1, 1, 2, 5 / 6.0, 1 / 6.0, 1 / std::sqrt(8.0));
  is(2, 2, 3, 4 / 6.0, 0, 0);
  is(3, 0, 2, 4 / 6.0, 3 / 6.0, 3 / std::sqrt(12.0));
  for (const std::vector<std::int32_t>& bad :
       {std::vector<std::int32_t>{1, 0}, {1, 0, 1}, {1, 0, 2, 0}, {}})
    EXPECT_EQ(correctness_of(bad, 2).status().code(), Code::invalid_argument);
  EXPECT_EQ(correctness_of(right, 0).status().code(), Code::invalid_argument);
}

const std::vector<float> kScores = {0.9f, 0.1f, 0.4f, 0.6f,   // member 0, rows 0 and 1
                                    0.2f, 0.8f, 0.3f, 0.7f,   // 1
                                    0.6f, 0.4f, 0.5f, 0.5f};  // 2

TEST(Ensemble, VotesByMajorityAndMean) {
  std::vector<float> y(4);
  ASSERT_TRUE(vote(kScores, 3, 2, {}, Vote::majority, y).ok());
  EXPECT_EQ(y, (std::vector<float>{2 / 3.0f, 1 / 3.0f, 1 / 3.0f, 2 / 3.0f}));
  const double weights[] = {0.5, 3, 0.5};
  ASSERT_TRUE(vote(kScores, 3, 2, weights, Vote::majority, y).ok());
  EXPECT_EQ(y, (std::vector<float>{0.25f, 0.75f, 0.125f, 0.875f}));
  ASSERT_TRUE(vote(kScores, 3, 2, {}, Vote::mean, y).ok());
  EXPECT_FLOAT_EQ(y[0], 1.7f / 3);
  // What has no weight has no say, whatever it is.
  std::vector<float> wild = kScores;
  wild[0] = INFINITY;
  const double two[] = {0, 1, 1};
  ASSERT_TRUE(vote(wild, 3, 2, two, Vote::mean, y).ok());
  EXPECT_FLOAT_EQ(y[0], 0.4f);
}

TEST(Ensemble, VotesAreRefusedByName) {
  std::vector<float> y(4);
  const auto code = [&](std::span<const float> s, std::int64_t members, std::int64_t width,
                        std::vector<double> weights) {
    return vote(s, members, width, weights, Vote::mean, y).code();
  };
  EXPECT_EQ(code(kScores, 0, 2, {}), Code::invalid_argument);
  EXPECT_EQ(code(kScores, 5, 2, {}), Code::invalid_argument);
  EXPECT_EQ(code(kScores, 3, 0, {}), Code::invalid_argument);
  EXPECT_EQ(code(kScores, 3, INT64_MAX, {}), Code::invalid_argument);
  EXPECT_EQ(code({}, 3, 2, {}), Code::invalid_argument);
  EXPECT_EQ(code(kScores, 3, 2, {1, 2}), Code::invalid_argument);
  EXPECT_EQ(code(kScores, 3, 2, {0, 0, 0}), Code::invalid_argument);
  EXPECT_EQ(code(kScores, 3, 2, {1, -1, 1}), Code::invalid_argument);
  EXPECT_EQ(code(kScores, 3, 2, {1, NAN, 1}), Code::invalid_argument);
  EXPECT_EQ(code(kScores, 2, 2, {}), Code::invalid_argument);  // y has room for 2 rows, not 3
  std::vector<float> nan = kScores;
  nan[5] = NAN;
  EXPECT_EQ(vote(nan, 3, 2, {}, Vote::mean, y).message(), "scores[5] of member 1 is NaN");
}

TEST(Ensemble, ChoosesMembersThatHelp) {
  // Rows of classes 0, 1, 0, 1. Member 0 has the first two right, member 1 the last two, member 2
  // the first one; 0 and 1 together have all.
  const std::vector<float> scores = {1,    0,    0,    1,    0.4f, 0.6f, 0.6f, 0.4f,  // 0
                                     0.4f, 0.6f, 0.6f, 0.4f, 1,    0,    0,    1,     // 1
                                     1,    0,    1,    0,    0,    1,    1,    0};    // 2
  const std::vector<std::int32_t> classes = {0, 1, 0, 1};
  auto s = select(scores, 3, 2, classes, 5);
  ASSERT_TRUE(s.ok()) << s.status().to_string();
  EXPECT_EQ(s->weights, (std::vector<double>{0.5, 0.5, 0}));
  EXPECT_EQ(s->accuracy, 1);
  EXPECT_EQ(s->best_member, 0.5);
  // One step is the best member.
  s = select(scores, 3, 2, classes, 1);
  EXPECT_EQ(s->weights, (std::vector<double>{1, 0, 0}));
  EXPECT_EQ(select(scores, 3, 2, classes, 0).status().code(), Code::invalid_argument);
  EXPECT_EQ(select(scores, 3, 2, std::vector<std::int32_t>{0, 1, 0, 2}, 1).status().code(),
            Code::invalid_argument);
  EXPECT_EQ(select(scores, 3, 2, std::vector<std::int32_t>{0, 1}, 1).status().code(),
            Code::invalid_argument);
}

}  // namespace
}  // namespace loom::ensemble
