// loom predict: the answers of a trained network to raw data.
#include <optional>

#include "base/escape.h"
#include "base/json/json.h"
#include "bench/device.h"
#include "console.h"
#include "internal.h"
#include "models/trained_network.h"
#include "train/data/folder.h"
#include "train/judge/metrics.h"

namespace loom::cli {
namespace {

struct Args {
  std::string network, data;
  MachineOptions machine;
  std::optional<std::int64_t> horizon;
  bool json = false;
};

void bind(CommandLine& c, Args& a) {
  c.add("NETWORK", a.network, "the .entity file that loom train wrote").required();
  c.add("--data", a.data,
        "raw data as the network was trained on: a table (CSV, with its target column or without), "
        "an array (idx, .npy) or a folder of them; a folder of images or .txt files, in classes or "
        "not, or one such file; of a time series, which needs none: a table that goes on, after "
        "which it is forecast. Of a network trained by a spec or a program: its inputs alone")
      .type_name("FILE")
      .no_stdin();
  c.add("--horizon", a.horizon, "of a time series: steps to forecast, 12 where not given")
      .positive()
      .type_name("N");
  bind_machine_options(c, a.machine);
  c.flag("--json", a.json, "one JSON object on stdout for each row");
}

// A cell of CSV: in quotes where it needs them.
std::string cell_of(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

// A row of the answer: "setosa,0.9981", or values with commas between them; then the name of the
// file that it is of, where there is one.
std::string line_of(std::span<const float> y, bool classes, const Json& inputs, std::int64_t row,
                    const std::string& file, bool json) {
  Json line = Json::object();
  line.set("row", row);
  // JSON is UTF-8, names of files need not be.
  if (!file.empty()) line.set("file", json_text(file));
  std::string text;
  if (classes) {
    const std::int32_t best = best_class(y);
    const std::vector<double> p = softmax(y);
    const std::string label = label_of(inputs, best);
    line.set("class", label);
    line.set("probability", p[static_cast<std::size_t>(best)]);
    Json all = Json::array();
    for (const double v : p) all.push(v);
    line.set("probabilities", std::move(all));
    text = cell_of(label) + "," + fixed(p[static_cast<std::size_t>(best)], 4);
  } else {
    Json values = Json::array();
    for (const float v : y) {
      const bool finite = v - v == 0;
      text += (text.empty() ? "" : ",") +
              (finite ? format_double(static_cast<double>(v)) : std::string("nan"));
      values.push(finite ? Json(static_cast<double>(v)) : Json());
    }
    line.set("values", std::move(values));
  }
  if (!file.empty()) text += "," + cell_of(file);
  return json ? line.dump() + "\n" : text + "\n";
}

std::string line_of(const Forecast& f, bool json) {
  if (json) return f.to_json().dump() + "\n";
  std::string text = f.date;
  for (const double v : {f.value, f.low80, f.high80, f.low95, f.high95})
    text += "," + significant(v);
  return text + "\n";
}

// Dates, forecasts and their intervals: what comes after the table of training, or after --data.
int run_series(const Args& a, TrainedNetwork& trained, Session& session) {
  std::vector<std::string> decisions;
  LOOM_OR_EXIT(const SeriesForm form,
               a.data.empty() ? SeriesForm::from_json(trained.inputs)
                              : continue_series(trained.inputs, a.data, decisions),
               kRefused);
  for (const std::string& line : decisions) say(escaped(line));
  if (form.width() != trained.network.input().width)
    return fail(Status(Code::corrupt, a.network + ": its section 'inputs' is of another network"),
                kRefused);
  auto list = forecast(
      form, a.horizon.value_or(kDefaultHorizon),
      [&](const auto& x, std::int64_t rows, auto& y) { return run_rows(session, x, rows, y); });
  if (!list.ok())
    return fail(list.status(), list.status().code() == Code::unsupported ? kRefused : kFailed);
  std::string text = a.json ? "" : "date,forecast,low80,high80,low95,high95\n";
  for (const Forecast& f : *list) text += line_of(f, a.json);
  if (!print(text)) return kFailed;
  if (!list->back().measured)
    say("forecasts of up to " + std::to_string(form.half80.size()) +
        " steps were judged in training: the intervals of later ones are wider by the root of the "
        "steps");
  return kOk;
}

int run(const Args& a) {
  LOOM_OR_EXIT(TrainedNetwork trained, open_trained(a.network), kRefused);
  const bool series = trained.inputs.is_object() && trained.inputs.find("series");
  if (!series && (a.horizon || a.data.empty()))
    return fail(
        Status(Code::invalid_argument, std::string(a.horizon ? "--horizon" : "--data is required") +
                                           ": " + a.network + " is no network of a time series"),
        kUsage);
  if (!series)
    if (const Status read = read_data(trained, a.data); !read.ok()) return fail(read, kRefused);
  Network& network = trained.network;
  const Json& inputs = trained.inputs;
  const RawRows& rows = trained.data;
  const bool classes = trained.classes;
  LOOM_OR_EXIT(const Machine machine, open_machine(a.machine), kRefused);
  ThreadPool pool(machine.mode.threads);
  SessionOptions options;
  options.max_rows = series ? 1 : std::min<std::int64_t>(rows.rows, 256);
  options.device = machine.choice.device.get();
  options.fuse = machine.mode.fuse;
  options.auto_device = machine.mode.auto_device;
  options.isa = a.machine.isa;
  LOOM_OR_EXIT(Session session, Session::create(network, pool, options), kRefused);
  if (series) return run_series(a, trained, session);
  std::vector<double> x;
  std::vector<float> y;
  for (std::int64_t at = 0; at < rows.rows; at += options.max_rows) {
    const std::int64_t n = std::min(options.max_rows, rows.rows - at);
    if (const Status status = rows.read(at, n, network.input().width, x); !status.ok())
      return fail(status, kFailed);
    if (const Status status = run_rows(session, x, n, y); !status.ok())
      return fail(status, kFailed);
    const std::size_t outputs = y.size() / static_cast<std::size_t>(n);
    std::string text;
    for (std::int64_t r = 0; r < n; ++r)
      text +=
          line_of(std::span(y).subspan(static_cast<std::size_t>(r) * outputs, outputs), classes,
                  inputs, at + r + 1,
                  rows.names.empty() ? std::string() : rows.names[static_cast<std::size_t>(at + r)],
                  a.json);
    if (!print(text)) return kFailed;
  }
  if (!rows.judged) return kOk;
  LOOM_OR_EXIT(
      Evaluator evaluator,
      Evaluator::create(network, *rows.judged, pool,
                        {.loss = classes ? Loss::cross_entropy : Loss::mse, .isa = a.machine.isa}),
      kRefused);
  LOOM_OR_EXIT(const Metrics metrics, evaluator.measure(), kFailed);
  say("against the targets of the data: " + metrics.to_text() + " over " +
      std::to_string(metrics.rows) + " rows");
  return kOk;
}

}  // namespace

void add_predict(CLI::App& app, Action& action) {
  add_command<Args>(app, action, "predict",
                    "the answers of a trained network to a table, arrays, images or texts", bind,
                    run);
}

}  // namespace loom::cli
