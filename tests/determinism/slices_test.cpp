// Runs in slices: whatever the deadlines, the bits are those of a run that is not cut.
#include <gtest/gtest.h>

#include <algorithm>

#include "exec/session.h"
#include "exec/step_mesh.h"

namespace loom {
namespace {

using Floats = std::vector<float>;

Network network_of(const std::string& layers, const std::string& dtype = "f32",
                   const std::string& input = R"({"width":24})") {
  auto n = Network::from_json(
      std::string_view(R"({"format":"loom-topology","version":3,"layers_per_cell":1,"input":)" +
                       input + R"(,"cells":[{"at":[0,0,0,0],"type":"sequential","dtype":")" +
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

// The same call again until it is done, with a deadline that has passed; how many calls.
template <class Run>
int again(const Run& run) {
  for (int calls = 1; calls < 10000; ++calls) {
    const Status status = run();
    if (status.ok()) return calls;
    EXPECT_EQ(status.code(), Code::paused) << status.to_string();
    if (status.code() != Code::paused) return -1;
  }
  return -1;
}

struct Places {
  std::vector<std::uint32_t> sequences, positions;
};
Places places(std::uint32_t first, std::uint32_t last) {
  Places p;
  for (std::uint32_t i = first; i < last; ++i) p.sequences.push_back(0), p.positions.push_back(i);
  return p;
}
Status run(Session& s, std::uint32_t first, std::uint32_t last, std::uint32_t text = 1) {
  const Places p = places(first, last);
  std::vector<std::uint32_t> ids;
  for (const std::uint32_t i : p.positions) ids.push_back((i * 5 + text) % 9);
  return s.run_tokens(ids, p.sequences, p.positions, {});
}
Floats outputs(Session& s, int rows) {
  Floats y;
  for (int r = 0; r < rows; ++r) std::ranges::copy(s.output(r), std::back_inserter(y));
  return y;
}

constexpr const char* kAttention =
    R"({"type":"embedding","out":8},{"type":"attention","heads":4},{"type":"dense","out":5})";
constexpr const char* kGru =
    R"({"type":"embedding","out":8},{"type":"gru","hidden":9},{"type":"dense","out":5})";

TEST(Slices, OfASessionContinueWithItsCachesAndStates) {
  for (const char* layers : {kAttention, kGru}) {
    SCOPED_TRACE(layers);
    Network network = network_of(layers, "f32", R"({"ids":9})");
    ThreadPool pool(1);
    auto cut = Session::create(network, pool, {.max_rows = 8}),
         whole = Session::create(network, pool, {.max_rows = 8});
    ASSERT_TRUE(cut.ok() && whole.ok());
    ASSERT_TRUE(cut->pause_at(0).ok());
    for (const auto& [first, last] : {std::pair{0u, 6u}, {6u, 7u}, {7u, 12u}}) {
      EXPECT_GT(again([&, f = first, l = last] { return run(*cut, f, l); }), 2);
      ASSERT_TRUE(run(*whole, first, last).ok());
      EXPECT_EQ(outputs(*cut, static_cast<int>(last - first)),
                outputs(*whole, static_cast<int>(last - first)));
    }
    // No deadline any more: what had begun ends at once.
    ASSERT_EQ(run(*cut, 12, 14).code(), Code::paused);
    ASSERT_TRUE(cut->pause_at(Executor::kNoDeadline).ok());
    ASSERT_TRUE(run(*cut, 12, 14).ok() && run(*whole, 12, 14).ok());
    EXPECT_EQ(outputs(*cut, 2), outputs(*whole, 2));
  }
}

TEST(Slices, AreRefusedWhereARunIsOnePiece) {
  Network network = network_of(kDeep);
  ThreadPool pool(1);
  auto session = Session::create(network, pool, {.max_rows = 4});
  ASSERT_TRUE(session.ok());
  Recorder events(4);
  ASSERT_TRUE(session->observe(&events).ok());
  EXPECT_EQ(session->pause_at(0).code(), Code::unsupported);
  EXPECT_TRUE(session->pause_at(Executor::kNoDeadline).ok());
  ASSERT_TRUE(session->observe(nullptr).ok());
  EXPECT_TRUE(session->pause_at(0).ok());
  auto watches = Session::create(network, pool, {.max_rows = 4, .watch = true});
  ASSERT_TRUE(watches.ok());
  EXPECT_EQ(watches->pause_at(0).code(), Code::unsupported);
}

// Its rows count as not given.
TEST(Slices, OfASessionAreDroppedByOtherArguments) {
  Network network = network_of(kAttention, "f32", R"({"ids":9})");
  ThreadPool pool(1);
  auto cut = Session::create(network, pool, {.max_rows = 8}),
       whole = Session::create(network, pool, {.max_rows = 8});
  ASSERT_TRUE(cut.ok() && whole.ok());
  ASSERT_TRUE(run(*cut, 0, 6).ok() && run(*whole, 0, 3).ok());
  ASSERT_TRUE(cut->pause_at(0).ok());
  ASSERT_EQ(run(*cut, 3, 6).code(), Code::paused);
  EXPECT_EQ(run(*cut, 5, 6).code(), Code::out_of_range);  // 3 to 5 may be half another's
  EXPECT_GT(again([&] { return run(*cut, 3, 5, 2); }), 2);
  ASSERT_TRUE(run(*whole, 3, 5, 2).ok());
  EXPECT_EQ(outputs(*cut, 2), outputs(*whole, 2));

  Network recurs = network_of(kGru, "f32", R"({"ids":9})");
  auto state = Session::create(recurs, pool, {.max_rows = 8});
  ASSERT_TRUE(state.ok() && run(*state, 0, 4).ok() && state->pause_at(0).ok());
  ASSERT_EQ(run(*state, 4, 6).code(), Code::paused);
  ASSERT_TRUE(state->refresh().ok());  // as a change of the weights does
  EXPECT_EQ(run(*state, 4, 6).code(), Code::out_of_range);
}

constexpr const char* kRing =
    R"({"format":"loom-topology","version":3,"depth":3,"step_mesh":true,"input":{"width":3},"cells":[
{"at":[0,0,0,0],"type":"sequential","layers":[{"type":"dense","out":6},{"type":"layer_norm"},{"type":"dense","out":3,"activation":"tanh"}]},
{"at":[1,0,0,0],"type":"dense","out":3,"merge":"add","links":[{"read":[0,0,0,0]},{"read":[2,0,0,0]}]},
{"at":[2,0,0,0],"type":"gru","hidden":3}]})";

TEST(Slices, OfAMeshContinueAndShowWholeTicks) {
  auto network = Network::from_json(std::string_view(kRing));
  ASSERT_TRUE(network.ok()) << network.status().to_string();
  ASSERT_TRUE(network->initialize(3).ok());
  for (const int threads : {1, 3}) {
    ThreadPool pool(threads);
    auto cut = StepMesh::create(*network, pool, {.streams = 2, .max_ticks = 4}),
         whole = StepMesh::create(*network, pool, {.streams = 2, .max_ticks = 4});
    ASSERT_TRUE(cut.ok() && whole.ok()) << cut.status().to_string();
    const Floats x = values(2 * 11 * 3);
    Floats expected(x.size()), y(x.size());
    ASSERT_TRUE(whole->run(std::span<const float>(x), 11, std::span(expected)).ok());
    cut->pause_at(0);
    std::int64_t tick = 0;
    const int calls = again([&] {
      std::ranges::fill(y, 0.0f);  // other memory than before, as bindings have it
      const Status status = cut->run(std::span<const float>(x), 11, std::span(y));
      EXPECT_GE(cut->tick(), tick);
      tick = cut->tick();
      // A look between slices sees a whole tick, and disturbs nothing.
      auto seen = StepMesh::create(*network, pool, {.streams = 2});
      EXPECT_TRUE(seen->restore(cut->snapshot()).ok());
      EXPECT_EQ(*seen->value(1, 1), *cut->value(1, 1));
      return status;
    });
    EXPECT_GT(calls, 11 / 4);
    EXPECT_EQ(y, expected);
    EXPECT_EQ(cut->snapshot(), whole->snapshot());

    // Another run drops it: the mesh is as after its last tick.
    const std::string before = cut->snapshot();
    Floats other(2 * 3);
    ASSERT_EQ(cut->run(std::span<const float>(x), 11, std::span(y)).code(), Code::paused);
    ASSERT_EQ(cut->tick(), 11);
    EXPECT_EQ(cut->snapshot(), before);
    EXPECT_GT(again([&] { return cut->run(std::span(x).first(6), 1, std::span(other)); }), 0);
    Floats plain(2 * 3);
    ASSERT_TRUE(whole->run(std::span(x).first(6), 1, std::span(plain)).ok());
    EXPECT_EQ(other, plain);
  }
}

}  // namespace
}  // namespace loom
