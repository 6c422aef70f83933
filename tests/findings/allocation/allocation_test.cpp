// Every allocation of 33 scenarios fails, alone and with all that follow: each call is
// LOOM_OUT_OF_MEMORY or succeeds, nothing is lost, and the next call succeeds.
// LOOM_SOAK=1 takes every number, otherwise every k-th, so that it ends in seconds; LOOM_PART=i of
// LOOM_PARTS=n every n-th of them, so that n programs share them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <memory>

#include "findings/allocation/failing_malloc.h"
#include "findings/allocation/scenario.h"
#include "injection/settings.h"
#include "support/places.h"

namespace loom::test {
namespace {

std::int64_t live_handles() {
  std::int64_t n = -1;
  EXPECT_EQ(loom_live_handles(&n, nullptr), LOOM_OK);
  return n;
}

std::map<std::string, MakeScenario> scenarios() {
  std::map<std::string, MakeScenario> all = lasting_scenarios();
  all.insert(object_scenarios().begin(), object_scenarios().end());
  all.insert(file_scenarios().begin(), file_scenarios().end());
  return all;
}
std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const auto& [name, make] : scenarios()) all.push_back(name);
  return all;
}

class AllocationFailures : public testing::TestWithParam<std::string> {};

TEST_P(AllocationFailures, G3_AreTypedErrorsThatLeaveEverythingUsable) {
  const std::int64_t handles_before = live_handles();
  {
    const std::unique_ptr<Scenario> scenario(scenarios().at(GetParam())());
    static loom_error error;
    static Taken taken, expected;
    ASSERT_EQ(scenario->prepare(error), LOOM_OK) << error.message;
    std::int64_t calls = 0;
    // Caches fill: tables that are made once, stacks of threads.
    for (int i = 0; i < 4; ++i) {
      expected.size = 0;
      fail_allocations(std::numeric_limits<std::int64_t>::max(), 0);
      const std::int32_t code = scenario->act(expected, error);
      calls = allow_allocations();
      ASSERT_EQ(code, LOOM_OK) << error.message;
      ASSERT_TRUE(scenario->right(expected, expected));
    }
    ASSERT_GT(calls, 0) << "the counter does not count";
    const std::int64_t live = live_allocations(), handles = live_handles();
    constexpr std::int64_t kPoints = 30;
    const bool all = std::getenv("LOOM_SOAK") != nullptr;
    const auto parts = static_cast<std::int64_t>(number_of("LOOM_PARTS", 1)),
               part = static_cast<std::int64_t>(number_of("LOOM_PART", 0));
    const std::int64_t step = all ? parts : std::max<std::int64_t>(1, calls / kPoints);
    std::int64_t failed = 0, runs = 0;
    for (const bool only : {false, true}) {
      for (std::int64_t n = part; n < calls + step; n += step) {
        taken.size = 0;
        error = {};
        fail_allocations(n, only ? n : std::numeric_limits<std::int64_t>::max());
        const std::int32_t code = scenario->act(taken, error);
        allow_allocations();
        ++runs;
        ASSERT_TRUE(code == LOOM_OK || code == LOOM_OUT_OF_MEMORY)
            << "allocation " << n << ": " << error.message;
        if (code != LOOM_OK) {
          ++failed;
          ASSERT_EQ(error.code, code) << n;
          ASSERT_NE(error.message[0], '\0') << n;
        }
        ASSERT_EQ(live_handles(), handles)
            << "after allocation " << n << (only ? " alone" : " and all that follow");
        taken.size = 0;
        ASSERT_EQ(scenario->act(taken, error), LOOM_OK)
            << "after allocation " << n << ": " << error.message;
        ASSERT_TRUE(scenario->right(taken, expected))
            << "other results after allocation " << n << (only ? " alone" : " and all that follow");
        ASSERT_EQ(live_allocations(), live)
            << "lost memory after allocation " << n << (only ? " alone" : " and all that follow");
      }
    }
    EXPECT_GT(failed, runs / 4) << "hardly any allocation failed";
    std::printf("%s: %lld allocations, %lld runs, %lld failed\n", GetParam().c_str(),
                static_cast<long long>(calls), static_cast<long long>(runs),
                static_cast<long long>(failed));
  }
  EXPECT_EQ(live_handles(), handles_before);
}

INSTANTIATE_TEST_SUITE_P(Findings, AllocationFailures, testing::ValuesIn(names()),
                         [](const auto& info) { return info.param; });

TEST(Findings, G14_ANetworkOfAGraphComesWithItsPortsOrNotAtAll) {
  const std::string path = source_dir() + "/tests/golden/onnx/mlp.onnx";
  static loom_error error;
  loom_onnx graph = 0;
  ASSERT_EQ(loom_onnx_load(path.data(), path.size(), &graph, &error), LOOM_OK) << error.message;
  const std::int64_t handles = live_handles();
  loom_network network = 0;
  loom_bytes ports = 0;
  const auto make = [&](std::int64_t fail, std::int64_t last) {
    network = ports = 0;
    fail_allocations(fail, last);
    return loom_onnx_network(graph, nullptr, 0, &network, &ports, &error);
  };
  std::int64_t calls = 0, failed = 0;
  for (int i = 0; i < 3; ++i) {  // caches fill
    ASSERT_EQ(make(std::numeric_limits<std::int64_t>::max(), 0), LOOM_OK) << error.message;
    calls = allow_allocations();
    ASSERT_EQ(loom_release(network, &error), LOOM_OK);
    ASSERT_EQ(loom_release(ports, &error), LOOM_OK);
  }
  ASSERT_GT(calls, 100);
  // What is made last are the handles.
  for (const bool only : {false, true}) {
    for (std::int64_t n = calls - 100; n < calls; ++n) {
      const std::int32_t code = make(n, only ? n : std::numeric_limits<std::int64_t>::max());
      allow_allocations();
      if (code == LOOM_OK) {
        ASSERT_EQ(loom_release(network, &error), LOOM_OK);
        ASSERT_EQ(loom_release(ports, &error), LOOM_OK);
      } else {
        ++failed;
        ASSERT_EQ(code, LOOM_OUT_OF_MEMORY) << n << ": " << error.message;
        ASSERT_EQ(network, 0) << n;
        ASSERT_EQ(ports, 0) << n;
      }
      ASSERT_EQ(live_handles(), handles) << "after allocation " << n << " of " << calls;
    }
  }
  EXPECT_GT(failed, 100);
  EXPECT_EQ(loom_release(graph, &error), LOOM_OK);
}

}  // namespace
}  // namespace loom::test
