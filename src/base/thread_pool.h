// A fixed team of threads that runs one job at a time; inside a job the workers meet at spin barriers. Results never depend on
// the team's size: kernels split outputs, never sums. One caller at a time. In WebAssembly the host brings the threads; without any the team is the caller.
#pragma once

#include <atomic>
#include <functional>
#include <memory>

namespace loom {

// A counter that threads wait on: they spin briefly, yield a few times, then sleep, since a shared machine may have taken the core of
// whoever is to advance it. Advancing costs no system call while nobody sleeps.
class Turnstile {
 public:
  unsigned now() const { return value_.load(std::memory_order_acquire); }
  // Returns once the counter differs from `seen`.
  void wait(unsigned seen);
  void advance();

 private:
  std::atomic<unsigned> value_{0};
  std::atomic<int> sleepers_{0};
};

// All workers arrive before any goes on.
class SpinBarrier {
 public:
  explicit SpinBarrier(int workers) : workers_(workers) {}
  void wait();

 private:
  const int workers_;
  std::atomic<int> arrived_{0};
  Turnstile phase_;
};

class ThreadPool {
 public:
  // threads >= 1, the caller included; 0: one per core.
  explicit ThreadPool(int threads = 0);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int size() const { return size_; }
  // Runs job(worker) for worker = 0..size-1 (0 is the caller) and returns when all have finished. Must not be nested.
  // The job must not throw. Nothing is allocated.
  void run(void (*job)(void* context, int worker), void* context);
  // The same for a job that allocates and has no barriers: one worker after the other where threads must not allocate.
  void run_allocating(void (*job)(void* context, int worker), void* context);
  SpinBarrier& barrier() { return barrier_; }

  static int hardware_threads();

  struct Workers;

 private:
  int size_;
  SpinBarrier barrier_;
  std::unique_ptr<Workers> workers_;
};

}  // namespace loom
