#include "base/threads/thread_pool.h"

#include "base/math/fp_env.h"
#include "base/threads/fork.h"
#include "base/threads/locks.h"

#if !defined(__wasm__)
#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <new>
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
// A pause is some 40 ns: what is longer away than one kernel's imbalance has probably lost its
// core, and yielding gives it ours. Where no one else wants the core a yield returns at once, so
// their number covers the gap between two tokens, after which a worker sleeps.
constexpr int kSpins = 300, kYields = 16;
std::int64_t nanoseconds() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}
void yield() { std::this_thread::yield(); }
void sleep_while(std::atomic<unsigned>& value, unsigned seen) { value.wait(seen); }
void wake_all(std::atomic<unsigned>& value) { value.notify_all(); }
#else
// WebAssembly can neither pause nor yield, and a sleep costs tens of microseconds: a tenth of a
// millisecond of looking comes first.
constexpr int kSpins = 100000, kYields = 0;
std::int64_t nanoseconds() { return 0; }  // nobody asks: the host's team always works together
void yield() {}
void sleep_while(std::atomic<unsigned>& value, unsigned seen) {
  while (value.load() == seen)
    __builtin_wasm_memory_atomic_wait32(reinterpret_cast<int*>(&value), static_cast<int>(seen), -1);
}
void wake_all(std::atomic<unsigned>& value) {
  __builtin_wasm_memory_atomic_notify(reinterpret_cast<int*>(&value), 0xFFFFFFFF);
}
#endif

}  // namespace

std::int64_t Turnstile::wait(unsigned seen) {
  for (int spins = 0; spins < kSpins; ++spins) {
    if (now() != seen) return 0;
    relax();
  }
  const std::int64_t start = nanoseconds();
  for (int yields = 0; yields < kYields; ++yields) {
    if (now() != seen) return nanoseconds() - start;
    yield();
  }
  // Sequentially consistent on both sides: either this thread reads the new value, or advance()
  // sees that it sleeps.
  sleepers_.fetch_add(1);
  sleep_while(value_, seen);
  sleepers_.fetch_sub(1, std::memory_order_relaxed);
  return nanoseconds() - start;
}

void Turnstile::advance() {
  value_.fetch_add(1);
  if (sleepers_.load() > 0) wake_all(value_);
}

std::int64_t SpinBarrier::wait() {
  const int workers = workers_;  // before it arrives: then the last one may reset the barrier
  if (workers == 1) return 0;
  const unsigned phase = phase_.now();
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 < workers) return phase_.wait(phase);
  arrived_.store(0, std::memory_order_relaxed);
  phase_.advance();
  return 0;
}

#if !defined(__wasm__)

namespace {

std::atomic<bool> together_always{false};

// Whether the team is worth its waiting for the jobs of one context. Of a time T that they took,
// the caller lost L in waiting; alone it would have needed at most size * (T - L). Where that is
// less than T it tries them alone, since others may hold the team's cores. Where they take longer
// so, the waiting is how the work is cut, and the team goes on; otherwise the caller stays alone
// for as long as it was judged, and twice as long each time the team fails again: threads of others
// that only look for work a while (OpenMP's, some 10 ms after a loop) are soon outlived, and those
// that stay cost little. A job of a few microseconds is done alone before a team that sleeps has
// woken: one that looks so brief is tried alone, and stays so while it is.
class Pace {
 public:
  const void* context = nullptr;

  bool alone(std::int64_t now) const {
    return (trial_ || brief_ || now < alone_until_) &&
           !together_always.load(std::memory_order_relaxed);
  }
  void was_together(std::int64_t start, std::int64_t end, std::int64_t lost, int size) {
    lost_ += lost;
    brief_ = end - start - lost < 2 * kBrief && end >= patient_until_;
    if (!add(start, end)) return;
    if (lost_ * size <= wall_ * (size - 1)) {
      penalty_ = kShortest;
    } else if (end >= trusted_until_) {
      together_ = wall_ / runs_;
      penalty_ = std::max(penalty_, wall_);
      alone_until_ = end + penalty_;
      penalty_ = std::min(2 * penalty_, std::max(kLongest, kRare * wall_));
      trial_ = true;
    }
    wall_ = lost_ = runs_ = 0;
  }
  void was_alone(std::int64_t start, std::int64_t end) {
    if (brief_ && end - start >= kBrief) {
      brief_ = false;
      patient_until_ = end + kJudged;
    }
    if (!trial_ || !add(start, end)) return;
    trial_ = false;
    if (wall_ / runs_ > together_) {
      alone_until_ = 0;
      trusted_until_ = end + kRare * wall_;
    }
    wall_ = runs_ = 0;
  }

