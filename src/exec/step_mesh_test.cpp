// A step mesh: what its ticks give, beside passes and values worked out by hand.
#include "exec/step_mesh.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "exec/session.h"
#include "support/stop_layer.h"

namespace loom {
namespace {

Network made(const std::string& text, std::uint64_t seed = 1) {
  Result<Network> n = Network::from_json(std::string_view(text));
  EXPECT_TRUE(n.ok()) << n.status().message();
  EXPECT_TRUE(n->initialize(seed).ok());
  return std::move(*n);
}

std::string topology(int cells, const std::string& input, const std::string& list,
                     bool step_mesh = true) {
  return R"({"format":"loom-topology","version":3,"depth":)" + std::to_string(cells) +
         R"(,"input":)" + input + R"(,"cells":[)" + list + "]" +
         (step_mesh ? R"(,"step_mesh":true})" : "}");
}

// The same cell so many times, one behind the other.
std::string chain(int cells, const std::string& cell, bool step_mesh = true) {
  std::string list;
  for (int i = 0; i < cells; ++i)
    list += std::string(i ? "," : "") + R"({"at":[)" + std::to_string(i) + ",0,0,0]," + cell + "}";
  return topology(cells, R"({"width":3})", list, step_mesh);
}

void set(Network& n, std::size_t cell, std::string_view role, std::vector<float> values) {
  WeightStore* store = n.find(n.path(cell), role);
  ASSERT_NE(store, nullptr);
  const std::span<float> master = store->mutable_master();
  ASSERT_EQ(master.size(), values.size());
  std::copy(values.begin(), values.end(), master.begin());
  store->touch();
}

std::vector<float> run(StepMesh& mesh, const std::vector<float>& x, std::int64_t ticks) {
  std::vector<float> y(static_cast<std::size_t>(mesh.streams() * ticks * mesh.output_width()));
  const Status ran = mesh.run(std::span<const float>(x), ticks, std::span<float>(y));
  EXPECT_TRUE(ran.ok()) << ran.message();
  return y;
}

StepMesh mesh_of(const Network& n, ThreadPool& pool, const StepMeshOptions& options = {}) {
  auto mesh = StepMesh::create(n, pool, options);
  EXPECT_TRUE(mesh.ok()) << mesh.status().message();
  return std::move(*mesh);
}

std::vector<float> ramp(std::size_t n) {
  std::vector<float> x(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = static_cast<float>(i % 17) / 8 - 1;
  return x;
}

// Empty cells, so that programs copy nothing but values: what a tick reads must be of the one
// before, whatever the order of the copies.
TEST(StepMesh, ALineOfCellsDelaysByATickEach) {
  for (const int cells : {1, 2, 5, 70}) {
    const Network n = made(topology(cells, R"({"width":3})", ""));
    ThreadPool pool(2);
    for (const std::int64_t max_ticks : {1, 64}) {
      StepMesh mesh = mesh_of(n, pool, {.streams = 2, .max_ticks = max_ticks});
      const std::int64_t ticks = 150;
      const std::vector<float> x = ramp(2 * 150 * 3), y = run(mesh, x, ticks);
      for (std::int64_t s = 0; s < 2; ++s)
        for (std::int64_t t = 0; t < ticks; ++t)
          for (std::int64_t i = 0; i < 3; ++i) {
            const auto at = static_cast<std::size_t>((s * ticks + t) * 3 + i);
            EXPECT_EQ(y[at], t < cells - 1 ? 0 : x[at - static_cast<std::size_t>(3 * (cells - 1))])
                << cells << " cells, tick " << t;
          }
      EXPECT_EQ(mesh.tick(), ticks);
    }
  }
}

// v0 = x - v1 and v1 = v0, each a tick later: an impulse goes around with the period 4.
const char* const kRing =
    R"({"at":[0,0,0,0],"type":"dense","out":1,"bias":false,"keep_previous":true,
        "links":[{"read":[1,0,0,0]}]},
       {"at":[1,0,0,0],"type":"dense","out":1,"bias":false})";

TEST(StepMesh, AnImpulseGoesAroundARing) {
  Network n = made(topology(2, R"({"width":1})", kRing));
  set(n, 0, "weight", {1, -1});
  set(n, 1, "weight", {1});
  ThreadPool pool(2);
  StepMesh mesh = mesh_of(n, pool);
  std::vector<float> x(203, 0);
  x[0] = 1;
  const std::vector<float> y = run(mesh, x, 203);
  const float wave[] = {0, 1, 0, -1};
  for (std::size_t t = 0; t < y.size(); ++t) EXPECT_EQ(y[t], wave[t % 4]) << t;
  EXPECT_EQ(mesh.value(0, 0)->at(0), -1);  // after 203 ticks, the third of its period
  EXPECT_EQ(mesh.value(1, 0)->at(0), 0);
}

TEST(StepMesh, AfterAsManyTicksAChainHasThePassesBits) {
  for (const char* dtype : {"f32", "f64", "f16", "bf16", "i8", "i4", "ternary", "binary"}) {
    const std::string cell =
        R"("type":"dense","out":3,"activation":"tanh","dtype":")" + std::string(dtype) + "\"";
    const Network n = made(chain(7, cell));
    Network plain = made(chain(7, cell, false));
    ThreadPool pool(2);
    auto session = Session::create(plain, pool);
    ASSERT_TRUE(session.ok()) << session.status().message();
    const std::vector<float> x{0.3f, -0.7f, 1.1f};
    const auto wanted = session->run(std::span<const float>(x), 1);
    ASSERT_TRUE(wanted.ok());
    StepMesh mesh = mesh_of(n, pool);
    const std::vector<float> y = run(mesh, x, 7);  // held
    EXPECT_TRUE(std::equal(wanted->begin(), wanted->end(), y.end() - 3)) << dtype;
    EXPECT_FALSE(std::equal(wanted->begin(), wanted->end(), y.end() - 6)) << dtype;
  }
}

