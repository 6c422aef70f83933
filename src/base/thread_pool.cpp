#include "base/thread_pool.h"

#include "base/fp_env.h"

#if !defined(__wasm__)
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

#if !defined(__wasm__)
// A pause is some 40 ns: what is longer away than one kernel's imbalance has probably lost its core, and yielding gives it ours. Where no
// one else wants the core a yield returns at once, so their number covers the gap between two tokens, after which a worker sleeps.
constexpr int kSpins = 300, kYields = 16;
void yield() { std::this_thread::yield(); }
void sleep_while(std::atomic<unsigned>& value, unsigned seen) { value.wait(seen); }
void wake_all(std::atomic<unsigned>& value) { value.notify_all(); }
#else
// WebAssembly can neither pause nor yield, and a sleep costs tens of microseconds: a tenth of a millisecond of looking comes first.
constexpr int kSpins = 100000, kYields = 0;
void yield() {}
void sleep_while(std::atomic<unsigned>& value, unsigned seen) {
  while (value.load() == seen) __builtin_wasm_memory_atomic_wait32(reinterpret_cast<int*>(&value), static_cast<int>(seen), -1);
}
void wake_all(std::atomic<unsigned>& value) { __builtin_wasm_memory_atomic_notify(reinterpret_cast<int*>(&value), 0xFFFFFFFF); }
#endif

}  // namespace

void Turnstile::wait(unsigned seen) {
  for (int spins = 0; spins < kSpins; ++spins) {
    if (now() != seen) return;
    relax();
  }
  for (int yields = 0; yields < kYields; ++yields) {
    if (now() != seen) return;
    yield();
  }
  // Sequentially consistent on both sides: either this thread reads the new value, or advance() sees that it sleeps.
  sleepers_.fetch_add(1);
  sleep_while(value_, seen);
  sleepers_.fetch_sub(1, std::memory_order_relaxed);
}

void Turnstile::advance() {
  value_.fetch_add(1);
  if (sleepers_.load() > 0) wake_all(value_);
}

void SpinBarrier::wait() {
  if (workers_ == 1) return;
  const unsigned phase = phase_.now();
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 < workers_) return phase_.wait(phase);
  arrived_.store(0, std::memory_order_relaxed);
  phase_.advance();
}

#if !defined(__wasm__)

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

void ThreadPool::run_allocating(void (*job)(void*, int), void* context) { run(job, context); }

#else

// One team for all pools, since one thread alone, the first, calls into the module: workers of the host, each inside loom_wasm_join of
// an instance of its own on the same memory. All of them meet for each job, so that none is a job behind; a smaller pool leaves some idle.
struct ThreadPool::Workers {
  const int members;  // the caller included
  SpinBarrier finished{members};
  Turnstile ticket;
  void (*job)(void*, int) = nullptr;
  void* context = nullptr;
  int size = 0;  // of the pool whose job it is
};

namespace {
ThreadPool::Workers* team = nullptr;
}  // namespace

int ThreadPool::hardware_threads() { return team ? team->members : 1; }
ThreadPool::ThreadPool(int threads) : size_(threads > 0 && threads < hardware_threads() ? threads : hardware_threads()), barrier_(size_) {}
ThreadPool::~ThreadPool() = default;

void ThreadPool::run(void (*job)(void*, int), void* context) {
  if (size_ == 1) return job(context, 0);
  team->job = job;
  team->context = context;
  team->size = size_;
  team->ticket.advance();
  job(context, 0);
  team->finished.wait();
}

// The workers' instances share a memory, but its allocator is not made for several threads.
void ThreadPool::run_allocating(void (*job)(void*, int), void* context) {
  for (int worker = 0; worker < size_; ++worker) job(context, worker);
}

// For the host: once, before anything else, with the number of threads; then each worker calls loom_wasm_join, which never returns.
extern "C" __attribute__((export_name("loom_wasm_team"))) void loom_wasm_team(int members) { team = new ThreadPool::Workers{members}; }
extern "C" __attribute__((export_name("loom_wasm_join"))) void loom_wasm_join(int worker) {
  for (unsigned seen = 0;; ++seen) {
    team->ticket.wait(seen);
    if (worker < team->size) team->job(team->context, worker);
    team->finished.wait();
  }
}

#endif

}  // namespace loom
