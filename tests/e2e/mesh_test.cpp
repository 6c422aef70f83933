// loom mesh: networks by ticks over files, continued, drawn, and stopped in the middle.
#include <cstring>

#include "base/json/json.h"
#include "e2e/process.h"

namespace loom::test {
namespace {

// Three empty cells: a delay of two ticks.
const char* const kLine =
    R"({"format":"loom-topology","version":3,"depth":3,"step_mesh":true,"input":{"width":2},"cells":[]})";
const char* const kRing = R"({"format":"loom-topology","version":3,"depth":2,"step_mesh":true,
  "input":{"width":2},"cells":[
  {"at":[0,0,0,0],"type":"dense","out":3,"activation":"tanh","keep_previous":true,
   "links":[{"read":[1,0,0,0]}]},
  {"at":[1,0,0,0],"type":"dense","out":2,"activation":"tanh"}]})";

std::string csv(int first, int last) {
  std::string text;
  for (int i = first; i < last; ++i) text += std::to_string(i) + "," + std::to_string(-i) + "\n";
  return text;
}

// The values of a .npy file of f32.
std::vector<float> values(const std::string& path) {
  const std::string file = file_bytes(path);
  const std::size_t begin = file.find('\n') + 1;
  std::vector<float> out((file.size() - begin) / sizeof(float));
  std::memcpy(out.data(), file.data() + begin, out.size() * sizeof(float));
  return out;
}

TEST(MeshCommand, DelaysByATickEach) {
  const Folder folder;
  const std::string line = folder.write("line.json", kLine);
  const std::string x = folder.write("x.csv", csv(1, 5));
  const Outcome o = loom({"mesh", line, "--input", x});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(o.out, "1 0 0\n2 0 0\n3 1 -1\n4 2 -2\n");
  const Outcome two = loom({"mesh", line, "--input", x, "--streams", "2"});
  EXPECT_EQ(two.out, "0 1 0 0\n1 1 0 0\n0 2 0 0\n1 2 0 0\n") << two.err;
  const Outcome held = loom(
      {"mesh", line, "--input", folder.write("one.csv", "7,-7.5\n"), "--ticks", "4", "--json"});
  const auto json = Json::parse(held.out);
  ASSERT_TRUE(json.ok()) << held.err;
  EXPECT_EQ(json->find("tick")->as_integer(), 4);
  EXPECT_EQ(json->find("output")->dump(), "[[7.0,-7.5]]");
  EXPECT_EQ(loom({"mesh", line, "--ticks", "1"}).out, "1 0 0\n");
}

// Ticks in two commands are those of one, bit for bit.
TEST(MeshCommand, ContinuesFromASnapshot) {
  const Folder folder;
  const std::string ring = folder.write("ring.json", kRing);
  const std::string whole = folder / "whole.npy", begin = folder / "begin.npy",
                    rest = folder / "rest.npy", state = folder / "state", svg = folder / "mesh.svg",
                    all = folder.write("all.csv", csv(0, 90));
  EXPECT_EQ(loom({"mesh", ring, "--input", all, "--output", whole, "--svg", svg}).code, 0);
  const std::string drawing = file_bytes(svg);
  EXPECT_EQ(drawing.find("<svg "), 0u);
  std::size_t cells = 0;
  for (std::size_t at = 0; (at = drawing.find("<title>", at)) != std::string::npos; ++at) ++cells;
  EXPECT_EQ(cells, 177u);  // but for zeros: at tick 1, whose input is 0, and cell 1 at tick 2
  EXPECT_EQ(loom({"mesh", ring, "--input", folder.write("a.csv", csv(0, 33)), "--output", begin,
                  "--snapshot", state})
                .code,
            0);
  // The snapshot may replace the one that it continues from.
  const Outcome o = loom({"mesh", ring, "--input", folder.write("b.csv", csv(33, 90)), "--output",
                          rest, "--restore", state, "--snapshot", state});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_NE(o.err.find("tick 90, 57 of 57 ticks ran"), std::string::npos) << o.err;
  std::vector<float> joined = values(begin);
  const std::vector<float> more = values(rest);
  joined.insert(joined.end(), more.begin(), more.end());
  EXPECT_EQ(joined.size(), 180u);
  EXPECT_EQ(joined, values(whole));
  // A .npy file as input: the answers as the next network's.
  EXPECT_EQ(loom({"mesh", ring, "--input", whole, "--json"}).code, 0);
}