// Containers and recurrent layers over the steps of a row work within a tick.
const char* const kMixed =
    R"({"at":[0,0,0,0],"type":"dense","out":6,"activation":"tanh","keep_previous":true,
        "links":[{"read":[2,0,0,0]}]},
       {"at":[1,0,0,0],"type":"sequential","layers":[{"type":"reshape","dims":[2,3]},
          {"type":"lstm","hidden":4},{"type":"flatten"},{"type":"dense","out":6}]},
       {"at":[2,0,0,0],"type":"layer_norm","merge":"add","links":[{"read":[0,0,0,0]},
          {"read":[1,0,0,0]}]})";

TEST(StepMesh, OneTickAtATimeAndManyAreTheSame) {
  const Network n = made(topology(3, R"({"width":3})", std::string(kMixed)));
  const std::vector<float> x = ramp(3 * 40 * 3);
  std::vector<float> first;
  for (const int threads : {1, 2, 3, 5, 17}) {
    ThreadPool pool(threads);
    for (const std::int64_t max_ticks : {1, 7, 64})
      for (const bool fuse : {true, false}) {
        StepMesh mesh =
            mesh_of(n, pool, {.streams = 3, .fuse = fuse, .poison = true, .max_ticks = max_ticks});
        const std::vector<float> y = run(mesh, x, 40);
        if (first.empty()) first = y;
        EXPECT_EQ(y, first) << threads << " threads, " << max_ticks << " ticks in a program";
      }
  }
  // Each stream alone gives what it gives beside others.
  ThreadPool pool(2);
  for (std::size_t s = 0; s < 3; ++s) {
    StepMesh mesh = mesh_of(n, pool);
    const std::vector<float> alone(x.begin() + static_cast<std::ptrdiff_t>(s * 120),
                                   x.begin() + static_cast<std::ptrdiff_t>((s + 1) * 120));
    const std::vector<float> y = run(mesh, alone, 40);
    EXPECT_TRUE(
        std::equal(y.begin(), y.end(), first.begin() + static_cast<std::ptrdiff_t>(s * y.size())));
  }
}

