#include "train/spec/schedule.h"

#include <gtest/gtest.h>

#include <cmath>

namespace loom {
namespace {

TEST(Schedule, Constant) {
  const Schedule s{.lr = 0.5};
  EXPECT_EQ(s.at(1), 0.5);
  EXPECT_EQ(s.at(1000000), 0.5);
}

TEST(Schedule, WarmUpRisesLinearly) {
  const Schedule s{.lr = 0.4, .warmup = 4};
  EXPECT_DOUBLE_EQ(s.at(1), 0.1);
  EXPECT_DOUBLE_EQ(s.at(2), 0.2);
  EXPECT_DOUBLE_EQ(s.at(3), 0.3);
  EXPECT_DOUBLE_EQ(s.at(4), 0.4);
  EXPECT_DOUBLE_EQ(s.at(5), 0.4);
}

TEST(Schedule, CosineFallsToItsFloor) {
  const Schedule s{.kind = ScheduleKind::cosine, .lr = 1, .warmup = 10, .floor = 0.1, .steps = 110};
  EXPECT_EQ(s.at(10), 1);
  EXPECT_EQ(s.at(11), 1);
  EXPECT_NEAR(s.at(61), 0.55, 1e-15);
  EXPECT_EQ(s.at(111), 0.1);
  EXPECT_EQ(s.at(5000), 0.1);
  // The C library's cosine is another implementation of the formula.
  for (int step = 11; step <= 110; ++step)
    EXPECT_NEAR(s.at(step), 0.1 + 0.9 * 0.5 * (1 + std::cos(M_PI * (step - 11) / 100.0)), 1e-14)
        << step;
}

TEST(Schedule, StepDecay) {
  const Schedule s{.kind = ScheduleKind::step, .lr = 8, .warmup = 2, .every = 10, .factor = 0.5};
  EXPECT_EQ(s.at(12), 8);
  EXPECT_EQ(s.at(13), 4);
  EXPECT_EQ(s.at(22), 4);
  EXPECT_EQ(s.at(23), 2);
  EXPECT_GE(s.at(std::int64_t{1} << 40), 0);
}

TEST(Schedule, ChecksItsFields) {
  EXPECT_TRUE(Schedule{}.check().ok());
  EXPECT_NE(Schedule{.lr = 0}.check().message().find("\"lr\""), std::string::npos);
  EXPECT_NE(
      (Schedule{.kind = ScheduleKind::cosine, .warmup = 10, .steps = 10}.check().message().find(
          "longer than its warm-up")),
      std::string::npos);
  EXPECT_NE((Schedule{.kind = ScheduleKind::cosine, .floor = 1, .steps = 10}.check().message().find(
                "\"floor\"")),
            std::string::npos);
  EXPECT_NE((Schedule{.kind = ScheduleKind::step}.check().message().find("\"every\"")),
            std::string::npos);
  EXPECT_NE(
      (Schedule{.kind = ScheduleKind::one_cycle, .warmup = 3, .steps = 100}.check().message().find(
          "\"warmup\" must be 0")),
      std::string::npos);
  EXPECT_NE((Schedule{.kind = ScheduleKind::one_cycle, .steps = 3}.check().message().find(
                "must be more than one")),
            std::string::npos);
  EXPECT_NE((Schedule{.kind = ScheduleKind::multi_step}.check().message().find(
                "\"milestones\" must be at least 1, and is missing")),
            std::string::npos);
  EXPECT_NE(
      (Schedule{.kind = ScheduleKind::multi_step, .milestones = {3, 3}}.check().message().find(
          "ascend")),
      std::string::npos);
  EXPECT_NE(
      (Schedule{.kind = ScheduleKind::polynomial, .steps = 9, .power = 0}.check().message().find(
          "\"power\"")),
      std::string::npos);
  EXPECT_FALSE(parse_schedule_kind("sawtooth").ok());
}

}  // namespace
}  // namespace loom
