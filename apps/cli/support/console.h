// The terminal: numbers for people, a progress bar, Ctrl-C. Everything here but print() goes to
// stderr. One thread.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace loom::cli {

// Writes to stdout and flushes; false where nobody reads any more (a closed pipe, a full disk), and
// at once from then on. The program says so at its end and does not end with 0.
bool print(std::string_view text);
// Why print() failed; "" where it did not.
std::string print_problem();
// At the begin of the program. A stream that the caller closed is opened on nothing, so that no
// file takes its number and gets what is written to it; a closed pipe becomes an error of print().
void prepare_streams();
// Text from a file, made safe for a terminal: what it would obey is shown as \xNN.
std::string escaped(std::string_view text);
// Text of a file for a JSON string: as it is, escaped where it is no UTF-8.
std::string json_text(const std::string& text);
// A line on stderr.
void say(std::string_view line);

std::string bytes_text(std::uint64_t bytes);  // "1.2 MB"
std::string count_text(double count);         // "134.5 M"
std::string fixed(double value, int digits);
std::string significant(double value);                      // six digits
std::string duration_text(double seconds);                  // "1:05"
std::string ids_csv(const std::vector<std::int32_t>& ids);  // "1,403,407"

// Bytes of memory of this machine, 0 where unknown.
std::uint64_t machine_memory();
// The most memory that this process had so far, shared pages of files included; 0 where unknown.
std::uint64_t peak_memory();

// The up to three names nearest to `wanted`, best first; none where all are far off.
std::vector<std::string> nearest_names(std::string_view wanted,
                                       const std::vector<std::string>& names);

class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// A bar that knows its end: share, rate and time left. On a terminal one line that is drawn again;
// elsewhere a line a second.
class Progress {
 public:
  enum class Unit { bytes, steps };
  // `from`: what an earlier run had done.
  Progress(std::string label, std::uint64_t total, Unit unit, std::uint64_t from = 0);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  // `note` stands behind the bar, for example the loss.
  void update(std::uint64_t done, std::string_view note = {});
  // Draws the last state and ends the line.
  void finish();

 private:
  std::string line(std::string_view note) const;
  std::string label_;
  std::uint64_t total_, from_, done_;
  Unit unit_;
  bool terminal_, open_ = false;
  double last_ = 0;
  std::string note_;
  Stopwatch watch_;
};

// While one lives, the first SIGINT (Ctrl-C), SIGTERM or SIGHUP only sets pressed(); the second
// ends the program at once. Where the caller ignores SIGHUP (nohup), it stays ignored.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;
  static bool pressed();
  // 128 and the number of the signal that came first, the exit code: 130, 143 or 129; 0 without
  // one.
  static int code();
  // As if a signal had come, for work whose result nobody takes.
  static void give_up();
  // While one lives, the first signal also cancels the runs of an object (loom_cancel).
  class Cancels {
   public:
    explicit Cancels(std::uint64_t handle);
    ~Cancels();
    Cancels(const Cancels&) = delete;
    Cancels& operator=(const Cancels&) = delete;
  };
  // The same as a flag, for whoever stops at it.
  static const std::atomic<bool>* flag();
  // Forgets the first one, for the next answer.
  static void reset();
};

}  // namespace loom::cli
