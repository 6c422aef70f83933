// loom adapt: tasks that are made, tables, outputs that repeat, and what is refused.
#include "base/json/json.h"
#include "e2e/process.h"

namespace loom::test {
namespace {

Json json_of(const Outcome& o) {
  auto json = Json::parse(o.out);
  EXPECT_TRUE(json.ok()) << o.out << o.err;
  return json.ok() ? std::move(*json) : Json::object();
}

// What does not depend on time.
std::string lasting(const Json& report) {
  std::string text;
  for (const char* key : {"outputs", "correct", "steps", "publications", "forgetting"})
    text += report.find(key)->dump() + "\n";
  for (const Json& task : report.find("tasks")->as_array()) {
    const Json* recovered = task.find("recovered");
    text += task.find("output")->dump() + " " +
            (recovered->is_null() ? "-" : recovered->find("outputs")->dump()) + "\n";
  }
  return text;
}

TEST(AdaptCommand, RecoversFromThreeFlipsAndRepeats) {
  const Folder folder;
  const std::string svg = folder / "adapt.svg", out = folder / "learned.entity";
  const std::vector<std::string> arguments = {"adapt",  "--outputs", "300", "--steps", "2",
                                              "--json", "--svg",     svg,   "--out",   out};
  const Json one = json_of(loom(arguments)), two = json_of(loom(arguments));
  EXPECT_EQ(lasting(one), lasting(two));
  const auto& tasks = one.find("tasks")->as_array();
  ASSERT_EQ(tasks.size(), 4u);
  for (const Json& task : tasks) {
    ASSERT_FALSE(task.find("recovered")->is_null()) << task.dump();
    EXPECT_LE(task.find("recovered")->find("outputs")->as_integer(), 150);
  }
  EXPECT_NE(file_bytes(svg).find("<polyline"), std::string::npos);
  EXPECT_EQ(loom({"show", out}).code, 0);
  // The network that has learned goes on.
  EXPECT_EQ(loom({"adapt", out, "--outputs", "50", "--tasks", "1", "--steps", "1"}).code, 0);
}

TEST(AdaptCommand, LearnsForATimeAndByOtherMethods) {
  const Outcome timed =
      loom({"adapt", "--outputs", "40", "--tasks", "2", "--budget", "2", "--told"});
  EXPECT_EQ(timed.code, 0) << timed.err;
  EXPECT_NE(timed.out.find("(caller)"), std::string::npos) << timed.out;
  EXPECT_NE(timed.out.find("wall, ms"), std::string::npos);
  const Json gated = json_of(
      loom({"adapt",
            "--outputs",
            "100",
            "--steps",
            "2",
            "--fresh",
            "--json",
            "--ungated",
            "--method",
            R"({"type":"target_propagation","mode":"layer_wise","difference_correction":false})",
            "--loss",
            "mse",
            "--layers",
            "32,32",
            "--activation",
            "tanh",
            "--optimizer",
            R"({"type":"sgd","momentum":0.9})",
            "--lr",
            "0.01",
            "--dtype",
            "i8"}));
  EXPECT_EQ(gated.find("outputs")->as_integer(), 400);
  EXPECT_EQ(gated.find("ungated")->find("outputs")->as_integer(), 400);
}

TEST(AdaptCommand, ReadsTables) {
  const Folder folder;
  std::string left, right;
  for (int i = 0; i < 40; ++i) {
    const int c = i % 2;
    left += std::to_string(c) + "," + std::to_string(1 - c) + "," + std::to_string(c) + "\n";
    right += std::to_string(c) + "," + std::to_string(1 - c) + "," + std::to_string(1 - c) + "\n";
  }
  const std::string a = folder.write("a.csv", left), b = folder.write("b.csv", right);
  const Json json = json_of(loom({"adapt", "--data", a, "--data", b, "--tasks", "3", "--outputs",
                                  "200", "--steps", "2", "--told", "--json"}));
  const auto& tasks = json.find("tasks")->as_array();
  ASSERT_EQ(tasks.size(), 3u);
  EXPECT_EQ(tasks[2].find("task")->as_string(), "A");
  for (const Json& task : tasks) EXPECT_FALSE(task.find("recovered")->is_null()) << task.dump();
  EXPECT_EQ(json.find("forgetting")->as_array().size(), 2u);
}

TEST(AdaptCommand, RefusesWhatItCannotDo) {
  const Folder folder;
  const auto refused = [](const std::vector<std::string>& arguments, int code, const char* why) {
    std::vector<std::string> all = {"adapt"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    const Outcome o = loom(all);
    EXPECT_EQ(o.code, code) << o.err;
    EXPECT_NE(o.err.find(why), std::string::npos) << o.err;
  };
  refused({folder / "none.json"}, 3, "none.json");
  refused({"--data", folder.write("a.csv", "1,2\n3\n")}, 3, "a.csv");
  refused({"--data", folder.write("b.csv", "1,0\n3,1\n")}, 3, "5 rows");
  refused({"--data", folder.write("c.csv", "1,0\n1,0\n1,0\n1,0.5\n1,1\n")}, 3, "row 3");
  refused({"--data", folder.write("d.csv", "1,0\n1,0\n1,0\n1,0\n1,1\n"), "--fresh"}, 2, "--fresh");
  refused({"--method", "tweeen", "--outputs", "5"}, 3, "tweeen");
  refused({"--method", "{", "--outputs", "5"}, 2, "--method");
  refused({"--ungated", "--outputs", "5", "--steps", "1"}, 3, "gate");
  refused({"--steps", "1", "--budget", "1"}, 2, "--budget");
  refused({"--outputs", "0"}, 2, "--outputs");
  const std::string same = folder / "same";
  refused({"--svg", same, "--out", same}, 2, "same");
}

}  // namespace
}  // namespace loom::test
