// Cells of a step mesh that run as one instruction have the bits that they have one by one.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include "exec/step_mesh.h"
#include "ops/cpu/isa.h"

namespace loom {
namespace {

Network made(const std::string& text, std::uint64_t seed) {
  Result<Network> n = Network::from_json(std::string_view(text));
  EXPECT_TRUE(n.ok()) << n.status().message() << "\n" << text;
  EXPECT_TRUE(n->initialize(seed).ok());
  return std::move(*n);
}

StepMesh mesh_of(const Network& n, ThreadPool& pool, const StepMeshOptions& options) {
  auto mesh = StepMesh::create(n, pool, options);
  EXPECT_TRUE(mesh.ok()) << mesh.status().message();
  return std::move(*mesh);
}

bool has_groups(const StepMesh& mesh) {
  return std::ranges::any_of(mesh.program().code,
                             [](const Instruction& i) { return i.op == Op::cell_products; });
}

std::vector<float> inputs(std::size_t n, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<float> x(n);
  for (float& v : x)
    v = static_cast<float>(static_cast<std::int64_t>(random() % 4001) - 2000) / 500;
  return x;
}

std::vector<float> run(StepMesh& mesh, const std::vector<float>& x, std::int64_t ticks) {
  std::vector<float> y(static_cast<std::size_t>(mesh.streams() * ticks * mesh.output_width()));
  const Status ran = mesh.run(std::span<const float>(x), ticks, std::span<float>(y));
  EXPECT_TRUE(ran.ok()) << ran.message();
  return y;
}

bool same(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof a[0]) == 0;
}

// Dense cells of a few widths, activations and dtypes, other layers, cells that are empty or
// switched off, and links to anywhere.
// `ahead`: the largest number of cells that a link goes ahead; -1: to any.
std::string random_mesh(std::uint64_t seed, int cells, int width, bool mixed, int ahead = -1) {
  std::mt19937_64 random(seed);
  const auto below = [&](std::uint64_t n) { return static_cast<int>(random() % n); };
  const char* const activations[] = {"tanh", "relu", "linear", "gelu", "silu"};
  const char* const dtypes[] = {"f64", "f16", "bf16", "i8", "ternary"};
  std::string list;
  for (int i = 0; i < cells; ++i) {
    const int kind = mixed ? below(12) : 11;
    if (kind == 0) continue;  // empty
    std::string cell = R"("type":"dense","out":)" + std::to_string(width);
    cell += R"(,"activation":")" + std::string(activations[below(mixed ? 5 : 2)]) + "\"";
    if (kind == 1) cell += R"(,"dtype":")" + std::string(dtypes[below(5)]) + "\"";
    if (kind == 2) cell += R"(,"enabled":false)";
    if (kind == 3) cell = R"("type":"rms_norm")";
    if (kind == 4) cell += R"(,"dtype":"i16:block16")";
    if (below(4) == 0 && kind > 4) cell += R"(,"bias":false)";
    const bool sum = mixed && below(6) == 0;
    if (below(3) == 0 || sum) {
      const int end = ahead < 0 ? cells : std::min(cells, i + 1 + ahead);
      const std::string read = std::to_string(below(static_cast<std::uint64_t>(end)));
      cell += R"(,"links":[{"read":[)" + read + ",0,0,0]}]";
      if (sum) cell += R"(,"keep_previous":true,"merge":"add")";
    }
    list += std::string(list.empty() ? "" : ",") + R"({"at":[)" + std::to_string(i) + ",0,0,0]," +
            cell + ",\"shape\":[" + std::to_string(width) + "]}";
  }
  return R"({"format":"loom-topology","version":3,"step_mesh":true,"depth":)" +
         std::to_string(cells) + R"(,"input":{"width":)" + std::to_string(width) +
         R"(},"cells":[)" + list + "]}";
}

