// loom accuracy: what every numeric type costs a trained network, with every granularity of scales.
#include <cinttypes>
#include <cmath>
#include <cstdio>

#include "models/trained_network.h"
#include "support/client.h"
#include "support/console.h"

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
  c.add("--threads", a.threads, "0: one per core").between(0, 1024);
  c.add("--isa", a.isa, "the instruction set to use").type_name("NAME");
  c.flag("--json", a.json, "one JSON object on stdout");
}

// Each type in each granularity, as the formats are written; a type without scales takes none.
std::vector<std::string> formats() {
  std::vector<std::string> list;
  const Json library = parsed(loom::info());
  for (const Json& dtype : member(library, "dtypes").as_array()) {
    const std::string& name = dtype.as_string();
    if (!flag_in(parsed(format_info(name)), "scaled")) list.push_back(name);
    for (const char* scale : {":tensor", ":row", ":block16", ":block32"})
      list.push_back(name + scale);
  }
  for (const Json& format : member(library, "formats").as_array())
    if (!flag_in(parsed(format_info(format.as_string())), "plain"))
      list.push_back(format.as_string());
  return list;
}

// The table as it grows, and what was refused.
struct Table {
  bool classes, json;
  Json rows = Json::array(), refused = Json::array();
  std::string refusals;

  void refuse(const std::string& format, const Error& error) {
    Json entry = Json::object();
    entry.set("format", format);
    entry.set("why", error.what());
    refused.push(std::move(entry));
    refusals += "refused: " + std::string(error.what()) + "\n";
  }
  bool begin() const {
    char line[160];
    std::snprintf(line, sizeof line, "%-16s %12s %10s %10s\n", "format", "bytes",
                  classes ? "accuracy" : "rmse", "loss");
    return json || print(line);
  }
  bool add(const std::string& format, const Json& figures) {
    const char* measure = classes ? "accuracy" : "rmse";
    Json entry = Json::object();
    entry.set("format", format);
    for (const char* key : {"bytes", "loss", measure}) entry.set(key, member(figures, key));
    rows.push(std::move(entry));
    char line[160];
    std::snprintf(line, sizeof line, "%-16s %12" PRId64 " %10.4f %10.4f\n", format.c_str(),
                  integer_in(figures, "bytes"), number_in(figures, measure, NAN),
                  number_in(figures, "loss", NAN));
    return json || print(line);
  }
};

int run(const Args& a) {
  Json machine = Json::object();
  machine.set("threads", a.threads);
  machine.set("isa", a.isa);
  Predictor trained = open_trained(a.network, machine);
  expect_raw(trained, a.network);
  const std::int64_t rows = integer_in(read_data(trained, a.data), "targets");
  if (rows == 0)
    throw problem(LOOM_INVALID_ARGUMENT, a.data + ": has no targets to judge by", kRefused);
  Table table{.classes = integer_in(parsed(trained.info()), "classes") > 0, .json = a.json};
  const std::vector<std::string> all = formats();
  const Interrupt interrupt;
  Progress progress("judging", all.size(), Progress::Unit::steps);
  if (!table.begin()) return kFailed;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (Interrupt::pressed()) return Interrupt::code();
    try {
      trained.morph(all[i]);
    } catch (const Error& error) {
      table.refuse(all[i], error);
      continue;
    }
    if (!table.add(all[i], parsed(or_exit(kFailed, [&] { return trained.measure(); }))))
      return kFailed;
    progress.update(i + 1, all[i]);
  }
  progress.finish();
  if (!a.json) return print(table.refusals) ? kOk : kFailed;
  Json answer = Json::object();
  answer.set("rows", rows);
  answer.set("formats", std::move(table.rows));
  answer.set("refused", std::move(table.refused));
  return print(answer.dump() + "\n") ? kOk : kFailed;
}

}  // namespace

void add_accuracy(CLI::App& app, Action& action) {
  add_command<Args>(app, action, "accuracy", "a trained network in each of the numeric types", bind,
                    run);
}

}  // namespace loom::cli
