// loom dna: the layers of a network, two networks side by side, and checkpoints in a row.
#include <algorithm>

#include "base/json/json.h"
#include "checkpoint/entity.h"
#include "e2e/process.h"

namespace loom::test {
namespace {

Network network(std::uint64_t seed) {
  auto made = Network::from_json(std::string_view(
      R"({"format":"loom-topology","version":3,"layers_per_cell":3,"input":{"width":14},"cells":[
          {"at":[0,0,0,0],"type":"dense","out":14},{"at":[0,0,0,1],"type":"dense","out":14},
          {"at":[0,0,0,2],"type":"dense","out":14}]})"));
  EXPECT_TRUE(made.ok() && made->initialize(seed).ok());
  return std::move(*made);
}

std::string saved(const Folder& folder, const std::string& name, Network& net) {
  const std::string path = folder / name;
  const Status status = save_network(path, net, {});
  EXPECT_TRUE(status.ok()) << status.to_string();
  return path;
}

void swap_layers(Network& net, const std::string& a, const std::string& b) {
  for (const char* role : {"weight", "bias"}) {
    const auto x = net.find(a, role)->mutable_master(), y = net.find(b, role)->mutable_master();
    std::swap_ranges(x.begin(), x.end(), y.begin());
    net.find(a, role)->touch();
    net.find(b, role)->touch();
  }
}

TEST(DnaCommand, PrintsComparesAndDraws) {
  const Folder folder;
  Network net = network(1);
  const std::string a = saved(folder, "a.entity", net);
  swap_layers(net, "0.0.0.0", "0.0.0.2");
  const std::string b = saved(folder, "b.entity", net), svg = folder / "grid.svg";

  const Outcome one = loom({"dna", a});
  EXPECT_EQ(one.code, 0) << one.err;
  EXPECT_NE(one.out.find("0.0.0.2 dense f32 14 14 210 "), std::string::npos) << one.out;

  const Outcome two = loom({"dna", a, b, "--svg", svg});
  EXPECT_EQ(two.code, 0) << two.err;
  EXPECT_NE(two.out.find("shift 0.0.0.0 0.0.0.2 "), std::string::npos) << two.out;
  EXPECT_NE(two.out.find("shift 0.0.0.2 0.0.0.0 "), std::string::npos) << two.out;
  const std::string drawing = file_bytes(svg);
  EXPECT_EQ(drawing.find("<svg "), 0u);
  std::size_t arrows = 0, cells = 0;
  for (std::size_t at = 0; (at = drawing.find("class=\"shift\"", at)) != std::string::npos; ++at)
    ++arrows;
  for (std::size_t at = 0; (at = drawing.find("rx=\"4\"", at)) != std::string::npos; ++at) ++cells;
  EXPECT_EQ(arrows, 2u);
  EXPECT_EQ(cells, 6u);

  const Outcome json = loom({"dna", a, b, "--json"});
  const auto report = Json::parse(json.out);
  ASSERT_TRUE(report.ok()) << json.out;
  EXPECT_EQ(report->find("shifts")->as_array().size(), 2u);
  LOOM_EXPECT_REFUSED(loom({"dna", a, b, "--svg", b}), 2, "this command reads");
}

TEST(DnaCommand, NamesTheCheckpointWhereSomethingMoved) {
  const Folder folder;
  Network net = network(2);
  std::vector<std::string> args = {"dna", "--history"};
  for (int epoch = 0; epoch < 5; ++epoch) {
    if (epoch == 3) swap_layers(net, "0.0.0.1", "0.0.0.2");
    args.push_back(saved(folder, std::to_string(epoch) + ".entity", net));
  }
  const Outcome o = loom(args);
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_NE(o.out.find("3.entity"), std::string::npos);
  std::size_t lines = 0, none = 0;
  for (std::size_t at = 0; at < o.out.size();) {
    const std::size_t end = o.out.find('\n', at);
    const std::string line = o.out.substr(at, end - at);
    at = end + 1;
    ++lines;
    none += line.ends_with(" none");
    EXPECT_EQ(line.find("0.0.0.1->0.0.0.2 0.0.0.2->0.0.0.1") != std::string::npos,
              line.starts_with("3 "))
        << line;
  }
  EXPECT_EQ(lines, 5u);  // a head, and four comparisons
  EXPECT_EQ(none, 3u);
}

TEST(DnaCommand, RefusesWrongArguments) {
  LOOM_EXPECT_REFUSED(loom({"dna"}), 2, "NETWORKS");
  LOOM_EXPECT_REFUSED(loom({"dna", "a", "b", "c"}), 2, "--history");
  LOOM_EXPECT_REFUSED(loom({"dna", "--history", "a"}), 2, "at least two");
  LOOM_EXPECT_REFUSED(loom({"dna", "a", "--svg", "x.svg"}), 2, "two networks");
  LOOM_EXPECT_REFUSED(loom({"dna", "nothing.entity"}), 3, "not found");
}

}  // namespace
}  // namespace loom::test
