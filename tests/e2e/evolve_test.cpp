// loom evolve: built-in tasks, tables, specs, saved populations, and what is refused.
#include "base/json/json.h"
#include "e2e/process.h"

namespace loom::test {
namespace {

Json json_of(const Outcome& o) {
  auto json = Json::parse(o.out);
  EXPECT_TRUE(json.ok()) << o.out << o.err;
  return json.ok() ? std::move(*json) : Json::object();
}
std::string champion_of(const Json& json) {
  return json.find("champion")->find("sha256")->as_string();
}

TEST(EvolveCommand, SolvesXorWithTheSameChampionOnAnyThreads) {
  const Folder folder;
  const std::string svg = folder / "xor.svg", champion = folder / "xor.json";
  const Json one = json_of(
      loom({"evolve", "xor", "--json", "--threads", "1", "--svg", svg, "--champion", champion}));
  const Json two = json_of(loom({"evolve", "xor", "--json", "--threads", "2"}));
  EXPECT_TRUE(one.find("reached")->as_bool());
  EXPECT_EQ(champion_of(one), champion_of(two));
  EXPECT_EQ(one.find("history")->dump(), two.find("history")->dump());
  const auto genome = Json::parse(file_bytes(champion));
  ASSERT_TRUE(genome.ok());
  EXPECT_EQ(genome->find("sha256")->as_string(), champion_of(one));
  EXPECT_NE(file_bytes(svg).find("<polyline class=\"best\""), std::string::npos);
  // As a network, which learns on.
  const std::string entity = folder / "xor.entity", better = folder / "better.entity";
  const std::string csv = folder.write("xor.csv", "0,0,0\n0,1,1\n1,0,1\n1,1,0\n");
  const std::string spec = folder.write(
      "train.json", R"({"format": "loom-training", "version": 2, "base": ")" + entity + R"(",
        "data": {"type": "table", "header": false, "targets": ["2"]},
        "steps": 50, "batch": 4, "schedule": {"lr": 0.02}})");
  EXPECT_EQ(loom({"evolve", "xor", "--champion", entity}).code, 0);
  const Outcome listed = loom({"show", entity});
  EXPECT_NE(listed.out.find("genome"), std::string::npos) << listed.out << listed.err;
  const Outcome trained = loom({"train", spec, "--data", csv, "--out", better});
  EXPECT_EQ(trained.code, 0) << trained.err;
  const Outcome held = loom({"evolve", "double_pole", "--generations", "1", "--champion", entity});
  EXPECT_EQ(held.code, 0) << held.err;
  const Outcome text = loom({"evolve", "xor"});
  EXPECT_EQ(text.code, 0);
  EXPECT_NE(text.out.find("goal        reached"), std::string::npos) << text.out;
}

TEST(EvolveCommand, ContinuesAndReadsTablesAndSpecs) {
  const Folder folder;
  const std::string csv = folder.write("and.csv", "0,0,0\n0,1,0\n1,0,0\n1,1,1\n");
  const std::string saved = folder / "saved.json";
  const Json whole = json_of(loom({"evolve", csv, "--generations", "9", "--json"}));
  EXPECT_EQ(loom({"evolve", csv, "--generations", "4", "--out", saved}).code, 0);
  const Json rest =
      json_of(loom({"evolve", saved, "--generations", "5", "--json", "--out", saved}));
  EXPECT_EQ(champion_of(whole), champion_of(rest));
  EXPECT_EQ(rest.find("generation")->as_integer(), 8);
  EXPECT_EQ(loom({"evolve", saved, "--seed", "3"}).code, 2);
  const std::string spec = folder.write("spec.json", R"({"task": "cart_pole", "population": 20})");
  EXPECT_EQ(json_of(loom({"evolve", spec, "--generations", "1", "--json"}))
                .find("evaluations")
                ->as_integer(),
            20);
  const Json accuracy =
      json_of(loom({"evolve", csv, "--score", "accuracy", "--goal", "1", "--seed", "2", "--json"}));
  EXPECT_TRUE(accuracy.find("reached")->as_bool());
}

constexpr char kStart[] =
    R"({"format":"loom-topology","version":3,"layers_per_cell":2,"input":{"width":2},"cells":[
      {"at":[0,0,0,0],"type":"dense","out":4,"activation":"tanh"},
      {"at":[0,0,0,1],"type":"dense","out":2}]})";