TEST(StepMesh, ASnapshotGoesOnBitForBit) {
  const Network n = made(topology(3, R"({"width":3})", std::string(kMixed)));
  ThreadPool pool(2);
  StepMesh mesh = mesh_of(n, pool, {.streams = 2});
  run(mesh, ramp(2 * 70 * 3), 70);
  const std::string at_70 = mesh.snapshot();
  const std::vector<float> x = ramp(2 * 33 * 3), y = run(mesh, x, 33);
  StepMesh other = mesh_of(n, pool, {.streams = 2, .max_ticks = 5});
  run(other, ramp(2 * 20 * 3), 20);  // in the larger program when the snapshot arrives
  ASSERT_TRUE(other.restore(at_70).ok());
  EXPECT_EQ(other.tick(), 70);
  EXPECT_EQ(other.snapshot(), at_70);
  EXPECT_EQ(run(other, x, 33), y);
  ASSERT_TRUE(mesh.reset().ok());
  EXPECT_EQ(mesh.tick(), 0);
  StepMesh fresh = mesh_of(n, pool, {.streams = 2});
  EXPECT_EQ(mesh.snapshot(), fresh.snapshot());
  EXPECT_EQ(run(mesh, x, 33), run(fresh, x, 33));

  for (const std::size_t cut :
       {std::size_t{0}, std::size_t{7}, std::size_t{40}, at_70.size() - 1}) {
    const Status refused = mesh.restore(std::string_view(at_70).substr(0, cut));
    EXPECT_EQ(refused.code(), Code::corrupt) << cut;
  }
  StepMesh three = mesh_of(n, pool, {.streams = 3});
  EXPECT_EQ(three.restore(at_70).code(), Code::invalid_argument);
  const Network wider =
      made(topology(3, R"({"width":3})", R"({"at":[0,0,0,0],"type":"dense","out":7})"));
  StepMesh another = mesh_of(wider, pool, {.streams = 2});
  EXPECT_EQ(another.restore(at_70).code(), Code::invalid_argument);
}

// A layer in the middle of a tick cancels the run, or one behind it fails: the mesh is as after the
// ticks that are done, and goes on as one that nobody stopped.
TEST(StepMesh, ACancelledRunIsAsAfterItsLastTick) {
  using namespace test::stop;
  flag = false, countdown = 0;
  ASSERT_TRUE(register_custom_layer(std::make_shared<Stop>()).ok());
  {
    std::string list(kMixed);
    list += R"(,{"at":[3,0,0,0],"type":"custom","layer":"test.stop"},
        {"at":[4,0,0,0],"type":"dense","out":2})";
    const Network n = made(topology(5, R"({"width":3})", list));
    for (const int threads : {1, 3}) {
      ThreadPool pool(threads);
      const std::vector<float> x = ramp(2 * 40 * 3);
      StepMesh whole = mesh_of(n, pool, {.streams = 2});
      const std::vector<float> wanted = run(whole, x, 40);
      for (const std::int64_t max_ticks : {1, 7})
        for (const int stop : {1, 5, 20}) {
          StepMesh mesh = mesh_of(n, pool, {.streams = 2, .cancel = &flag, .max_ticks = max_ticks});
          std::vector<float> y(wanted.size());
          countdown = stop;
          const Status cut = mesh.run(std::span<const float>(x), 40, std::span<float>(y));
          EXPECT_EQ(cut.code(), Code::cancelled) << cut.message();
          flag = false;
          const std::int64_t done = mesh.tick();
          EXPECT_LT(done, stop);
          EXPECT_EQ(done % max_ticks, 0);
          StepMesh until = mesh_of(n, pool, {.streams = 2});
          std::vector<float> begin, rest;
          for (std::size_t s = 0; s < 2; ++s) {
            const auto at = x.begin() + static_cast<std::ptrdiff_t>(s * 120);
            begin.insert(begin.end(), at, at + 3 * done);
            rest.insert(rest.end(), at + 3 * done, at + 120);
          }
          if (done > 0) run(until, begin, done);
          EXPECT_EQ(mesh.snapshot(), until.snapshot());
          run(mesh, rest, 40 - done);
          EXPECT_EQ(mesh.snapshot(), whole.snapshot()) << max_ticks << ", " << stop;
        }
    }
  }
  EXPECT_TRUE(unregister_custom_layer("test.stop", 1).ok());
}

