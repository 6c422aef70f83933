// loom accuracy: what every numeric type costs a trained network, with every granularity of scales.
#include <cinttypes>
#include <cstdio>

#include "base/json/json.h"
#include "console.h"
#include "internal.h"
#include "models/trained_network.h"
#include "train/judge/metrics.h"

namespace loom::cli {
namespace {

struct Args {
  std::string network, data, isa;
  int threads = 0;
  bool json = false;
};

void bind(CommandLine& c, Args& a) {
  c.add("NETWORK", a.network, "the .entity file that loom train wrote").required();
  c.add("--data", a.data,
        "raw data with its targets: a table (CSV), or a folder of idx or .npy files, of which the "
        "test files count where there are some")
      .required()
      .type_name("FILE")
      .no_stdin();
  c.add("--threads", a.threads, "0: one per core").between(0, ThreadPool::kMaxThreads);
  c.add("--isa", a.isa, "the instruction set to use").type_name("NAME");
  c.flag("--json", a.json, "one JSON object on stdout");
}

// Each type in each granularity, as the formats are written; a type without scales takes none.
std::vector<std::string> formats() {
  std::vector<std::string> list;
  for (int i = 0; i < kDTypeCount; ++i) {
    const std::string dtype(name(static_cast<DType>(i)));
    if (!info(static_cast<DType>(i)).scaled) list.push_back(dtype);
    for (const char* scale : {":tensor", ":row", ":block16", ":block32"})
      list.push_back(dtype + scale);
  }
  for (const WeightFormat& f : all_weight_formats())
    if (f.layout != Layout::plain) list.push_back(to_string(f));
  return list;
}

std::uint64_t bytes_of(Network& network) {
  std::uint64_t bytes = 0;
  for (const Network::NamedParam& p : network.params())
    if (!p.tied) bytes += p.param->store->packed_bytes();
  return bytes;
}

int run(const Args& a) {
  LOOM_OR_EXIT(TrainedNetwork trained, open_trained(a.network, a.data), kRefused);
  Network& network = trained.network;
  const RawRows& rows = trained.data;
  if (!rows.judged)
    return fail(Status(Code::invalid_argument, a.data + ": has no targets to judge by"), kRefused);
  const bool classes = trained.classes;
  ThreadPool pool(a.threads);

  Json table = Json::array(), refused = Json::array();
  std::string refusals;
  const std::vector<std::string> all = formats();
  const Interrupt interrupt;
  Progress progress("judging", all.size(), Progress::Unit::steps);
  char line[160];
  if (!a.json) {
    std::snprintf(line, sizeof line, "%-16s %12s %10s %10s\n", "format", "bytes",
                  classes ? "accuracy" : "rmse", "loss");
    if (!print(line)) return kFailed;
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (Interrupt::pressed()) return Interrupt::code();
    const auto format = parse_weight_format(all[i]);
    const Status taken = format.ok() ? network.morph(*format) : format.status();
    if (!taken.ok()) {
      Json entry = Json::object();
      entry.set("format", all[i]);
      entry.set("why", taken.message());
      refused.push(std::move(entry));
      refusals += "refused: " + taken.message() + "\n";
      continue;
    }
    LOOM_OR_EXIT(
        Evaluator evaluator,
        Evaluator::create(network, *rows.judged, pool,
                          {.loss = classes ? Loss::cross_entropy : Loss::mse, .isa = a.isa}),
        kFailed);
    LOOM_OR_EXIT(const Metrics metrics, evaluator.measure(), kFailed);
    const std::uint64_t bytes = bytes_of(network);
    Json entry = Json::object();
    entry.set("format", all[i]);
    entry.set("bytes", static_cast<std::int64_t>(bytes));
    entry.set("loss", metrics.loss);
    if (classes) entry.set("accuracy", metrics.accuracy);
    else entry.set("rmse", metrics.rmse);
    table.push(std::move(entry));
    std::snprintf(line, sizeof line, "%-16s %12" PRIu64 " %10.4f %10.4f\n", all[i].c_str(), bytes,
                  classes ? metrics.accuracy : metrics.rmse, metrics.loss);
    if (!a.json && !print(line)) return kFailed;
    progress.update(i + 1, all[i]);
  }
  progress.finish();
  if (!a.json) return print(refusals) ? kOk : kFailed;
  Json answer = Json::object();
  answer.set("rows", rows.judged->samples());
  answer.set("formats", std::move(table));
  answer.set("refused", std::move(refused));
  return print(answer.dump() + "\n") ? kOk : kFailed;
}

}  // namespace

void add_accuracy(CLI::App& app, Action& action) {
  add_command<Args>(app, action, "accuracy", "a trained network in each of the numeric types", bind,
                    run);
}

}  // namespace loom::cli
