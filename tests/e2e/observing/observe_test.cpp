// loom observe: statistics of cells over files, its outputs, and what it refuses.
#include "base/json/json.h"
#include "e2e/process.h"

namespace loom::test {
namespace {

// x, its negative, and an empty cell: weights of 0 and a bias are no part of it.
const char* const kNet = R"({"format":"loom-topology","version":3,"depth":2,"input":{"width":2},
  "cells":[{"at":[0,0,0,0],"type":"activation","activation":"relu"}]})";

TEST(ObserveCommand, TellsTheStatisticsOfEachCell) {
  const Folder folder;
  const std::string net = folder.write("net.json", kNet),
                    data = folder.write("x.csv", "1,-2\n3,0\n5,-6\n");
  const Outcome o = loom({"observe", net, "--data", data});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(o.out,
            "path type mean std min max active-share nan inf count first-bad\n"
            "0.0.0.0 activation 1.5 1.89297 0 5 0.5000 0 0 6 -\n"
            "1.0.0.0 empty 1.5 1.89297 0 5 0.5000 0 0 6 -\n");
}

TEST(ObserveCommand, PassesAreJoinedAndWritten) {
  const Folder folder;
  const std::string net = folder.write("net.json", kNet),
                    data = folder.write("x.csv", "1,-2\n3,0\n5,-6\n"), events = folder / "e.jsonl",
                    svg = folder / "o.svg", board = folder / "board";
  const Outcome o = loom({"observe", net, "--data", data, "--rows", "1", "--events", events,
                          "--svg", svg, "--tensorboard", board, "--json"});
  EXPECT_EQ(o.code, 0) << o.err;
  const auto json = Json::parse(o.out);
  ASSERT_TRUE(json.ok()) << o.out;
  EXPECT_EQ(json->find("passes")->as_integer(), 3);
  EXPECT_EQ(json->find("observed")->as_integer(), 3);
  const Json& cell = json->find("cells")->as_array()[1];
  EXPECT_EQ(cell.find("count")->as_integer(), 6);
  EXPECT_DOUBLE_EQ(cell.find("mean")->as_number(), 1.5);
  EXPECT_NEAR(cell.find("std")->as_number(), 1.8929694486000912, 1e-14);
  const std::string lines = file_bytes(events);
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 6);
  EXPECT_TRUE(Json::parse(lines.substr(0, lines.find('\n'))).ok());
  EXPECT_NE(file_bytes(svg).find("</svg>"), std::string::npos);
  const auto some = Json::parse(
      loom({"observe", net, "--data", data, "--rows", "1", "--every", "2", "--json"}).out);
  ASSERT_TRUE(some.ok());
  EXPECT_EQ(some->find("observed")->as_integer(), 2);
  EXPECT_DOUBLE_EQ(some->find("cells")->as_array()[0].find("mean")->as_number(), 1.5);
}

// Rules act with --trace alone, and --replay does the same.
TEST(ObserveCommand, WritesAndReplaysTheActsOfRules) {
  const Folder folder;
  const std::string net = folder.write(
                        "net.json",
                        R"({"format":"loom-topology","version":3,"input":{"width":2},"cells":[
      {"at":[0,0,0,0],"type":"metacognition","layers":[{"type":"activation","activation":"relu"}],
       "rules":[{"when":"max","above":2,"do":"gate","factor":0.5}]}]})"),
                    data = folder.write("x.csv", "1,-2\n3,0\n5,-6\n"), acts = folder / "a.jsonl",
                    svg = folder / "a.svg";
  EXPECT_EQ(Json::parse(loom({"observe", net, "--data", data, "--rows", "1", "--json"}).out)
                ->find("acts"),
            nullptr);
  const Outcome o = loom(
      {"observe", net, "--data", data, "--rows", "1", "--trace", acts, "--svg", svg, "--json"});
  EXPECT_EQ(o.code, 0) << o.err;
  const auto json = Json::parse(o.out);
  ASSERT_TRUE(json.ok()) << o.out;
  ASSERT_EQ(json->find("acts")->as_array().size(), 1u);
  EXPECT_EQ(json->find("acts")->as_array()[0].find("pass")->as_integer(), 1);
  EXPECT_NE(file_bytes(svg).find("gate 0.5"), std::string::npos);
  const Outcome again =
      loom({"observe", net, "--data", data, "--rows", "1", "--replay", acts, "--json"});
  EXPECT_EQ(again.out, o.out);
  LOOM_EXPECT_REFUSED(loom({"observe", net, "--data", data, "--replay", data}), 3, "trace: line 1");
  EXPECT_EQ(loom({"observe", net, "--data", data, "--trace", data}).code, 2);
}

TEST(ObserveCommand, RefusesWhatIsNoData) {
  const Folder folder;
  const std::string net = folder.write("net.json", kNet), data = folder.write("x.csv", "1,-2,3\n");
  EXPECT_EQ(loom({"observe", net, "--data", data}).code, 3);
  // As many numbers as rows, in other rows.
  LOOM_EXPECT_REFUSED(loom({"observe", net, "--data", folder.write("wide.csv", "1,2,3,4\n")}), 3,
                      "has the shape (1, 4): expects (rows, 2)");
  EXPECT_EQ(loom({"observe", net, "--data", data, "--svg", data}).code, 2);
  EXPECT_EQ(loom({"observe", net}).code, 2);
  EXPECT_EQ(loom({"observe", net, "--data", folder / "none.csv"}).code, 3);
  EXPECT_EQ(loom({"observe", net, "--data", data, "--every", "0"}).code, 2);
}

}  // namespace
}  // namespace loom::test
