// loom audit, and that neither it nor learning nor predicting opens a socket: the kernel ends the
// program that tries.
#include <fcntl.h>
#include <stddef.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__linux__)
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#endif

#include "base/json/json.h"
#include "e2e/process.h"

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

#if defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__))

// From here on a socket of this process or its children ends it with SIGSYS.
bool deny_sockets() {
  sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 2, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socketpair, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
  };
  const sock_fprog filter{static_cast<unsigned short>(std::size(code)), code};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

constexpr int kNoFilter = 77;

// What the program ends with where sockets are denied; without arguments a call of socket() itself.
int ends_with(std::vector<std::string> args) {
  const std::string path = program();
  std::vector<char*> argv{const_cast<char*>(path.c_str())};
  for (std::string& a : args) argv.push_back(a.data());
  argv.push_back(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    const int nothing = open("/dev/null", O_RDWR);
    for (int stream = 0; stream < 3; ++stream) dup2(nothing, stream);
    if (!deny_sockets()) _exit(kNoFilter);
    if (args.empty()) _exit(socket(AF_UNIX, SOCK_STREAM, 0) >= 0 ? 1 : 2);
    execv(path.c_str(), argv.data());
    _exit(126);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

TEST(AuditCommand, OpensNoSocketAndNeitherDoLearningAndPredicting) {
  const int denied = ends_with({});
  if (denied == kNoFilter) GTEST_SKIP() << "this kernel takes no seccomp filter";
  ASSERT_EQ(denied, 128 + SIGSYS);  // a socket would be seen

  EXPECT_EQ(ends_with({"audit", "--measure"}), 0);
  const Folder folder;
  std::string table = "a,b,y\n";
  for (int i = 0; i < 60; ++i)
    table += std::to_string(i % 7) + "," + std::to_string(i % 5) + "," + (i % 2 ? "x" : "z") + "\n";
  const std::string data = folder.write("table.csv", table), net = folder / "net.entity";
  EXPECT_EQ(ends_with({"train", "--data", data, "--out", net, "--steps", "20"}), 0);
  EXPECT_EQ(ends_with({"predict", net, "--data", data}), 0);
}

#endif

}  // namespace
}  // namespace loom::test