 private:
  // Whether there is enough to judge by.
  bool add(std::int64_t start, std::int64_t end) {
    wall_ += end - start;
    ++runs_;
    return wall_ >= kJudged;
  }

  static constexpr std::int64_t kMilli = 1'000'000, kJudged = 3 * kMilli, kShortest = 3 * kMilli,
                                kLongest = 1000 * kMilli, kRare = 32, kBrief = 10'000;
  std::int64_t wall_ = 0, lost_ = 0,
               runs_ = 0;      // since it was last judged; nanoseconds, as all here
  std::int64_t together_ = 0;  // a job took so long when the team failed
  std::int64_t alone_until_ = 0, trusted_until_ = 0, penalty_ = kShortest;
  bool trial_ = false;  // the first jobs alone are compared with it
  bool brief_ = false;
  std::int64_t patient_until_ = 0;  // it was longer than it looked
};

}  // namespace

struct ThreadPool::Workers {
  struct Seat {
    Workers* team;
    int worker;
    pthread_t thread;
  };
  Workers(int size, SpinBarrier& barrier)
      : members(size), size(size), finished(barrier), seats(static_cast<std::size_t>(size - 1)) {}

  std::atomic<int> members;  // who has a number beyond them leaves
  int size;                  // of the team, once all have started
  SpinBarrier& finished;
  std::vector<Seat> seats;  // the first size - 1 have threads
  const unsigned born = forks();
  Turnstile ticket;   // advances once per job
  Job job = nullptr;  // null: look who leaves
  void* context = nullptr;
  Pace paces[8];

  Pace& pace_of(const void* c) {
    Pace& pace = paces[reinterpret_cast<std::uintptr_t>(c) / 64 % 8];
    if (pace.context != c) pace = {};
    pace.context = c;
    return pace;
  }

  static void* enter(void* seat) {
    const auto& s = *static_cast<const Seat*>(seat);
    s.team->loop(s.worker);
    return nullptr;
  }
  void loop(int worker) {
    const FpEnvGuard fp;
    for (unsigned seen = 0;; ++seen) {
      ticket.wait(seen);
      if (worker >= members.load(std::memory_order_relaxed)) return;
      if (job) job(context, worker, size);
      finished.wait();
    }
  }
  void start(Job j, void* c) {
    job = j;
    context = c;
    ticket.advance();
  }
  // Those with a number of at least `left` leave; the others meet, so that none is a job behind.
  void leave(int left) {
    members.store(left, std::memory_order_relaxed);
    finished.reset(left);
    start(nullptr, nullptr);
    finished.wait();
    for (int worker = left; worker < size; ++worker)
      pthread_join(seats[static_cast<std::size_t>(worker - 1)].thread, nullptr);
    size = left;
  }
  // The threads that can be had.
  void recruit() {
    for (int worker = 1; worker < size; ++worker) {
      Seat& seat = seats[static_cast<std::size_t>(worker - 1)];
      seat.team = this;
      seat.worker = worker;
      if (pthread_create(&seat.thread, nullptr, &Workers::enter, &seat) == 0) continue;
      // The system has no more of them, and perhaps no more memory: that which half of them would
      // take is left to others.
      size = worker;
      return leave(std::max(1, worker / 2));
    }
  }
};

void ThreadPool::always_together(bool always) { together_always = always; }

int ThreadPool::hardware_threads() {
  const unsigned n = std::thread::hardware_concurrency();
  return n == 0 ? 1 : static_cast<int>(std::min<unsigned>(n, kMaxThreads));
}

ThreadPool::ThreadPool(int threads)
    : size_(threads > 0 ? std::min(threads, kMaxThreads) : hardware_threads()), barrier_(size_) {
  if (!forks_are_seen()) size_ = 1;
  start_team();
  size_ = workers_ ? workers_->size : 1;
}

