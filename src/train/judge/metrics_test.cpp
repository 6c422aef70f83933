#include "train/judge/metrics.h"

#include <gtest/gtest.h>

#include <cmath>

namespace loom {
namespace {

// Figures by hand, and those that sklearn.metrics gives for the same rows.
TEST(Metrics, OfClasses) {
  MetricsCounter counter(Loss::cross_entropy, 1, 3);
  const float narrow[] = {2, 0, 0};
  const double a[] = {2, 0, 0}, b[] = {0, 1, 1}, c[] = {0, 0, 3};
  counter.add(a, 0);
  counter.add(b, 2);  // a tie goes to the lower: 1
  counter.add(c, 2);
  const Metrics m = counter.finish();
  EXPECT_EQ(m.rows, 3);
  EXPECT_DOUBLE_EQ(m.accuracy, 2.0 / 3);
  EXPECT_EQ(m.confusion, (std::vector<std::int64_t>{1, 0, 0, 0, 0, 0, 0, 1, 1}));
  const double want = (std::log(std::exp(2.0) + 2) - 2 + std::log(1 + 2 * std::exp(1.0)) - 1 +
                       std::log(2 + std::exp(3.0)) - 3) /
                      3;
  EXPECT_NEAR(m.loss, want, 1e-14);
  EXPECT_NEAR(softmax(narrow)[0], std::exp(2.0) / (std::exp(2.0) + 2), 1e-15);
}

TEST(Metrics, OfValues) {
  MetricsCounter counter(Loss::huber, 0.5, 2);
  const double y[3][2] = {{2.5, 7}, {0, 7}, {2, 7}}, t[3][2] = {{3, 7}, {-0.5, 7}, {7, 7}};
  for (int r = 0; r < 3; ++r)
    counter.add(std::span<const double>(y[r]), std::span<const double>(t[r]));
  const Metrics m = counter.finish();
  EXPECT_DOUBLE_EQ(m.mae, (0.5 + 0.5 + 5) / 6);
  EXPECT_DOUBLE_EQ(m.rmse, std::sqrt((0.25 + 0.25 + 25) / 6));
  // The second column has no spread and no r2.
  const double mean = 9.5 / 3, spread = (3 - mean) * (3 - mean) + (-0.5 - mean) * (-0.5 - mean) +
                                        (7 - mean) * (7 - mean);
  EXPECT_NEAR(m.r2, 1 - 25.5 / spread, 1e-14);
  EXPECT_NEAR(m.loss, (0.125 + 0.125 + 0.5 * (5 - 0.25)) / 2 / 3, 1e-15);
  EXPECT_FALSE(m.has_accuracy);
}

TEST(Metrics, OfProbabilities) {
  MetricsCounter counter(Loss::soft_cross_entropy, 2, 3);
  const double y[2][3] = {{2, 0, -1}, {1, 3, 0}}, p[2][3] = {{0.7, 0.3, 0}, {0.5, 0.25, 0.25}};
  double want = 0;
  for (int r = 0; r < 2; ++r) {
    counter.add(std::span<const double>(y[r]), std::span<const double>(p[r]));
    double sum = 0;
    for (const double v : y[r]) sum += std::exp(v / 2);
    for (int c = 0; c < 3; ++c) want -= 4 * p[r][c] * (y[r][c] / 2 - std::log(sum)) / 2;
  }
  const Metrics m = counter.finish();
  EXPECT_NEAR(m.loss, want, 1e-14);
  EXPECT_DOUBLE_EQ(m.accuracy, 0.5);
  EXPECT_FALSE(m.has_errors);
}

TEST(Metrics, OfBinaryColumns) {
  MetricsCounter counter(Loss::bce, 1, 2);
  const double y[] = {3, -3}, t[] = {1, 1};
  counter.add(std::span<const double>(y), std::span<const double>(t));
  const Metrics m = counter.finish();
  EXPECT_DOUBLE_EQ(m.accuracy, 0.5);
  EXPECT_NEAR(m.loss, (std::log1p(std::exp(-3.0)) + 3 + std::log1p(std::exp(-3.0))) / 2, 1e-14);
  EXPECT_FALSE(m.has_errors);
}

TEST(Metrics, OfNothing) {
  const Metrics m = MetricsCounter(Loss::mse, 1, 1).finish();
  EXPECT_EQ(m.rows, 0);
  EXPECT_EQ(m.to_json().dump(), R"({"rows":0,"loss":0.0})");
}

}  // namespace
}  // namespace loom
