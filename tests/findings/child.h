// Runs a piece of a test in a child of fork(): what it does to the process, and what it takes of
// time and memory, is its own.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>

namespace loom::test {

struct ChildLimits {
  int seconds = 60;              // then it is ended (code 142, SIGALRM)
  std::uint64_t more_bytes = 0;  // of address space beyond what it begins with; 0: no limit
};

struct ChildEnd {
  int code = -1;  // 0: body returned true; 1: false; 128 + the signal that ended it
  double seconds = 0, cpu_seconds = 0;
  double peak_mib = 0;  // of memory in use, more than at the start
  std::string text;     // what the body wrote into its argument
};

ChildEnd in_child(const std::function<bool(std::string& text)>& body,
                  const ChildLimits& limits = {});

// Whether times and sizes mean something: a sanitizer changes both, and its process has no use for
// limits of address space.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kMeasured = false;
#else
inline constexpr bool kMeasured = true;
#endif
// ThreadSanitizer starts no threads in a child of a process that has some.
#if defined(__SANITIZE_THREAD__)
#define LOOM_SKIP_FORKS() \
  GTEST_SKIP() << "ThreadSanitizer does not follow threads into a forked child"
#else
#define LOOM_SKIP_FORKS() (void)0
#endif

}  // namespace loom::test

// The body returned true within these bounds.
#define LOOM_EXPECT_BOUNDED(end, max_seconds, max_mib)           \
  do {                                                           \
    const ::loom::test::ChildEnd loom_e = (end);                 \
    EXPECT_EQ(loom_e.code, 0) << loom_e.text;                    \
    if (::loom::test::kMeasured) {                               \
      EXPECT_LT(loom_e.cpu_seconds, max_seconds) << loom_e.text; \
      EXPECT_LT(loom_e.peak_mib, max_mib) << loom_e.text;        \
    }                                                            \
  } while (0)
