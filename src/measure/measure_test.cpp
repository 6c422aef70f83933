// Figures of values: cases worked out by hand.
#include "measure/measure.h"

#include <gtest/gtest.h>

#include <cmath>

namespace loom::measure {
namespace {

using Doubles = std::vector<double>;

TEST(Deviation, IsThatOfItsDefinition) {
  const Doubles actual = {100, 105, 125, 0.02, 260, -100, NAN},
                expected = {100, 100, 100, 0, 200, 100, 1};
  auto d = deviation(actual, expected, 1, 2);
  ASSERT_TRUE(d.ok()) << d.status().to_string();
  EXPECT_EQ(d->samples, 7);
  EXPECT_EQ(d->buckets, (std::array<std::int64_t, 7>{3, 0, 1, 1, 0, 0, 2}));
  EXPECT_EQ(d->ids[0], (std::vector<std::int64_t>{0, 1}));
  EXPECT_EQ(d->ids[2], (std::vector<std::int64_t>{2}));
  EXPECT_EQ(d->ids[6], (std::vector<std::int64_t>{5, 6}));
  ASSERT_EQ(d->worst.size(), 2u);
  EXPECT_EQ(d->worst[0].sample, 6);
  EXPECT_TRUE(std::isinf(d->worst[0].deviation));
  EXPECT_EQ(d->worst[1].sample, 5);
  EXPECT_EQ(d->worst[1].deviation, 200);
  EXPECT_EQ(d->not_finite, 1);
  EXPECT_DOUBLE_EQ(d->mean, (0 + 5 + 25 + 2 + 30 + 200) / 6.0);
  EXPECT_DOUBLE_EQ(d->score, (100 + 95 + 75 + 98 + 70) / 7.0);
  EXPECT_DOUBLE_EQ(d->equal, 1 / 7.0);
}

TEST(Deviation, OfASampleIsTheMeanOfItsValues) {
  auto d = deviation(Doubles{1, 1, 3, 2}, Doubles{1, 2, 3, 2}, 2, 10);
  ASSERT_TRUE(d.ok());
  EXPECT_EQ(d->samples, 2);
  EXPECT_EQ(d->worst[0].deviation, 25);
  EXPECT_EQ(d->equal, 0.5);
  d = deviation(Doubles{NAN}, Doubles{1}, 1, 0);
  ASSERT_TRUE(d.ok());
  EXPECT_EQ(d->mean, 0);
  EXPECT_TRUE(d->worst.empty());
}

TEST(Deviation, RefusesByName) {
  const auto message = [](const Doubles& a, const Doubles& e, std::int64_t width,
                          std::int64_t keep) {
    return deviation(a, e, width, keep).status().message();
  };
  EXPECT_EQ(message({1, 2}, {1}, 1, 1), "expected: has 1 values, and actual 2");
  EXPECT_EQ(message({1, 2}, {1, NAN}, 1, 1), "expected[1] is no finite number");
  EXPECT_NE(message({1, 2, 3}, {1, 2, 3}, 2, 1).find("samples of 2"), std::string::npos);
  EXPECT_NE(message({}, {}, 1, 1).find("at least one"), std::string::npos);
  EXPECT_NE(message({1}, {1}, 0, 1).find("width"), std::string::npos);
  EXPECT_NE(message({1}, {1}, 1, -1).find("keep"), std::string::npos);
}

TEST(Correlation, OfColumns) {
  const Doubles x = {1, 2, 5, 7,  //
                     2, 4, 3, 7,  //
                     3, 9, 1, 7};
  auto pearson = correlation(x, 4, Correlation::pearson);
  ASSERT_TRUE(pearson.ok()) << pearson.status().to_string();
  const Doubles& p = *pearson;
  EXPECT_EQ(p[0], 1);
  EXPECT_DOUBLE_EQ(p[2], -1);
  EXPECT_DOUBLE_EQ(p[1], 7 / std::sqrt(2.0 * 26));
  EXPECT_EQ(p[1], p[4]);
  EXPECT_TRUE(std::isnan(p[3]) && std::isnan(p[15]));  // a constant column
  auto spearman = correlation(x, 4, Correlation::spearman);
  ASSERT_TRUE(spearman.ok());
  EXPECT_DOUBLE_EQ((*spearman)[1], 1);
  // Equal values share their rank: 1.5, 1.5, 3 beside 1, 2, 3.
  auto ties = correlation(Doubles{4, 1, 4, 2, 5, 3}, 2, Correlation::spearman);
  ASSERT_TRUE(ties.ok());
  EXPECT_DOUBLE_EQ((*ties)[1], 1.5 / std::sqrt(1.5 * 2));
  EXPECT_EQ(correlation(Doubles{1, 2}, 2, Correlation::pearson).status().code(),
            Code::invalid_argument);
  EXPECT_EQ(correlation(Doubles{1, NAN}, 1, Correlation::pearson).status().message(),
            "x: row 1, column 0 is no finite number");
}

}  // namespace
}  // namespace loom::measure
