// Memory over time, blueprints and the description of the interface, as the program prints them.
#include "base/json/json.h"
#include "e2e/process.h"

namespace loom::test {
namespace {

const char* const kNet = R"({"format":"loom-topology","version":3,"input":{"width":2},
  "cells":[{"at":[0,0,0,0],"type":"dense","out":3,"activation":"relu"}]})";

std::vector<Json> samples_of(const std::string& path) {
  std::vector<Json> list;
  const std::string text = file_bytes(path);
  for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
    auto json = Json::parse(text.substr(at, text.find('\n', at) - at));
    EXPECT_TRUE(json.ok());
    if (json.ok()) list.push_back(std::move(*json));
  }
  return list;
}

std::vector<std::string> labels_of(const std::vector<Json>& samples) {
  std::vector<std::string> labels;
  for (const Json& s : samples)
    if (labels.empty() || labels.back() != s.find("label")->as_string())
      labels.push_back(s.find("label")->as_string());
  return labels;
}

TEST(MemoryHistory, HasTheStepsOfACommand) {
  const Folder folder;
  const std::string net = folder.write("net.json", kNet),
                    data = folder.write("x.csv", "1,2\n3,4\n"), lines = folder / "m.jsonl",
                    svg = folder / "m.svg";
  const Outcome o = loom({"observe", net, "--data", data, "--memory", lines});
  ASSERT_EQ(o.code, 0) << o.err;
  const std::vector<Json> samples = samples_of(lines);
  EXPECT_EQ(labels_of(samples), (std::vector<std::string>{"begin", "network", "passes", "end"}));
  const Json& last = samples.back();
  EXPECT_EQ(last.find("host_weights_bytes")->as_integer(), 36);
  EXPECT_TRUE(last.find("gpu_weights_bytes")->is_null());
  EXPECT_TRUE(last.find("gpu_kv_bytes")->is_null());
  EXPECT_TRUE(last.find("accelerator_bytes")->is_null());
#ifdef __linux__
  EXPECT_GT(last.find("resident_bytes")->as_integer(), 1 << 20);
#endif
  EXPECT_GE(last.find("elapsed_sec")->as_number(), samples[0].find("elapsed_sec")->as_number());
  ASSERT_EQ(loom({"observe", net, "--data", data, "--memory", svg}).code, 0);
  EXPECT_NE(file_bytes(svg).find(">passes</text>"), std::string::npos) << file_bytes(svg);

  std::string table = "a,b,y\n";
  for (int i = 0; i < 60; ++i)
    table += std::to_string(i % 7) + "," + std::to_string(i % 5) + "," + (i % 2 ? "x" : "z") + "\n";
  ASSERT_EQ(loom({"train", "--data", folder.write("t.csv", table), "--out", folder / "n.entity",
                  "--steps", "20", "--memory", lines})
                .code,
            0);
  EXPECT_EQ(labels_of(samples_of(lines)),
            (std::vector<std::string>{"begin", "steps", "judge", "save", "end"}));
  EXPECT_GT(samples_of(lines).back().find("host_weights_bytes")->as_integer(), 100);
  ASSERT_EQ(loom({"run", "embedded", "Once", "--tokens", "3", "--memory", lines}).code, 0);
  const std::vector<Json> run = samples_of(lines);
  EXPECT_EQ(labels_of(run),
            (std::vector<std::string>{"begin", "model", "session", "tokens", "end"}));
  EXPECT_GT(run.back().find("host_weights_bytes")->as_integer(), 100000);
}

TEST(MemoryHistory, HasItsEarlierNamesAndRefusesOthersFiles) {
  const Folder folder;
  const std::string net = folder.write("net.json", kNet), data = folder.write("x.csv", "1,2\n"),
                    lines = folder / "m.jsonl";
  const auto with = [&](std::vector<std::pair<std::string, std::string>> env) {
    return loom(Call{.args = {"observe", net, "--data", data}, .in = "", .env = std::move(env)});
  };
  EXPECT_EQ(with({{"LOOM_MEMORY_HISTORY_JSON", lines}}).code, 0);
  EXPECT_EQ(file_bytes(lines), "");
  EXPECT_EQ(with({{"LOOM_MEMORY_HISTORY", "1"}, {"LOOM_MEMORY_HISTORY_JSON", lines}}).code, 0);
  EXPECT_GE(samples_of(lines).size(), 4u);
  LOOM_EXPECT_REFUSED(with({{"LOOM_MEMORY_HISTORY", "1"}}), 2, "LOOM_MEMORY_HISTORY_JSON");
  LOOM_EXPECT_REFUSED(loom({"observe", net, "--data", data, "--memory", data}), 2, "--memory");
  LOOM_EXPECT_REFUSED(loom({"observe", net, "--data", data, "--events", lines, "--memory", lines}),
                      2, lines);
  LOOM_EXPECT_REFUSED(loom({"observe", net, "--data", data, "--memory", folder / "no/such.jsonl"}),
                      2, "--memory");
}

TEST(Show, PrintsBlueprintsAndTheInterface) {
  const Folder folder;
  const std::string net = folder.write("net.json", kNet);
  const Outcome o = loom({"show", net, "--blueprint"});
  ASSERT_EQ(o.code, 0) << o.err;
  const auto print = Json::parse(o.out);
  ASSERT_TRUE(print.ok()) << o.out;
  const Json& model = print->find("models")->as_array()[0];
  EXPECT_EQ(model.find("id")->as_string(), net);
  EXPECT_EQ(model.find("total_parameters")->as_integer(), 9);
  EXPECT_EQ(model.find("layers")->as_array()[0].find("output_shape")->dump(), "[3]");
  EXPECT_EQ(loom({"show", net, "--blueprint", "--plan"}).code, 2);
  EXPECT_EQ(loom({"show", folder.write("x.txt", "x"), "--blueprint"}).code, 3);
  const auto api = Json::parse(loom({"show", "--api"}).out);
  ASSERT_TRUE(api.ok()) << api.status().to_string();
  EXPECT_GT(api->find("groups")->as_array().size(), 5u);
}

}  // namespace
}  // namespace loom::test
