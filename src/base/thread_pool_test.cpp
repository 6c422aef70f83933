#include "base/thread_pool.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>
#include <vector>

namespace loom {
namespace {

// Each worker adds its share to the next cell; all must see the sums of the round before. Plain integers: a thread sanitizer sees a
// barrier that does not order them.
struct Rounds {
  ThreadPool& pool;
  int rounds;
  std::vector<std::uint64_t> sums;  // per worker
  bool agreed = true;
  static void work(void* context, int worker) {
    auto& r = *static_cast<Rounds*>(context);
    const auto me = static_cast<std::size_t>(worker);
    for (int i = 0; i < r.rounds; ++i) {
      ++r.sums[me];
      r.pool.barrier().wait();
      for (std::uint64_t s : r.sums)
        if (s != r.sums[me] && me == 0) r.agreed = false;
      r.pool.barrier().wait();
    }
  }
};

TEST(ThreadPool, WorkersMeetAtEveryBarrier) {
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

TEST(ThreadPool, EndsWithoutAJob) {
  for (int i = 0; i < 20; ++i) ThreadPool pool(4);
}

}  // namespace
}  // namespace loom
