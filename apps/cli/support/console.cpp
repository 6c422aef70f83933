#include "support/console.h"

#include <fcntl.h>
#include <loom/loom.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "base/edit_distance.h"
#include "base/escape.h"

namespace loom::cli {
namespace {

std::atomic<bool> g_pressed{false};
static_assert(std::atomic<bool>::is_always_lock_free);  // so that a signal handler may set it
std::atomic<int> g_signal{0};
static_assert(std::atomic<int>::is_always_lock_free);
constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};
struct sigaction g_before[std::size(kSignals)];
std::atomic<std::uint64_t> g_cancels{0};  // the handle that a signal cancels, 0: none
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);
int g_print_error = 0;  // errno of the first print() that failed

extern "C" void on_interrupt(int signal) {
  if (g_signal.exchange(signal) != 0) _exit(128 + signal);
  Interrupt::give_up();
}

}  // namespace

bool print(std::string_view text) {
  if (g_print_error != 0) return false;
  errno = 0;
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0)
    return true;
  g_print_error = errno != 0 ? errno : EIO;
  return false;
}

std::string print_problem() {
  if (g_print_error == 0) return {};
  return std::string("cannot write to standard output: ") +
         (g_print_error == EBADF ? "it is closed" : std::strerror(g_print_error));
}

void prepare_streams() {
  signal(SIGPIPE, SIG_IGN);
  // Reading from what was stdin gives its end; writing to what was stdout is an error.
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(fd, F_GETFD) < 0 && errno == EBADF &&
        open("/dev/null", fd == STDERR_FILENO ? O_WRONLY : O_RDONLY) != fd)
      _exit(1);
}

std::string escaped(std::string_view text) { return loom::escaped(text); }

std::string json_text(const std::string& text) { return is_utf8(text) ? text : escaped(text); }

void say(std::string_view line) {
  std::fprintf(stderr, "%.*s\n", static_cast<int>(line.size()), line.data());
}

