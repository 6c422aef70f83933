#include "findings/child.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>

namespace loom::test {
namespace {

// Field `n` of /proc/self/statm: pages of address space (0) or in memory (1).
std::uint64_t pages(int n) {
  std::ifstream file("/proc/self/statm");
  std::uint64_t value = 0;
  for (int i = 0; i <= n; ++i) file >> value;
  return value * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

double seconds_of(const timeval& t) {
  return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
}

}  // namespace

ChildEnd in_child(const std::function<bool(std::string&)>& body, const ChildLimits& limits) {
  ChildEnd end;
  int ends[2];
  if (pipe(ends) != 0) {
    ADD_FAILURE() << "pipe";
    return end;
  }
  const double before = static_cast<double>(pages(1));
  const auto start = std::chrono::steady_clock::now();
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    alarm(static_cast<unsigned>(limits.seconds));
    if (limits.more_bytes > 0 && kMeasured) {
      const rlimit limit{pages(0) + limits.more_bytes, RLIM_INFINITY};
      setrlimit(RLIMIT_AS, &limit);
    }
    std::string text;
    const bool good = body(text);
    text.resize(std::min<std::size_t>(text.size(), 4096));
    const ssize_t written = write(ends[1], text.data(), text.size());
    _exit(good && written >= 0 ? 0 : 1);
  }
  close(ends[1]);
  char buffer[4096];
  for (ssize_t n; (n = read(ends[0], buffer, sizeof buffer)) > 0;)
    end.text.append(buffer, static_cast<std::size_t>(n));
  close(ends[0]);
  int status = 0;
  rusage used{};
  wait4(child, &status, 0, &used);
  end.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  end.cpu_seconds = seconds_of(used.ru_utime) + seconds_of(used.ru_stime);
  end.peak_mib = (static_cast<double>(used.ru_maxrss) * 1024 - before) / 1048576;
  end.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return end;
}

}  // namespace loom::test
