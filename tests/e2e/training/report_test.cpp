// What loom train tells of a table at its end, and --report.
#include <algorithm>

#include "e2e/process.h"
#include "e2e/report.h"

namespace loom::test {
namespace {

// y follows a alone, but for one row.
std::string lines(int outlier) {
  std::string csv = "a,b,\"<i> & \"\"x\"\"\",y\n";
  for (int i = 0; i < 300; ++i) {
    const int y = 10 * (i * 7 % 50) + (i == outlier ? 2000 : 0);
    csv += std::to_string(i * 7 % 50) + ".5," + std::to_string(i * 13 % 31) + ".5," +
           std::to_string(i % 2) + "," + std::to_string(y) + ".5\n";
  }
  return csv;
}

TEST(Report, NamesWhatTheAnswersRestOnAndTheWorstRows) {
  const Folder folder;
  // Whichever is held back: train judges by the whole table.
  const std::string data = folder.write("t.csv", lines(-1)),
                    test = folder.write("test.csv", lines(40));
  Outcome o = loom({"train", "--data", data, "--test", test, "--out", folder / "x.entity",
                    "--report", folder / "r.txt"});
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_NE(o.out.find("errors: half of them up to "), std::string::npos) << o.out;
  const std::size_t columns = o.out.find("columns, and by how much the mean absolute error grows");
  ASSERT_NE(columns, std::string::npos) << o.out;
  const std::string after = o.out.substr(o.out.find('\n', columns));
  EXPECT_LT(after.find("  a\n"), after.find("  b\n")) << after;
  EXPECT_NE(after.find("worst:\n  row 41: answered "), std::string::npos) << after;
  const std::string text = file_bytes(folder / "r.txt");
  EXPECT_EQ(text.rfind("answers for 'y'\n300 rows that were not learned, mean absolute error ", 0),
            0u)
      << text;
  EXPECT_NE(text.find(", truth 2300.5\n"), std::string::npos) << text;
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 4 + 1 + 4 + 1 + 21) << text;

  o = loom({"train", "--data", data, "--test", test, "--out", folder / "x.entity", "--json"});
  ASSERT_EQ(o.code, 0) << o.err;
  const Json report = last_line(o.out), *part = report.find("report");
  ASSERT_TRUE(part);
  const auto& list = part->find("columns")->as_array();
  ASSERT_EQ(list.size(), 3u);
  EXPECT_EQ(list[0].find("name")->as_string(), "a");
  // Shuffled, a is off by a third of its span, 490, and the others are nothing to the answer.
  EXPECT_NEAR(list[0].find("harm")->as_number(), 490 / 3.0, 30);
  EXPECT_LT(list[1].find("harm")->as_number(), 15);
  EXPECT_EQ(part->find("worst")->as_array()[0].find("name")->as_string(), "row 41");
}

TEST(Report, TheImageIsEscapedAndTheSameForEveryThreadCount) {
  const Folder folder;
  std::string csv = "size,kind\n";
  for (int i = 0; i < 90; ++i)
    csv += std::to_string(i % 3 * 10 + i % 4) + (i % 3 == 0   ? ",<script>alert(1)</script>\n"
                                                 : i % 3 == 1 ? ",\"a \"\"&\"\" b\"\n"
                                                              : ",\x1B[31mred\n");
  const std::string data = folder.write("t.csv", csv);
  std::string want;
  for (const char* threads : {"1", "3"}) {
    const Outcome o = loom({"train", "--data", data, "--out", folder / "x.entity", "--steps", "200",
                            "--report", folder / "r.svg", "--threads", threads});
    ASSERT_EQ(o.code, 0) << o.err;
    const std::string svg = file_bytes(folder / "r.svg");
    EXPECT_TRUE(want.empty() || svg == want) << threads;
    want = svg;
  }
  EXPECT_EQ(want.rfind("<svg xmlns=\"http://www.w3.org/2000/svg\"", 0), 0u);
  EXPECT_EQ(want.substr(want.size() - 7), "</svg>\n");
  EXPECT_EQ(want.find("<script"), std::string::npos);
  EXPECT_EQ(want.find('\x1B'), std::string::npos);
  EXPECT_NE(want.find(">&lt;script&gt;alert(1)&lt;/script&gt;<"), std::string::npos) << want;
  EXPECT_NE(want.find(">a &quot;&amp;&quot; b<"), std::string::npos) << want;
  EXPECT_NE(want.find(">\\x1b[31mred<"), std::string::npos) << want;
  EXPECT_EQ(std::count(want.begin(), want.end(), '<'), std::count(want.begin(), want.end(), '>'));
}

TEST(Report, WrongFilesAreRefusedBeforeTheTraining) {
  const Folder folder;
  const std::string data = folder.write("t.csv", lines(-1)), out = folder / "x.entity";
  const auto refused = [&](const std::string& report) {
    return loom({"train", "--data", data, "--out", out, "--report", report});
  };
  LOOM_EXPECT_REFUSED(refused(folder / "r.png"), 2, "a report is a .svg or a .txt file");
  LOOM_EXPECT_REFUSED(refused(folder / "none/r.svg"), 2, "--report");
  const std::string table = folder.write("u.txt", lines(-1));
  LOOM_EXPECT_REFUSED(loom({"train", "--data", table, "--out", out, "--report", table}), 2,
                      "which this command reads");
  LOOM_EXPECT_REFUSED(
      loom({"train", "--data", data, "--out", folder / "r.svg", "--report", folder / "r.svg"}), 2,
      "is the file of --out, too");
  LOOM_EXPECT_REFUSED(loom({"train", "spec.json", "--out", out, "--report", folder / "r.svg"}), 2,
                      "without a SPEC");
  LOOM_EXPECT_REFUSED(loom({"train", "--data", folder.write("story.txt", "Once upon a time."),
                            "--out", folder / "a", "--report", folder / "r.svg"}),
                      3, "for other data");
  EXPECT_EQ(file_bytes(data), lines(-1));
  EXPECT_EQ(file_bytes(out), "");
}

}  // namespace
}  // namespace loom::test