TEST(MeshCommand, SavesWhatASignalLeaves) {
  const Folder folder;
  const std::string ring = folder.write("ring.json", kRing), state = folder / "state",
                    y = folder / "y.npy", input = folder.write("x.csv", "0.5,-0.25\n");
  const Outcome o = loom(Call{
      .args = {"mesh", ring, "--input", input, "--ticks", "1000000000000", "--snapshot", state},
      .interrupts = 1});
  EXPECT_EQ(o.code, 130) << o.err;
  EXPECT_NE(o.err.find("goes on"), std::string::npos) << o.err;
  std::int64_t lines = 0;
  for (const char c : o.out) lines += c == '\n';
  ASSERT_GT(lines, 0);
  const Outcome same = loom({"mesh", ring, "--input", input, "--ticks", std::to_string(lines),
                             "--snapshot", folder / "same"});
  EXPECT_EQ(same.out, o.out);
  EXPECT_EQ(file_bytes(folder / "same"), file_bytes(state));
}

TEST(MeshCommand, RefusesWrongArguments) {
  const Folder folder;
  const std::string line = folder.write("line.json", kLine), x = folder.write("x.csv", csv(1, 4));
  LOOM_EXPECT_REFUSED(loom({"mesh"}), 2, "NETWORK");
  LOOM_EXPECT_REFUSED(loom({"mesh", line}), 2, "--ticks N");
  LOOM_EXPECT_REFUSED(loom({"mesh", line, "--ticks", "0"}), 2, "--ticks");
  LOOM_EXPECT_REFUSED(loom({"mesh", line, "--ticks", "2", "--streams", "0"}), 2, "--streams");
  LOOM_EXPECT_REFUSED(loom({"mesh", line, "--input", x, "--ticks", "2"}), 3,
                      "has the shape (3, 2): expects (2, 2)");
  // As many numbers as ticks, in other rows.
  const std::string wide = folder.write("wide.csv", "1,2,3,4\n5,6,7,8\n");
  LOOM_EXPECT_REFUSED(loom({"mesh", line, "--input", wide}), 3,
                      "has the shape (2, 4): expects (ticks, 2)");
  LOOM_EXPECT_REFUSED(loom({"mesh", line, "--input", wide, "--streams", "2"}), 3,
                      "expects (2, ticks, 2) or (2 x ticks, 2)");
  LOOM_EXPECT_REFUSED(loom({"mesh", line, "--input", x, "--output", x}), 2, "this command reads");
  LOOM_EXPECT_REFUSED(loom({"mesh", line, "--input", x, "--svg", line}), 2, "this command reads");
  const std::string out = folder / "out";
  LOOM_EXPECT_REFUSED(loom({"mesh", line, "--input", x, "--svg", out, "--output", out}), 2, "too");
  LOOM_EXPECT_REFUSED(loom({"mesh", line, "--input", x, "--restore", x}), 3, "no snapshot");
  LOOM_EXPECT_REFUSED(loom({"mesh", "nothing.entity", "--ticks", "1"}), 3, "not found");
  LOOM_EXPECT_REFUSED(loom({"mesh", folder.write("bad.json", "{}"), "--ticks", "1"}), 3, "");
  LOOM_EXPECT_REFUSED(loom({"mesh", line, "--input", folder.write("words.csv", "1,2\n3,x\n")}), 3,
                      "line 2, column 2: expects a number, got 'x'");
  LOOM_EXPECT_REFUSED(loom({"mesh", line, "--input", folder.write("odd.csv", "1,2\n3\n")}), 3,
                      "line 2 has 1 numbers, those before 2");
  LOOM_EXPECT_REFUSED(loom({"mesh", line, "--input", folder.write("none.csv", "\n")}), 3,
                      "no numbers");
  LOOM_EXPECT_REFUSED(loom({"mesh", line, "--input", folder.write("cut.npy", "\x93NUMPY\x01")}), 3,
                      "the header ends at byte 10, the file has 7");
  LOOM_EXPECT_REFUSED(loom({"mesh", line, "--mode", "auto", "--ticks", "1"}), 3, "name the device");
}

}  // namespace
}  // namespace loom::test