// A team of size_, or of those that start.
void ThreadPool::start_team() {
  if (size_ == 1) return;
  auto team = std::make_unique<Workers>(size_, barrier_);
  barrier_.reset(size_);
  team->recruit();
  if (team->size > 1) workers_ = std::move(team);
}

ThreadPool::~ThreadPool() {
  if (workers_ && workers_->born == forks()) workers_->leave(1);
}

void ThreadPool::run(Job job, void* context) {
  if (workers_ && workers_->born != forks()) {
    workers_.reset();
    start_team();
    // What runs here is planned for the whole team or for one.
    if (workers_ && workers_->size != size_) {
      workers_->leave(1);
      workers_.reset();
    }
  }
  if (!workers_) return job(context, 0, 1);
  Pace& pace = workers_->pace_of(context);
  const std::int64_t start = nanoseconds();
  if (pace.alone(start)) {
    job(context, 0, 1);
    return pace.was_alone(start, nanoseconds());
  }
  lost_ = 0;
  workers_->start(job, context);
  job(context, 0, size_);
  meet(0);
  pace.was_together(start, nanoseconds(), lost_, size_);
}

namespace {

// A job that may fail, as one that does not.
struct Fallible {
  ThreadPool::AllocatingJob job;
  void* context;
  locks::mutex mutex;
  int first = ThreadPool::kMaxThreads;  // who failed, of the lowest number
  Status status;

  void failed(int worker, Status s) {
    const locks::unique_lock lock(mutex);
    if (worker >= first) return;
    first = worker;
    status = std::move(s);
  }
  static void share(void* self, int worker, int workers) noexcept {
    auto& f = *static_cast<Fallible*>(self);
    try {
      Status s = f.job(f.context, worker, workers);
      if (!s.ok()) f.failed(worker, std::move(s));
    } catch (const std::bad_alloc&) {
      f.failed(worker, Status(Code::out_of_memory, ""));
    } catch (...) {
      f.failed(worker, Status(Code::internal, ""));
    }
  }
};

}  // namespace

Status ThreadPool::run_allocating(AllocatingJob job, void* context) {
  Fallible f{job, context, {}, kMaxThreads, {}};
  run(&Fallible::share, &f);
  if (f.status.ok() || !f.status.message().empty()) return f.status;
  return Status(f.status.code(), f.status.code() == Code::out_of_memory
                                     ? "an allocation failed in a thread"
                                     : "an exception in a thread");
}

#else

// One team for all pools, since one thread alone, the first, calls into the module: workers of the
// host, each inside loom_wasm_join of an instance of its own on the same memory. All of them meet
// for each job, so that none is a job behind; a smaller pool leaves some idle.
struct ThreadPool::Workers {
  const int members;  // the caller included
  SpinBarrier finished{members};
  Turnstile ticket;
  Job job = nullptr;
  void* context = nullptr;
  int size = 0;  // of the pool whose job it is
};

namespace {
ThreadPool::Workers* team = nullptr;
}  // namespace

int ThreadPool::hardware_threads() { return team ? team->members : 1; }
ThreadPool::ThreadPool(int threads)
    : size_(threads > 0 && threads < hardware_threads() ? threads : hardware_threads()),
      barrier_(size_) {}
ThreadPool::~ThreadPool() = default;

void ThreadPool::always_together(bool) {}

void ThreadPool::run(Job job, void* context) {
  if (size_ == 1) return job(context, 0, 1);
  team->job = job;
  team->context = context;
  team->size = size_;
  team->ticket.advance();
  job(context, 0, size_);
  team->finished.wait();
}

// The workers' instances share a memory, but its allocator is not made for several threads.
Status ThreadPool::run_allocating(AllocatingJob job, void* context) { return job(context, 0, 1); }

// For the host: once, before anything else, with the number of threads; then each worker calls
// loom_wasm_join, which never returns.
extern "C" __attribute__((export_name("loom_wasm_team"))) void loom_wasm_team(int members) {
  team = new ThreadPool::Workers{members};
}
extern "C" __attribute__((export_name("loom_wasm_join"))) void loom_wasm_join(int worker) {
  for (unsigned seen = 0;; ++seen) {
    team->ticket.wait(seen);
    if (worker < team->size) team->job(team->context, worker, team->size);
    team->finished.wait();
  }
}

#endif

}  // namespace loom
