// loom plan: a format for each matrix of a trained network, from what each costs and what it
// spoils.
#include <cstdio>
#include <limits>

#include "files/outputs.h"
#include "models/trained_network.h"
#include "support/client.h"
#include "support/console.h"

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
  c.add("--formats", a.formats, "candidates, with commas between (18 from f32 to binary)")
      .delimiter(',')
      .type_name("NAMES");
  c.add("--rows", a.rows, "rows of the data that losses are measured on (512)").positive();
  c.add("--seed", a.seed, "which rows: same seed, same plan (0)").not_negative();
  c.add("--out", a.out, "writes the network as planned: an .entity file for loom predict")
      .type_name("FILE");
  c.add("--threads", a.threads,
        "threads (one per core); the plan is the same for any number, but for --ms")
      .between(1, 1024);
  c.add("--isa", a.isa, "the instruction set to use (the best here)");
  c.flag("--json", a.json, "one JSON object on stdout");
}

void check_formats(const Args& a) {
  for (const std::string& name : a.formats)
    if (flag_in(parsed(or_exit(kUsage, [&] { return format_info(name); })), "computes_f64"))
      throw problem(LOOM_INVALID_ARGUMENT,
                    "--formats: '" + name + "' computes in f64, which no plan mixes with others",
                    kUsage);
}

std::string options_of(const Args& a) {
  Json options = Json::object();
  options.set("bytes", a.bytes);
  options.set("ms", a.ms);
  options.set("loss", a.loss);
  Json formats = Json::array();
  for (const std::string& name : a.formats) formats.push(name);
  options.set("formats", std::move(formats));
  options.set("rows", a.rows);
  options.set("seed", a.seed);
  return options.dump();
}

Json report_of(Predictor& trained, const Args& a) {
  try {
    return parsed(trained.plan(options_of(a)));
  } catch (const Error& error) {
    // A limit that nothing meets is found at the end of the work.
    throw Exit{problem_text(error), error.code() == LOOM_OUT_OF_RANGE ? kFailed : kRefused};
  }
}

double loss_of(const Json& plan) {
  return number_in(plan, "loss", std::numeric_limits<double>::infinity());
}

std::string formats_of(const Json& plan) {
  std::string text;
  for (const auto& [matrix, format] : member(plan, "formats").as_object())
    text += (text.empty() ? "" : "  ") + matrix + " " + format.as_string();
  return text;
}

std::string table_text(const Json& table) {
  std::string text = "uniform           bytes       loss   plan: bytes       loss\n";
  for (const Json& row : table.as_array()) {
    const Json &uniform = member(row, "uniform"), &best = member(row, "plan");
    char line[160];
    std::snprintf(line, sizeof line, "%-14s %8lld %10.5f    %8lld %10.5f   ",
                  text_in(row, "format").c_str(),
                  static_cast<long long>(integer_in(uniform, "bytes")), loss_of(uniform),
                  static_cast<long long>(integer_in(best, "bytes")), loss_of(best));
    text += line + formats_of(best) + "\n";
  }
  return text;
}

std::string plan_text(const Json& plan, bool timed) {
  return "\nplan: " + std::to_string(integer_in(plan, "bytes")) + " bytes, loss " +
         fixed(loss_of(plan), 5) + (timed ? ", " + fixed(number_in(plan, "ms"), 3) + " ms" : "") +
         "\n" + formats_of(plan) + "\n";
}

int run(const Args& a) {
  check_formats(a);
  if (!a.out.empty()) {
    check_not_input("--out", a.out, {a.data}, Depth::all);
    check_file_output("--out", a.out, {a.network});
  }
  Json machine = Json::object();
  machine.set("threads", a.threads);
  machine.set("isa", a.isa);
  Predictor trained = open_trained(a.network, machine);
  expect_raw(trained, a.network);
  read_data(trained, a.data);
  const Json report = report_of(trained, a);
  say(std::to_string(integer_in(report, "measured")) + " combinations measured on " +
      std::to_string(integer_in(report, "rows")) + " rows");
  if (!a.out.empty()) or_exit(kFailed, [&] { trained.save(a.out); });
  const Json* plan = report.find("plan");
  if (a.json) {
    Json answer = Json::object();
    for (const char* key : {"rows", "seed", "plan", "table"})
      if (const Json* value = report.find(key)) answer.set(key, *value);
    return print(answer.dump() + "\n") ? kOk : kFailed;
  }
  return print(table_text(member(report, "table")) + (plan ? plan_text(*plan, a.ms > 0) : ""))
             ? kOk
             : kFailed;
}

}  // namespace

void add_plan(CLI::App& app, Action& action) {
  add_command<Args>(app, action, "plan", "choose how each matrix of a network is stored", bind,
                    run);
}

}  // namespace loom::cli
