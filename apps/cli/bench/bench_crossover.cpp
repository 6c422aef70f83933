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
  char mark;  // c: the CPU, g: the device, a: auto
  Session session;
  std::vector<double> seconds;
};

// `device`: null where there is none.
Result<std::vector<Side>> sides_of(Network& network, const BenchMode& cpu, gpu::Device* device,
                                   const std::string& isa) {
  std::vector<Side> sides;
  for (const char mark : {'c', 'g', 'a'}) {
    if (mark == 'g' && !device) continue;
    const SessionOptions options{.max_rows = kRows,
                                 .device = mark == 'c' ? nullptr : device,
                                 .isa = isa,
                                 .auto_device = mark == 'a'};
    LOOM_ASSIGN(Session session, Session::create(network, *cpu.pool, options));
    sides.push_back({mark, std::move(session), {}});
  }
  return sides;
}

// In turns, so that whatever else the machine does meets all of them; the first run of a turn,
// before which others had the threads, is not counted.
Status time_in_turns(std::vector<Side>& sides, std::int64_t width, int repeats) {
  constexpr int kWarmups = 4;  // auto has tried both by then
  const RandomStream random(42, 1);
  std::vector<float> x(static_cast<std::size_t>(kRows * width)), first;
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = 2 * random.uniform(i) - 1;
  for (int turn = 0; turn < kWarmups + repeats; ++turn)
    for (Side& s : sides)
      for (int run = 0; run < 4; ++run) {
        const Stopwatch watch;
        LOOM_ASSIGN(const std::span<const float> y, s.session.run(x, kRows));
        const std::vector<float> got(y.begin(),
                                     y.end());  // a device's work is done when it is read
        if (turn >= kWarmups && run > 0) s.seconds.push_back(watch.seconds());
        if (first.empty()) first = got;
        if (std::memcmp(got.data(), first.data(), got.size() * sizeof(float)) != 0)
          return Status(Code::internal, "bench crossover: width " + std::to_string(width) +
                                            ": the modes give different bits");
      }
  return {};
}

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

// What a width came to.
struct Medians {
  std::vector<double> seconds;  // of each side
  std::string marks, auto_takes;
  bool device;
  double over_best() const {
    return seconds.back() / *std::min_element(seconds.begin(), seconds.end() - 1);
  }
};

Medians medians_of(std::vector<Side>& sides) {
  Medians m{.auto_takes = std::string(sides.back().session.executor().target()),
            .device = sides.size() > 2};
  for (const Side& s : sides) {
    m.seconds.push_back(median(s.seconds));
    m.marks += s.mark;
  }
  return m;
}

Json row_of(std::int64_t width, const Medians& m) {
  Json row = Json::object();
  row.set("width", width);
  row.set("cpu_us", 1e6 * m.seconds[0]);
  if (m.device) row.set("gpu_us", 1e6 * m.seconds[1]);
  row.set("auto_us", 1e6 * m.seconds.back());
  row.set("auto_takes", m.auto_takes);
  row.set("auto_over_best", m.over_best());
  return row;
}

std::string line_of(std::int64_t width, const Medians& m) {
  char line[200];
  std::snprintf(line, sizeof line, "%5lld  cpu %9.1f", static_cast<long long>(width),
                1e6 * m.seconds[0]);
  std::string text = line;
  if (m.device) {
    std::snprintf(line, sizeof line, "  gpu %9.1f", 1e6 * m.seconds[1]);
    text += line;
  }
  std::snprintf(line, sizeof line, "  auto %9.1f, %.2f of the best  |%s|\n", 1e6 * m.seconds.back(),
                m.over_best(), drawn(m.seconds, m.marks).c_str());
  return text + line;
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
  gpu::Device* const device = modes.list.size() > 1 ? modes.list.back().device : nullptr;
  const int repeats = a.repeats > 0 ? a.repeats : a.quick ? 2 : 11;
  const std::int64_t last = a.quick ? 128 : 4096;
  Json rows = Json::array();
  if (!a.json &&
      !print(std::string("a run of ") + std::to_string(kRows) +
             " rows through two dense layers, microseconds; drawn from 1 us to 1 s: c cpu-mc, " +
             (device ? "g gpu-mc, a auto\n" : "a auto\n")))
    return kFailed;
  for (std::int64_t width = 32; width <= last; width *= 2) {
    LOOM_OR_EXIT(Network network, network_of(width), kFailed);
    LOOM_OR_EXIT(std::vector<Side> list, sides_of(network, modes.list.front(), device, a.isa),
                 kFailed);
    if (const Status s = time_in_turns(list, width, repeats); !s.ok()) return fail(s, kFailed);
    const Medians medians = medians_of(list);
    rows.push(row_of(width, medians));
    if (!a.json && !print(line_of(width, medians))) return kFailed;
  }
  Json figures = Json::object();
  figures.set("repeats", repeats);
  return a.json ? print_bench("crossover", std::move(figures), modes, std::move(rows)) : kOk;
}

}  // namespace loom::cli
