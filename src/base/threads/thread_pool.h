// A fixed team of threads that runs one job at a time; inside a job the workers meet at spin
// barriers. Results never depend on how many there are: kernels split outputs, never sums. So where
// other programs hold the cores, and waiting for the team costs the caller more than the team saves
// it, the caller works alone for a while. One caller at a time. In WebAssembly the host brings the
// threads; without any the team is the caller.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "base/status.h"

namespace loom {

// A counter that threads wait on: they spin briefly, yield a few times, then sleep, since a shared
// machine may have taken the core of whoever is to advance it. Advancing costs no system call while
// nobody sleeps.
class Turnstile {
 public:
  unsigned now() const { return value_.load(std::memory_order_acquire); }
  // Returns once the counter differs from `seen`, with the nanoseconds waited after spinning was
  // given up: those of a core that was lost.
  std::int64_t wait(unsigned seen);
  void advance();

 private:
  std::atomic<unsigned> value_{0};
  std::atomic<int> sleepers_{0};
};

// All workers arrive before any continues.
class SpinBarrier {
 public:
  explicit SpinBarrier(int workers) : workers_(workers) {}
  std::int64_t wait();  // nanoseconds as Turnstile's
  // Sets the number of workers, while none waits: before they start, or after a fork took away
  // those that did.
  void reset(int workers) {
    workers_ = workers;
    arrived_.store(0);
  }

 private:
  int workers_;
  std::atomic<int> arrived_{0};
  Turnstile phase_;
};

class ThreadPool {
 public:
  // What hosts and programs take at most: far above any machine's cores, far below what a process
  // may start.
  static constexpr int kMaxThreads = 1024;
  // threads >= 1, the caller included; 0: one per core. Never more than kMaxThreads, and fewer
  // where the system starts no more: then half of those that it does, so that what comes after
  // finds room too. Throws std::bad_alloc, before a thread starts.
  explicit ThreadPool(int threads = 0);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int size() const { return size_; }
  // Of `workers`, who are size() or the caller alone, the one with this number does its share.
  // Neither throws nor allocates: a worker that left would leave the others at the next barrier.
  using Job = void (*)(void* context, int worker, int workers) noexcept;
  // Runs job(worker) for worker = 0..workers-1 (0 is the caller) and returns when all have
  // finished. Must not be nested. Nothing is allocated, but in a forked child's first run, which
  // starts the team again or goes on without.
  void run(Job job, void* context);
  // The same for a job without barriers that may allocate and fail: one worker after the other
  // where threads must not allocate. Gives the error of the worker with the lowest number; an
  // allocation that failed is Code::out_of_memory.
  using AllocatingJob = Status (*)(void* context, int worker, int workers);
  Status run_allocating(AllocatingJob job, void* context);
  // Inside a job with more than one worker: all arrive before any continues.
  void meet(int worker) {
    const std::int64_t lost = barrier_.wait();
    if (worker == 0) lost_ += lost;
  }

  static int hardware_threads();
  // For tests of threads: whether from now on every job of every pool gets its whole team, whatever
  // that costs.
  static void always_together(bool always);

  struct Workers;

 private:
  void start_team();
  int size_;
  SpinBarrier barrier_;
  std::int64_t lost_ = 0;  // by the caller in the job at hand, nanoseconds
  std::unique_ptr<Workers> workers_;
};

}  // namespace loom
