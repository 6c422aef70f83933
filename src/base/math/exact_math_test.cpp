#include "base/math/exact_math.h"

#include <gtest/gtest.h>

#include <cmath>
#include <initializer_list>
#include <limits>

#include "base/files/sha256.h"
#include "base/random.h"

namespace loom {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr double kInf64 = std::numeric_limits<double>::infinity();

// The distance of `got` from the exact value in units of the last place of a float (24 bits) or
// double (53 bits) of its size.
template <class T, class Wide>
double ulps(T got, Wide exact) {
  int e;
  std::frexp(exact, &e);
  return static_cast<double>(
      std::ldexp(std::fabs(static_cast<Wide>(got) - exact), std::numeric_limits<T>::digits - e));
}

// Every 5,003rd float from both ends of the number line against libm in double.
template <class F, class G>
double worst_f32(F f, G g) {
  double worst = 0;
  for (std::uint64_t u = 0; u < std::uint64_t{1} << 32; u += 5003) {
    const float x = std::bit_cast<float>(static_cast<std::uint32_t>(u));
    if (!(std::fabs(x) < kInf)) continue;
    const double r = g(static_cast<double>(x));
    if (!(std::fabs(r) >= 0x1p-126 && std::fabs(r) <= 0x1.fffffep127)) continue;
    const double e = ulps(f(x), r);
    if (!(e <= worst)) worst = e;
  }
  return worst;
}

template <class F, class G>
double worst_f64(F f, G g) {
  const RandomStream random(7, 1);
  double worst = 0;
  for (std::uint64_t i = 0; i < 60000; ++i) {
    const std::uint64_t u = std::uint64_t{random.bits(2 * i)} << 32 | random.bits(2 * i + 1);
    double x = std::bit_cast<double>(u);  // all magnitudes
    if (i % 3 == 1)
      x = static_cast<double>(static_cast<std::int64_t>(u)) * 0x1p-63 *
          10;  // where the curves bend
    if (i % 3 == 2) x = static_cast<double>(static_cast<std::int64_t>(u)) * 0x1p-63 * 700;
    if (!(std::fabs(x) < kInf64)) continue;
    const long double r = g(static_cast<long double>(x));
    if (!(std::fabs(r) >= 0x1p-1022L && std::fabs(r) <= 0x1.fffffffffffffp1023L)) continue;
    const double e = ulps(f(x), r);
    if (!(e <= worst)) worst = e;
  }
  return worst;
}

template <class W>
W sigmoid_of(W x) {
  return 1 / (1 + std::exp(-x));
}
template <class W>
W softplus_of(W x) {
  return std::log1p(std::exp(-std::fabs(x))) + (x > 0 ? x : 0);
}

TEST(ExactMath, FloatErrorsStayBelowTwoUlp) {
  EXPECT_LT(worst_f32([](float x) { return exact::exp(x); }, [](double x) { return std::exp(x); }),
            1.0);
  EXPECT_LT(worst_f32([](float x) { return exact::log(x); }, [](double x) { return std::log(x); }),
            1.0);
  EXPECT_LT(worst_f32([](float x) { return exact::sigmoid(x); }, sigmoid_of<double>), 2.0);
  EXPECT_LT(
      worst_f32([](float x) { return exact::tanh(x); }, [](double x) { return std::tanh(x); }),
      1.5);
  EXPECT_LT(worst_f32([](float x) { return exact::erf(x); }, [](double x) { return std::erf(x); }),
            1.5);
  EXPECT_LT(worst_f32([](float x) { return exact::softplus(x); }, softplus_of<double>), 2.0);
  EXPECT_LT(worst_f32([](float x) { return exact::sin(x); }, [](double x) { return std::sin(x); }),
            1.6);
  EXPECT_LT(worst_f32([](float x) { return exact::cos(x); }, [](double x) { return std::cos(x); }),
            1.6);
  EXPECT_LT(
      worst_f32([](float x) { return exact::rsqrt(x); }, [](double x) { return 1 / std::sqrt(x); }),
      1.6);
  for (float y : {-0.984375f, 0.75f, 100.25f})
    EXPECT_LT(worst_f32([=](float x) { return exact::pow(x, y); },
                        [=](double x) { return std::pow(x, double{y}); }),
              1.0)
        << y;
  for (float x : {1e4f, 5e5f, 0.9f})
    EXPECT_LT(worst_f32([=](float y) { return exact::pow(x, y); },
                        [=](double y) { return std::pow(double{x}, y); }),
              1.0)
        << x;
}

TEST(ExactMath, DoubleErrorsStayBelowTwoUlp) {
  if (std::numeric_limits<long double>::digits < 64)
    GTEST_SKIP() << "long double is no wider than double here";
  using W = long double;
  EXPECT_LT(worst_f64([](double x) { return exact::exp(x); }, [](W x) { return std::exp(x); }),
            1.0);
  EXPECT_LT(worst_f64([](double x) { return exact::log(x); }, [](W x) { return std::log(x); }),
            1.0);
  EXPECT_LT(worst_f64([](double x) { return exact::sigmoid(x); }, sigmoid_of<W>), 2.0);
  EXPECT_LT(worst_f64([](double x) { return exact::tanh(x); }, [](W x) { return std::tanh(x); }),
            1.6);
  EXPECT_LT(worst_f64([](double x) { return exact::erf(x); }, [](W x) { return std::erf(x); }),
            1.5);
  EXPECT_LT(worst_f64([](double x) { return exact::softplus(x); }, softplus_of<W>), 2.0);
  EXPECT_LT(worst_f64([](double x) { return exact::sin(x); }, [](W x) { return std::sin(x); }),
            1.6);
  EXPECT_LT(worst_f64([](double x) { return exact::cos(x); }, [](W x) { return std::cos(x); }),
            1.6);
  EXPECT_LT(
      worst_f64([](double x) { return exact::rsqrt(x); }, [](W x) { return 1 / std::sqrt(x); }),
      1.6);
  EXPECT_LT(worst_f64([](double x) { return exact::pow(x, 100.1); },
                      [](W x) { return std::pow(x, static_cast<W>(100.1)); }),
            1.0);
  EXPECT_LT(worst_f64([](double y) { return exact::pow(1e4, y); },
                      [](W y) { return std::pow(W{1e4}, y); }),
            1.0);
}

template <class T, class F>
void expect_nan(F f) {
  using B = exact::detail::Bits<T>;
  const T payload = std::bit_cast<T>(static_cast<B>(exact::detail::Constants<T>::kNan | 0x12345u));
  EXPECT_EQ(std::bit_cast<B>(f(payload)), exact::detail::Constants<T>::kNan);
}

template <class T>
void check_limits() {
  const T inf = std::numeric_limits<T>::infinity();
  EXPECT_EQ(exact::exp(inf), inf);
  EXPECT_EQ(exact::exp(-inf), T{0});
  EXPECT_EQ(exact::exp(T{0}), T{1});
  EXPECT_EQ(exact::exp(T{1e30f}), inf);
  EXPECT_EQ(exact::exp(T{-1e30f}), T{0});
  EXPECT_EQ(exact::log(T{0}), -inf);
  EXPECT_EQ(exact::log(T{1}), T{0});
  EXPECT_EQ(exact::log(inf), inf);
  EXPECT_NE(exact::log(T{-1}), exact::log(T{-1}));
  EXPECT_EQ(exact::sigmoid(inf), T{1});
  EXPECT_EQ(exact::sigmoid(-inf), T{0});
  EXPECT_EQ(exact::sigmoid(T{0}), T{0.5});
  EXPECT_EQ(exact::tanh(inf), T{1});
  EXPECT_EQ(exact::tanh(-inf), T{-1});
  EXPECT_TRUE(std::signbit(exact::tanh(-T{0})));
  EXPECT_EQ(exact::erf(inf), T{1});
  EXPECT_EQ(exact::erf(-inf), T{-1});
  EXPECT_EQ(exact::softplus(inf), inf);
  EXPECT_EQ(exact::softplus(-inf), T{0});
  EXPECT_NE(exact::sin(inf), exact::sin(inf));
  EXPECT_TRUE(std::signbit(exact::sin(-T{0})));
  EXPECT_EQ(exact::cos(T{0}), T{1});
  EXPECT_EQ(exact::rsqrt(T{0}), inf);
  EXPECT_EQ(exact::pow(T{0}, T{2}), T{0});
  EXPECT_EQ(exact::pow(T{0}, T{-2}), inf);
  EXPECT_EQ(exact::pow(inf, T{-1}), T{0});
  EXPECT_EQ(exact::pow(T{3}, T{0}), T{1});
  EXPECT_EQ(exact::pow(T{1}, inf), T{1});
  EXPECT_EQ(exact::pow(T{0.5}, inf), T{0});
  EXPECT_EQ(exact::pow(T{2}, T{10}), T{1024});
  EXPECT_NE(exact::pow(T{-2}, T{2}), exact::pow(T{-2}, T{2}));
  for (auto f :
       {+[](T x) { return exact::exp(x); }, +[](T x) { return exact::log(x); },
        +[](T x) { return exact::sigmoid(x); }, +[](T x) { return exact::tanh(x); },
        +[](T x) { return exact::erf(x); }, +[](T x) { return exact::sin(x); },
        +[](T x) { return exact::cos(x); }, +[](T x) { return exact::softplus(x); },
        +[](T x) { return exact::pow(x, T{2}); }, +[](T x) { return exact::pow(T{2}, x); },
        +[](T x) { return exact::rsqrt(x); }, +[](T x) { return exact::exp_difference(x, T{1}); },
        +[](T x) { return exact::exp_difference(T{1}, x); }})
    expect_nan<T>(f);
}
TEST(ExactMath, LimitsAndNanFloat) { check_limits<float>(); }
TEST(ExactMath, LimitsAndNanDouble) { check_limits<double>(); }

// Pairs of all sizes whose difference matters, against the exponential of their exact difference.
template <class T, class Wide>
double worst_difference(double min) {
  const RandomStream random(21, 4);
  double worst = 0;
  for (std::uint64_t i = 0; i < 400000; ++i) {
    const T size = std::ldexp(T{1}, static_cast<int>(i % 40) - 10);
    const T top = (2 * random.uniform(2 * i) - 1) * size;
    const T x = top - random.uniform(2 * i + 1) * static_cast<T>(i % 3 == 0 ? 2 : -min);
    if (!(x <= top)) continue;
    const Wide d = static_cast<Wide>(x) - static_cast<Wide>(top);
    const T got = exact::exp_difference(x, top);
    if (d < min - 1) {
      EXPECT_EQ(got, T{0});
    }
    if (d < min + 1) continue;
    worst = std::max(worst, ulps(got, std::exp(d)));
  }
  return worst;
}
TEST(ExactMath, ExponentialsOfDifferences) {
  EXPECT_LT((worst_difference<float, double>(-60 * 0.6931471805599453)), 1.0);
  if (std::numeric_limits<long double>::digits >= 64) {
    EXPECT_LT((worst_difference<double, long double>(-900 * 0.6931471805599453)), 1.0);
  }
  // A subtraction that rounds costs 16 ulp here.
  const double far = std::exp(static_cast<double>(-10.3f) - static_cast<double>(30.1f));
  EXPECT_NEAR(exact::exp_difference(-10.3f, 30.1f) / far, 1, 2e-7);
  for (const float x : {0.0f, -0.0f, 1e30f, -1e30f, 3e38f, 1e-30f})
    EXPECT_EQ(exact::exp_difference(x, x), 1.0f);
  EXPECT_EQ(exact::exp_difference(-3e38f, 3e38f), 0.0f);
  EXPECT_EQ(exact::exp_difference(-kInf, -3e38f), 0.0f);
  EXPECT_EQ(exact::exp_difference(-kInf, -kInf), 1.0f);
  EXPECT_EQ(exact::exp_difference(-kInf64, -kInf64), 1.0);
  EXPECT_EQ(exact::exp_difference(1.0f, kInf), 0.0f);
  EXPECT_NE(exact::exp_difference(kInf, kInf), exact::exp_difference(kInf, kInf));
}

TEST(ExactMath, ScaleFlushesAndSaturates) {
  EXPECT_EQ(exact::scale(1.5f, -126), 0x1.8p-126f);
  EXPECT_EQ(exact::scale(1.5f, -127), 0.0f);
  EXPECT_EQ(exact::scale(1.5f, 127), 0x1.8p127f);
  EXPECT_EQ(exact::scale(0.75f, 128), 0x1.8p127f);
  EXPECT_EQ(exact::scale(-1.5f, 128), -kInf);
  EXPECT_EQ(exact::scale(1.0f, -(1 << 30)), 0.0f);
  EXPECT_EQ(exact::scale(1.0, 1 << 30), kInf64);
}

// The bits themselves: a target that differs anywhere in the sweep has another hash.
TEST(ExactMath, BitsAreTheSameOnEveryTarget) {
  Sha256 hash;
  for (std::uint64_t u = 0; u < std::uint64_t{1} << 32; u += 100003) {
    const float x = std::bit_cast<float>(static_cast<std::uint32_t>(u));
    const float single[] = {
        exact::exp(x),      exact::log(x), exact::sigmoid(x), exact::tanh(x),      exact::erf(x),
        exact::softplus(x), exact::sin(x), exact::cos(x),     exact::pow(x, 0.3f), exact::rsqrt(x)};
    hash.update_f32(single);
    const double d = x;
    const double both[] = {
        exact::exp(d),      exact::log(d), exact::sigmoid(d), exact::tanh(d),     exact::erf(d),
        exact::softplus(d), exact::sin(d), exact::cos(d),     exact::pow(d, 0.3), exact::rsqrt(d)};
    hash.update_f64(both);
  }
  EXPECT_EQ(Sha256::hex(hash.finish()),
            "58747b1bd9f75266152f0dfc4377faee398f0fd335012659f289ee4009582666");
}

}  // namespace
}  // namespace loom
