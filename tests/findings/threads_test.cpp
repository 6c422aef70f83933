// Threads that do not start, jobs that fail in a thread, and processes that fork.
#include <gtest/gtest.h>

#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include <loom/loom.h>
#include "base/threads/thread_pool.h"
#include "findings/child.h"

namespace loom {
namespace {

using test::in_child;

#define TEXT(s) (s), std::strlen(s)

constexpr const char* kNetwork =
    R"({"format":"loom-topology","version":1,"layers_per_cell":2,"input":{"width":3},"cells":[
  {"at":[0,0,0,0],"type":"dense","out":64,"activation":"tanh"},{"at":[0,0,0,1],"type":"dense","out":2}]})";
constexpr float kX[] = {0.5f, -1, 2, 1, 1, 0, -2, 0.25f, 1, 3, 2, 1};
constexpr float kY[] = {1, 0, 0, 1, 1, 1, 0.5f, 0.5f};

// A network, its data, and what works on them. The process ends them.
struct Work {
  loom_network network = 0;
  loom_session session = 0;
  loom_data data = 0;
  loom_trainer trainer = 0;
  loom_error error{};

  bool make(int threads) {
    const std::string options = "{\"threads\":" + std::to_string(threads) + "}";
    const char* spec =
        R"({"steps":1000000,"batch":4,"seed":1,"loss":"mse","optimizer":{"type":"adamw"},"schedule":{"type":"constant","lr":0.001}})";
    return loom_network_create(TEXT(kNetwork), &network, &error) == LOOM_OK &&
           loom_network_initialize(network, 3, &error) == LOOM_OK &&
           loom_data_values(kX, 12, 3, kY, 8, 2, &data, &error) == LOOM_OK &&
           loom_session_create(network, TEXT(options.c_str()), &session, &error) == LOOM_OK &&
           loom_trainer_create(network, data, TEXT(spec), TEXT(options.c_str()), &trainer,
                               &error) == LOOM_OK;
  }
  bool run(std::vector<float>& y) {
    y.assign(8, 0);
    return loom_session_run(session, 4, kX, 12, y.data(), 8, &error) == LOOM_OK;
  }
  bool step(std::int64_t steps) {
    std::int64_t done = 0, rows = 0;
    double loss = 0, lr = 0;
    return loom_trainer_step(trainer, steps, &done, &loss, &lr, &rows, &error) == LOOM_OK;
  }
};

// Each worker counts its share of 10,000 numbers.
struct Count {
  std::atomic<int> sum{0}, workers{0};
  static void share(void* context, int worker, int workers) noexcept {
    auto& c = *static_cast<Count*>(context);
    c.sum += 10000 * (worker + 1) / workers - 10000 * worker / workers;
    c.workers = workers;
  }
};

// A team of `wanted` works with those that started; says how many.
bool counts(int wanted, std::string& text) {
  ThreadPool pool(wanted);
  ThreadPool::always_together(true);
  for (int i = 0; i < 50; ++i) {
    Count c;
    pool.run(&Count::share, &c);
    if (c.sum != 10000 || c.workers != pool.size()) return false;
  }
  text = std::to_string(pool.size());
  return true;
}

TEST(Findings, G1_ThreadsThatMemoryDoesNotAllowAreLeftOut) {
  LOOM_SKIP_FORKS();
  if (!test::kMeasured)
    GTEST_SKIP() << "a sanitizer needs the address space that the test takes away";
  const auto end = in_child([](std::string& text) { return counts(1000, text); },
                            {.more_bytes = std::uint64_t{400} << 20});
  ASSERT_EQ(end.code, 0) << end.text;
  EXPECT_GT(std::stoi(end.text), 1);  // some of the 50 stacks of 8 MiB that fit
  EXPECT_LT(std::stoi(end.text), 1000);
  // Not one more.
  const auto none = in_child([](std::string& text) { return counts(4, text); },
                             {.more_bytes = std::uint64_t{4} << 20});
  ASSERT_EQ(none.code, 0) << none.text;
  EXPECT_EQ(none.text, "1");
}

TEST(Findings, G1_ThreadsThatTheSystemRefusesAreLeftOut) {
  LOOM_SKIP_FORKS();
  const auto end = in_child([](std::string& text) {
    // Limits of processes do not hold for root.
    if (getuid() == 0 && setuid(54321) != 0) return false;
    const rlimit limit{4, 4};
    return setrlimit(RLIMIT_NPROC, &limit) == 0 && counts(8, text);
  });
  ASSERT_EQ(end.code, 0) << end.text;
  EXPECT_LT(std::stoi(end.text), 8);
}

TEST(Findings, G1_AThousandThreadsInLittleMemoryWorkOrAreATypedError) {
  LOOM_SKIP_FORKS();
  if (!test::kMeasured)
    GTEST_SKIP() << "a sanitizer needs the address space that the test takes away";
  for (const std::uint64_t mib : {100, 200, 500, 1500}) {
    const auto end = in_child(
        [](std::string& text) {
          Work w;
          std::vector<float> y;
          const bool made = w.make(1000) && w.run(y) && w.step(3);
          text = w.error.message;
          return made || w.error.code == LOOM_OUT_OF_MEMORY;
        },
        {.more_bytes = mib << 20});
    EXPECT_EQ(end.code, 0) << mib << " MiB: " << end.text;
  }
}

