// The fast profile: other bits than the portable ones, as near to the truth, and of one kind
// whatever the threads, the batch and the run.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "conformance/layer_samples.h"
#include "exec/session.h"
#include "ops/cpu/isa.h"
#include "train/trainer.h"

namespace loom {
namespace {

// Odd sizes, single rows and whole tiles: products, convolutions of every kind of kernel, a
// recurrence over single rows.
constexpr const char* kNetworks[] = {
    R"({"format":"loom-topology","version":1,"layers_per_cell":3,"input":{"width":67},"cells":[{"at":[0,0,0,0],"type":"dense","out":131,"activation":"tanh"},
        {"at":[0,0,0,1],"type":"dense","out":40,"activation":"silu"},{"at":[0,0,0,2],"type":"dense","out":3}]})",
    R"({"format":"loom-topology","version":1,"layers_per_cell":4,"input":{"dims":[3,11,9]},"cells":[{"at":[0,0,0,0],"type":"conv2d","filters":21,"kernel":[3,2],"padding":1,"activation":"tanh"},
        {"at":[0,0,0,1],"type":"conv2d","filters":5,"kernel":3,"stride":2},{"at":[0,0,0,2],"type":"flatten"},{"at":[0,0,0,3],"type":"dense","out":3}]})",
    R"({"format":"loom-topology","version":1,"layers_per_cell":2,"input":{"dims":[9,20]},"cells":[{"at":[0,0,0,0],"type":"lstm","hidden":37,"output":"last"},{"at":[0,0,0,1],"type":"dense","out":3}]})",
};

struct Outcome {
  std::vector<float> y;
  std::string digest;
};

Outcome run(const char* topology, const std::string& isa, int threads, std::int64_t at_once) {
  Outcome out;
  auto network = Network::from_json(std::string_view(topology));
  EXPECT_TRUE(network.ok()) << network.status().to_string();
  EXPECT_TRUE(network->initialize(7).ok());
  const std::int64_t width = network->input().width, rows = 23;
  const RandomStream random(3, 3);
  std::vector<float> x(static_cast<std::size_t>(rows * width)),
      y(static_cast<std::size_t>(rows * 3));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = 2 * random.uniform(i) - 1;
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = random.uniform(99999 + i);
  ThreadPool pool(threads);
  auto session = Session::create(*network, pool, {.max_rows = rows, .isa = isa, .poison = true});
  EXPECT_TRUE(session.ok()) << session.status().to_string();
  for (std::int64_t r = 0; r < rows; r += at_once) {
    const std::int64_t n = std::min(at_once, rows - r);
    EXPECT_TRUE(session
                    ->run(std::span(x).subspan(static_cast<std::size_t>(r * width),
                                               static_cast<std::size_t>(n * width)),
                          n)
                    .ok());
    for (std::int64_t i = 0; i < n; ++i)
      out.y.insert(out.y.end(), session->output(i).begin(), session->output(i).end());
  }
  auto data = ArrayData::create(std::move(x), width, std::move(y), 3);
  TrainingSpec spec;
  spec.batch = rows;
  spec.steps = 4;
  auto trainer = Trainer::create(spec, *network, **data, pool, {.isa = isa, .poison = true});
  EXPECT_TRUE(trainer.ok()) << trainer.status().to_string();
  while ((*trainer)->done() < 4) EXPECT_TRUE((*trainer)->step().ok());
  out.digest = (*trainer)->digest();
  return out;
}

TEST(FastProfile, IsAsNearAndOfOneKind) {
  const auto fast = cpu::fast_isas();
  if (fast.empty())
    GTEST_SKIP() << "this machine has no fused multiply-adds, or no kernels for them";
  for (const char* topology : kNetworks) {
    SCOPED_TRACE(topology);
    const Outcome portable = run(topology, "", 1, 23);
    for (const std::string_view name : fast) {
      const std::string isa(name);
      SCOPED_TRACE(isa);
      const Outcome one = run(topology, isa, 1, 23);
      double largest = 0, difference = 0;
      for (std::size_t i = 0; i < one.y.size(); ++i) {
        largest = std::max(largest, std::fabs(static_cast<double>(portable.y[i])));
        difference = std::max(difference, std::fabs(static_cast<double>(portable.y[i]) -
                                                    static_cast<double>(one.y[i])));
      }
      EXPECT_LT(difference, 1e-5 * largest);
      EXPECT_GT(difference, 0);
      EXPECT_NE(one.digest, portable.digest);
      for (const std::int64_t at_once : {1, 2, 7})
        EXPECT_EQ(run(topology, isa, 1, at_once).y, one.y) << at_once << " rows at once";
      for (const int threads : {2, 3}) {
        const Outcome other = run(topology, isa, threads, 5);
        EXPECT_EQ(other.y, one.y);
        EXPECT_EQ(other.digest, one.digest);
      }
    }
  }
}

TEST(FastProfile, SaysSo) {
  EXPECT_EQ(cpu::numerics_of(""), "portable");
  EXPECT_EQ(cpu::numerics_of("generic"), "portable");
  for (const std::string_view name : cpu::available_isas())
    EXPECT_TRUE((*cpu::select_kernels(name))->portable) << name;
  for (const std::string_view name : cpu::fast_isas()) EXPECT_EQ(cpu::numerics_of(name), "fast");
  const auto best = cpu::select_kernels("fast");
  EXPECT_EQ(best.ok(), !cpu::fast_isas().empty());
  if (best.ok()) EXPECT_EQ((*best)->isa, cpu::fast_isas().front());
  else EXPECT_NE(best.status().message().find("this machine has"), std::string::npos);
}

}  // namespace
}  // namespace loom