TEST(StepMeshGroups, HaveTheBitsOfTheirCells) {
  int grouped = 0;
  for (std::uint64_t seed = 0; seed < 18; ++seed) {
    const int widths[] = {1, 3, 8, 17, 33, 70};
    const int width = widths[seed % 6], cells = 40 + static_cast<int>(seed * 13 % 150);
    const Network n = made(random_mesh(seed, cells, width, seed % 3 != 0), seed);
    const std::int64_t streams = seed % 2 ? 3 : 1, ticks = 71;
    const std::vector<float> x = inputs(static_cast<std::size_t>(streams * ticks * width), seed);
    ThreadPool alone(1);
    StepMesh one_by_one = mesh_of(n, alone, {.streams = streams, .group = false});
    EXPECT_FALSE(has_groups(one_by_one));
    const std::vector<float> wanted = run(one_by_one, x, ticks);
    const std::string state = one_by_one.snapshot();
    for (const std::string_view isa : cpu::available_isas()) {
      for (const int threads : {1, 2, 17}) {
        for (const std::int64_t max_ticks : {1, 3, 64}) {
          if (threads > 1 && (isa != "generic" || max_ticks == 3)) continue;
          ThreadPool pool(threads);
          StepMesh mesh = mesh_of(n, pool,
                                  {.streams = streams,
                                   .isa = std::string(isa),
                                   .poison = true,
                                   .max_ticks = max_ticks});
          grouped += has_groups(mesh);
          EXPECT_TRUE(same(run(mesh, x, ticks), wanted))
              << seed << ", " << isa << ", " << threads << " threads, " << max_ticks;
          EXPECT_EQ(mesh.snapshot(), state) << seed << ", " << isa;
        }
      }
    }
  }
  EXPECT_GT(grouped, 80);
}

std::ptrdiff_t products(const StepMesh& mesh) {
  return std::ranges::count(mesh.program().code, Op::cell_products, &Instruction::op);
}

// A part runs several ticks before the next one begins.
TEST(StepMeshGroups, HaveTheBitsOfTheirCellsInParts) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const int widths[] = {1, 3, 8, 17};
    const int width = widths[seed % 4], cells = 200 + static_cast<int>(seed * 13 % 150);
    const Network n = made(random_mesh(seed, cells, width, seed % 2 != 0, seed % 3), seed);
    const std::int64_t streams = seed % 2 ? 3 : 1, ticks = 45;
    const std::vector<float> x = inputs(static_cast<std::size_t>(streams * ticks * width), seed);
    ThreadPool alone(1);
    StepMesh one_by_one = mesh_of(n, alone, {.streams = streams, .group = false});
    const std::vector<float> wanted = run(one_by_one, x, ticks);
    const std::string state = one_by_one.snapshot();
    const auto cell_bytes = static_cast<std::size_t>(4 * width * (width + 1));
    for (const int threads : {1, 2, 17})
      for (const std::size_t of_part : {20, 70}) {
        ThreadPool pool(threads);
        StepMesh mesh = mesh_of(
            n, pool, {.streams = streams, .poison = true, .part_bytes = of_part * cell_bytes});
        StepMesh whole = mesh_of(n, pool, {.streams = streams});
        // Values in f64, which the mixed meshes have, keep the cells together.
        if (seed % 2 == 0) {
          EXPECT_GT(products(mesh), products(whole) + 1) << seed;
        }
        EXPECT_TRUE(same(run(mesh, x, ticks), wanted)) << seed << ", " << threads << " threads";
        EXPECT_EQ(mesh.snapshot(), state) << seed;
      }
  }
}

// A link back joins the parts between: a ring is one part.
TEST(StepMeshGroups, AreOnePartInARing) {
  std::string list;
  for (int i = 0; i < 100; ++i)
    list += std::string(i ? "," : "") + R"({"at":[)" + std::to_string(i) +
            R"(,0,0,0],"type":"dense","out":8,"activation":"tanh")" +
            (i == 0 ? R"(,"links":[{"read":[99,0,0,0]}],"shape":[8])" : "") + "}";
  const Network ring = made(R"({"format":"loom-topology","version":3,"step_mesh":true,"depth":100,
               "input":{"width":8},"cells":[)" +
                                list + "]}",
                            1);
  ThreadPool pool(1);
  StepMesh mesh = mesh_of(ring, pool, {.part_bytes = 4096});
  EXPECT_EQ(products(mesh), 1);
}

