// Observed passes on a device: the CPU's statistics, and outputs as without an observer.
#include "exec/observe/observer.h"

#include <gtest/gtest.h>

#include <vector>

#include "exec/session.h"
#include "gpu/test_device.h"

namespace loom {
namespace {

struct List : Observer {
  Status begin(const std::vector<ObservedCell>&) override { return {}; }
  Status on_forward(const CellEvent& event) override {
    events.push_back(event);
    return {};
  }
  std::vector<CellEvent> events;
};

std::vector<float> outputs(Session& s, std::int64_t rows) {
  std::vector<float> y;
  for (std::int64_t r = 0; r < rows; ++r) y.insert(y.end(), s.output(r).begin(), s.output(r).end());
  return y;
}

TEST(DeviceObserve, HasTheCpusStatistics) {
  LOOM_TEST_DEVICE(device);
  auto network = Network::from_json(std::string_view(
      R"({"format":"loom-topology","version":3,"depth":4,"input":{"width":33},"cells":[
        {"at":[0,0,0,0],"type":"dense","out":40,"activation":"relu"},
        {"at":[1,0,0,0],"type":"layer_norm"},
        {"at":[2,0,0,0],"type":"dense","out":17,"dtype":"i4"},
        {"at":[3,0,0,0],"type":"softmax"}]})"));
  ASSERT_TRUE(network.ok()) << network.status().to_string();
  ASSERT_TRUE(network->initialize(4).ok());
  ThreadPool pool(2);
  auto plain = Session::create(*network, pool, {.max_rows = 40, .device = device});
  auto here = Session::create(*network, pool, {.max_rows = 40});
  auto there = Session::create(*network, pool, {.max_rows = 40, .device = device});
  ASSERT_TRUE(plain.ok() && here.ok() && there.ok()) << there.status().to_string();
  List want, got;
  ASSERT_TRUE(here->observe(&want, {.every = 2}).ok());
  const Status observed = there->observe(&got, {.every = 2});
  ASSERT_TRUE(observed.ok()) << observed.to_string();
  for (const std::int64_t rows : {40, 1, 13}) {
    std::vector<float> x(static_cast<std::size_t>(rows) * 33);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 31) / 8 - 2;
    ASSERT_TRUE(plain->run(x, rows).ok() && here->run(x, rows).ok() && there->run(x, rows).ok());
    EXPECT_EQ(outputs(*there, rows), outputs(*plain, rows));
  }
  ASSERT_EQ(want.events.size(), 2 * network->size());
  ASSERT_EQ(got.events.size(), want.events.size());
  for (std::size_t i = 0; i < got.events.size(); ++i) {
    const CellStatistics &a = got.events[i].statistics, &b = want.events[i].statistics;
    EXPECT_EQ(got.events[i].cell, want.events[i].cell);
    EXPECT_EQ(a.count, b.count);
    EXPECT_EQ(a.active, b.active);
    EXPECT_EQ(a.mean, b.mean);
    EXPECT_EQ(a.squares, b.squares);
    EXPECT_EQ(a.min, b.min);
    EXPECT_EQ(a.max, b.max);
  }
}

}  // namespace
}  // namespace loom
