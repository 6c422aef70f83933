#include "numeric/q15.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "base/random.h"
#include "numeric/codec.h"

namespace loom {
namespace {

TEST(Q15, PlanesFollowTheDefinition) {
  const RandomStream random(3, 3);
  for (std::uint64_t c = 0; c < 3000; ++c) {
    const int shift = static_cast<int>(random.below(9 * c, 220)) - 96;
    std::vector<float> x(8);
    double peak = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] = std::ldexp(random.uniform(9 * c + i + 1) * 2 - 1, shift);
      if (c % 3 == 0 && i == 4) x[i] = std::ldexp(16256.0f, shift - 13);  // exactly at the limit
      if (c % 3 == 1 && i == 4)
        x[i] = std::ldexp(std::nextafter(16256.0f, 1e9f), shift - 13);  // just beyond
      if (std::fabs(x[i]) >= 0x1p-100f) peak = std::max(peak, static_cast<double>(std::fabs(x[i])));
    }
    std::int8_t hi[8], lo[8];
    const Q15Scale s = quantize_q15(x, hi, lo);
    if (peak == 0) continue;
    ASSERT_LE(peak, std::ldexp(16256.0, s.exponent));
    ASSERT_GT(peak, std::ldexp(16256.0, s.exponent - 1));
    ASSERT_EQ(s.scale, std::ldexp(1.0f, s.exponent));
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double q = std::nearbyint(std::ldexp(static_cast<double>(x[i]), -s.exponent));
      ASSERT_EQ(hi[i] * 128 + lo[i], q);
      ASSERT_GE(lo[i], -64);
      ASSERT_LE(lo[i], 63);
      ASSERT_GE(hi[i], -127);
    }
    std::int8_t one[8];
    ASSERT_EQ(quantize_i8(x, one).exponent, s.exponent);
    for (std::size_t i = 0; i < x.size(); ++i)
      ASSERT_EQ(one[i], std::nearbyint(std::ldexp(static_cast<double>(x[i]), -s.exponent - 7)));
  }
}

TEST(Q15, ZerosTinyAndNonFiniteRows) {
  const auto run = [](std::vector<float> x) {
    std::vector<std::int8_t> hi(x.size(), 1), lo(x.size(), 1);
    const Q15Scale s = quantize_q15(x, hi.data(), lo.data());
    for (std::size_t i = 0; i < x.size(); ++i) EXPECT_EQ(hi[i] | lo[i], 0);
    hi.assign(x.size(), 1);
    const float one = quantize_i8(x, hi.data()).scale;
    EXPECT_TRUE(one == s.scale || (std::isnan(one) && std::isnan(s.scale)));
    for (std::size_t i = 0; i < x.size(); ++i) EXPECT_EQ(hi[i], 0);
    return s;
  };
  EXPECT_EQ(run({0, -0.0f, 0}).scale, 0.0f);
  EXPECT_EQ(run({0x1p-101f, -0x1p-130f}).exponent, 0);
  EXPECT_TRUE(std::isnan(run({1, std::numeric_limits<float>::quiet_NaN()}).scale));
  EXPECT_TRUE(std::isnan(run({1, -std::numeric_limits<float>::infinity()}).scale));
  EXPECT_TRUE(
      std::isnan(join_q15(0, 0, run({std::numeric_limits<float>::infinity()}).scale, 1.0f)));
}

TEST(Q15, SumsBecomeFloatsCorrectlyRounded) {
  const RandomStream random(5, 3);
  for (std::uint64_t i = 0; i < 200000; ++i) {
    const std::int32_t s = static_cast<std::int32_t>(random.bits(i)) >> (i % 20);
    ASSERT_EQ(sum_to_f32(s), static_cast<float>(s)) << s;
  }
  EXPECT_EQ(sum_to_f32(std::numeric_limits<std::int32_t>::min()), -0x1p31f);
}

TEST(Q15, AnExactDotProductComesBack) {
  const std::vector<float> x{0.5f, -0.25f, 1.0f, 0.125f};
  const int w[] = {3, -7, 127, 64};
  std::int8_t hi[4], lo[4];
  const Q15Scale s = quantize_q15(x, hi, lo);
  std::int32_t sum_hi = 0, sum_lo = 0;
  float want = 0;
  for (int i = 0; i < 4; ++i) {
    sum_hi += w[i] * hi[i];
    sum_lo += w[i] * lo[i];
    want += static_cast<float>(w[i]) * x[static_cast<std::size_t>(i)];
  }
  EXPECT_EQ(join_q15(sum_hi, sum_lo, s.scale, 0.5f), want * 0.5f);
}

TEST(Bf16x2, PartsAreTheRoundedValueAndTheRoundedRest) {
  const RandomStream random(6, 3);
  std::vector<float> x(20000);
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = std::bit_cast<float>(random.bits(i) & 0xBFFFFFFFu);  // |x| < 2
  std::vector<std::uint16_t> hi(x.size()), lo(x.size());
  split_bf16(x, hi.data(), lo.data());
  const auto floored = [](float v) {
    return std::fabs(v) < 0x1p-56f ? 0.0f : bf16_to_f32(f32_to_bf16(v));
  };
  for (std::size_t i = 0; i < x.size(); ++i) {
    const float h = floored(x[i]), l = floored(x[i] - h);
    ASSERT_EQ(bf16_to_f32(hi[i]), h) << x[i];
    ASSERT_EQ(bf16_to_f32(lo[i]), l) << x[i];
    ASSERT_LE(std::fabs(static_cast<double>(x[i]) - h - l), std::fabs(x[i]) * 0x1p-17 + 0x1p-56);
  }
  using Limits = std::numeric_limits<float>;
  const std::vector<float> odd{Limits::max(), -Limits::infinity(), Limits::quiet_NaN()};
  split_bf16(odd, hi.data(), lo.data());
  EXPECT_EQ(hi[0], 0x7F7F);
  EXPECT_NEAR(bf16_to_f32(hi[0]) / odd[0] + bf16_to_f32(lo[0]) / odd[0], 1, 1e-4);
  EXPECT_EQ(hi[1], 0xFF80);
  EXPECT_EQ(hi[2], 0x7FC0);
  EXPECT_EQ(lo[1] | lo[2], 0);
}

}  // namespace
}  // namespace loom
