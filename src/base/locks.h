// The locks of the standard library under names that every target has. Where there are no threads (wasm32, whose libc++ has none of them)
// a lock is always free.
#pragma once

#if !defined(__wasm__)
#include <mutex>
#include <shared_mutex>

namespace loom::locks {
using std::mutex;
using std::shared_lock;
using std::shared_mutex;
using std::try_to_lock;
using std::unique_lock;
}  // namespace loom::locks

#else

namespace loom::locks {
struct mutex {};
struct shared_mutex {};
inline constexpr struct TryToLock {
} try_to_lock;

template <class Mutex>
class unique_lock {
 public:
  unique_lock() = default;
  explicit unique_lock(Mutex&) : owns_(true) {}
  unique_lock(Mutex&, TryToLock) : owns_(true) {}
  ~unique_lock() {}  // so that a lock is not an unused variable
  explicit operator bool() const { return owns_; }
  void lock() { owns_ = true; }
  void unlock() { owns_ = false; }

 private:
  bool owns_ = false;
};
template <class Mutex>
class shared_lock : public unique_lock<Mutex> {
 public:
  using unique_lock<Mutex>::unique_lock;
};
template <class Mutex>
shared_lock(Mutex&) -> shared_lock<Mutex>;
}  // namespace loom::locks

#endif
