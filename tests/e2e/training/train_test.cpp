// loom train as a user runs it: a table, a spec, an interruption, a resumption.
#include <algorithm>

#include "base/json/json.h"
#include "e2e/process.h"

namespace loom::test {
namespace {

// y = x1 * x2 over a grid of 9 x 9 points.
std::string table() {
  std::string csv = "x1,x2,y\n";
  for (int i = -4; i <= 4; ++i)
    for (int j = -4; j <= 4; ++j)
      csv += std::to_string(i * 0.25) + "," + std::to_string(j * 0.25) + "," +
             std::to_string(i * j * 0.0625) + "\n";
  return csv;
}

std::string spec(int steps) {
  return R"({"format":"loom-training","version":2,"network":{"format":"loom-topology","version":1,"layers_per_cell":2,"input":{"width":2},"cells":[
    {"at":[0,0,0,0],"type":"dense","out":24,"activation":"tanh"},{"at":[0,0,0,1],"type":"dense","out":1}]},
    "data":{"type":"table","targets":["y"]},"loss":"mse","optimizer":{"type":"adamw"},"schedule":{"type":"constant","lr":0.01},
    "steps":)" +
         std::to_string(steps) + R"(,"batch":27,"seed":3,"log_every":50})";
}

std::string digest(const Outcome& o) {
  const std::size_t at = o.err.rfind("sha256 ");
  return at == std::string::npos ? o.err : o.err.substr(at + 7, 64);
}

TEST(Train, LearnsAndResumesWithTheSameBits) {
  const Folder folder;
  const std::string data = folder.write("table.csv", table()),
                    whole = folder.write("600.json", spec(600)),
                    half = folder.write("300.json", spec(300));
  const Outcome once = loom({"train", whole, "--data", data, "--out", folder / "once.entity",
                             "--json", "--events", folder / "events"});
  ASSERT_EQ(once.code, 0) << once.err;
  EXPECT_EQ(std::count(once.out.begin(), once.out.end(), '\n'), 12);
  const auto first = Json::parse(once.out.substr(0, once.out.find('\n'))),
             last = Json::parse(once.out.substr(once.out.rfind('\n', once.out.size() - 2) + 1));
  ASSERT_TRUE(first.ok() && last.ok()) << once.out;
  EXPECT_EQ(last->find("step")->as_integer(), 600);
  EXPECT_LT(last->find("loss")->as_number(), 0.02 * 0.1736);  // 2 % of the variance of y
  EXPECT_LT(last->find("loss")->as_number(), first->find("loss")->as_number() / 4);

  ASSERT_EQ(loom({"train", half, "--data", data, "--out", folder / "twice.entity"}).code, 0);
  const Outcome resumed =
      loom({"train", whole, "--data", data, "--out", folder / "twice.entity", "--resume"});
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(digest(resumed), digest(once));
  EXPECT_EQ(digest(once).size(), 64u);
  EXPECT_EQ(file_bytes(folder / "once.entity"), file_bytes(folder / "twice.entity"));

  const Outcome threads = loom({"train", whole, "--data", data, "--out", folder / "threads.entity",
                                "--threads", "2", "--isa", "generic"});
  EXPECT_EQ(digest(threads), digest(once));
  EXPECT_EQ(loom({"show", folder / "once.entity"}).code, 0);
}

TEST(Train, DrawsLossesAndBudgets) {
  const Folder folder;
  std::string rows = "a,b,in\n";
  for (int i = 0; i < 200; ++i) {
    const int a = i * 37 % 101 - 50, b = i * 53 % 97 - 48;
    rows += std::to_string(a) + "," + std::to_string(b) + "," +
            (a * a + b * b > 1200 ? "far" : "near") + "\n";
  }
  const std::string data = folder.write("ring.csv", rows), svg = folder / "t.svg",
                    out = folder / "net.entity";
  for (const std::string method : {"back_propagation", "target_propagation"}) {
    const Outcome o = loom(
        {"train", "--data", data, "--method", method, "--steps", "40", "--out", out, "--svg", svg});
    ASSERT_EQ(o.code, 0) << o.err;
    const std::string drawing = file_bytes(svg);
    EXPECT_NE(drawing.find("loss over the steps"), std::string::npos);
    EXPECT_EQ(drawing.find("budget of each part") != std::string::npos,
              method == "target_propagation");
    EXPECT_NE(drawing.find("</svg>"), std::string::npos);
  }
  LOOM_EXPECT_REFUSED(loom({"train", "--data", data, "--out", out, "--svg", data}), 2, "--svg");
  LOOM_EXPECT_REFUSED(loom({"train", "--data", data, "--out", out, "--svg", out}), 2, "--svg");
}

