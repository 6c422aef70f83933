// loom predict: the answers of a trained network to raw data.
#include <optional>

#include "arguments/machine_options.h"
#include "models/trained_network.h"
#include "support/client.h"
#include "support/console.h"

namespace loom::cli {
namespace {

constexpr std::int64_t kDefaultHorizon = 12, kRowsAtOnce = 256;

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

// A row of the answer: "setosa,0.9981", the class alone where it has no probability, or values with
// commas between them; then the name of the file that it is of, where there is one.
std::string line_of(const Json& answer) {
  std::string text;
  if (const Json* label = answer.find("class")) {
    text = label->is_string() ? cell_of(label->as_string())
           : label->is_null() ? "nan"
                              : label->dump();
    if (const Json* p = answer.find("probability"))
      text += "," + (p->is_null() ? std::string("nan") : fixed(p->as_number(), 4));
  } else {
    for (const Json& v : member(answer, "values").as_array())
      text += (text.empty() ? "" : ",") + (v.is_null() ? "nan" : v.dump());
  }
  if (const std::string file = text_in(answer, "file"); !file.empty()) text += "," + cell_of(file);
  return text;
}

std::string line_of_step(const Json& f) {
  std::string text = text_in(f, "date");
  for (const char* key : {"forecast", "low80", "high80", "low95", "high95"})
    text += "," + significant(number_in(f, key));
  return text;
}

// Dates, forecasts and their intervals: what comes after the table of training, or after --data.
int run_series(const Args& a, Predictor& trained) {
  Json answer;
  try {
    answer = parsed(trained.forecast(a.data, a.horizon.value_or(kDefaultHorizon)));
  } catch (const Error& error) {
    // Forecasts that leave the range of numbers are found at the end of the work.
    throw Exit{problem_text(error), error.code() == LOOM_OUT_OF_RANGE ? kFailed : kRefused};
  }
  for (const Json& line : member(answer, "notes").as_array()) say(escaped(line.as_string()));
  say_note(parsed(trained.info()));
  std::string text = a.json ? "" : "date,forecast,low80,high80,low95,high95\n";
  const Json::Array& steps = member(answer, "forecasts").as_array();
  for (const Json& f : steps) text += (a.json ? f.dump() : line_of_step(f)) + "\n";
  if (!print(text)) return kFailed;
  if (!flag_in(steps.back(), "measured"))
    say("forecasts of up to " + std::to_string(integer_in(answer, "judged_steps")) +
        " steps were judged in training: the intervals of later ones are wider by the root of the "
        "steps");
  return kOk;
}

// All rows, then how good the answers are where the data has targets.
int run_rows(const Args& a, Predictor& trained) {
  const Json read = read_data(trained, a.data);
  say_note(parsed(trained.info()));
  const auto answered = [&] {
    return parsed(or_exit(kFailed, [&] { return trained.next(kRowsAtOnce); }));
  };
  for (Json answers = answered(); !answers.as_array().empty(); answers = answered()) {
    std::string text;
    for (const Json& answer : answers.as_array())
      text += (a.json ? answer.dump() : line_of(answer)) + "\n";
    if (!print(text)) return kFailed;
  }
  if (integer_in(read, "targets") == 0) return kOk;
  const Json figures = parsed(or_exit(kFailed, [&] { return trained.measure(); }));
  say("against the targets of the data: " + text_in(figures, "text") + " over " +
      std::to_string(integer_in(figures, "rows")) + " rows");
  return kOk;
}

int run(const Args& a) {
  Predictor trained = open_trained(a.network, machine_json(a.machine));
  if (flag_in(parsed(trained.info()), "series")) return run_series(a, trained);
  if (a.horizon || a.data.empty())
    throw problem(LOOM_INVALID_ARGUMENT,
                  std::string(a.horizon ? "--horizon" : "--data is required") + ": " + a.network +
                      " is no network of a time series",
                  kUsage);
  return run_rows(a, trained);
}

}  // namespace

void add_predict(CLI::App& app, Action& action) {
  add_command<Args>(app, action, "predict",
                    "the answers of a trained network to a table, arrays, images or texts", bind,
                    run);
}

}  // namespace loom::cli