std::string fixed(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

std::string significant(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

std::string bytes_text(std::uint64_t bytes) {
  static constexpr const char* kUnits[] = {"kB", "MB", "GB", "TB"};
  if (bytes < 1000) return std::to_string(bytes) + " B";
  double value = static_cast<double>(bytes) / 1000;
  std::size_t unit = 0;
  for (; value >= 999.5 && unit + 1 < std::size(kUnits); ++unit) value /= 1000;
  return fixed(value, value < 10 ? 2 : value < 100 ? 1 : 0) + " " + kUnits[unit];
}

std::string count_text(double count) {
  if (count < 1e4) return fixed(count, 0);
  const bool millions = count >= 999.5e3, billions = count >= 999.5e6;
  const double value = count / (billions ? 1e9 : millions ? 1e6 : 1e3);
  return fixed(value, value < 10 ? 2 : 1) + (billions ? " G" : millions ? " M" : " k");
}

std::string duration_text(double seconds) {
  const auto s = static_cast<long long>(seconds + 0.5);
  char text[64];
  if (s >= 3600)
    std::snprintf(text, sizeof text, "%lld:%02lld:%02lld", s / 3600, s / 60 % 60, s % 60);
  else std::snprintf(text, sizeof text, "%lld:%02lld", s / 60, s % 60);
  return text;
}

std::string ids_csv(const std::vector<std::int32_t>& ids) {
  std::string text;
  for (const std::int32_t id : ids) text += (text.empty() ? "" : ",") + std::to_string(id);
  return text;
}

std::uint64_t machine_memory() {
  const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
  return pages > 0 && size > 0
             ? static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(size)
             : 0;
}

std::uint64_t peak_memory() {
  // VmHWM is of this program alone; getrusage counts what the process was before exec.
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:")) return std::strtoull(line.c_str() + 6, nullptr, 10) * 1024;
  return 0;
}

std::vector<std::string> nearest_names(std::string_view wanted,
                                       const std::vector<std::string>& names) {
  std::vector<std::pair<std::size_t, std::string>> ranked;
  for (const std::string& name : names) {
    // A beginning counts as near however much is missing.
    const std::size_t d =
        !wanted.empty() && name.starts_with(wanted) ? 1 : edit_distance(wanted, name);
    if (d <= std::max<std::size_t>(2, wanted.size() / 2)) ranked.emplace_back(d, name);
  }
  std::sort(ranked.begin(), ranked.end());
  std::vector<std::string> best;
  for (std::size_t i = 0; i < ranked.size() && i < 3; ++i) best.push_back(ranked[i].second);
  return best;
}

Progress::Progress(std::string label, std::uint64_t total, Unit unit, std::uint64_t from)
    : label_(std::move(label)),
      total_(total),
      from_(from),
      done_(from),
      unit_(unit),
      terminal_(isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() {
  if (open_ && terminal_) std::fputc('\n', stderr);
}

std::string Progress::line(std::string_view note) const {
  const double seconds = watch_.seconds();
  const double rate = seconds > 0 ? static_cast<double>(done_ - from_) / seconds : 0;
  const double share = total_ > 0 ? static_cast<double>(done_) / static_cast<double>(total_) : 1;
  std::string text = label_ + "  ";
  if (terminal_) {
    constexpr int kWidth = 24;
    const int full = std::min(kWidth, static_cast<int>(share * kWidth));
    text += "[" + std::string(static_cast<std::size_t>(full), '#') +
            std::string(static_cast<std::size_t>(kWidth - full), '.') + "] ";
  }
  text += fixed(100 * share, 0) + " %  ";
  if (unit_ == Unit::bytes)
    text += bytes_text(done_) + " of " + bytes_text(total_) + "  " +
            bytes_text(static_cast<std::uint64_t>(rate)) + "/s";
  else
    text += std::to_string(done_) + " of " + std::to_string(total_) + "  " +
            fixed(rate, rate < 10 ? 2 : 0) + "/s";
  if (done_ < total_ && rate > 0)
    text += "  ETA " + duration_text(static_cast<double>(total_ - done_) / rate);
  if (from_ > 0)
    text += "  resumed from " + (unit_ == Unit::bytes ? bytes_text(from_) : std::to_string(from_));
  if (!note.empty()) text += "  " + std::string(note);
  return text;
}

void Progress::update(std::uint64_t done, std::string_view note) {
  done_ = std::max(done, from_);
  note_ = note;
  const double now = watch_.seconds();
  if (now - last_ < (terminal_ ? 0.1 : 1.0)) return;
  last_ = now;
  open_ = true;
  std::fprintf(stderr, terminal_ ? "\r%s\033[K" : "%s\n", line(note).c_str());
}

void Progress::finish() {
  // Work of less than a moment needs no bar.
  if (open_ || watch_.seconds() > 1)
    std::fprintf(stderr, terminal_ ? "\r%s\033[K\n" : "%s\n", line(note_).c_str());
  open_ = false;
}

Interrupt::Interrupt() {
  reset();
  struct sigaction action{};
  action.sa_handler = on_interrupt;  // without SA_RESTART: a read from the terminal ends
  for (std::size_t i = 0; i < std::size(kSignals); ++i) {
    sigaction(kSignals[i], nullptr, &g_before[i]);
    if (kSignals[i] == SIGHUP && g_before[i].sa_handler == SIG_IGN) continue;
    sigaction(kSignals[i], &action, nullptr);
  }
}
Interrupt::~Interrupt() {
  for (std::size_t i = 0; i < std::size(kSignals); ++i)
    sigaction(kSignals[i], &g_before[i], nullptr);
}
bool Interrupt::pressed() { return g_pressed; }
int Interrupt::code() { return g_signal == 0 ? 0 : 128 + g_signal; }
void Interrupt::give_up() {
  g_pressed = true;
  if (const std::uint64_t handle = g_cancels) loom_cancel(handle, nullptr);
}
Interrupt::Cancels::Cancels(std::uint64_t handle) {
  g_cancels = handle;
  if (pressed()) loom_cancel(handle, nullptr);
}
Interrupt::Cancels::~Cancels() { g_cancels = 0; }
const std::atomic<bool>* Interrupt::flag() { return &g_pressed; }
void Interrupt::reset() {
  g_pressed = false;
  g_signal = 0;
}

}  // namespace loom::cli
