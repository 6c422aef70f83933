// loom train: learns a network as a spec says (docs/reference/training-spec.md), or as the data
// suggests, and saves it with all it needs to go on.
#include <algorithm>
#include <cmath>
#include <optional>

#include "arguments/machine_options.h"
#include "drawings/train.h"
#include "files/files.h"
#include "files/outputs.h"
#include "images/register_decoder.h"
#include "support/client.h"
#include "support/console.h"
#include "support/memory_history.h"

namespace loom::cli {
namespace {

struct Args {
  std::string spec, data, test, target, task, network, dtype, method, teacher, out, report, events,
      observe, memory, svg;
  MachineOptions machine;
  std::int64_t seed = -1, steps = 0, observe_every = 1;
  std::optional<std::int64_t> horizon;
  std::optional<double> temperature, alpha;
  bool fp8 = false, resume = false, json = false, series = false, no_series = false;
};

// What to learn, from what.
void bind_task(CommandLine& c, Args& a) {
  c.add("SPEC", a.spec,
        "the training spec, JSON; without one, what to learn and how is chosen by looking at the "
        "data");
  c.add("--data", a.data,
        "what to learn from: a file as the spec says; without a spec a table (CSV), a folder of "
        "idx or .npy files, a folder with a folder of images or of .txt files for each class (also "
        "within train and test), or texts for the embedded language model (a .txt file, or a "
        "folder of them)")
      .type_name("FILE")
      .no_stdin();
  c.add("--test", a.test, "data of the same form, judged at the end; without a spec")
      .type_name("FILE")
      .no_stdin();
  c.add("--target", a.target, "the column to predict, the last one where not given; without a spec")
      .type_name("NAME");
  c.add("--task", a.task, "whether the target is a class or a number; without a spec")
      .one_of({"classes", "numbers"});
  c.add("--network", a.network,
        "what to learn with, in place of convolutions for images and dense layers for all else; "
        "without a spec")
      .one_of({"dense", "convolutional"});
  c.add(
       "--dtype", a.dtype,
       "of the weights, for example ternary, binary, i4: learned as they will run; --fp8: products "
       "in FP8, forward and backward; without a spec")
      .type_name("NAME");
  c.add("--method", a.method,
        "how gradients are found, in place of back_propagation; without a spec")
      .one_of({"back_propagation", "mono_forward", "direct_feedback_alignment",
               "difference_target_propagation", "target_propagation"});
  const Option series = c.flag(
      "--series", a.series,
      "the table is a time series, also where it has more columns than dates and numbers, or their "
      "names say too little; --horizon N: steps ahead that are judged, 12 where not given; "
      "--no-series: it is learned row by row; without a spec");
  c.flag("--no-series", a.no_series, "").excludes(series).described_elsewhere();
  c.add("--horizon", a.horizon, "").positive().type_name("N").described_elsewhere();
}

// A network whose answers are learned.
void bind_teacher(CommandLine& c, Args& a) {
  c.add("--teacher", a.teacher,
        "learn the answers of another network (.entity, .onnx), beside the targets of the data; "
        "--temperature T: of classes, both networks' logits are divided by it, 1 where not given; "
        "--alpha A: the answers count A, 0.9 where not given, the targets the rest")
      .type_name("FILE")
      .no_stdin();
  c.add("--temperature", a.temperature, "").positive().type_name("T").described_elsewhere();
  c.add("--alpha", a.alpha, "").positive().type_name("A").described_elsewhere();
}

// How long, and what is written.
void bind_run(CommandLine& c, Args& a) {
  c.flag("--fp8", a.fp8, "").described_elsewhere();
  c.add("--steps", a.steps, "in place of as many as the data suggests; without a spec")
      .between(std::int64_t{1}, std::int64_t{1} << 40)
      .type_name("N");
  c.add("--seed", a.seed, "of the first weights, the order and what is held back")
      .between(std::int64_t{0}, INT64_MAX)
      .type_name("N");
  c.add("--out", a.out,
        "the .entity file to write, or the folder of an adapter; Ctrl-C, SIGTERM and SIGHUP write "
        "it too")
      .required()
      .type_name("FILE");
  c.add("--report", a.report,
        "of a table: write which columns the answers rest on and which rows went worst, as an "
        "image (.svg) or as text (.txt)")
      .check("",
             [](const std::string& name) -> std::string {
               return name.ends_with(".svg") || name.ends_with(".txt")
                          ? ""
                          : "a report is a .svg or a .txt file";
             })
      .type_name("FILE");
  c.flag("--resume", a.resume,
         "go on from the file of --out, with the same bits as if never stopped");
  c.add("--events", a.events, "write loss and rate to a TensorBoard event file in this folder")
      .type_name("FOLDER");
  c.add("--observe", a.observe,
        "write statistics of the values and gradients of every cell in each step, a JSON object a "
        "line; --observe-every N: in the first step and every N-th after it")
      .type_name("FILE");
  c.add("--observe-every", a.observe_every, "").positive().type_name("N").described_elsewhere();
  bind_memory(c, a.memory);
  c.add("--svg", a.svg,
        "a drawing: the loss over the steps; with target_propagation the budgets over depth, too")
      .type_name("FILE");
}

void bind(CommandLine& c, Args& a) {
  bind_task(c, a);
  bind_teacher(c, a);
  bind_run(c, a);
  bind_machine_options(c, a.machine);
  c.flag("--json", a.json, "one JSON object on stdout for each report");
}

Json options_of(const Args& a) {
  Json json = machine_json(a.machine);
  const auto text = [&json](const char* key, const std::string& value) {
    if (!value.empty()) json.set(key, value);
  };
  text("spec", a.spec);
  text("data", a.data);
  text("test", a.test);
  text("target", a.target);
  text("task", a.task);
  text("network", a.network);
  text("dtype", a.dtype);
  text("method", a.method);
  text("teacher", a.teacher);
  text("series", a.series ? "yes" : a.no_series ? "no" : "");
  text("out", a.out);
  text("events", a.events);
  text("observe", a.observe);
  json.set("observe_every", a.observe_every);
  if (a.horizon) json.set("horizon", *a.horizon);
  if (a.temperature) json.set("temperature", *a.temperature);
  if (a.alpha) json.set("alpha", *a.alpha);
  if (a.seed >= 0) json.set("seed", a.seed);
  json.set("steps", a.steps);
  json.set("fp8", a.fp8);
  if (!a.report.empty()) json.set("report", true);
  json.set("resume", a.resume);
  return json;
}

// Opens the training; what is refused ends the action.
Training open_training(const Args& a) {
  try {
    return Training::open(options_of(a).dump());
  } catch (const Error& error) {
    // Errors that concern one option begin with its name.
    const std::string message = error.what();
    for (const char* name : {"out", "steps", "horizon", "events", "observe", "report", "teacher",
                             "temperature", "alpha"}) {
      const std::string option = name;
      if (!message.starts_with(option + ": ") && !message.starts_with(option + " ")) continue;
      const bool refused = option == "horizon" || option == "report" || option == "teacher";
      const ExitCode code = refused                                     ? kRefused
                            : option == "events" || option == "observe" ? kFailed
                                                                        : kUsage;
      const std::string shown_message =
          code == kFailed ? message.substr(option.size() + 2) : "--" + message;
      throw problem(error.code(), shown_message, code);
    }
    throw Exit{problem_text(error), kRefused};
  }
}

bool tell_step(const Json& r, bool json) {
  if (json) {
    Json line = Json::object();
    for (const char* key : {"step", "steps", "loss", "lr", "loss_scale", "skipped", "heads",
                            "parts", "reach", "rows", "epoch"})
      if (const Json* value = r.find(key)) line.set(key, *value);
    return print(line.dump() + "\n");
  }
  char numbers[128];
  std::snprintf(numbers, sizeof numbers, "loss %.6g  lr %.4g", number_in(r, "loss"),
                number_in(r, "lr"));
  std::string heads;
  if (const Json* losses = r.find("heads"))
    for (const auto& [name, value] : losses->as_object()) {
      char loss[32];
      std::snprintf(loss, sizeof loss, " %.6g", value.as_number());
      heads += "  " + escaped(name) + loss;
    }
  return print("step " + std::to_string(integer_in(r, "step")) + "  " + numbers + heads +
               (flag_in(r, "skipped") ? "  skipped: a gradient overflowed" : "") + "\n");
}

bool tell_validation(const Json& r, bool json) {
  if (!json)
    return print("step " + std::to_string(integer_in(r, "step")) +
                 "  validation: " + text_in(r, "validation_text") + "\n");
  Json line = Json::object();
  line.set("step", member(r, "step"));
  line.set("validation", member(r, "validation"));
  return print(line.dump() + "\n");
}

void tell_begin(const Json& info) {
  const Json* adapter = info.find("adapter_parameters");
  say((adapter ? "an adapter of " + count_text(adapter->as_number()) + " parameters beside " : "") +
      count_text(number_in(info, "parameters")) + " parameters  \u00b7  " +
      std::to_string(integer_in(info, "samples")) + " samples  \u00b7  " +
      std::to_string(integer_in(info, "steps")) + " steps");
  const Json* s = info.find("streams");
  if (!s) return;
  const std::int64_t left = integer_in(*s, "left_out");
  say("streams: " + std::to_string(integer_in(*s, "lanes")) + " lanes of " +
      std::to_string(integer_in(*s, "rows")) + " rows in windows of " +
      std::to_string(integer_in(*s, "window")) + "  \u00b7  " +
      std::to_string(integer_in(*s, "windows")) + " steps an epoch" +
      (left > 0 ? "  \u00b7  the last " + std::to_string(left) +
                      (left > 1 ? " rows are" : " row is") + " left out"
                : ""));
}

// Steps until the end, a signal, or an answer that nobody takes.
struct Run {
  std::vector<TrainPoint> points;  // of the steps that were logged
  std::vector<std::string> parts;
  bool stopped = false;  // before its end
  std::string failed;    // why events could not be written: the training is saved before it is told
};
void keep_point(const Json& r, Run& run) {
  TrainPoint point{integer_in(r, "step"), number_in(r, "loss"), {}, {}};
  run.parts.clear();
  if (const Json* parts = r.find("parts"))
    for (const Json& part : parts->as_array()) {
      run.parts.push_back(text_in(part, "path"));
      const Json& budget = member(part, "budget");
      point.budgets.push_back(budget.is_null() ? std::nan("") : budget.as_number());
      point.learned.push_back(flag_in(part, "learned"));
    }
  run.points.push_back(std::move(point));
}

Run learn(Training& training, const Json& info, bool json) {
  Run run;
  Progress progress("training", static_cast<std::uint64_t>(integer_in(info, "steps")),
                    Progress::Unit::steps, static_cast<std::uint64_t>(integer_in(info, "step")));
  bool ended = flag_in(info, "ended");
  std::int64_t steps = 1;  // of a call: as many as take a moment
  try {
    const Interrupt::Cancels cancels(training.handle());
    while (!ended) {
      const Stopwatch watch;
      const Json r = parsed(training.step(steps));
      if (watch.seconds() < 0.02) steps = std::min<std::int64_t>(2 * steps, 1 << 12);
      else if (watch.seconds() > 0.1) steps = std::max<std::int64_t>(steps / 2, 1);
      ended = flag_in(r, "ended");
      progress.update(
          static_cast<std::uint64_t>(integer_in(r, "step")),
          "loss " + fixed(number_in(r, "loss"), 4) + "  lr " + fixed(number_in(r, "lr"), 6));
      if (flag_in(r, "logged")) tell_step(r, json), keep_point(r, run);
      if (r.find("validation")) tell_validation(r, json);
      run.failed = text_in(r, "failed");
      if (!run.failed.empty()) break;
      if (Interrupt::pressed() || !print_problem().empty()) break;
    }
  } catch (const Error& error) {
    if (error.code() != LOOM_CANCELLED) {
      progress.finish();
      throw;
    }
  }
  progress.finish();
  run.stopped = !ended;
  return run;
}

// A signal that came behind the last step would cancel what follows: this uses it up.
void settle(Training& training) {
  try {
    training.info();
  } catch (const Error&) {
    // It was there.
  }
}

int train(const Args& a, Training& training, MemoryHistory& memory) {
  const Json begin = parsed(training.info());
  say_note(begin);
  tell_begin(begin);
  const Interrupt interrupt;
  memory.weights(integer_in(begin, "weight_bytes", -1), Json::object());
  memory.step("steps");
  const Run run = learn(training, begin, a.json);
  settle(training);
  memory.step("judge");
  std::string answer, report;
  if (!run.stopped) {
    const Training::Judged judged = training.judge();
    answer = a.json && judged.figures != "null" ? judged.figures + "\n" : judged.text;
    if (!a.report.empty() && judged.figures != "null")
      report = training.report(a.report.ends_with(".svg") ? "svg" : "text");
  }
  memory.step("save");
  training.save(a.out);
  memory.finish("loom train " + a.out);
  if (!report.empty()) write_text(a.report, report);
  if (!a.svg.empty() && run.points.empty()) say(a.svg + ": not written, as no step was logged");
  else if (!a.svg.empty())
    write_text(a.svg, train_svg("loom train " + a.out, run.points, run.parts));
  if (!a.report.empty() && report.empty())
    say(a.report + ": not written, as the training did not end");
  print(answer);
  const Json end = parsed(training.info());
  say(a.out + ": step " + std::to_string(integer_in(end, "step")) + " of " +
      std::to_string(integer_in(end, "steps")) +
      (run.stopped             ? ", --resume goes on"
       : flag_in(end, "early") ? ", stopped early"
                               : "") +
      "  \u00b7  sha256 " + training.digest());
  if (!run.failed.empty()) throw Exit{run.failed, kFailed};
  return run.stopped && print_problem().empty() ? Interrupt::code()
                                                : kOk;  // main() tells of the problem
}

int run(const Args& a) {
  const auto usage = [](const std::string& what) {
    return problem(LOOM_INVALID_ARGUMENT, what, kUsage);
  };
  if (a.spec.empty() && a.data.empty())
    throw usage("give a SPEC, or --data FILE to have one chosen");
  if (!a.spec.empty() && (!a.test.empty() || !a.target.empty() || !a.task.empty() ||
                          !a.network.empty() || !a.dtype.empty() || !a.method.empty() || a.fp8 ||
                          a.steps > 0 || a.series || a.no_series || a.horizon || !a.report.empty()))
    throw usage(
        "--test, --target, --task, --network, --dtype, --method, --fp8, --steps, --series, "
        "--no-series, --horizon and --report are for training without a SPEC, which says these "
        "things itself");
  if (!a.report.empty()) {
    check_file_output("--report", a.report, {a.data, a.test, a.teacher, a.out});
    if (a.report == a.out) throw usage("--report: " + a.out + ": is the file of --out, too");
  }
  for (const auto& [name, path] :
       {std::pair("--observe", &a.observe), std::pair("--svg", &a.svg)}) {
    if (path->empty()) continue;
    check_file_output(name, *path, {a.spec, a.data, a.test, a.teacher, a.out, a.report});
    for (const std::string* other : {&a.out, &a.report, &a.observe, &a.svg})
      if (other != path && *path == *other)
        throw usage(std::string(name) + ": " + *path + ": is another output of this command, too");
  }
  MemoryHistory memory(a.memory, {a.spec, a.data, a.test, a.teacher});
  if (!a.memory.empty() && (a.memory == a.out || a.memory == a.report || a.memory == a.svg))
    throw usage("--memory: " + a.memory + ": is the file of another option, too");
  register_image_decoder();
  Training training = open_training(a);
  const Json info = parsed(training.info());
  for (const Json& note : member(info, "notes").as_array()) say(escaped(note.as_string()));
  return train(a, training, memory);
}

}  // namespace

void add_train(CLI::App& app, Action& action) {
  add_command<Args>(app, action, "train", "train a network, as a spec says or as the data suggests",
                    bind, run);
}

}  // namespace loom::cli
