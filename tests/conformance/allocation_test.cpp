// Nothing is allocated while a network runs or learns: this program counts every operator new.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "exec/session.h"
#include "online/online.h"
#include "train/learner/learner.h"

namespace {
std::atomic<long> allocations{0};

void* counted(std::size_t size, std::size_t align) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  void* p = nullptr;
  if (posix_memalign(&p, align < sizeof(void*) ? sizeof(void*) : align, size) != 0)
    throw std::bad_alloc();
  return p;
}
}  // namespace

// The other forms end in these.
void* operator new(std::size_t size) { return counted(size, sizeof(void*) * 2); }
void* operator new(std::size_t size, std::align_val_t align) {
  return counted(size, static_cast<std::size_t>(align));
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }

namespace loom {
namespace {

Network decoder(const char* dtype) {
  const std::string f = R"(,"dtype":")" + std::string(dtype) + "\"";
  auto n = Network::from_json(std::string_view(
      R"({"format":"loom-topology","version":1,"layers_per_cell":4,"input":{"ids":11},"head":[0,0,0,2],"cells":[
{"at":[0,0,0,0],"type":"embedding","out":16)" +
      f + R"(},{"at":[0,0,0,1],"type":"sequential")" + f +
      R"(,"layers":[{"type":"sequential","layers":[{"type":"rms_norm"},
{"type":"attention","heads":2,"kv_heads":1}]},{"type":"residual"},{"type":"sequential","layers":[{"type":"rms_norm"},{"type":"swiglu","hidden":24}]},{"type":"residual"}]},
{"at":[0,0,0,2],"type":"rms_norm"},{"at":[0,0,0,3],"type":"dense","out":11,"bias":false)" +
      f + "}]}"));
  EXPECT_TRUE(n.ok()) << n.status().to_string();
  EXPECT_TRUE(n->initialize(1).ok());
  return std::move(*n);
}

class Allocation : public testing::TestWithParam<const char*> {};

TEST_P(Allocation, NoneWhileASessionRuns) {
  Network n = decoder(GetParam());
  ThreadPool pool(2);
  auto session = Session::create(n, pool, {.max_rows = 8, .max_positions = 64, .sequences = 2});
  ASSERT_TRUE(session.ok()) << session.status().to_string();
  const std::uint32_t ids[] = {1, 2, 3, 4, 5}, sequences[] = {0, 0, 1, 1, 1},
                      positions[] = {0, 1, 0, 1, 2}, head[] = {1};
  const std::uint32_t again[] = {0, 0, 0, 0, 0}, ascending[] = {0, 1, 2, 3, 4};
  ASSERT_TRUE(session->run_tokens(ids, sequences, positions, head).ok());
  const long before = allocations.load();
  ASSERT_GT(before, 0) << "the counter does not count";
  bool ok = true;
  for (std::uint32_t p = 3; p < 40; ++p) {
    const std::uint32_t id[] = {p % 11}, sequence[] = {1}, position[] = {p}, last[] = {0};
    ok = ok && session->run_tokens(id, sequence, position, last).ok() &&
         session->output(0)[0] == session->output(0)[0];
    ok = ok && session->run_tokens(ids, again, ascending, head).ok();
  }
  EXPECT_EQ(allocations.load(), before);
  EXPECT_TRUE(ok);
}

// Counts what it is told.
struct Counter : Observer {
  Status begin(const std::vector<ObservedCell>&) override { return {}; }
  Status on_forward(const CellEvent& event) override {
    values += event.statistics.count;
    return {};
  }
  std::int64_t values = 0;
};

TEST_P(Allocation, NoneWhileASessionIsObserved) {
  Network n = decoder(GetParam());
  ThreadPool pool(2);
  auto session = Session::create(n, pool, {.max_rows = 8, .max_positions = 64, .sequences = 2});
  ASSERT_TRUE(session.ok());
  Counter counter;
  WindowObserver window(3, counter);
  ASSERT_TRUE(session->observe(&window, {.every = 2}).ok());  // the programs take turns
  const auto run = [&](std::uint32_t p) {
    const std::uint32_t id[] = {p % 11}, sequence[] = {1}, position[] = {p}, last[] = {0};
    return session->run_tokens(id, sequence, position, last).ok();
  };
  bool ok = run(0) && run(1);
  const long before = allocations.load();
  for (std::uint32_t p = 2; p < 40; ++p) ok = ok && run(p);
  EXPECT_EQ(allocations.load(), before);
  EXPECT_TRUE(ok);
  EXPECT_GT(counter.values, 0);
}

TEST_P(Allocation, NoneWhileALearnerLearns) {
  Network n = decoder(GetParam());
  ThreadPool pool(2);
  auto learner = Learner::create(
      n, pool,
      {.loss = Loss::cross_entropy, .max_rows = 8, .max_positions = 8, .micro_batches = 2});
  ASSERT_TRUE(learner.ok()) << learner.status().to_string();
  const std::uint32_t ids[] = {1, 2, 3, 4, 5}, positions[] = {0, 1, 0, 1, 2};
  const std::int32_t target[] = {2, 3, 4, 5, kIgnoredClass};
  ASSERT_TRUE(learner->batch(std::span(ids), std::span(positions), std::span(target)).ok());
  ASSERT_TRUE(learner->accumulate().ok());
  const long before = allocations.load();
  bool ok = true;
  for (int i = 0; i < 10; ++i) {
    ok = ok && learner->batch(std::span(ids), std::span(positions), std::span(target)).ok();
    ok = ok && learner->accumulate(i % 2).ok() && learner->loss_sum() > 0;
  }
  EXPECT_EQ(allocations.load(), before);
  EXPECT_TRUE(ok);
}

TEST_P(Allocation, NoneWhileAnOnlineLearnerAnswers) {
  const std::string f = R"(,"dtype":")" + std::string(GetParam()) + "\"";
  auto n = Network::from_json(std::string_view(
      R"({"format":"loom-topology","version":3,"layers_per_cell":2,"input":{"width":9},"cells":[
{"at":[0,0,0,0],"type":"dense","out":16)" +
      f + R"(},{"at":[0,0,0,1],"type":"dense","out":3)" + f + "}]}"));
  ASSERT_TRUE(n.ok() && n->initialize(1).ok());
  ThreadPool pool(1);
  const auto spec = parse_online_spec(*Json::parse(R"({"loss":"cross_entropy","batch":4})"));
  ASSERT_TRUE(spec.ok()) << spec.status().to_string();
  OnlineOptions options;
  options.tracker.window = 3;
  auto learner = OnlineLearner::create(*spec, *n, pool, options);
  ASSERT_TRUE(learner.ok()) << learner.status().to_string();
  std::vector<float> x(18, 0.5f), y(6);
  const std::int32_t classes[] = {1, 2};
  bool ok = true;
  long allocated = 0;
  for (std::int64_t i = 0; i < 2000; ++i) {
    const long before = allocations.load();
    ok = ok && (*learner)->answer(x, y).ok();
    allocated += allocations.load() - before;
    OnlineLearner::Learned learned;
    if (i % 100 == 0)
      ok =
          ok && (*learner)->feedback(2 * i, classes).ok() && (*learner)->learn(-1, 2, learned).ok();
  }
  EXPECT_EQ(allocated, 0);
  EXPECT_TRUE(ok);
}

INSTANTIATE_TEST_SUITE_P(Formats, Allocation, testing::Values("f32", "i4", "bf16"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace loom