TEST(Train, WritesTheEventsOfObservedSteps) {
  const Folder folder;
  const std::string data = folder.write("table.csv", table()),
                    four = folder.write("4.json", spec(4)), six = folder.write("6.json", spec(6)),
                    lines = folder / "steps.jsonl", out = folder / "net.entity";
  const Outcome plain = loom({"train", six, "--data", data, "--out", folder / "plain.entity"});
  const Outcome first = loom(
      {"train", four, "--data", data, "--out", out, "--observe", lines, "--observe-every", "3"});
  ASSERT_EQ(first.code, 0) << first.err;
  std::string text = file_bytes(lines);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2 * 4);
  const auto line = Json::parse(text.substr(0, text.find('\n')));
  ASSERT_TRUE(line.ok()) << text;
  EXPECT_EQ(line->find("direction")->as_string(), "forward");
  EXPECT_EQ(line->find("count")->as_integer(), 27 * 24);
  const Outcome second =
      loom({"train", six, "--data", data, "--out", out, "--observe", lines, "--resume"});
  ASSERT_EQ(second.code, 0) << second.err;
  EXPECT_EQ(digest(second), digest(plain));
  text = file_bytes(lines);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 4 * 4);
  EXPECT_NE(text.find(R"("direction":"backward","pass":1,"step":6)"), std::string::npos);
  for (const std::string& file : {data, six, out})
    LOOM_EXPECT_REFUSED(
        loom({"train", six, "--data", data, "--out", out, "--observe", file, "--resume"}), 2,
        "--observe");
}

// Ctrl-C comes behind the line of the first step, in the second, which takes a part of a second: it
// is not waited for, and is done again with the same bits.
TEST(Train, EndsWithinAStepAndResumesWithTheSameBits) {
  std::string layers;
  for (int i = 0; i < 8; ++i) layers += R"({"type":"dense","out":512,"activation":"tanh"},)";
  const Folder folder;
  const std::string
      data = folder.write("table.csv", table()),
      long_steps = folder.write(
          "s.json",
          R"({"format":"loom-training","version":1,"network":{"format":"loom-topology","version":2,"layers_per_cell":1,"input":{"width":2},"cells":[
    {"at":[0,0,0,0],"type":"sequential","layers":[)" +
              layers + R"({"type":"dense","out":1}]}]},
    "data":{"type":"table","targets":["y"]},"loss":"mse","optimizer":{"type":"sgd"},"schedule":{"lr":0.001},
    "steps":3,"batch":4096,"seed":3,"log_every":1})");
  const Outcome once = loom({"train", long_steps, "--data", data, "--out", folder / "once.entity"});
  ASSERT_EQ(once.code, 0) << once.err;
  const std::vector<std::string> args = {"train", long_steps, "--data",
                                         data,    "--out",    folder / "cut.entity"};
  Call cut{args};
  cut.interrupts = 1;
  cut.after_ms = 100;
  const Outcome interrupted = loom(cut);
  EXPECT_EQ(interrupted.code, 130) << interrupted.err;
  EXPECT_NE(interrupted.err.find("step 1 of 3, --resume goes on"), std::string::npos)
      << interrupted.err;
  std::vector<std::string> again = args;
  again.push_back("--resume");
  const Outcome resumed = loom(again);
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(digest(resumed), digest(once));
}

