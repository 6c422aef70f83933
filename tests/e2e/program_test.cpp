// loom program: what a network runs, saved, run from the file, and refused where it does not fit.
#include <cstring>

#include "base/json/json.h"
#include "e2e/process.h"

namespace loom::test {
namespace {

const char* const kNet = R"({"format":"loom-topology","version":3,"layers_per_cell":2,
  "input":{"width":3},"cells":[{"at":[0,0,0,0],"type":"dense","out":4,"activation":"tanh"},
  {"at":[0,0,0,1],"type":"dense","out":2}]})";
const char* const kRing = R"({"format":"loom-topology","version":3,"depth":2,"step_mesh":true,
  "input":{"width":2},"cells":[
  {"at":[0,0,0,0],"type":"dense","out":3,"activation":"tanh","keep_previous":true,
   "links":[{"read":[1,0,0,0]}]},
  {"at":[1,0,0,0],"type":"dense","out":2,"activation":"tanh"}]})";

std::string csv(int first, int last, int width) {
  std::string text;
  for (int i = first; i < last; ++i)
    for (int k = 0; k < width; ++k)
      text += std::to_string((i * 7 + k * 3) % 11 - 5) + (k + 1 < width ? "," : "\n");
  return text;
}

std::string values(const std::string& path) {
  const std::string file = file_bytes(path);
  return file.substr(file.find('\n') + 1);
}

TEST(ProgramCommand, RunsWhatItSaved) {
  const Folder folder;
  const std::string net = folder.write("net.json", kNet), x = folder.write("x.csv", csv(0, 21, 3)),
                    saved = folder / "net.program", y = folder / "y.npy", again = folder / "z.npy";
  Outcome o = loom({"program", net, "--rows", "8", "--save", saved, "--input", x, "--output", y});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_NE(o.out.find("register      R u32, at most 8"), std::string::npos) << o.out;
  EXPECT_NE(o.err.find("21 rows ran"), std::string::npos) << o.err;
  o = loom({"program", net, "--load", saved, "--input", x, "--output", again, "--json"});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(values(again), values(y));
  EXPECT_EQ(values(y).size(), 21 * 2 * sizeof(float));
  const auto json = Json::parse(o.out);
  ASSERT_TRUE(json.ok());
  EXPECT_EQ(json->find("rows")->as_integer(), 21);
  o = loom({"program", net, "--load", saved, "--text"});
  EXPECT_NE(o.out.find("matmul"), std::string::npos) << o.out;
}

TEST(ProgramCommand, HasTheTicksOfAMesh) {
  const Folder folder;
  const std::string ring = folder.write("ring.json", kRing),
                    x = folder.write("x.csv", csv(0, 24, 2)), saved = folder / "ring.program",
                    y = folder / "y.npy", mesh = folder / "m.npy";
  EXPECT_EQ(loom({"mesh", ring, "--input", x, "--output", mesh}).code, 0);
  EXPECT_EQ(loom({"program", ring, "--ticks", "4", "--save", saved}).code, 0);
  const Outcome o = loom({"program", ring, "--load", saved, "--input", x, "--output", y});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(values(y), values(mesh));
}

TEST(ProgramCommand, RefusesWhatDoesNotFit) {
  const Folder folder;
  const std::string net = folder.write("net.json", kNet), ring = folder.write("ring.json", kRing),
                    saved = folder / "net.program", y = folder / "y.npy",
                    x = folder.write("x.csv", "1,2\n");
  ASSERT_EQ(loom({"program", net, "--save", saved}).code, 0);
  const auto refused = [&](const std::vector<std::string>& args, int code,
                           const std::string& message) {
    const Outcome o = loom(args);
    EXPECT_EQ(o.code, code) << o.err;
    EXPECT_NE(o.err.find(message), std::string::npos) << o.err;
  };
  refused({"program", ring, "--load", saved}, 3, "0.0.0.0");
  refused({"program", net, "--load", net}, 3, "program");
  refused({"program", net, "--load", folder / "none"}, 3, "none");
  refused({"program", net, "--input", x}, 2, "--output");
  refused({"program", net, "--input", x, "--output", y}, 3, "a multiple of 3 values");
  refused({"program", net, "--load", saved, "--rows", "3"}, 2, "--rows");
  refused({"program", net, "--save", net}, 2, "--save");
}

}  // namespace
}  // namespace loom::test
