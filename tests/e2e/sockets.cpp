#include "e2e/sockets.h"

#ifdef LOOM_TEST_DENIES_SOCKETS
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <iterator>

#include "e2e/process.h"

namespace loom::test {
namespace {

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

}  // namespace

bool sockets_can_be_denied() {
  const int denied = ends_with({});
  if (denied == kNoFilter) return false;
  EXPECT_EQ(denied, 128 + SIGSYS);
  return true;
}

int ends_without_sockets(std::vector<std::string> args) { return ends_with(std::move(args)); }

}  // namespace loom::test
#endif