TEST(StepMeshGroups, GoOnFromASnapshotOfCellsOneByOne) {
  const Network n = made(random_mesh(5, 300, 8, true), 5);
  ThreadPool pool(2);
  StepMesh grouped = mesh_of(n, pool, {}), single = mesh_of(n, pool, {.group = false});
  ASSERT_TRUE(has_groups(grouped));
  const std::vector<float> x = inputs(8 * 40, 1);
  run(single, x, 40);
  ASSERT_TRUE(grouped.restore(single.snapshot()).ok());
  EXPECT_TRUE(same(run(grouped, x, 40), run(single, x, 40)));
  EXPECT_EQ(grouped.tick(), 80);
  for (std::size_t i = 0; i < n.size(); ++i) EXPECT_EQ(*grouped.value(i, 0), *single.value(i, 0));
  ASSERT_TRUE(grouped.reset().ok() && single.reset().ok());
  EXPECT_EQ(grouped.snapshot(), single.snapshot());
}

TEST(StepMeshGroups, TakeNewWeights) {
  Network n = made(random_mesh(3, 60, 5, false), 3);
  ThreadPool pool(2);
  StepMesh grouped = mesh_of(n, pool, {}), single = mesh_of(n, pool, {.group = false});
  ASSERT_TRUE(has_groups(grouped));
  const std::vector<float> x = inputs(5 * 90, 1);
  EXPECT_TRUE(same(run(grouped, x, 90), run(single, x, 90)));
  for (const std::size_t cell : {std::size_t{0}, std::size_t{17}, std::size_t{59}}) {
    for (const char* role : {"weight", "bias"}) {
      WeightStore* store = n.find(n.path(cell), role);
      if (!store) continue;
      for (float& v : store->mutable_master()) v = v * 0.5f + 1e-13f;  // some below 2^-40
      store->touch();
    }
  }
  ASSERT_TRUE(grouped.refresh().ok() && single.refresh().ok());
  EXPECT_TRUE(same(run(grouped, x, 90), run(single, x, 90)));
  EXPECT_EQ(grouped.snapshot(), single.snapshot());
  for (std::size_t i = 0; i < n.size(); ++i) {
    const Status morphed = n.find(n.path(i), "weight")->morph(*parse_weight_format("i8"));
    ASSERT_TRUE(morphed.ok()) << morphed.message();
  }
  EXPECT_EQ(grouped.refresh().code(), Code::invalid_argument);
}

TEST(StepMeshGroups, AreWhereAllIsIdsOrWide) {
  const Network ids = made(
      R"({"format":"loom-topology","version":3,"step_mesh":true,"depth":41,"input":{"ids":5},
          "cells":[{"at":[0,0,0,0],"type":"embedding","out":4})" +
          [] {
            std::string list;
            for (int i = 1; i < 41; ++i)
              list += R"(,{"at":[)" + std::to_string(i) + R"(,0,0,0],"type":"dense","out":4})";
            return list;
          }() +
          "]}",
      1);
  ThreadPool pool(2);
  StepMesh grouped = mesh_of(ids, pool, {}), single = mesh_of(ids, pool, {.group = false});
  EXPECT_TRUE(has_groups(grouped));
  const std::vector<std::uint32_t> x(60, 3);
  std::vector<float> y(60 * 4), wanted(60 * 4);
  ASSERT_TRUE(grouped.run(std::span<const std::uint32_t>(x), 60, std::span<float>(y)).ok());
  ASSERT_TRUE(single.run(std::span<const std::uint32_t>(x), 60, std::span<float>(wanted)).ok());
  EXPECT_TRUE(same(y, wanted));
}

struct List : Observer {
  Status begin(const std::vector<ObservedCell>& list) override {
    cells = list;
    return {};
  }
  Status on_forward(const CellEvent& event) override {
    if (refuses) return Status(Code::io, "full");
    events.push_back(event);
    return {};
  }
  std::vector<ObservedCell> cells;
  std::vector<CellEvent> events;
  bool refuses = false;
};

