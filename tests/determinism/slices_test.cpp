// Runs in slices: whatever the deadlines, the bits are those of a run that is not cut.
#include <gtest/gtest.h>

#include <algorithm>

#include "exec/session.h"

namespace loom {
namespace {

using Floats = std::vector<float>;

Network network_of(const std::string& layers, const std::string& dtype = "f32") {
  auto n = Network::from_json(std::string_view(
      R"({"format":"loom-topology","version":3,"layers_per_cell":1,"input":{"width":24},"cells":[{"at":[0,0,0,0],"type":"sequential","dtype":")" +
      dtype + R"(","layers":[)" + layers + "]}]}"));
  EXPECT_TRUE(n.ok()) << n.status().to_string();
  EXPECT_TRUE(n->initialize(5).ok());
  return std::move(*n);
}

constexpr const char* kDeep =
    R"({"type":"dense","out":32,"activation":"gelu"},{"type":"sequential","layers":[{"type":"layer_norm"},{"type":"dense","out":32}]},{"type":"residual"},{"type":"swiglu","hidden":48},{"type":"softmax"},{"type":"dense","out":7})";

Floats values(std::size_t count) {
  Floats x(count);
  for (std::size_t i = 0; i < count; ++i) x[i] = static_cast<float>((i * 37) % 101) / 50 - 1;
  return x;
}

// Slices until it is done: how many.
int in_slices(Executor& executor, std::int64_t deadline) {
  auto done = executor.run_until(Segment::forward, Segment::forward, deadline);
  int slices = 1;
  for (; done.ok() && !*done; ++slices) done = executor.resume(deadline);
  EXPECT_TRUE(done.ok()) << done.status().to_string();
  return slices;
}

TEST(Slices, HaveTheBitsOfOneRun) {
  for (const char* dtype : {"f32", "f64", "i8", "binary"})
    for (const int threads : {1, 2, 5}) {
      SCOPED_TRACE(std::string(dtype) + " on " + std::to_string(threads));
      Network network = network_of(kDeep, dtype);
      ThreadPool pool(threads);
      auto session = Session::create(network, pool, {.max_rows = 16, .poison = true});
      ASSERT_TRUE(session.ok()) << session.status().to_string();
      const Floats x = values(16 * 24);
      ASSERT_TRUE(session->run(x, 16).ok());
      const auto all = [&] {
        Floats y;
        for (int r = 0; r < 16; ++r) std::ranges::copy(session->output(r), std::back_inserter(y));
        return y;
      };
      const Floats whole = all();
      Executor& executor = session->executor();
      // A deadline that has passed: one instruction each where a worker is alone.
      const int slices = in_slices(executor, 0);
      EXPECT_EQ(all(), whole);
      if (threads == 1) EXPECT_EQ(slices, static_cast<int>(executor.instructions()));
      else EXPECT_EQ(slices, executor.barriers() + 1);
      EXPECT_EQ(in_slices(executor, Executor::kNoDeadline), 1);
      EXPECT_EQ(all(), whole);
    }
}

TEST(Slices, AreDroppedByAnotherRun) {
  Network network = network_of(kDeep);
  ThreadPool pool(1);
  auto session = Session::create(network, pool, {.max_rows = 4});
  ASSERT_TRUE(session.ok());
  const Floats x = values(4 * 24);
  ASSERT_TRUE(session->run(x, 4).ok());
  Executor& executor = session->executor();
  EXPECT_EQ(executor.resume(0).status().code(), Code::invalid_argument);
  ASSERT_FALSE(*executor.run_until(Segment::forward, Segment::forward, 0));
  ASSERT_TRUE(executor.run(Segment::forward, Segment::forward).ok());
  EXPECT_EQ(executor.resume(0).status().code(), Code::invalid_argument);
}

TEST(Slices, AreCancelledBetweenThem) {
  Network network = network_of(kDeep);
  ThreadPool pool(1);
  std::atomic<bool> cancel{false};
  auto session = Session::create(network, pool, {.max_rows = 4, .cancel = &cancel});
  ASSERT_TRUE(session.ok());
  const Floats x = values(4 * 24);
  ASSERT_TRUE(session->run(x, 4).ok());
  Executor& executor = session->executor();
  ASSERT_FALSE(*executor.run_until(Segment::forward, Segment::forward, 0));
  cancel = true;
  EXPECT_EQ(executor.resume(0).status().code(), Code::cancelled);
  cancel = false;
  EXPECT_EQ(executor.resume(0).status().code(), Code::invalid_argument);
  EXPECT_EQ(in_slices(executor, 0), static_cast<int>(executor.instructions()));
}

}  // namespace
}  // namespace loom
