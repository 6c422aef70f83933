// Runs the program loom as a user would: arguments, stdin, environment in; exit code, stdout,
// stderr out.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>

#include <string>
#include <utility>
#include <vector>

namespace loom::test {

struct Outcome {
  int code = -1;  // of exit(), or 128 + the signal that ended it
  std::string out, err;
  double cpu_ms = 0;  // what it computed, all threads together
};

struct Call {
  std::vector<std::string> args;
  std::string in;
  std::vector<std::pair<std::string, std::string>> env;
  // Ctrl-C this often, each time that stdout grew.
  int interrupts = 0;
  // Which signals come in place of Ctrl-C, one right after the other.
  std::vector<int> signals = {SIGINT};
  // Where stdout goes in place of Outcome::out: a path, "(closed)": the program has none,
  // "(broken)": a pipe that nobody reads.
  std::string out_to = "";
  unsigned after_ms = 0;  // signals come this long after stdout grew
};

// The path of the program of this build.
std::string program();
Outcome loom(const Call& call);
inline Outcome loom(std::vector<std::string> args, std::string in = "") {
  return loom(Call{std::move(args), std::move(in), {}, 0});
}

// A folder of its own, removed at the end.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  // Writes a file, with the folders above it.
  std::string write(const std::string& name, const std::string& bytes) const;

 private:
  std::string path_;
};

std::string file_bytes(const std::string& path);

}  // namespace loom::test

// Exit code and a part of stderr; nothing on stdout.
#define LOOM_EXPECT_REFUSED(outcome, expected_code, part)              \
  do {                                                                 \
    const ::loom::test::Outcome loom_o = (outcome);                    \
    EXPECT_EQ(loom_o.code, expected_code) << loom_o.err;               \
    EXPECT_EQ(loom_o.out, "");                                         \
    EXPECT_NE(loom_o.err.find(part), std::string::npos) << loom_o.err; \
  } while (0)