// The statistics are those of the values that a mesh has that runs tick by tick.
TEST(StepMeshObserver, HasTheValuesOfEachTick) {
  for (const std::uint64_t seed : {1, 4, 5}) {
    const int width = seed == 4 ? 1 : 9, cells = 90;
    const Network n = made(random_mesh(seed, cells, width, true), seed);
    ThreadPool pool(3);
    StepMesh plain = mesh_of(n, pool, {.streams = 2}), seen = mesh_of(n, pool, {.streams = 2});
    const auto of_tick = static_cast<std::size_t>(width);
    const std::vector<float> x = inputs(2 * 40 * of_tick, seed);
    List list;
    const auto hash = seen.program().hash();
    ASSERT_TRUE(seen.observe(&list, {.every = 3}).ok());
    EXPECT_TRUE(same(run(plain, x, 40), run(seen, x, 40)));
    EXPECT_EQ(plain.snapshot(), seen.snapshot());
    EXPECT_EQ(seen.program().hash(), hash);
    EXPECT_EQ(seen.passes(), 40);
    EXPECT_EQ(seen.observed_passes(), 14);
    ASSERT_EQ(list.events.size(), 14 * n.size());
    ASSERT_EQ(list.cells.size(), n.size());
    StepMesh slow = mesh_of(n, pool, {.streams = 2, .group = false});
    std::size_t next = 0;
    for (std::size_t tick = 0; tick < 40; ++tick) {
      std::vector<float> now;
      for (std::size_t s = 0; s < 2; ++s)
        for (std::size_t i = 0; i < of_tick; ++i) now.push_back(x[(s * 40 + tick) * of_tick + i]);
      run(slow, now, 1);
      for (std::size_t cell = 0; tick % 3 == 0 && cell < n.size(); ++cell) {
        const CellEvent& e = list.events[next++];
        EXPECT_EQ(e.cell, cell);
        EXPECT_EQ(e.pass, static_cast<std::int64_t>(tick));
        double sum = 0, max = -INFINITY;
        for (std::int64_t s = 0; s < 2; ++s) {
          const std::vector<double> of_stream = slow.value(cell, s).value();
          for (const double v : of_stream) sum += v, max = std::max(max, v);
        }
        ASSERT_EQ(e.statistics.count, 2 * width);
        EXPECT_NEAR(e.statistics.mean, sum / (2 * width), 1e-12 * (1 + std::abs(sum)));
        EXPECT_EQ(e.statistics.max, max);
      }
    }
  }
}

TEST(StepMeshObserver, EndsAndRefuses) {
  const Network n = made(random_mesh(5, 40, 3, true), 5);
  ThreadPool pool(1);
  StepMesh mesh = mesh_of(n, pool, {});
  const std::vector<float> x = inputs(3 * 50, 1);
  List list;
  EXPECT_EQ(mesh.observe(&list, {.every = 0}).code(), Code::invalid_argument);
  EXPECT_EQ(mesh.observe(&list, {.nested = true}).code(), Code::invalid_argument);
  EXPECT_EQ(mesh.observe(&list, {.weights = true}).code(), Code::invalid_argument);
  ASSERT_TRUE(mesh.observe(&list, {.every = 2, .passes = 2}).ok());
  run(mesh, x, 50);
  EXPECT_EQ(list.events.size(), 2 * n.size());
  EXPECT_EQ(mesh.passes(), 50);
  ASSERT_TRUE(mesh.observe(&list).ok());
  list.refuses = true;
  std::vector<float> y;
  EXPECT_EQ(mesh.run(std::span<const float>(x), 50, std::span<float>(y)).code(), Code::io);
  EXPECT_EQ(mesh.tick(), 51);
  ASSERT_TRUE(mesh.observe(nullptr).ok());
  run(mesh, x, 50);
  EXPECT_EQ(mesh.tick(), 101);
  EXPECT_EQ(list.events.size(), 2 * n.size());
}

}  // namespace
}  // namespace loom
