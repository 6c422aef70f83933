// What event_json writes is read again, and what it does not write is refused by its key.
#include "exec/observe/recording.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace loom {
namespace {

CellEvent event_of(const std::vector<double>& x, std::int64_t width) {
  std::vector<BlockSums> blocks;
  for (std::size_t i = 0; i < x.size(); i += BlockSums::kBlock)
    blocks.push_back(block_sums(x.data() + i, std::min(BlockSums::kBlock, x.size() - i)));
  CellEvent event;
  event.pass = 7, event.passes = 3, event.step = 9;
  event.statistics = combine(blocks, width);
  return event;
}

const ObservedCell kCell{"1.2.3.4/5", "dense", {1, 2, 3, 4}, false, "weights", "bias"};

TEST(Recording, EventsComeBack) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = INFINITY;
  const std::vector<std::vector<double>> lists = {
      {1, 2, 3, -4}, {0, 0}, {nan, inf}, {1e300, -1e300, 0}, {1e-7, 5, nan, 6}, {-0.0}};
  for (const auto& x : lists) {
    const Json json = event_json(kCell, event_of(x, 2));
    ObservedCell cell;
    CellEvent event;
    const auto again = Json::parse(json.dump());
    ASSERT_TRUE(again.ok());
    const Status read = read_event(*again, cell, event);
    ASSERT_TRUE(read.ok()) << read.to_string() << json.dump();
    EXPECT_EQ(cell, kCell);
    const Json written = event_json(cell, event);
    for (const auto& [key, value] : json.as_object())
      if (key == "std" && value.is_number())
        EXPECT_NEAR(written.find(key)->as_number(), value.as_number(), 1e-15 * value.as_number());
      else EXPECT_EQ(written.find(key)->dump(), value.dump()) << key;
  }
}

TEST(Recording, OthersAreRefusedByKey) {
  const Json good = event_json(kCell, event_of({1, 2, 3, -4}, 2));
  ObservedCell cell;
  CellEvent event;
  for (const auto& [key, value] : good.as_object()) {
    const Json wrong[] = {Json(Json::Object{}), Json(-1.5), Json("x"), Json(true), Json()};
    int refused = 0;
    for (const Json& other : wrong) {
      Json json = good;
      json.set(key, other);
      const Status read = read_event(json, cell, event);
      refused += !read.ok();
      if (!read.ok()) {
        EXPECT_EQ(read.message().rfind(key + ": expects", 0), 0u) << read.message();
        EXPECT_EQ(read.code(), Code::corrupt);
      }
    }
    EXPECT_GE(refused, 3) << key;
    if (key == "step" || key == "role") continue;  // events of sessions have none
    Json json = Json::object();
    for (const auto& [other, kept] : good.as_object())
      if (other != key) json.set(other, kept);
    EXPECT_EQ(read_event(json, cell, event).message(), key + ": expects a value");
  }
  EXPECT_FALSE(read_event(Json(3), cell, event).ok());
}

}  // namespace
}  // namespace loom