TEST(Findings, G1_MoreThreadsThanTheLimitAreRefusedByName) {
  Work w;
  ASSERT_EQ(loom_network_create(TEXT(kNetwork), &w.network, &w.error), LOOM_OK);
  for (const char* options :
       {"{\"threads\":1025}", "{\"threads\":9000000000}", "{\"threads\":-1}"}) {
    EXPECT_EQ(loom_session_create(w.network, TEXT(options), &w.session, &w.error),
              LOOM_INVALID_ARGUMENT);
    EXPECT_NE(std::string(w.error.message).find("\"threads\" must be in 0..1024"),
              std::string::npos)
        << w.error.message;
  }
  EXPECT_EQ(loom_release(w.network, nullptr), LOOM_OK);
}

// One worker fails, by an error or by an allocation.
struct Failing {
  int who;
  bool throws;
  static Status share(void* context, int worker, int) {
    const auto& f = *static_cast<Failing*>(context);
    if (worker != f.who) return {};
    if (f.throws) throw std::bad_alloc();
    return Status(Code::corrupt, "worker " + std::to_string(worker));
  }
};

TEST(Findings, G2_AJobThatFailsInAThreadIsAnErrorOfTheRun) {
  ThreadPool::always_together(true);
  ThreadPool pool(3);
  for (int who = 0; who < 3; ++who)
    for (const bool throws : {false, true}) {
      Failing f{who, throws};
      const Status s = pool.run_allocating(&Failing::share, &f);
      EXPECT_EQ(s.code(), throws ? Code::out_of_memory : Code::corrupt);
      EXPECT_EQ(s.message(),
                throws ? "an allocation failed in a thread" : "worker " + std::to_string(who));
      Count c;
      pool.run(&Count::share, &c);
      EXPECT_EQ(c.sum, 10000);
    }
  Failing none{3, true};
  EXPECT_TRUE(pool.run_allocating(&Failing::share, &none).ok());
  ThreadPool::always_together(false);
}

TEST(Findings, G13_AChildGoesOnWithWhatItsParentUsed) {
  LOOM_SKIP_FORKS();
  ThreadPool::always_together(true);
  Work w;
  std::vector<float> before, after;
  ASSERT_TRUE(w.make(3)) << w.error.message;
  ASSERT_TRUE(w.step(2) && w.run(before)) << w.error.message;
  const auto end = in_child(
      [&](std::string& text) {
        std::vector<float> y;
        const bool good = w.run(y) && y == before && w.step(5) && w.run(y) && y != before;
        text = w.error.message;
        // A child's child, too.
        const auto next = in_child(
            [&](std::string&) { return w.run(after) && after == y && w.step(1); }, {.seconds = 15});
        return good && next.code == 0;
      },
      {.seconds = 30});
  EXPECT_EQ(end.code, 0) << end.text;
  // What the child did is not the parent's.
  ASSERT_TRUE(w.run(after)) << w.error.message;
  EXPECT_EQ(after, before);
  ThreadPool::always_together(false);
  for (const loom_handle h : {w.trainer, w.session, w.data, w.network})
    EXPECT_EQ(loom_release(h, nullptr), LOOM_OK);
}

TEST(Findings, G13_AForkWhileAnotherThreadIsInsideNeverHangsTheChild) {
  LOOM_SKIP_FORKS();
  Work w;
  ASSERT_TRUE(w.make(2)) << w.error.message;
  std::atomic<bool> stop{false}, trouble{false};
  std::thread trains([&] {
    while (!stop)
      if (!w.step(20)) trouble = true;
  });
  int refused = 0;
  for (int i = 0; i < 30; ++i) {
    const auto end = in_child(
        [&](std::string& text) {
          // Each of these works, or says at once that the other thread was inside.
          Work other;
          std::vector<float> y;
          loom_bytes sha = 0;
          const auto fair = [&](bool good, const loom_error& e) {
            if (!good) text = e.message;
            return good || e.code == LOOM_BUSY;
          };
          bool good = fair(loom_network_digest(w.network, &sha, &w.error) == LOOM_OK, w.error);
          good &= fair(w.run(y), w.error);
          good &= fair(w.step(1), w.error);
          return good && other.make(2) && other.run(y) && other.step(2);
        },
        {.seconds = 20});
    ASSERT_EQ(end.code, 0) << end.text;
    if (!end.text.empty()) {
      ++refused;
      EXPECT_NE(end.text.find("forked while another thread"), std::string::npos) << end.text;
    }
  }
  stop = true;
  trains.join();
  EXPECT_FALSE(trouble);
  EXPECT_GT(refused, 0) << "no fork met the other thread inside";
  for (const loom_handle h : {w.trainer, w.session, w.data, w.network})
    EXPECT_EQ(loom_release(h, nullptr), LOOM_OK);
}

}  // namespace
}  // namespace loom
