// loom audit, and that neither it nor learning nor predicting opens a socket: the kernel ends the
// program that tries.
#include "base/json/json.h"
#include "e2e/process.h"
#include "e2e/sockets.h"

namespace loom::test {
namespace {

TEST(AuditCommand, PrintsWhatItKnowsAndWhyNot) {
  const Outcome table = loom({"audit", "--device", "cpu"});
  EXPECT_EQ(table.code, 0) << table.err;
  for (const char* part : {"system ", "processor ", "kernels ", "memory ", "not looked for"})
    EXPECT_NE(table.out.find(part), std::string::npos) << part << table.out;

  const Outcome text = loom({"audit", "--json", "--measure", "--device", "cpu"});
  EXPECT_EQ(text.code, 0) << text.err;
  const auto report = Json::parse(text.out);
  ASSERT_TRUE(report.ok()) << text.out;
  for (const char* key : {"os", "cpu", "caches", "memory", "gpus", "measured", "loom", "unknown"})
    EXPECT_TRUE(report->find(key)) << key;
  EXPECT_GT(report->find("measured")->find("f32_flops")->as_number(), 1e6);
  EXPECT_TRUE(report->find("gpus")->is_null());
  // Every null has its reason, and every reason its null.
  std::size_t nulls = 0;
  for (const auto& [key, value] : report->as_object()) {
    nulls += value.is_null();
    if (value.is_object() && key != "unknown")
      for (const auto& [inner, fact] : value.as_object())
        if (fact.is_null()) {
          ++nulls;
          EXPECT_TRUE(report->find("unknown")->find(key + "." + inner)) << key << inner;
        }
  }
  EXPECT_EQ(report->find("unknown")->as_object().size(), nulls);
}

TEST(AuditCommand, RefusesAGpuThatIsNotThere) {
  const Outcome o = loom(Call{.args = {"audit", "--device", "gpu"},
                              .in = "",
                              .env = {{"LOOM_WEBGPU_LIBRARY", "/nowhere/libwebgpu.so"}}});
  LOOM_EXPECT_REFUSED(o, 3, "/nowhere/libwebgpu.so");
  const Outcome known = loom(
      Call{.args = {"audit"}, .in = "", .env = {{"LOOM_WEBGPU_LIBRARY", "/nowhere/libwebgpu.so"}}});
  EXPECT_EQ(known.code, 0);
  EXPECT_NE(known.out.find("/nowhere/libwebgpu.so"), std::string::npos) << known.out;
  LOOM_EXPECT_REFUSED(loom({"audit", "--device", "abacus"}), 2, "abacus");
}

#if defined(LOOM_TEST_DENIES_SOCKETS)
TEST(AuditCommand, OpensNoSocketAndNeitherDoLearningAndPredicting) {
  if (!sockets_can_be_denied()) GTEST_SKIP() << "this kernel takes no seccomp filter";
  EXPECT_EQ(ends_without_sockets({"audit", "--measure"}), 0);
  const Folder folder;
  std::string table = "a,b,y\n";
  for (int i = 0; i < 60; ++i)
    table += std::to_string(i % 7) + "," + std::to_string(i % 5) + "," + (i % 2 ? "x" : "z") + "\n";
  const std::string data = folder.write("table.csv", table), net = folder / "net.entity";
  EXPECT_EQ(ends_without_sockets({"train", "--data", data, "--out", net, "--steps", "20"}), 0);
  EXPECT_EQ(ends_without_sockets({"predict", net, "--data", data}), 0);
}
#endif

}  // namespace
}  // namespace loom::test
