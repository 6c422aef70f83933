// loom plan: formats for the matrices of a trained network, within a budget.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>

#include "base/json/json.h"
#include "e2e/process.h"
#include "support/data.h"

namespace loom::test {
namespace {

double number(const Json& j, const char* key) {
  return j.find(key) && j.find(key)->is_number() ? j.find(key)->as_number() : INFINITY;
}

// Rows of four numbers whose class is two inequalities; another seed gives other rows.
std::string table(int rows, std::uint32_t seed) {
  std::string csv = "a,b,c,d,kind\n";
  for (int i = 0; i < rows; ++i) {
    int v[4];
    for (int& x : v) {
      seed = (seed * 1103515245u + 12345u) % 2147483648u;
      x = static_cast<int>((seed >> 8) % 1000);
      csv += std::to_string(x) + ",";
    }
    const char* kinds[] = {"low\n", "mid\n", "high\n"};
    csv += kinds[(v[0] * v[1] > 250000) + (std::abs(v[2] - v[3]) > 300)];
  }
  return csv;
}

// Judged on rows that neither the network nor its plans have seen, by commands that know nothing of
// plans: a plan within the bytes of a uniform format loses at most 1 % more than it there, and
// where few bits spoil a network the plans together at least 5 % less.
TEST(Plan, HoldsOnRowsThatItWasNotMadeFrom) {
  const Folder folder;
  const std::string known = folder.write("known.csv", table(800, 1)),
                    held_out = folder.write("held_out.csv", table(2000, 77)),
                    net = folder / "net.entity", planned = folder / "planned.entity";
  const std::vector<std::string> few = {"i4", "i2", "ternary", "binary"};
  const Outcome trained =
      loom({"train", "--data", known, "--network", "dense", "--steps", "600", "--out", net});
  ASSERT_EQ(trained.code, 0) << trained.err;
  const auto plan = [&](std::vector<std::string> more) {
    std::vector<std::string> args = {
        "plan",   net,         "--data",
        known,    "--rows",    "300",
        "--json", "--formats", "f32,bf16,i8,i4,i4:s4,i2,ternary,binary"};
    args.insert(args.end(), more.begin(), more.end());
    const Outcome o = loom(args);
    EXPECT_EQ(o.code, 0) << o.err;
    return *Json::parse(o.out);
  };
  const Outcome judged = loom({"accuracy", net, "--data", held_out, "--json"});
  ASSERT_EQ(judged.code, 0) << judged.err;
  std::map<std::string, double> uniform;
  const Json report = *Json::parse(judged.out);
  for (const Json& row : report.find("formats")->as_array())
    uniform[row.find("format")->as_string()] = number(row, "loss");
  double ratio = 1;  // of the plans' losses to the uniform ones of few bits, multiplied
  const Json plans = plan({});
  for (const Json& row : plans.find("table")->as_array()) {
    const std::string format = row.find("format")->as_string();
    const auto found = uniform.find(uniform.contains(format) ? format : format + ":row");
    ASSERT_NE(found, uniform.end()) << format;
    const double bytes = number(*row.find("uniform"), "bytes");
    plan({"--bytes", std::to_string(static_cast<std::int64_t>(bytes)), "--out", planned});
    const Outcome answered = loom({"predict", planned, "--data", held_out});
    const std::size_t at = answered.err.find("loss ");
    ASSERT_NE(at, std::string::npos) << answered.err;
    const double loss = std::stod(answered.err.substr(at + 5));
    EXPECT_LE(loss, 1.01 * found->second) << format;
    if (std::find(few.begin(), few.end(), format) != few.end()) ratio *= loss / found->second;
  }
  EXPECT_LE(std::pow(ratio, 1.0 / static_cast<double>(few.size())), 0.95);
}

// The digits of MNIST, a dense network, and its plans at the size of every uniform format. Losses
// are of the rows that the plans are made from, where a plan that is worse than one it could have
// chosen is a mistake of the search.
TEST(Plan, IsNoWorseThanAnyUniformDtypeOfItsSizeOnMnistAndMostlyBetter) {
  LOOM_TEST_FILE(file, "mnist/t10k-images-idx3-ubyte.gz");
  const std::string mnist = file.substr(0, file.rfind('/'));
  const Folder folder;
  const std::string net = folder / "digits.entity";
  Outcome o =
      loom({"train", "--data", mnist, "--network", "dense", "--steps", "300", "--out", net});
  ASSERT_EQ(o.code, 0) << o.err;
  const Outcome first =
      loom({"plan", net, "--data", mnist, "--rows", "300", "--seed", "3", "--json", "--formats",
            "f32,bf16,i8,i4:block16,i4,i4:s4,fp4,i2:block32,i2,ternary,binary"});
  ASSERT_EQ(first.code, 0) << first.err;
  const auto report = Json::parse(first.out);
  ASSERT_TRUE(report.ok()) << first.out;
  int better = 0, rows = 0;
  for (const Json& row : report->find("table")->as_array()) {
    const Json &uniform = *row.find("uniform"), &planned = *row.find("plan");
    EXPECT_LE(number(planned, "bytes"), number(uniform, "bytes")) << row.dump();
    EXPECT_LE(number(planned, "loss"), number(uniform, "loss")) << row.dump();
    ++rows;
    better += number(planned, "loss") < number(uniform, "loss");
  }
  EXPECT_EQ(rows, 11);
  EXPECT_GE(
      better,
      rows - 2);  // nothing but itself is as small as the smallest, and fp4 leaves no room to mix
}

TEST(Plan, KeepsItsBudgetAndWritesWhatItChose) {
  const Folder folder;
  std::string csv = "a,b,c\n";
  for (int i = 0; i < 120; ++i)
    csv += std::to_string(i % 7) + "," + std::to_string(i % 5) + "," +
           (i % 7 > i % 5 ? "more\n" : "less\n");
  const std::string data = folder.write("t.csv", csv), net = folder / "t.entity",
                    small = folder / "small.entity";
  ASSERT_EQ(loom({"train", "--data", data, "--out", net}).code, 0);
  const auto run = [&](std::vector<std::string> more) {
    std::vector<std::string> args = {
        "plan", net, "--data", data, "--json", "--formats", "f32,bf16,i8,i4,ternary"};
    args.insert(args.end(), more.begin(), more.end());
    return loom(args);
  };
  const std::string first = run({}).out;
  EXPECT_EQ(run({}).out, first);  // the seed is all there is
  EXPECT_EQ(run({"--threads", "3", "--isa", "generic"}).out, first);
  EXPECT_NE(run({"--seed", "1", "--rows", "60"}).out, run({"--rows", "60"}).out);
  const auto table = Json::parse(first);
  ASSERT_TRUE(table.ok());
  const Json &top = table->find("table")->as_array().front(),
             &min = table->find("table")->as_array().back();
  const auto budget = static_cast<std::int64_t>(
      (number(*top.find("uniform"), "bytes") + number(*min.find("uniform"), "bytes")) / 2);
  Outcome o = run({"--bytes", std::to_string(budget), "--out", small});
  ASSERT_EQ(o.code, 0) << o.err;
  const auto plan = Json::parse(o.out);
  EXPECT_LE(number(*plan->find("plan"), "bytes"), static_cast<double>(budget));
  // The file holds these formats, and answers.
  const Outcome result = loom({"predict", small, "--data", data});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_NE(result.err.find("accuracy"), std::string::npos) << result.err;
  EXPECT_LT(file_bytes(small).size(), file_bytes(net).size());
  // By loss: no more bytes than f32, and the loss is kept.
  const double loss = 1.5 * number(*top.find("uniform"), "loss");
  o = run({"--loss", std::to_string(loss)});
  ASSERT_EQ(o.code, 0) << o.err;
  const auto by_loss = Json::parse(o.out);
  EXPECT_LE(number(*by_loss->find("plan"), "loss"), loss);
  EXPECT_LT(number(*by_loss->find("plan"), "bytes"), number(*top.find("uniform"), "bytes"));
  // By time there is an answer within a minute, and no promise of the same one twice.
  o = run({"--ms", "60000"});
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_LE(number(*Json::parse(o.out)->find("plan"), "ms"), 60000);
  LOOM_EXPECT_REFUSED(run({"--bytes", "10"}), 1, "nothing is within 10 bytes, the least is ");
  LOOM_EXPECT_REFUSED(run({"--bytes", "10", "--loss", "1"}), 2, "--bytes excludes --loss");
  LOOM_EXPECT_REFUSED(loom({"plan", net, "--data", data, "--formats", "f64"}), 2,
                      "computes in f64");
}

}  // namespace
}  // namespace loom::test
