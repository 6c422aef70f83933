#include "base/threads/thread_pool.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>
#include <utility>
#include <vector>

namespace loom {
namespace {

// Each worker adds its share to the next cell; all must see the sums of the round before. Plain
// integers: a thread sanitizer sees a barrier that does not order them.
struct Rounds {
  ThreadPool& pool;
  int rounds;
  std::vector<std::uint64_t> sums;  // per worker
  bool agreed = true;
  static void work(void* context, int worker, int) noexcept {
    auto& r = *static_cast<Rounds*>(context);
    const auto me = static_cast<std::size_t>(worker);
    for (int i = 0; i < r.rounds; ++i) {
      ++r.sums[me];
      r.pool.meet(worker);
      for (std::uint64_t s : r.sums)
        if (s != r.sums[me] && me == 0) r.agreed = false;
      r.pool.meet(worker);
    }
  }
};

struct Together {
  Together() { ThreadPool::always_together(true); }
  ~Together() { ThreadPool::always_together(false); }
};

TEST(ThreadPool, WorkersMeetAtEveryBarrier) {
  const Together together;
  for (int threads : {1, 2, 3, 7}) {  // also more than there are cores
    ThreadPool pool(threads);
    ASSERT_EQ(pool.size(), threads);
    Rounds r{pool, 50, std::vector<std::uint64_t>(static_cast<std::size_t>(threads))};
    for (int job = 0; job < 20; ++job) {
      pool.run(&Rounds::work, &r);
      // Long enough for the workers to fall asleep now and then.
      if (job % 5 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    EXPECT_TRUE(r.agreed);
    EXPECT_EQ(r.sums, std::vector<std::uint64_t>(static_cast<std::size_t>(threads), 1000));
  }
}

void be_busy(std::chrono::microseconds time) {
  const auto start = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - start < time) {
  }
}

// A worker that has lost its core, played by one that sleeps.
struct Straggler {
  std::chrono::milliseconds late{0};
  std::chrono::microseconds busy{50};  // the caller
  int last_workers = 0;
  static void work(void* context, int worker, int workers) noexcept {
    auto& s = *static_cast<Straggler*>(context);
    if (worker == 0) {
      s.last_workers = workers;
      be_busy(s.busy);
    } else {
      std::this_thread::sleep_for(s.late);
    }
  }
};

TEST(ThreadPool, TheCallerWorksAloneWhileItsTeamIsAway) {
  ThreadPool pool(2);
  Straggler s{std::chrono::milliseconds(20)};
  const auto workers = [&](int runs) {
    bool seen[3] = {};
    for (int i = 0; i < runs; ++i) {
      pool.run(&Straggler::work, &s);
      seen[s.last_workers] = true;
    }
    return std::pair(seen[1], seen[2]);
  };
  EXPECT_EQ(workers(1), std::pair(false, true));
  EXPECT_TRUE(workers(20).first);
  {
    const Together together;
    EXPECT_EQ(workers(3), std::pair(false, true));
  }
  // The team is tried again.
  s.late = std::chrono::milliseconds(0);
  bool again = false;
  for (const auto start = std::chrono::steady_clock::now();
       !again && std::chrono::steady_clock::now() - start < std::chrono::minutes(1);)
    again = workers(1).second;
  EXPECT_TRUE(again);
}

TEST(ThreadPool, BriefJobsAreDoneAlone) {
  ThreadPool pool(2);
  Straggler s;
  const auto alone = [&](int runs, std::chrono::microseconds busy) {
    s.busy = busy;
    int count = 0;
    for (int i = 0; i < runs; ++i) {
      pool.run(&Straggler::work, &s);
      count += s.last_workers == 1 ? 1 : 0;
    }
    return count;
  };
  // A job that an interrupt makes long is a reason to try the team for some milliseconds, and in
  // those a thousand jobs may end.
  bool mostly = false;
  for (const auto start = std::chrono::steady_clock::now();
       !mostly && std::chrono::steady_clock::now() - start < std::chrono::seconds(10);)
    mostly = alone(1000, std::chrono::microseconds(0)) > 300;
  EXPECT_TRUE(mostly);
  const Together together;
  EXPECT_EQ(alone(20, std::chrono::microseconds(0)), 0);
}

TEST(ThreadPool, EndsWithoutAJob) {
  for (int i = 0; i < 20; ++i) ThreadPool pool(4);
}

}  // namespace
}  // namespace loom
