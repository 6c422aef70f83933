// False alarms and delays of the detector of changes.
#include <gtest/gtest.h>

#include "base/random.h"
#include "online/detector.h"

namespace loom {
namespace {

class Errors {
 public:
  explicit Errors(std::uint64_t seed) : random_(seed, 7) {}
  double next(double rate) { return random_.uniform(at_++) < static_cast<float>(rate) ? 1 : 0; }

 private:
  RandomStream random_;
  std::uint64_t at_ = 0;
};

// docs/guide/online.md states this rate.
TEST(Detector, StationaryErrorsAreNoChange) {
  for (const double rate : {0.0, 0.01, 0.05, 0.2, 0.5, 1.0}) {
    ChangeDetector detector;
    Errors errors(3);
    int alarms = 0;
    for (int i = 0; i < 100000; ++i) alarms += detector.add(errors.next(rate));
    EXPECT_EQ(alarms, 0) << rate;
    EXPECT_NEAR(detector.mean(), rate, 0.02);
  }
}

TEST(Detector, FindsAJumpSoonAndWhereItWas) {
  for (const double before : {0.0, 0.05, 0.2})
    for (const double after : {0.6, 0.9}) {
      if (after - before < 0.5) continue;
      int latest = 0;
      for (std::uint64_t seed = 0; seed < 20; ++seed) {
        ChangeDetector detector;
        Errors errors(seed);
        for (int i = 0; i < 1000; ++i) ASSERT_FALSE(detector.add(errors.next(before)));
        int delay = 0;
        while (!detector.add(errors.next(after))) ASSERT_LT(++delay, 200);
        ++delay;
        latest = std::max(latest, delay);
        // What it keeps is of the new kind but for a few values.
        EXPECT_LE(detector.width(), delay + 40);
        EXPECT_GE(detector.width(), 5);
      }
      EXPECT_LE(latest, after - before > 0.8 ? 40 : 80) << before << " " << after;
    }
}

TEST(Detector, LearningIsNoChange) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    ChangeDetector detector;
    Errors errors(seed);
    double rate = 0.9;
    for (int i = 0; i < 5000; ++i, rate = std::max(0.02, rate * 0.99))
      ASSERT_FALSE(detector.add(errors.next(rate))) << i;
    EXPECT_LT(detector.mean(), 0.05);
  }
}

TEST(Detector, ForgetsAll) {
  ChangeDetector detector;
  for (int i = 0; i < 100; ++i) detector.add(1);
  detector.reset();
  EXPECT_EQ(detector.width(), 0);
  for (int i = 0; i < 1000; ++i) ASSERT_FALSE(detector.add(0));
  EXPECT_EQ(detector.width(), 1000);
  EXPECT_EQ(detector.mean(), 0);
}

}  // namespace
}  // namespace loom
