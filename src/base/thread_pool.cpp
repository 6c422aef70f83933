#include "base/thread_pool.h"

#include "base/fp_env.h"

#if !defined(__wasm__)
#define LOOM_THREADS 1
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

// A pause is some 40 ns: what is longer away than one kernel's imbalance has probably lost its core, and yielding gives it ours. Where no
// one else wants the core a yield returns at once, so their number covers the gap between two tokens, after which a worker sleeps.
[[maybe_unused]] constexpr int kSpins = 300, kYields = 16;

}  // namespace

void Turnstile::wait(unsigned seen) {
#if defined(LOOM_THREADS)
  for (int spins = 0; spins < kSpins; ++spins) {
    if (now() != seen) return;
    relax();
  }
  for (int yields = 0; yields < kYields; ++yields) {
    if (now() != seen) return;
    std::this_thread::yield();
  }
  // Sequentially consistent on both sides: either this thread reads the new value, or advance() sees that it sleeps.
  sleepers_.fetch_add(1);
  value_.wait(seen);
  sleepers_.fetch_sub(1, std::memory_order_relaxed);
#else
  (void)seen;
#endif
}

void Turnstile::advance() {
  value_.fetch_add(1);
#if defined(LOOM_THREADS)
  if (sleepers_.load() > 0) value_.notify_all();
#endif
}

void SpinBarrier::wait() {
  if (workers_ == 1) return;
  const unsigned phase = phase_.now();
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 < workers_) return phase_.wait(phase);
  arrived_.store(0, std::memory_order_relaxed);
  phase_.advance();
}

#if defined(LOOM_THREADS)

struct ThreadPool::Workers {
  std::vector<std::thread> threads;
  Turnstile ticket;  // advances once per job
  void (*job)(void*, int) = nullptr;  // null: leave
  void* context = nullptr;

  void loop(int worker, SpinBarrier& finished) {
    const FpEnvGuard fp;
    for (unsigned seen = 0;; ++seen) {
      ticket.wait(seen);
      if (!job) return;
      job(context, worker);
      finished.wait();
    }
  }
  void start(void (*j)(void*, int), void* c) {
    job = j;
    context = c;
    ticket.advance();
  }
};

int ThreadPool::hardware_threads() {
  const unsigned n = std::thread::hardware_concurrency();
  return n == 0 ? 1 : static_cast<int>(n);
}

ThreadPool::ThreadPool(int threads) : size_(threads > 0 ? threads : hardware_threads()), barrier_(size_) {
  if (size_ == 1) return;
  workers_ = std::make_unique<Workers>();
  for (int worker = 1; worker < size_; ++worker) workers_->threads.emplace_back([this, worker] { workers_->loop(worker, barrier_); });
}

ThreadPool::~ThreadPool() {
  if (!workers_) return;
  workers_->start(nullptr, nullptr);
  for (std::thread& t : workers_->threads) t.join();
}

void ThreadPool::run(void (*job)(void*, int), void* context) {
  if (!workers_) {
    job(context, 0);
    return;
  }
  workers_->start(job, context);
  job(context, 0);
  barrier_.wait();
}

#else

struct ThreadPool::Workers {};
int ThreadPool::hardware_threads() { return 1; }
ThreadPool::ThreadPool(int) : size_(1), barrier_(1) {}
ThreadPool::~ThreadPool() = default;
void ThreadPool::run(void (*job)(void*, int), void* context) { job(context, 0); }

#endif

}  // namespace loom