constexpr char kNetworks[] =
    R"({"level":"networks","score":"accuracy","population":6,"costs":"reference","holdout":0.5,
      "rates":{"insert":0.3,"max_width":16},"limits":{"bytes":65536,"milliseconds":1},
      "train":{"steps":10,"loss":"cross_entropy","lr":0.02,"lamarckian":true}})";

TEST(EvolveCommand, EvolvesWholeNetworks) {
  const Folder folder;
  const std::string spec = folder.write("spec.json", kNetworks),
                    start = folder.write("start.json", kStart),
                    data = folder.write("xor.csv", "0,0,0\n0,1,1\n1,0,1\n1,1,0\n");
  const std::string champion = folder / "best.entity", saved = folder / "saved.json";
  const Json whole = json_of(loom({"evolve", spec, "--data", data, "--network", start,
                                   "--generations", "4", "--json", "--champion", champion}));
  EXPECT_EQ(whole.find("generation")->as_integer(), 3);
  EXPECT_TRUE(whole.find("champion")->find("feasible")->as_bool());
  EXPECT_EQ(loom({"evolve", spec, "--data", data, "--network", start, "--generations", "2", "--out",
                  saved, "--threads", "1"})
                .code,
            0);
  EXPECT_EQ(champion_of(json_of(loom({"evolve", saved, "--generations", "2", "--json"}))),
            champion_of(whole));
  // The champion is a network like any other, of which others come.
  const std::string mutant = folder / "mutant.entity", child = folder / "child.entity";
  const Json done = json_of(loom({"breed", "mutate", champion, "--out", mutant, "--options",
                                  R"({"activation":1})", "--json"}));
  EXPECT_FALSE(done.find("done")->as_array().empty());
  const Json crossed =
      json_of(loom({"breed", "splice", champion, mutant, "--out", child, "--json"}));
  EXPECT_GE(crossed.find("crossed")->as_integer(), 1);
  EXPECT_EQ(loom({"breed", "graft", champion, mutant, "--out", child}).code, 0);
  EXPECT_EQ(loom({"dna", child}).code, 0);
  EXPECT_EQ(loom({"breed", "splice", champion, "--out", child}).code, 2);
  EXPECT_EQ(loom({"breed", "cross", champion, "--out", child}).code, 2);
  EXPECT_EQ(loom({"breed", "mutate", champion, "--out", child, "--options", "3"}).code, 2);
  EXPECT_EQ(loom({"breed", "mutate", champion, "--out", child, "--options", R"({"w":1})"}).code, 3);
  EXPECT_EQ(loom({"evolve", spec}).code, 3);
  EXPECT_EQ(loom({"evolve", "xor", "--data", data}).code, 2);
}

TEST(EvolveCommand, ReadsTablesWithNames) {
  const Folder folder;
  const std::string rows = "0,0,0\n0,1,0\n1,0,0\n1,1,1\n";
  const auto champion = [&](const std::string& name, const std::string& text) {
    return champion_of(
        json_of(loom({"evolve", folder.write(name, text), "--generations", "3", "--json"})));
  };
  const std::string want = champion("plain.csv", rows);
  EXPECT_EQ(champion("names.csv", "a,b,\"both, really\"\n" + rows), want);
  EXPECT_EQ(champion("windows.csv", "a;b;c\r\n0;0;0\r\n0;1;0\r\n1;0;0\r\n1;1;1\r\n"), want);
  // A line of names and numbers is no header.
  const Outcome mixed = loom({"evolve", folder.write("mixed.csv", "a,1,c\n" + rows)});
  EXPECT_EQ(mixed.code, 3);
  EXPECT_NE(mixed.err.find("line 1, column 1"), std::string::npos) << mixed.err;
  EXPECT_EQ(loom({"evolve", folder.write("none.csv", "a,b,c\n")}).code, 3);
}

