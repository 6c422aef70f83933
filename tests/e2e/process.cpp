#include "e2e/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "support/places.h"

namespace loom::test {

std::string program() { return (std::filesystem::path(binary_dir()) / "loom").string(); }

namespace {

// The two ends of each pipe between the test and the program.
struct Pipes {
  int in[2], out[2], err[2];
  bool open() { return pipe(in) == 0 && pipe(out) == 0 && pipe(err) == 0; }
};

// In the child: the program in this process's place.
[[noreturn]] void exec(const Call& call, const Pipes& pipes, const char* path, char* const* argv) {
  dup2(pipes.in[0], 0);
  dup2(pipes.out[1], 1);
  dup2(pipes.err[1], 2);
  int unread[2];
  if (call.out_to == "(broken)") {
    if (pipe(unread) != 0) _exit(126);
    dup2(unread[1], 1);
    close(unread[0]);
    close(unread[1]);
  } else if (!call.out_to.empty() && call.out_to != "(closed)") {
    const int to = open(call.out_to.c_str(), O_WRONLY);
    if (to < 0) _exit(126);
    dup2(to, 1);
    close(to);
  }
  for (const int* ends : {pipes.in, pipes.out, pipes.err}) {
    close(ends[0]);
    close(ends[1]);
  }
  // Where tests run beside builds, waiting for a second thread costs more than it brings; tests
  // of threads say so.
  setenv("LOOM_THREADS", "1", 1);
  for (const auto& [name, value] : call.env) setenv(name.c_str(), value.c_str(), 1);
  // As a shell starts it, whatever runs the tests.
  for (const int s : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) signal(s, SIG_DFL);
  if (call.out_to == "(closed)") close(1);
  execv(path, argv);
  _exit(127);
}

// Appends what the pipe has, or closes it at its end.
void read_from(pollfd& from, std::string& text) {
  char buffer[65536];
  const ssize_t n = read(from.fd, buffer, sizeof buffer);
  if (n <= 0) {
    close(from.fd);
    from.fd = -1;
  } else {
    text.append(buffer, static_cast<std::size_t>(n));
  }
}

// Gives the child its input, takes what it says and sends the signals, until it closes its outputs.
void talk(const Call& call, const Pipes& pipes, pid_t child, Outcome& outcome) {
  std::size_t written = 0, seen = 0;
  int interrupts = 0;
  pollfd fds[3] = {{pipes.out[0], POLLIN, 0}, {pipes.err[0], POLLIN, 0}, {pipes.in[1], POLLOUT, 0}};
  while (fds[0].fd >= 0 || fds[1].fd >= 0) {
    if (fds[2].fd >= 0 && written == call.in.size()) {
      close(fds[2].fd);
      fds[2].fd = -1;
    }
    if (poll(fds, 3, 120'000) <= 0) {
      ADD_FAILURE() << "the program says nothing for two minutes";
      kill(child, SIGKILL);
      break;
    }
    for (int i = 0; i < 2; ++i)
      if (fds[i].fd >= 0 && fds[i].revents != 0)
        read_from(fds[i], i == 0 ? outcome.out : outcome.err);
    if (interrupts < call.interrupts && outcome.out.size() > seen) {
      seen = outcome.out.size();
      ++interrupts;
      usleep(1000 * call.after_ms);
      for (const int s : call.signals) kill(child, s);
    }
    if (fds[2].fd >= 0 && (fds[2].revents & (POLLERR | POLLHUP)) != 0) written = call.in.size();
    else if (fds[2].fd >= 0 && (fds[2].revents & POLLOUT) != 0) {
      const ssize_t n = write(fds[2].fd, call.in.data() + written, call.in.size() - written);
      if (n > 0) written += static_cast<std::size_t>(n);
    }
  }
  if (fds[2].fd >= 0) close(fds[2].fd);
}

}  // namespace

Outcome loom(const Call& call) {
  Outcome outcome;
  Pipes pipes;
  if (!pipes.open()) {
    ADD_FAILURE() << "pipe";
    return outcome;
  }
  const std::string path = program();
  std::vector<char*> argv{const_cast<char*>(path.c_str())};
  for (const std::string& a : call.args) argv.push_back(const_cast<char*>(a.c_str()));
  argv.push_back(nullptr);
  const pid_t child = fork();
  if (child == 0) exec(call, pipes, path.c_str(), argv.data());
  close(pipes.in[0]);
  close(pipes.out[1]);
  close(pipes.err[1]);
  signal(SIGPIPE, SIG_IGN);
  fcntl(pipes.in[1], F_SETFL, O_NONBLOCK);
  talk(call, pipes, child, outcome);
  int status = 0;
  rusage used{};
  wait4(child, &status, 0, &used);
  outcome.cpu_ms = 1e3 * static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                   1e-3 * static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
  outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return outcome;
}

Folder::Folder() {
  std::string name = (std::filesystem::temp_directory_path() / "loom_e2e_XXXXXX").string();
  path_ = mkdtemp(name.data()) ? name : "";
}
Folder::~Folder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}
std::string Folder::write(const std::string& name, const std::string& bytes) const {
  const std::string path = *this / name;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

std::string file_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace loom::test
