// loom bench mesh: ticks of step meshes, chains of dense cells of width 8 with tanh.
#include <algorithm>
#include <cstdio>

#include "base/json/json.h"
#include "bench/bench.h"
#include "exec/step_mesh.h"
#include "support/console.h"

namespace loom::cli {
namespace {

constexpr std::int64_t kWidth = 8, kTicks = 64;  // kTicks: of a run

Result<Network> chain(std::int64_t cells) {
  LOOM_ASSIGN(Network network, Network::create(cells, 1, 1, 1, Shape{kWidth}));
  LOOM_ASSIGN(const Json dense, Json::parse(R"({"type":"dense","out":)" + std::to_string(kWidth) +
                                            R"(,"activation":"tanh"})"));
  for (std::size_t i = 0; i < network.size(); ++i) {
    LOOM_ASSIGN(network.node(i), network.parse_layer(dense));
  }
  network.step_mesh = true;
  LOOM_TRY(network.plan());
  LOOM_TRY(network.initialize(1));
  return network;
}

// Medians of runs of kTicks ticks, in seconds for a tick.
Result<double> seconds_of_a_tick(const Network& network, const BenchMode& mode,
                                 const std::string& isa, int repeats) {
  LOOM_ASSIGN(StepMesh mesh,
              StepMesh::create(network, *mode.pool,
                               {.device = mode.device, .isa = isa, .fuse = mode.mode.fuse}));
  const std::vector<float> x(kWidth, 0.5f);
  std::vector<float> y(kWidth);
  Status status;
  const auto run = [&] {
    if (status.ok()) status = mesh.run(std::span(x), kTicks, std::span(y));
  };
  run();
  const double seconds = median_seconds(repeats, run);
  LOOM_TRY(std::move(status));
  return seconds / kTicks;
}

}  // namespace

int bench_mesh(const BenchArgs& a) {
  BenchArgs given = a;
  if (a.modes.empty()) given.modes = {"cpu-sc", "cpu-mc"};
  LOOM_OR_EXIT(const BenchModes modes, bench_modes(given), kRefused);
  const int repeats = a.repeats > 0 ? a.repeats : a.quick ? 2 : 5;
  Json rows = Json::array();
  if (!a.json && !print("  cells  mode            ticks/s    ns a cell and tick\n")) return kFailed;
  for (std::int64_t cells = 1000; cells <= (a.quick ? 1000 : 1000000); cells *= 10) {
    LOOM_OR_EXIT(const Network network, chain(cells), kFailed);
    for (const BenchMode& mode : modes.list) {
      LOOM_OR_EXIT(const double seconds, seconds_of_a_tick(network, mode, a.isa, repeats), kFailed);
      const double ns = 1e9 * seconds / static_cast<double>(cells);
      Json row = Json::object();
      row.set("cells", cells);
      row.set("mode", mode.mode.name);
      row.set("ticks_per_second", 1 / seconds);
      row.set("ns_of_cell", ns);
      rows.push(std::move(row));
      char line[100];
      std::snprintf(line, sizeof line, "%7lld  %-12s %10.1f %21.1f\n",
                    static_cast<long long>(cells), std::string(mode.mode.name).c_str(), 1 / seconds,
                    ns);
      if (!a.json && !print(line)) return kFailed;
    }
  }
  Json figures = Json::object();
  figures.set("repeats", repeats);
  return a.json ? print_bench("mesh", std::move(figures), modes, std::move(rows)) : kOk;
}

}  // namespace loom::cli
