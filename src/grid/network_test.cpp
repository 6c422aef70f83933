// Planning: what is refused by name, what cells that are switched off keep, and that large grids
// take time in proportion to their cells.
#include "grid/network.h"

#include <gtest/gtest.h>

#include <chrono>

#include "base/threads/thread_pool.h"

namespace loom {
namespace {

Result<Network> planned(const std::string& head, const std::string& cells) {
  const std::string text =
      R"({"format":"loom-topology","version":1,)" + head + R"(,"cells":[)" + cells + "]}";
  return Network::from_json(std::string_view(text));
}

std::vector<std::string> names(Network& n) {
  std::vector<std::string> list;
  for (const auto& p : n.params()) list.push_back(p.path + ":" + p.param->spec.role);
  return list;
}

TEST(Network, ACellRunsOnOneWidth) {
  const std::string head = R"("layers_per_cell":3,"input":{"width":4})";
  const std::string first = R"({"at":[0,0,0,0],"type":"dense","out":)",
                    second = R"({"at":[0,0,0,1],"type":"dense","out":4},)";
  EXPECT_TRUE(
      planned(head, first + "4}," + second + R"({"at":[0,0,0,2],"links":[{"run":[0,0,0,0]}]})")
          .ok());
  const Status refused =
      planned(head, first + "6}," + R"({"at":[0,0,0,1],"links":[{"run":[0,0,0,0]}]})").status();
  EXPECT_EQ(refused.code(), Code::invalid_argument);
  EXPECT_EQ(refused.message(),
            "(0,0,0,0) is executed on [B, 4] at (0,0,0,0) and on [B, 6] at (0,0,0,1): a cell has "
            "weights for one input");
  // A cell that is switched off runs nothing, whichever of the two it is.
  EXPECT_TRUE(planned(head, first + "6}," +
                                R"({"at":[0,0,0,1],"enabled":false,"links":[{"run":[0,0,0,0]}]})")
                  .ok());
  const auto off = planned(
      head,
      R"({"at":[0,0,0,0],"type":"dense","out":6,"enabled":false},{"at":[0,0,0,1],"links":[{"run":[0,0,0,0]}]})");
  ASSERT_TRUE(off.ok());
  EXPECT_EQ(off->output().width, 4);
}

TEST(Network, WhatIsSwitchedOffPassesOnAndKeepsItsWeights) {
  auto n = planned(R"("layers_per_cell":2,"input":{"width":4})",
                   R"({"at":[0,0,0,0],"type":"dense","out":9,"enabled":false},
                      {"at":[0,0,0,1],"type":"sequential","layers":[{"type":"dense","out":7,"enabled":false},{"type":"rms_norm"}]})");
  ASSERT_TRUE(n.ok()) << n.status().to_string();
  EXPECT_EQ(n->output(0).width, 4);
  EXPECT_EQ(n->output().width, 4);
  EXPECT_EQ(names(*n),
            (std::vector<std::string>{"0.0.0.0:weight", "0.0.0.0:bias", "0.0.0.1/0:weight",
                                      "0.0.0.1/0:bias", "0.0.0.1/1:gain"}));
  ASSERT_TRUE(n->initialize(1).ok());
  const float weight = n->find("0.0.0.0", "weight")->master()[3];
  n->node(0).enabled = true;
  ASSERT_TRUE(n->plan().ok());
  EXPECT_EQ(n->output(0).width, 9);
  EXPECT_EQ(n->find("0.0.0.0", "weight")->master()[3], weight);
  // One that does not fit where it stands has none.
  auto misfit =
      planned(R"("input":{"ids":9})", R"({"at":[0,0,0,0],"type":"dense","out":9,"enabled":false})");
  ASSERT_TRUE(misfit.ok()) << misfit.status().to_string();
  EXPECT_TRUE(misfit->params().empty());
}

TEST(Network, ParametersAreFoundByThePathTheyAreWrittenWith) {
  auto n = planned(
      R"("rows":2,"layers_per_cell":12,"input":{"width":4})",
      R"({"at":[0,1,0,11],"type":"sequential","layers":[{"type":"rms_norm"},{"type":"sequential","layers":[{"type":"dense","out":2}]}]})");
  ASSERT_TRUE(n.ok()) << n.status().to_string();
  for (const auto& p : n->params())
    EXPECT_EQ(n->find(p.path, p.param->spec.role), p.param->store.get()) << p.path;
  ASSERT_TRUE(n->find("0.1.0.11/1/0", "weight"));
  for (const char* other :
       {"", "0", "0.1.0", "0.1.0.11", "0.1.0.11/", "0.1.0.11/1", "0.1.0.11/01/0", "0.1.0.011/1/0",
        "0.1.0.12/1/0", "0.1.0.11/1/0/", "0.1.0.11/1/0/0", "0.1.0.11/2", "0.1.0.11//0",
        "0.1.0.11.1.0", "x", "-1.1.0.11/1/0", "99999999999999999999.1.0.11/1/0"})
    EXPECT_FALSE(n->find(other, "weight")) << other;
}

// However many encode, and from masters or from what is packed.
TEST(Network, ATeamMorphsToTheSameBytes) {
  const std::string cells =
      R"({"at":[0,0,0,0],"type":"dense","out":331},{"at":[0,0,0,1],"type":"dense","out":90})";
  ThreadPool three(3), nine(9);
  for (const char* name : {"i4", "i4:s4", "i8", "q4_0", "ternary"}) {
    const WeightFormat format = parse_weight_format(name).value();
    std::vector<std::byte> bytes[3];
    for (int i = 0; i < 3; ++i) {
      auto n = planned(R"("layers_per_cell":2,"input":{"width":75})", cells);
      ASSERT_TRUE(n.ok() && n->initialize(7).ok());
      const Status done = i == 0   ? n->morph(format)
                          : i == 1 ? n->morph(format, &three)
                                   : n->pack(format, &nine);
      ASSERT_TRUE(done.ok()) << done.to_string();
      for (const auto& p : n->params()) {
        const auto packed = p.param->store->packed();
        ASSERT_TRUE(packed.ok());
        bytes[i].insert(bytes[i].end(), packed->bytes().begin(), packed->bytes().end());
      }
    }
    EXPECT_GT(bytes[0].size(), 331u * 75 / 5) << name;
    EXPECT_EQ(bytes[0], bytes[1]) << name;
    EXPECT_EQ(bytes[0], bytes[2]) << name;
  }
}

// 8.6 * 10^9 weights of f32 would be 32 GiB.
TEST(Network, APlanTakesNoMemoryForItsWeights) {
  const std::string cells = R"({"at":[0,0,0,0],"type":"dense","out":92681,"bias":false})";
  auto n = planned(R"("input":{"width":92681})", cells);
  ASSERT_TRUE(n.ok()) << n.status().to_string();
  EXPECT_TRUE(n->morph(default_format(DType::i4)).ok());
  EXPECT_EQ(n->find("0.0.0.0", "weight")->master_bytes(), 0u);
  const Status refused =
      planned(R"("input":{"width":92682})", R"({"at":[0,0,0,0],"type":"dense","out":92682})")
          .status();
  EXPECT_NE(refused.message().find("0.0.0.0:weight: with its 8589953124 values the parameters hold "
                                   "more than the limit of 8589934592"),
            std::string::npos)
      << refused.message();
}

// Stores are the same objects; the refused edit leaves links, shapes and stores.
TEST(Network, LinksChangeAndWeightsStay) {
  auto n = planned(R"("layers_per_cell":3,"input":{"width":3})",
                   R"({"at":[0,0,0,0],"type":"dense","out":4},{"at":[0,0,0,1],"type":"dense",)"
                   R"("out":4},{"at":[0,0,0,2],"type":"dense","out":2})");
  ASSERT_TRUE(n.ok()) << n.status().to_string();
  ASSERT_TRUE(n->initialize(1).ok());
  const auto stores = [&] {
    std::vector<WeightStore*> out;
    for (const auto& p : n->params()) out.push_back(p.param->store.get());
    return out;
  };
  const auto links = [&](Coordinate at, const char* json) {
    return n->set_links(at, *Json::parse(json));
  };
  const auto before = stores();
  EXPECT_TRUE(links({0, 0, 0, 2}, R"([{"read":[0,0,0,0]}])").ok());
  EXPECT_EQ(stores(), before);
  EXPECT_EQ(n->arrivals()[2], (std::vector<std::int64_t>{0}));
  const std::string json = n->to_json().dump();
  for (const char* wrong : {R"([{"read":[0,0,0,0]},{"read":[0,0,0,1]}])", R"([{"read":[9,0,0,0]}])",
                            R"([{"run":[0,0,0,0]}])", R"([{"read":[0,0,0]}])", R"([1])", "{}"})
    EXPECT_EQ(links({0, 0, 0, 2}, wrong).code(), Code::invalid_argument) << wrong;
  EXPECT_EQ(links({0, 0, 0, 1}, R"([{"read":[0,0,0,2]}])").code(), Code::invalid_argument);
  EXPECT_EQ(links({0, 0, 0, 3}, "[]").code(), Code::invalid_argument);
  EXPECT_EQ(stores(), before);
  EXPECT_EQ(n->to_json().dump(), json);
}

// It made the weights of the cells behind it anew, without a word.
TEST(Network, SwitchingACellOffKeepsTheWeightsOfOthers) {
  auto n = Network::from_json(std::string_view(
      R"({"format":"loom-topology","version":3,"layers_per_cell":3,"input":{"width":3},"cells":[{"at":[0,0,0,0],"type":"dense","out":3},
{"at":[0,0,0,1],"type":"dense","out":5},{"at":[0,0,0,2],"type":"dense","out":2}]})"));
  ASSERT_TRUE(n.ok());
  const WeightStore* kept = n->find("0.0.0.2", "weight");
  EXPECT_TRUE(n->enable(0, false).ok());
  EXPECT_TRUE(n->enable(0, true).ok());
  const Status refused = n->enable(1, false);
  EXPECT_EQ(refused.message(),
            "with the cell off the weight of cell 0.0.0.2 would be [2, 3], and it is [2, 5]: "
            "weights stay");
  EXPECT_EQ(n->find("0.0.0.2", "weight"), kept);
  EXPECT_TRUE(n->node(1).enabled);
}

// What was quadratic took hours at this size.
TEST(Network, LargeGridsArePlannedInLinearTime) {
  constexpr std::int64_t kSide = 64, kCells = kSide * kSide * kSide;
  auto n = Network::create(kSide, kSide, kSide, 1, {.width = 2});
  ASSERT_TRUE(n.ok());
  const auto start = std::chrono::steady_clock::now();
  const auto tied =
                 Json::parse(R"({"type":"dense","out":2,"bias":false,"tie":"63.63.63.0:weight"})"),
             owner = Json::parse(R"({"type":"dense","out":2,"bias":false})");
  for (std::int64_t i = 0; i < kCells; i += 16)
    ASSERT_TRUE(n->set_cell(n->coordinate(static_cast<std::size_t>(i)), *tied).ok());
  ASSERT_TRUE(n->set_cell({63, 63, 63, 0}, *owner).ok());
  // Every 64th cell sends far ahead, where it is added to what comes from before.
  for (std::size_t i = 0; i < kCells - 4096; i += 64) {
    n->node(i).links.push_back({LinkKind::send, n->coordinate(i + 4001)});
    n->node(i + 4001).merge = Merge::add;
  }
  const Status status = n->plan();
  ASSERT_TRUE(status.ok()) << status.to_string();
  EXPECT_EQ(n->output().width, 2);
  EXPECT_EQ(n->parameter_count(), 4);
  for (std::int64_t i = 0; i < kCells; i += 16)
    ASSERT_TRUE(n->find(n->path(static_cast<std::size_t>(i)), "weight"));
  EXPECT_LT(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), 20);
}

TEST(Network, ACycleInALargeGridIsNamed) {
  auto n = Network::create(1, 1, 1, 100000, {.width = 2});
  ASSERT_TRUE(n.ok());
  n->node(70000).links.push_back({LinkKind::read, n->coordinate(70002)});
  EXPECT_EQ(n->plan().message(),
            "the links form a cycle, which a plain pass cannot run: (0,0,0,70000) -> (0,0,0,70001) "
            "-> (0,0,0,70002) -> (0,0,0,70000): with \"step_mesh\": true the cells run by ticks");
}

}  // namespace
}  // namespace loom