TEST(EvolveCommand, SearchesByATableOfCostsThatWasMeasured) {
  const Folder folder;
  Json spec = *Json::parse(kNetworks);
  spec.set("network", *Json::parse(kStart));
  const std::string search = folder.write("spec.json", spec.dump()), costs = folder / "costs.json",
                    data = folder.write("xor.csv", "0,0,0\n0,1,1\n1,0,1\n1,1,0\n");
  const Outcome measured = loom({"bench", "costs", "--spec", search, "--out", costs});
  ASSERT_EQ(measured.code, 0) << measured.err;
  const auto table = Json::parse(file_bytes(costs));
  ASSERT_TRUE(table.ok());
  for (const char* key : {"ns", "ns_per_value", "ns_per_product"})
    EXPECT_GT(table->find(key)->as_number(), 0) << key;
  const auto& ops = table->find("ops")->as_object();
  EXPECT_GE(ops.size(), 5u);
  for (const auto& [op, cost] : ops) EXPECT_GT(cost.find("ns")->as_number(), 0) << op;
  const auto run = [&](const char* threads) {
    return json_of(loom({"evolve", search, "--data", data, "--costs", costs, "--generations", "3",
                         "--threads", threads, "--json"}));
  };
  const Json one = run("1"), two = run("2");
  EXPECT_EQ(champion_of(one), champion_of(two));
  EXPECT_GT(one.find("champion")->find("milliseconds")->as_number(), 0);
  EXPECT_EQ(one.find("champion")->find("milliseconds")->dump(),
            two.find("champion")->find("milliseconds")->dump());
  const auto refused = [&](const std::string& text, int code, const char* why) {
    const Outcome o =
        loom({"evolve", search, "--data", data, "--costs", folder.write("bad.json", text)});
    EXPECT_EQ(o.code, code) << o.err;
    EXPECT_NE(o.err.find(why), std::string::npos) << o.err;
  };
  refused(R"({"ops": {"matmul": {"ns": 1}}})", 1, "no row for the op");
  refused(R"({"ns": 1, "ops": {"matmuls": {"ns": 1}}})", 3, "matmuls");
  refused("{}", 3, "without costs");
  EXPECT_EQ(loom({"bench", "costs"}).code, 2);
  EXPECT_EQ(
      loom({"bench", "costs", "--spec", folder.write("no.json", R"({"level":"networks"})")}).code,
      3);
  EXPECT_EQ(loom({"bench", "ops", "--out", costs}).code, 2);
  EXPECT_EQ(loom({"evolve", "xor", "--costs", costs}).code, 2);
}

TEST(EvolveCommand, RefusesWhatItCannotDo) {
  const Folder folder;
  const auto refused = [](const std::vector<std::string>& arguments, int code, const char* why) {
    std::vector<std::string> all = {"evolve"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    const Outcome o = loom(all);
    EXPECT_EQ(o.code, code) << o.err;
    EXPECT_NE(o.err.find(why), std::string::npos) << o.err;
  };
  refused({folder / "none.json"}, 3, "none.json");
  refused({folder.write("a.csv", "1,2\n3\n")}, 3, "a.csv");
  refused({folder.write("b.csv", "1\n3\n")}, 3, "1 outputs");
  refused({folder.write("c.json", "[1]")}, 3, "object");
  refused({folder.write("d.json", R"({"inputs": 2, "outputs": 1})")}, 3, "host");
  refused({folder.write("e.json", R"({"task": "xor", "tusk": 1})")}, 3, "tusk");
  refused({folder.write("f.json", R"({"format": "loom population", "version": 9})")}, 3,
          "version 9");
  refused({"xor", "--score", "mse"}, 2, "table");
  refused({"xor", "--population", "1"}, 3, "population");
  refused({"xor", "--generations", "0"}, 2, "--generations");
  const std::string same = folder / "same";
  refused({"xor", "--svg", same, "--champion", same}, 2, "same");
}

}  // namespace
}  // namespace loom::test