TEST(StepMesh, TheLastTickAloneIsTheLastOfAll) {
  const Network n = made(topology(3, R"({"width":3})", std::string(kMixed)));
  ThreadPool pool(2);
  for (const std::int64_t ticks : {1, 2, 7, 8, 40}) {
    StepMesh whole = mesh_of(n, pool, {.streams = 2, .max_ticks = 7});
    StepMesh mesh = mesh_of(n, pool, {.streams = 2, .max_ticks = 7});
    const std::vector<float> x = ramp(static_cast<std::size_t>(2 * ticks * 3));
    const std::vector<float> all = run(whole, x, ticks);
    const auto width = static_cast<std::size_t>(mesh.output_width());
    std::vector<float> last(2 * width);
    ASSERT_TRUE(mesh.run(std::span<const float>(x), ticks, std::span<float>(last)).ok());
    for (std::size_t s = 0; s < 2; ++s)
      EXPECT_TRUE(std::equal(
          last.begin() + static_cast<std::ptrdiff_t>(s * width),
          last.begin() + static_cast<std::ptrdiff_t>((s + 1) * width),
          all.begin() +
              static_cast<std::ptrdiff_t>(((s + 1) * static_cast<std::size_t>(ticks) - 1) * width)))
          << ticks;
  }
}

// A LoRA adapter beside the weights: a chain has the bits of the adapted pass.
TEST(StepMesh, RunsWithAnAdapter) {
  const std::string cell = R"("type":"dense","out":3,"activation":"tanh")";
  Network n = made(chain(3, cell)), plain = made(chain(3, cell, false));
  const auto places = adapter_places(plain);
  auto adapter = Adapter::create(plain, places, {.rank = 2, .targets = {"weight"}}, 5);
  ASSERT_TRUE(adapter.ok()) << adapter.status().message();
  auto shared = std::make_shared<Adapter>(std::move(*adapter));
  for (const Adapter::Target& t : shared->targets) {
    const std::span<float> b = t.b->mutable_master();
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = 0.1f * static_cast<float>(i + 1);
    t.b->touch();
  }
  ThreadPool pool(2);
  const std::vector<float> x{0.3f, -0.7f, 1.1f};
  auto session = Session::create(plain, pool, {.adapter = shared});
  ASSERT_TRUE(session.ok()) << session.status().message();
  const auto wanted = session->run(std::span<const float>(x), 1);
  ASSERT_TRUE(wanted.ok());
  StepMesh mesh = mesh_of(n, pool, {.adapter = shared});
  const std::vector<float> y = run(mesh, x, 3);
  EXPECT_TRUE(std::equal(wanted->begin(), wanted->end(), y.end() - 3));
  StepMesh without = mesh_of(n, pool);
  EXPECT_NE(run(without, x, 3), y);
}

