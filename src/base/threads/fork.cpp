#include "base/threads/fork.h"

#if !defined(__wasm__)
#include <pthread.h>
#endif

#include <atomic>

namespace loom {

#if !defined(__wasm__)
namespace {
std::atomic<unsigned> number{0};
}  // namespace

unsigned forks() { return number.load(std::memory_order_relaxed); }

bool forks_are_seen() {
  static const bool seen =
      pthread_atfork(nullptr, nullptr, [] { number.fetch_add(1, std::memory_order_relaxed); }) == 0;
  return seen;
}
#else
unsigned forks() { return 0; }
bool forks_are_seen() { return true; }
#endif

}  // namespace loom
