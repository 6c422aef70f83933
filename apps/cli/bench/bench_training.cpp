// loom bench training: six small networks of a published table learn 20 epochs of 8 batches, in
// every mode. tools/bench/training.py has the same networks beside PyTorch.
#include <algorithm>
#include <cstdio>

#include "base/json/json.h"
#include "base/random.h"
#include "bench/bench.h"
#include "support/console.h"
#include "train/data/data.h"
#include "train/trainer.h"

namespace loom::cli {
namespace {

struct Net {
  const char *name, *input, *cells;
  std::int64_t batch;
};
#define DENSE(n) R"({"type":"dense","out":)" #n R"(,"activation":"relu"})"
#define LAST R"({"type":"dense","out":8})"
#define CONV(rank, n) \
  R"({"type":"conv)" #rank R"(d","filters":)" #n R"(,"padding":1,"activation":"relu"})"
#define FLAT R"({"type":"flatten"})"
constexpr Net kNets[] = {
    {"dense", R"({"width":128})", DENSE(512) "," DENSE(512) "," LAST, 64},
    {"conv1d", R"({"dims":[3,128]})", CONV(1, 32) "," CONV(1, 64) "," FLAT "," LAST, 32},
    {"conv2d", R"({"dims":[3,32,32]})", CONV(2, 16) "," CONV(2, 32) "," FLAT "," LAST, 16},
    {"conv3d", R"({"dims":[2,8,8,8]})", CONV(3, 8) "," FLAT "," LAST, 8},
    {"norm", R"({"width":128})", DENSE(512) R"(,{"type":"rms_norm"},)" DENSE(512) "," LAST, 64},
    {"deep", R"({"width":128})", DENSE(512) "," DENSE(512) "," DENSE(512) "," DENSE(512) "," LAST,
     64},
};
#undef DENSE
#undef LAST
#undef CONV
#undef FLAT

struct Learned {
  double seconds = 0, first = 0, last = 0, last_epoch = 0;
  std::string digest;
};

Result<Learned> learn(const Net& net, const BenchMode& how, const std::string& isa,
                      std::int64_t epochs, bool fp8 = false) {
  const std::string topology =
      std::string(R"({"format":"loom-topology","version":1,"input":)") + net.input +
      R"(,"cells":[{"at":[0,0,0,0],"type":"sequential","layers":[)" + net.cells + "]}]}";
  LOOM_ASSIGN(Network network, Network::from_json(std::string_view(topology)));
  LOOM_TRY(network.initialize(42));
  const std::int64_t samples = 8 * net.batch, width = network.input().width;
  const RandomStream inputs(42, 1), targets(42, 2);
  std::vector<float> x(static_cast<std::size_t>(samples * width)),
      y(static_cast<std::size_t>(samples * 8));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = 2 * inputs.uniform(i) - 1;
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = 2 * targets.uniform(i) - 1;
  LOOM_ASSIGN(const std::unique_ptr<ArrayData> data,
              ArrayData::create(std::move(x), width, std::move(y), 8));
  TrainingSpec spec;
  spec.loss = Loss::mse;
  spec.batch = net.batch;
  spec.epochs = epochs;
  spec.shuffle = false;
  spec.log_every = 0;
  spec.fp8 = fp8;
  spec.optimizer.kind = OptimizerKind::sgd;
  spec.schedule.kind = ScheduleKind::constant;
  spec.schedule.lr = 0.01;
  TrainerOptions options;
  options.isa = isa;
  options.device = how.device;
  options.fuse = how.mode.fuse;
  options.auto_device = how.mode.auto_device;
  LOOM_ASSIGN(const std::unique_ptr<Trainer> trainer,
              Trainer::create(spec, network, *data, *how.pool, options));
  Learned result;
  const Stopwatch watch;
  while (trainer->done() < trainer->steps()) {
    LOOM_ASSIGN(const StepReport report, trainer->step());
    (report.step == 1 ? result.first : result.last) = report.loss;
    if (report.step > report.steps - 8) result.last_epoch += report.loss / 8;
  }
  LOOM_TRY(trainer->sync());
  result.seconds = watch.seconds();
  result.digest = trainer->digest();
  return result;
}

Json row_of(const Net& net, const BenchMode& how, std::int64_t epochs, const Learned& l) {
  Json row = Json::object();
  row.set("network", net.name);
  row.set("mode", how.mode.name);
  row.set("seconds", l.seconds);
  row.set("steps", 8 * epochs);
  row.set("first_loss", l.first);
  row.set("last_loss", l.last);
  row.set("weights", l.digest);
  return row;
}

std::string line_of(const Net& net, const BenchMode& how, std::int64_t epochs, const Learned& l) {
  char line[160];
  std::snprintf(line, sizeof line, "%-8s %-10s %10.3f %11.3f %13.6f %9.6f   %.12s", net.name,
                how.mode.name.c_str(), l.seconds, 1e3 * l.seconds / static_cast<double>(8 * epochs),
                l.first, l.last, l.digest.c_str());
  return line;
}

// A network in each mode, whose weights are the same bits.
int bench_network(const Net& net, const BenchModes& modes, const BenchArgs& a, std::int64_t epochs,
                  Json& rows) {
  std::string digest;
  double in_f32 = 0;
  if (a.fp8 && !modes.list.empty()) {
    LOOM_OR_EXIT(const Learned l, learn(net, modes.list.front(), a.isa, epochs), kFailed);
    in_f32 = l.last_epoch;
  }
  for (const BenchMode& how : modes.list) {
    // Once before the clock runs.
    if (const Status warm = a.quick ? Status() : learn(net, how, a.isa, 1, a.fp8).status();
        !warm.ok())
      return fail(warm, kFailed);
    LOOM_OR_EXIT(const Learned l, learn(net, how, a.isa, epochs, a.fp8), kFailed);
    if (!digest.empty() && digest != l.digest)
      return fail(
          Status(Code::internal, std::string(net.name) + ": the weights of mode " + how.mode.name +
                                     " differ from those of the mode before"),
          kFailed);
    digest = l.digest;
    Json row = row_of(net, how, epochs, l);
    std::string text = line_of(net, how, epochs, l);
    if (a.fp8) {
      row.set("last_epoch_loss", l.last_epoch);
      row.set("last_epoch_loss_f32", in_f32);
      text += "   " + fixed(l.last_epoch / in_f32, 5);
    }
    rows.push(std::move(row));
    if (!a.json && !print(text + "\n")) return kFailed;
  }
  return kOk;
}

}  // namespace

std::vector<std::string> bench_network_names() {
  std::vector<std::string> names;
  for (const Net& n : kNets) names.emplace_back(n.name);
  return names;
}

int bench_training(const BenchArgs& a) {
  LOOM_OR_EXIT(const BenchModes modes, bench_modes(a), kRefused);
  const std::int64_t epochs = a.quick ? 1 : 20;
  Json rows = Json::array();
  if (!a.json &&
      !print(
          a.fp8 ? "network  mode          seconds   ms a step   loss: first      last   weights    "
                  "    last epoch / that of f32\n"
                : "network  mode          seconds   ms a step   loss: first      last   weights\n"))
    return kFailed;
  for (const Net& net : kNets) {
    if (!wanted(a.layers, net.name)) continue;
    if (const int code = bench_network(net, modes, a, epochs, rows); code != kOk) return code;
  }
  if (rows.as_array().empty())
    return fail(Status(Code::invalid_argument,
                       "bench training: no network has these names, or no mode is here"),
                kUsage);
  if (!a.json) return kOk;
  Json figures = Json::object();
  figures.set("epochs", epochs);
  return print_bench("training", std::move(figures), modes, std::move(rows));
}

}  // namespace loom::cli