// Two files of numbers, samples held back, an early end: the last line has the figures of the
// network that is kept.
TEST(Train, LearnsArraysAndJudgesThem) {
  const Folder folder;
  std::string x("\0\0\x08\2\0\0\0\x78\0\0\0\3", 12), y("\0\0\x08\1\0\0\0\x78", 8);
  for (int i = 0; i < 120; ++i) {
    for (int j = 0; j < 3; ++j) x += static_cast<char>((i * (j + 3) * 7) % 11);
    y += static_cast<char>((i * 21) % 11 > 5);
  }
  const std::string spec = folder.write(
      "s.json",
      R"({"format":"loom-training","version":2,"network":{"format":"loom-topology","version":1,"layers_per_cell":2,"input":{"width":3},"cells":[
    {"at":[0,0,0,0],"type":"dense","out":16,"activation":"tanh"},{"at":[0,0,0,1],"type":"dense","out":2}]},
    "data":{"type":"arrays","targets_file":")" +
          folder.write("y.idx", y) +
          R"("},"loss":"cross_entropy","optimizer":{"type":"lion"},"schedule":{"type":"one_cycle","lr":0.01},
    "validation":{"share":0.2,"every":20,"patience":4},"steps":600,"batch":16})");
  const std::string data = folder.write("x.idx", x);
  const Outcome o = loom({"train", spec, "--data", data, "--out", folder / "net.entity", "--json"});
  ASSERT_EQ(o.code, 0) << o.err;
  const auto last = Json::parse(o.out.substr(o.out.rfind('\n', o.out.size() - 2) + 1));
  ASSERT_TRUE(last.ok()) << o.out;
  EXPECT_GT(last->find("validation")->find("accuracy")->as_number(), 0.9);
  EXPECT_EQ(last->find("validation")->find("rows")->as_integer(), 24);
  EXPECT_LE(last->find("best_step")->as_integer(), last->find("step")->as_integer());
  const Outcome other =
      loom({"train", spec, "--data", data, "--out", folder / "other.entity", "--seed", "9"});
  ASSERT_EQ(other.code, 0) << other.err;
  EXPECT_NE(digest(o), digest(other));
  LOOM_EXPECT_REFUSED(loom({"train", spec, "--data", folder.write("short.idx", x.substr(0, 100)),
                            "--out", folder / "x.entity"}),
                      3, "expects 360 bytes");
}

TEST(Train, LearnsTextByItsBytes) {
  const Folder folder;
  std::string text;
  for (int i = 0; i < 60; ++i) text += "the cat sat on the mat. ";
  const std::string spec = folder.write(
      "s.json",
      R"({"format":"loom-training","version":2,"network":{"format":"loom-topology","version":1,"layers_per_cell":2,"input":{"ids":256},"cells":[
    {"at":[0,0,0,0],"type":"embedding","out":16},{"at":[0,0,0,1],"type":"dense","out":256}]},"data":{"type":"text","length":32},"loss":"cross_entropy",
    "schedule":{"type":"polynomial","lr":0.03,"warmup":10},"validation":{"share":0.1},"steps":200,"batch":4,"log_every":200})");
  const Outcome o = loom({"train", spec, "--data", folder.write("t.txt", text), "--out",
                          folder / "net.entity", "--json"});
  ASSERT_EQ(o.code, 0) << o.err;
  const auto last = Json::parse(o.out.substr(o.out.rfind('\n', o.out.size() - 2) + 1));
  ASSERT_TRUE(last.ok()) << o.out;
  EXPECT_LT(last->find("validation")->find("loss")->as_number(),
            1.2);  // a letter alone says so much about the next one
}

TEST(Train, AnInterruptionSaves) {
  const Folder folder;
  const std::string data = folder.write("table.csv", table()),
                    long_spec = folder.write("long.json", spec(1'000'000));
  Call call{{"train", long_spec, "--data", data, "--out", folder / "net.entity"}, "", {}, 1};
  const Outcome stopped = loom(call);
  EXPECT_EQ(stopped.code, 130) << stopped.err;
  EXPECT_NE(stopped.err.find("--resume goes on"), std::string::npos) << stopped.err;
  call.args.push_back("--resume");
  const Outcome again = loom(call);
  EXPECT_EQ(again.code, 130) << again.err;
}

TEST(Train, WrongSpecsAndDataAreRefused) {
  const Folder folder;
  const std::string data = folder.write("table.csv", table()),
                    good = folder.write("good.json", spec(5));
  LOOM_EXPECT_REFUSED(
      loom({"train", folder.write("a.json", R"({"format":"loom-training","version":2,"step":1})"),
            "--data", data, "--out", folder / "x.entity"}),
      3, "\"step\"");
  LOOM_EXPECT_REFUSED(loom({"train", good, "--data", folder.write("b.csv", "x1,x2,y\n1,2,three\n"),
                            "--out", folder / "x.entity"}),
                      3, "three");
  LOOM_EXPECT_REFUSED(
      loom({"train", good, "--data", data, "--out", folder / "none.entity", "--resume"}), 3,
      "none.entity");
  LOOM_EXPECT_REFUSED(loom({"train", good, "--data", data}), 2, "--out");
  EXPECT_EQ(file_bytes(folder / "x.entity"), "");
}

}  // namespace
}  // namespace loom::test