TEST(StepMesh, IdsArriveTickByTick) {
  const std::string cells = R"({"at":[0,0,0,0],"type":"embedding","out":2},
       {"at":[1,0,0,0],"type":"dense","out":2,"keep_previous":true,"links":[{"read":[1,0,0,0]}]})";
  const Network n = made(topology(2, R"({"ids":5})", cells));
  ThreadPool pool(2);
  const std::vector<std::uint32_t> ids{1, 4, 0, 2, 3, 3, 1, 0, 4, 2, 2, 1};
  std::vector<float> first;
  for (const std::int64_t max_ticks : {1, 3}) {
    StepMesh mesh = mesh_of(n, pool, {.streams = 2, .max_ticks = max_ticks});
    std::vector<float> y(2 * 6 * 2);
    const Status ran = mesh.run(std::span<const std::uint32_t>(ids), 6, std::span<float>(y));
    ASSERT_TRUE(ran.ok()) << ran.message();
    if (first.empty()) first = y;
    EXPECT_EQ(y, first);
  }
  EXPECT_NE(first[2], first[4]);
}

TEST(StepMesh, TellsWhatItDoesNotRun) {
  ThreadPool pool(1);
  const auto refusal = [&](const std::string& text) -> std::string {
    auto n = Network::from_json(std::string_view(text));
    if (!n.ok()) return n.status().message();
    auto mesh = StepMesh::create(*n, pool);
    return mesh.ok() ? "" : mesh.status().message();
  };
  const auto has = [&](const std::string& text, const std::string& part) {
    const std::string said = refusal(text);
    EXPECT_NE(said.find(part), std::string::npos) << part << ": " << said;
  };
  has(topology(2, R"({"width":1})", kRing, false), "\"step_mesh\": true");
  // A cycle of layers that give what arrives.
  const std::string norms = R"({"at":[0,0,0,0],"type":"layer_norm","keep_previous":true,
      "merge":"add","links":[{"read":[1,0,0,0]}] SHAPE},{"at":[1,0,0,0],"type":"layer_norm"})";
  const auto with = [&](const std::string& shape) {
    std::string text = norms;
    text.replace(text.find(" SHAPE"), 6, shape);
    return topology(2, R"({"width":4})", text);
  };
  has(with(""), "\"shape\"");
  EXPECT_EQ(refusal(with(R"(,"shape":[4])")), "");
  has(with(R"(,"shape":[5])"), "(0,0,0,0)");
  has(topology(1, R"({"width":4})", R"({"at":[0,0,0,0],"type":"gru","hidden":3,"stateful":true})"),
      "gru at 0.0.0.0 looks at other rows");
  has(topology(1, R"({"parts":[{"name":"a","width":1},{"name":"b","width":2}]})",
               R"({"at":[0,0,0,0],"type":"part","of":"a"})"),
      "several inputs");
  has(topology(1, R"({"ids":4})", ""), "no layer gives anything but ids");
  Network ring = made(topology(2, R"({"width":1})", kRing));
  auto pass = Session::create(ring, pool);
  ASSERT_FALSE(pass.ok());
  EXPECT_NE(pass.status().message().find("runs by ticks"), std::string::npos);

  StepMesh mesh = mesh_of(ring, pool);
  std::vector<float> x(3), y(5);
  EXPECT_FALSE(mesh.run(std::span<const float>(x), 2, std::span<float>(y).first(2)).ok());
  EXPECT_FALSE(mesh.run(std::span<const float>(x), 3, std::span<float>(y)).ok());
  EXPECT_FALSE(mesh.run(std::span<const float>(x), 0, std::span<float>()).ok());
  EXPECT_FALSE(mesh.run(std::span<const float>(x), INT64_MAX, std::span<float>()).ok());
  const std::vector<double> wide(3);
  EXPECT_FALSE(mesh.run(std::span<const double>(wide), 3, std::span<float>()).ok());
  EXPECT_EQ(mesh.tick(), 0);
  EXPECT_EQ(mesh.value(2, 0).status().code(), Code::out_of_range);
  EXPECT_FALSE(StepMesh::create(ring, pool, {.streams = 0}).ok());
  EXPECT_EQ(StepMesh::create(ring, pool, {.auto_device = true}).status().code(), Code::unsupported);
}

}  // namespace
}  // namespace loom
