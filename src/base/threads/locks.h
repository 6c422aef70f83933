// The locks of the standard library under names that every target has, and one that is fair. Where
// there are no threads (wasm32, whose libc++ has none of them) a lock is always free.
#pragma once

#if !defined(__wasm__)
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <new>
#include <shared_mutex>

namespace loom::locks {
using std::mutex;
using std::shared_lock;
using std::shared_mutex;
using std::try_to_lock;
using std::unique_lock;

// A shared mutex that is had in the order of asking: neither those who share it nor those who want
// it alone can keep the others away, as they do with std::shared_mutex for as long as one of them
// comes before the other leaves. While nobody wants it alone, sharing it is one atomic addition.
// Not to be taken twice by one thread.
class fair_mutex {
 public:
  void lock() {
    std::unique_lock l(m_);
    const std::uint64_t mine = next_++;
    sharers_.fetch_or(kQueue);
    changed_.wait(l, [&] { return turn_ == mine && sharers_.load() == kQueue; });
  }
  void unlock() {
    const std::lock_guard l(m_);
    next_turn();
  }
  void lock_shared() {
    if ((sharers_.fetch_add(1) & kQueue) == 0) return;
    unlock_shared();  // there is a queue: its end is the place to wait
    std::unique_lock l(m_);
    if (turn_ == next_) {
      sharers_.fetch_add(1);
      return;
    }
    const std::uint64_t mine = next_++;
    changed_.wait(l, [&] { return turn_ == mine; });
    sharers_.fetch_add(1);
    next_turn();
  }
  void unlock_shared() {
    if (sharers_.fetch_sub(1) != kQueue + 1) return;
    const std::lock_guard l(m_);
    changed_.notify_all();
  }
  // From alone to shared, with nobody in between.
  void downgrade() {
    const std::lock_guard l(m_);
    sharers_.fetch_add(1);
    next_turn();
  }
  // In a child of fork(), before anybody locks: those inside and those who wait are threads of the
  // parent, so it is free. Returns whether one of them was alone inside, or just going in: what the
  // lock protects may be half changed.
  bool forked() {
    const bool changing = sharers_.load() == kQueue;
    new (&m_) std::mutex;
    new (&changed_) std::condition_variable;
    sharers_.store(0);
    next_ = turn_ = 0;
    return changing;
  }

 private:
  static constexpr std::uint32_t kQueue = std::uint32_t{1} << 31;
  void next_turn() {
    if (++turn_ == next_) sharers_.fetch_and(~kQueue);
    else changed_.notify_all();
  }
  std::atomic<std::uint32_t> sharers_{0};  // their number, and kQueue while the queue is not empty
  std::mutex m_;
  std::condition_variable changed_;
  std::uint64_t next_ = 0, turn_ = 0;  // the queue: the number of who comes next, and of who is
                                       // first, waiting or alone inside
};

inline shared_lock<fair_mutex> downgraded(unique_lock<fair_mutex> alone) {
  fair_mutex& m = *alone.release();
  m.downgrade();
  return {m, std::adopt_lock};
}

// Whether a thread of the parent holds it, in a child of fork(): then for ever.
inline bool held_by_the_parent(mutex& m) {
  if (!m.try_lock()) return true;
  m.unlock();
  return false;
}
}  // namespace loom::locks

#else

namespace loom::locks {
struct mutex {};
struct shared_mutex {};
struct fair_mutex {};
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

inline shared_lock<fair_mutex> downgraded(const unique_lock<fair_mutex>&) { return {}; }
inline bool held_by_the_parent(const mutex&) { return false; }
}  // namespace loom::locks

#endif
