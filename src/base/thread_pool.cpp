#include "base/thread_pool.h"

#include "base/fp_env.h"

#if !defined(__wasm__)
#define LOOM_THREADS 1
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>
#endif

namespace loom {
namespace {

inline void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

[[maybe_unused]] constexpr int kSpins = 2000;

}  // namespace

void SpinBarrier::wait() {
  if (workers_ == 1) return;
  const unsigned phase = phase_.load(std::memory_order_relaxed);
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == workers_) {
    arrived_.store(0, std::memory_order_relaxed);
    phase_.store(phase + 1, std::memory_order_release);
    return;
  }
  for ([[maybe_unused]] int spins = 0; phase_.load(std::memory_order_acquire) == phase; ++spins) {
    relax();
#if defined(LOOM_THREADS)
    if (spins > kSpins) std::this_thread::yield();
#endif
  }
}

#if defined(LOOM_THREADS)

struct ThreadPool::Workers {
  std::vector<std::thread> threads;
  std::mutex mutex;
  std::condition_variable wake;
  std::atomic<unsigned> ticket{0};  // grows by one per job
  std::atomic<int> running{0};
  std::atomic<bool> stop{false};
  void (*job)(void*, int) = nullptr;
  void* context = nullptr;

  void loop(int worker) {
    const FpEnvGuard fp;
    for (unsigned seen = 0;;) {
      // Jobs come in bursts (a token after a token): spin a little before sleeping.
      for (int spins = 0; spins < kSpins && ticket.load(std::memory_order_acquire) == seen && !stop.load(std::memory_order_relaxed); ++spins) relax();
      if (ticket.load(std::memory_order_acquire) == seen) {
        std::unique_lock<std::mutex> lock(mutex);
        wake.wait(lock, [&] { return stop.load() || ticket.load(std::memory_order_acquire) != seen; });
      }
      if (stop.load()) return;
      ++seen;
      job(context, worker);
      running.fetch_sub(1, std::memory_order_acq_rel);
    }
  }
};

int ThreadPool::hardware_threads() {
  const unsigned n = std::thread::hardware_concurrency();
  return n == 0 ? 1 : static_cast<int>(n);
}

ThreadPool::ThreadPool(int threads) : size_(threads > 0 ? threads : hardware_threads()), barrier_(size_) {
  if (size_ == 1) return;
  workers_ = std::make_unique<Workers>();
  for (int worker = 1; worker < size_; ++worker) workers_->threads.emplace_back([w = workers_.get(), worker] { w->loop(worker); });
}

ThreadPool::~ThreadPool() {
  if (!workers_) return;
  {
    const std::lock_guard<std::mutex> lock(workers_->mutex);
    workers_->stop = true;
  }
  workers_->wake.notify_all();
  for (std::thread& t : workers_->threads) t.join();
}

void ThreadPool::run(void (*job)(void*, int), void* context) {
  if (!workers_) {
    job(context, 0);
    return;
  }
  workers_->job = job;
  workers_->context = context;
  workers_->running.store(size_ - 1, std::memory_order_relaxed);
  {
    const std::lock_guard<std::mutex> lock(workers_->mutex);
    workers_->ticket.fetch_add(1, std::memory_order_release);
  }
  workers_->wake.notify_all();
  job(context, 0);
  for (int spins = 0; workers_->running.load(std::memory_order_acquire) != 0; ++spins) {
    relax();
    if (spins > kSpins) std::this_thread::yield();
  }
}

#else

struct ThreadPool::Workers {};
int ThreadPool::hardware_threads() { return 1; }
ThreadPool::ThreadPool(int) : size_(1), barrier_(1) {}
ThreadPool::~ThreadPool() = default;
void ThreadPool::run(void (*job)(void*, int), void* context) { job(context, 0); }

#endif

}  // namespace loom
