// loom bench crossover: from which size on a device is faster than the CPU, and whether the mode
// auto takes the faster of the two.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "base/json/json.h"
#include "base/random.h"
#include "bench/bench.h"
#include "exec/session.h"
#include "support/console.h"

namespace loom::cli {
namespace {

constexpr std::int64_t kRows = 64;

// Two dense layers of width x width: 2 * kRows * width^2 multiplications a run.
Result<Network> network_of(std::int64_t width) {
  const std::string n = std::to_string(width),
                    layer = R"({"type":"dense","out":)" + n + R"(,"activation":"relu"})";
  LOOM_ASSIGN(Network network,
              Network::from_json(std::string_view(
                  R"({"format":"loom-topology","version":1,"input":{"width":)" + n +
                  R"(},"cells":[{"at":[0,0,0,0],"type":"sequential","layers":[)" + layer + "," +
                  layer + "]}]}")));
  LOOM_TRY(network.initialize(42));
  return network;
}

struct Side {
  Session session;
  std::vector<double> seconds;
};

// A line of the drawing: where each side lies between a microsecond and a second.
std::string drawn(const std::vector<double>& seconds, const std::string& marks) {
  constexpr double kMin = 1e-6, kMax = 1;
  std::string line(60, ' ');
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    const double at =
        std::log(seconds[i] / kMin) / std::log(kMax / kMin) * static_cast<double>(line.size() - 1);
    line[static_cast<std::size_t>(std::clamp(at, 0.0, static_cast<double>(line.size() - 1)))] =
        marks[i];
  }
  return line;
}

}  // namespace

int bench_crossover(const BenchArgs& a) {
  if (!a.modes.empty())
    return fail(
        Status(Code::invalid_argument,
               "bench crossover: compares the modes cpu-mc, gpu-mc and auto, and takes no --modes"),
        kUsage);
  BenchArgs sides = a;
  sides.modes = {"cpu-mc", "gpu-mc"};
  LOOM_OR_EXIT(const BenchModes modes, bench_modes(sides), kRefused);
  const BenchMode& cpu = modes.list.front();
  gpu::Device* const device = modes.list.size() > 1 ? modes.list.back().device : nullptr;
  const int repeats = a.repeats > 0 ? a.repeats
                      : a.quick     ? 2
                                    : 11,
            warmups = 4;  // auto has tried both by then
  const std::int64_t last = a.quick ? 128 : 4096;
  Json rows = Json::array();
  if (!a.json &&
      !print(std::string("a run of ") + std::to_string(kRows) +
             " rows through two dense layers, microseconds; drawn from 1 us to 1 s: c cpu-mc, " +
             (device ? "g gpu-mc, a auto\n" : "a auto\n")))
    return kFailed;
  for (std::int64_t width = 32; width <= last; width *= 2) {
    LOOM_OR_EXIT(Network network, network_of(width), kFailed);
    std::vector<Side> list;
    std::string marks;
    for (const char mark : {'c', 'g', 'a'}) {
      if (mark == 'g' && !device) continue;
      SessionOptions options{.max_rows = kRows,
                             .device = mark == 'c' ? nullptr : device,
                             .isa = a.isa,
                             .auto_device = mark == 'a'};
      LOOM_OR_EXIT(Session session, Session::create(network, *cpu.pool, options), kFailed);
      list.push_back({std::move(session), {}});
      marks += mark;
    }
    const RandomStream random(42, 1);
    std::vector<float> x(static_cast<std::size_t>(kRows * width)), first;
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = 2 * random.uniform(i) - 1;
    // In turns, so that whatever else the machine does meets all of them; the first run of a turn,
    // before which others had the threads, is not counted.
    for (int turn = 0; turn < warmups + repeats; ++turn) {
      for (Side& s : list) {
        for (int run = 0; run < 4; ++run) {
          const Stopwatch watch;
          LOOM_OR_EXIT(const std::span<const float> y, s.session.run(x, kRows), kFailed);
          const std::vector<float> got(y.begin(),
                                       y.end());  // a device's work is done when it is read
          if (turn >= warmups && run > 0) s.seconds.push_back(watch.seconds());
          if (first.empty()) first = got;
          if (std::memcmp(got.data(), first.data(), got.size() * sizeof(float)) != 0)
            return fail(Status(Code::internal, "bench crossover: width " + std::to_string(width) +
                                                   ": the modes give different bits"),
                        kFailed);
        }
      }
    }
    std::vector<double> seconds;
    for (Side& s : list) seconds.push_back(median(s.seconds));
    const double best = *std::min_element(seconds.begin(), seconds.end() - 1);
    Json row = Json::object();
    row.set("width", width);
    row.set("cpu_us", 1e6 * seconds[0]);
    if (device) row.set("gpu_us", 1e6 * seconds[1]);
    row.set("auto_us", 1e6 * seconds.back());
    row.set("auto_takes", list.back().session.executor().target());
    row.set("auto_over_best", seconds.back() / best);
    rows.push(std::move(row));
    char line[200];
    std::string text;
    std::snprintf(line, sizeof line, "%5lld  cpu %9.1f", static_cast<long long>(width),
                  1e6 * seconds[0]);
    text += line;
    if (device) {
      std::snprintf(line, sizeof line, "  gpu %9.1f", 1e6 * seconds[1]);
      text += line;
    }
    std::snprintf(line, sizeof line, "  auto %9.1f, %.2f of the best  |%s|\n", 1e6 * seconds.back(),
                  seconds.back() / best, drawn(seconds, marks).c_str());
    if (!a.json && !print(text + line)) return kFailed;
  }
  Json figures = Json::object();
  figures.set("repeats", repeats);
  return a.json ? print_bench("crossover", std::move(figures), modes, std::move(rows)) : kOk;
}

}  // namespace loom::cli
