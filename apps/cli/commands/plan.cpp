// loom plan: a format for each matrix of a trained network, from what each costs and what it
// spoils.
#include <algorithm>
#include <numeric>

#include "base/json/json.h"
#include "checkpoint/entity.h"
#include "console.h"
#include "internal.h"
#include "models/trained_network.h"
#include "outputs.h"
#include "planner.h"
#include "train/data/tensor_data.h"

namespace loom::cli {
namespace {

struct Args {
  std::string network, data, out, isa;
  std::vector<std::string> formats;
  double bytes = 0, ms = 0, loss = 0;
  std::int64_t rows = 512, seed = 0;
  int threads = 0;
  bool json = false;
};

// One for each size that is worth having: those of a row or a tensor lose more and save next to
// nothing.
const std::vector<std::string> kCandidates = {
    "f32",        "bf16",       "i16",        "i8:block32",      "i8",          "u8",
    "i4:block16", "i4",         "i4:block32", "i4:s4",           "fp4:block32", "u4",
    "fp4",        "i2:block32", "i2",         "ternary:block32", "ternary",     "binary"};

void bind(CommandLine& c, Args& a) {
  c.add("NETWORK", a.network, "the .entity file that loom train wrote, its matrices in f32")
      .required();
  c.add("--data", a.data,
        "raw data as loom predict takes it, with targets: losses are measured on it")
      .required()
      .type_name("FILE")
      .no_stdin();
  const Option bytes =
      c.add("--bytes", a.bytes, "the least loss within so many bytes of weights").positive();
  const Option ms =
      c.add("--ms", a.ms,
            "the least loss of what runs 64 rows (or all there are) in so many milliseconds here")
          .positive()
          .excludes(bytes);
  c.add("--loss", a.loss, "the fewest bytes with at most this loss")
      .positive()
      .excludes(bytes)
      .excludes(ms);
  c.add("--formats", a.formats,
        "candidates, with commas between (" + std::to_string(kCandidates.size()) +
            " from f32 to binary)")
      .delimiter(',')
      .type_name("NAMES");
  c.add("--rows", a.rows, "rows of the data that losses are measured on (512)").positive();
  c.add("--seed", a.seed, "which rows: same seed, same plan (0)").not_negative();
  c.add("--out", a.out, "writes the network as planned: an .entity file for loom predict")
      .type_name("FILE");
  c.add("--threads", a.threads,
        "threads (one per core); the plan is the same for any number, but for --ms")
      .between(1, ThreadPool::kMaxThreads);
  c.add("--isa", a.isa, "the instruction set to use (the best here)");
  c.flag("--json", a.json, "one JSON object on stdout");
}

std::string text_of(const Planner& planner, const Plan& plan) {
  std::string text;
  for (std::size_t u = 0; u < plan.formats.size(); ++u)
    text += (u > 0 ? "  " : "") + planner.matrices()[u] + " " +
            to_string(planner.candidates()[plan.formats[u]]);
  return text;
}

Json json_of(const Planner& planner, const Plan& plan) {
  Json j = Json::object(), formats = Json::object();
  for (std::size_t u = 0; u < plan.formats.size(); ++u)
    formats.set(planner.matrices()[u], to_string(planner.candidates()[plan.formats[u]]));
  j.set("bytes", static_cast<std::int64_t>(plan.bytes));
  j.set("loss", plan.loss - plan.loss == 0 ? Json(plan.loss) : Json());
  if (plan.ms > 0) j.set("ms", plan.ms);
  j.set("formats", std::move(formats));
  return j;
}

Result<std::vector<WeightFormat>> candidates_of(const Args& a) {
  std::vector<WeightFormat> candidates;
  std::vector<std::string> names = a.formats.empty() ? kCandidates : a.formats;
  if (names.front() != "f32") names.insert(names.begin(), "f32");
  for (const std::string& name : names) {
    LOOM_ASSIGN(const WeightFormat format, parse_weight_format(name));
    if (format.dtype == DType::f64 || product_class(format) == ArithClass::real)
      return Status(Code::invalid_argument,
                    "--formats: '" + name + "' computes in f64, which no plan mixes with others");
    if (std::find(candidates.begin(), candidates.end(), format) == candidates.end())
      candidates.push_back(format);
  }
  return candidates;
}

int run(const Args& a) {
  LOOM_OR_EXIT(const std::vector<WeightFormat> candidates, candidates_of(a), kUsage);
  if (!a.out.empty()) {
    check_not_input("--out", a.out, {a.data}, Depth::all);
    check_file_output("--out", a.out, {a.network});
  }
  LOOM_OR_EXIT(TrainedNetwork trained, open_trained(a.network, a.data), kRefused);
  Network& network = trained.network;
  const RawRows& raw = trained.data;
  if (!raw.judged)
    return fail(
        Status(Code::invalid_argument,
               a.data + ": no row has a target, and without them there is no loss to measure"),
        kRefused);
  const bool classes = trained.classes;
  const Subset data(*raw.judged, 0, std::min(a.rows, raw.judged->samples()),
                    static_cast<std::uint64_t>(a.seed));
  ThreadPool pool(a.threads);
  LOOM_OR_EXIT(Planner planner,
               Planner::create(network, data, classes ? Loss::cross_entropy : Loss::mse, candidates,
                               pool, a.isa, a.ms > 0),
               kRefused);
  const bool asked = a.bytes > 0 || a.ms > 0 || a.loss > 0;
  Plan chosen = planner.uniform()[0];
  if (asked) {
    LOOM_OR_EXIT(
        chosen,
        a.loss > 0 ? planner.with_loss(a.loss) : planner.within(a.bytes > 0 ? a.bytes : a.ms),
        kFailed);
  }
  // The table: at the size of every uniform dtype, the best plan that is no larger.
  std::vector<std::size_t> by_size(planner.uniform().size());
  std::iota(by_size.begin(), by_size.end(), 0);
  std::stable_sort(by_size.begin(), by_size.end(), [&](std::size_t x, std::size_t y) {
    return planner.uniform()[x].bytes > planner.uniform()[y].bytes;
  });
  Json table = Json::array();
  std::string text = "uniform           bytes       loss   plan: bytes       loss\n";
  for (const std::size_t f : by_size) {
    const Plan& uniform = planner.uniform()[f];
    LOOM_OR_EXIT(const Plan best,
                 planner.within(a.ms > 0 ? uniform.ms : static_cast<double>(uniform.bytes)),
                 kFailed);
    char line[160];
    std::snprintf(line, sizeof line, "%-14s %8llu %10.5f    %8llu %10.5f   ",
                  to_string(candidates[f]).c_str(), static_cast<unsigned long long>(uniform.bytes),
                  uniform.loss, static_cast<unsigned long long>(best.bytes), best.loss);
    text += line + text_of(planner, best) + "\n";
    Json row = Json::object();
    row.set("format", to_string(candidates[f]));
    row.set("uniform", json_of(planner, uniform));
    row.set("plan", json_of(planner, best));
    table.push(std::move(row));
  }
  if (const Status s = planner.apply(chosen); !s.ok()) return fail(s, kFailed);
  say(std::to_string(planner.measured()) + " combinations measured on " +
      std::to_string(data.samples()) + " rows");
  if (!a.out.empty()) {
    LOOM_OR_EXIT(const EntitySections sections, kept_sections(trained.file), kFailed);
    if (const Status s = save_network(a.out, network, sections); !s.ok()) return fail(s, kFailed);
  }
  if (a.json) {
    Json answer = Json::object();
    answer.set("rows", data.samples());
    answer.set("seed", a.seed);
    if (asked) answer.set("plan", json_of(planner, chosen));
    answer.set("table", std::move(table));
    return print(answer.dump() + "\n") ? kOk : kFailed;
  }
  if (asked)
    text += "\nplan: " + std::to_string(chosen.bytes) + " bytes, loss " + fixed(chosen.loss, 5) +
            (a.ms > 0 ? ", " + fixed(chosen.ms, 3) + " ms" : "") + "\n" + text_of(planner, chosen) +
            "\n";
  return print(text) ? kOk : kFailed;
}

}  // namespace

void add_plan(CLI::App& app, Action& action) {
  add_command<Args>(app, action, "plan", "choose how each matrix of a network is stored", bind,
                    run);
}

}  // namespace loom::cli
