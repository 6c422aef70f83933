// loom adapt: a network learns while it answers, and the task changes.
#include <algorithm>

#include "arguments/machine_options.h"
#include "drawings/adapt.h"
#include "files/files.h"
#include "files/outputs.h"
#include "files/task_stream.h"
#include "models/network_file.h"
#include "support/client.h"
#include "support/console.h"

namespace loom::cli {
namespace {

struct Args {
  std::string network, method, optimizer, loss = "cross_entropy", activation = "relu";
  std::string svg, out, dtype;
  std::vector<std::int32_t> layers = {32, 64, 64, 64, 32};
  std::vector<std::string> data;
  std::int64_t outputs = 1000, tasks = 4, batch = 32, every = 50;
  std::optional<std::int64_t> steps, recent, older;
  std::optional<double> budget;
  double deadline = 10, lr = 0.003, recover = 0.95;
  std::uint64_t seed = 1;
  Option seed_given, layers_given, activation_given;
  bool told = false, keep = false, fresh = false, ungated = false, json = false;
  MachineOptions machine{.threads = 1};
};

void bind(CommandLine& c, Args& a) {
  c.add("NETWORK", a.network,
        "an .entity file, or a topology (.json); without it dense layers, the last with an output "
        "for each class");
  a.layers_given = c.add("--layers", a.layers, "outputs of the hidden ones (32,64,64,64,32)")
                       .delimiter(',')
                       .one_value()
                       .between(1, 65536);
  a.activation_given = c.add("--activation", a.activation, "of the hidden ones (relu)");
  c.add("--data", a.data,
        "a table (.csv or .npy) whose last column is a class, for each task; without it patterns "
        "that are made here")
      .one_value()
      .type_name("FILE");
  c.add("--outputs", a.outputs, "of each task (1000)").positive();
  c.add("--tasks", a.tasks, "how many follow one another (4)").positive();
  c.flag("--fresh", a.fresh, "made tasks have other patterns, in place of other classes of them");
  c.add("--deadline", a.deadline, "of an answer, in ms (10)").not_negative();
  const Option budget =
      c.add("--budget", a.budget, "learning after each answer, in ms (half the deadline)")
          .not_negative();
  c.add("--steps", a.steps, "learning after each answer in steps: the result repeats")
      .positive()
      .excludes(budget);
  c.add("--method", a.method, "of learning: a name, or its settings as JSON (back_propagation)");
  c.add("--optimizer", a.optimizer, "a name, or its settings as JSON (adamw)");
  c.add("--loss", a.loss, "cross_entropy, or mse with labels of 1 and -1 (cross_entropy)")
      .one_of({"cross_entropy", "mse"});
  c.flag("--ungated", a.ungated, "a second run with the gate 0, of the method target_propagation");
  c.add("--lr", a.lr, "learning rate (0.003)").within(1e-9, 1e6);
  c.add("--batch", a.batch, "samples of a step (32)").between(1, 65536);
  c.add("--dtype", a.dtype, "of the weights, as i8 (as they are)").check("FORMAT", format_problem);
  c.add("--recent", a.recent, "newest samples to learn from (256)").positive();
  c.add("--older", a.older, "and older ones (0)").not_negative();
  c.flag("--told", a.told, "changes of the task are said, and not to be detected");
  c.flag("--keep", a.keep, "a change of the task does not forget the samples before it");
  c.add("--recover", a.recover, "accuracy at which a task counts as recovered (0.95)")
      .within(0.01, 1);
  c.add("--every", a.every, "outputs of a point of the charts (50)").positive();
  a.seed_given = c.add("--seed", a.seed, "of weights and samples (1)");
  c.add("--out", a.out, "save the network that has learned").type_name("FILE");
  c.add("--svg", a.svg, "a drawing of accuracy, and of forgetting").type_name("FILE");
  c.flag("--json", a.json, "one JSON object on stdout");
  bind_machine_options(c, a.machine);
}

Exit usage(const std::string& text) { return problem(LOOM_INVALID_ARGUMENT, text, kUsage); }

void check_outputs(const Args& a) {
  std::vector<std::string> inputs = a.data;
  inputs.push_back(a.network);
  if (!a.out.empty()) check_file_output("--out", a.out, a.data);
  if (!a.svg.empty()) check_file_output("--svg", a.svg, inputs);
  if (!a.svg.empty() && a.svg == a.out)
    throw usage("--svg: " + a.svg + ": is the file of --out, too");
  if (!a.network.empty() && (a.layers_given.given() || a.activation_given.given()))
    throw usage("--layers and --activation are of a network that is made, without NETWORK");
  if (a.fresh && !a.data.empty())
    throw usage("--fresh is of tasks that are made here, without --data");
}

std::string dense_layers(const Args& a, const TaskStream& stream) {
  Json topology = Json::object(), input = Json::object(), cells = Json::array();
  input.set("width", stream.width());
  for (std::size_t i = 0; i <= a.layers.size(); ++i) {
    Json cell = Json::object(), at = Json::array();
    for (const std::int64_t c :
         {std::int64_t{0}, std::int64_t{0}, std::int64_t{0}, static_cast<std::int64_t>(i)})
      at.push(c);
    cell.set("at", std::move(at));
    cell.set("type", "dense");
    cell.set("out", i < a.layers.size() ? std::int64_t{a.layers[i]} : stream.classes());
    if (i < a.layers.size()) cell.set("activation", a.activation);
    cells.push(std::move(cell));
  }
  topology.set("format", "loom-topology");
  topology.set("version", 3);
  topology.set("layers_per_cell", static_cast<std::int64_t>(a.layers.size() + 1));
  topology.set("input", std::move(input));
  topology.set("cells", std::move(cells));
  return topology.dump();
}

Network network_of(const Args& a, const TaskStream& stream) {
  Network network = [&] {
    if (!a.network.empty()) return load_network(a.network, a.seed, a.seed_given);
    Network made = Network::create(dense_layers(a, stream));
    made.initialize(a.seed);
    return made;
  }();
  if (!a.dtype.empty()) network.morph(a.dtype);
  return network;
}

// A name, or an object with its settings.
Json settings_of(const std::string& text, const char* option, const char* absent) {
  Json settings = Json::object();
  if (!text.starts_with("{")) {
    settings.set("type", text.empty() ? absent : text);
    return settings;
  }
  auto parsed = Json::parse(text);
  if (!parsed.ok())
    throw usage(std::string(option) +
                ": expects a name or a JSON object: " + parsed.status().message());
  return std::move(*parsed);
}

// The training spec; `gate`: another one than that of --method.
Json spec_of(const Args& a, const double* gate) {
  Json spec = Json::object(), schedule = Json::object();
  schedule.set("lr", a.lr);
  spec.set("loss", a.loss);
  spec.set("batch", a.batch);
  spec.set("seed", static_cast<std::int64_t>(a.seed & INT64_MAX));
  spec.set("schedule", std::move(schedule));
  spec.set("optimizer", settings_of(a.optimizer, "--optimizer", "adamw"));
  Json method = settings_of(a.method, "--method", "back_propagation");
  if (gate) method.set("gate", *gate);
  spec.set("method", std::move(method));
  return spec;
}

Json options_of(const Args& a, const TaskStream& stream) {
  Json options = machine_json(a.machine);
  options.set("deadline_ms", a.deadline);
  options.set("recover", a.recover);
  options.set("window", a.every);
  options.set("detector", a.told ? "none" : "adwin");
  options.set("forget", !a.keep);
  options.set("correct", a.loss == "mse" ? "argmax" : "auto");
  options.set("task", stream.name(0));
  if (a.recent) options.set("recent", *a.recent);
  if (a.older) options.set("older", *a.older);
  return options;
}

// What a run has measured on held samples: by task its accuracy after some outputs.
struct Held {
  std::int64_t output;
  std::vector<double> accuracy;
};
struct Run {
  Json report, info;
  std::vector<Held> held;
  bool stopped = false;
};

// Target values of a class: 1 at its place, and -1 elsewhere.
void add_labels(std::vector<float>& y, std::int32_t target, std::int64_t classes) {
  for (std::int64_t c = 0; c < classes; ++c) y.push_back(c == target ? 1.0f : -1.0f);
}

Data data_of(const Args& a, const TaskStream& stream, std::int64_t task) {
  std::vector<float> x, labels;
  std::vector<std::int32_t> classes;
  for (const TaskSample& s : stream.held(task)) {
    x.insert(x.end(), s.x.begin(), s.x.end());
    classes.push_back(s.target);
    add_labels(labels, s.target, stream.classes());
  }
  const std::span<const float> rows(x);
  if (a.loss == "mse")
    return Data::values(rows, stream.width(), std::span<const float>(labels), stream.classes());
  return Data::classes(rows, stream.width(), std::span<const std::int32_t>(classes));
}

void give_feedback(const Args& a, Online& online, std::int64_t number, const TaskSample& sample,
                   std::int64_t classes) {
  if (a.loss != "mse") return online.feedback_classes(number, std::span(&sample.target, 1));
  std::vector<float> labels;
  add_labels(labels, sample.target, classes);
  online.feedback(number, labels);
}

Run run_tasks(const Args& a, const Network& network, TaskStream stream, const double* gate) {
  Run run;
  Online online = or_exit(kRefused, [&] {
    return Online(network, spec_of(a, gate).dump(), options_of(a, stream).dump());
  });
  std::vector<Data> held;
  for (std::int64_t t = 0; t < stream.different(); ++t) held.push_back(data_of(a, stream, t));
  const std::int64_t all = a.outputs * a.tasks,
                     budget =
                         a.steps
                             ? -1
                             : static_cast<std::int64_t>(1000 * a.budget.value_or(a.deadline / 2));
  std::vector<float> y(static_cast<std::size_t>(stream.classes()));
  Progress progress(gate ? "outputs, no gate" : "outputs", static_cast<std::uint64_t>(all),
                    Progress::Unit::steps);
  const Interrupt::Cancels cancels(online.handle());
  for (std::int64_t i = 0; i < all && !Interrupt::pressed(); ++i) {
    const std::int64_t task = i / a.outputs;
    if (a.told && i > 0 && i % a.outputs == 0) online.task(stream.name(task));
    const TaskSample sample = stream.next(task);
    const std::int64_t number = online.answer(sample.x, y);
    give_feedback(a, online, number, sample, stream.classes());
    try {
      online.learn(budget, a.steps.value_or(0));
    } catch (const Error& error) {
      if (error.code() != LOOM_CANCELLED) throw;
      break;
    }
    if ((i + 1) % a.every != 0 && i + 1 != all) continue;
    Held measured{i + 1, {}};
    for (std::int64_t t = 0; t <= std::min(task, stream.different() - 1); ++t)
      measured.accuracy.push_back(
          online.measure(held[static_cast<std::size_t>(t)], stream.name(t)));
    run.held.push_back(std::move(measured));
    progress.update(static_cast<std::uint64_t>(i + 1),
                    "accuracy " + significant(number_in(parsed(online.info()), "accuracy")));
  }
  progress.finish();
  run.report = parsed(online.report());
  run.info = parsed(online.info());
  run.stopped = integer_in(run.report, "outputs") < all;
  if (!gate && !a.out.empty()) {
    online.commit();
    network.save(a.out);
  }
  return run;
}

std::vector<Curve> held_curves(const TaskStream& stream, const Run& run, bool dashed) {
  std::vector<Curve> curves;
  for (std::int64_t t = 0; t < stream.different(); ++t) {
    Curve curve{"task " + stream.name(t) + (dashed ? ", no gate" : ""),
                {},
                static_cast<std::size_t>(t),
                dashed};
    for (const Held& h : run.held)
      if (t < std::ssize(h.accuracy))
        curve.points.emplace_back(static_cast<double>(h.output),
                                  h.accuracy[static_cast<std::size_t>(t)]);
    curves.push_back(std::move(curve));
  }
  return curves;
}

Curve answers(const Run& run, bool dashed) {
  Curve curve{dashed ? "no gate" : "answers", {}, 0, dashed};
  for (const Json& w : member(run.report, "windows").as_array())
    if (integer_in(w, "judged") > 0)
      curve.points.emplace_back(number_in(w, "output") + number_in(w, "outputs") / 2,
                                number_in(w, "accuracy"));
  return curve;
}

void draw(const Args& a, const TaskStream& stream, const Run& run, const Run* ungated) {
  AdaptDrawing d;
  d.title = "loom adapt" + (a.method.empty() ? "" : ", " + a.method) +
            (a.dtype.empty() ? "" : ", " + a.dtype);
  d.outputs = static_cast<double>(a.outputs * a.tasks);
  d.recover = a.recover;
  for (std::int64_t t = 1; t < a.tasks; ++t)
    d.changes.push_back(static_cast<double>(t * a.outputs));
  for (const Json& t : member(run.report, "tasks").as_array())
    if (text_in(t, "source") == "detector")
      d.found.emplace_back(number_in(t, "output"), "found: task " + text_in(t, "task"));
  d.accuracy.push_back(answers(run, false));
  d.held = held_curves(stream, run, false);
  d.held_title = "accuracy on held samples of each task";
  if (ungated) {
    d.accuracy.push_back(answers(*ungated, true));
    for (Curve& c : held_curves(stream, *ungated, true)) d.held.push_back(std::move(c));
    d.held_title += "; dashed: no gate";
  }
  write_text(a.svg, adapt_svg(d));
}

std::string percent(double share) { return fixed(100 * share, 1) + " %"; }

std::string tasks_text(const Run& run) {
  std::string text;
  for (const Json& t : member(run.report, "tasks").as_array()) {
    const Json& recovered = member(t, "recovered");
    std::string name = "task " + text_in(t, "task");
    name.resize(std::max<std::size_t>(name.size() + 2, 14), ' ');
    text += name + "from output " + std::to_string(integer_in(t, "output")) + " on (" +
            text_in(t, "source") + "), " +
            (recovered.is_null()
                 ? "not recovered"
                 : "recovered after " + std::to_string(integer_in(recovered, "outputs")) +
                       " outputs, " + significant(number_in(recovered, "seconds")) + " s") +
            ", accuracy " + percent(number_in(t, "accuracy")) + "\n";
  }
  return text;
}

std::string latency_text(const Args& a, const Json& report) {
  const Json& latency = member(report, "latency");
  const auto line = [&](const char* key, const char* name) {
    const Json& values = member(latency, key);
    if (values.is_null()) return std::string();
    std::string text = name;
    for (const auto& [which, of] :
         {std::pair("p50", "p50"), {"p99", "p99"}, {"p99_9", "p99.9"}, {"p100", "p100"}})
      text += "  " + std::string(of) + " " + fixed(number_in(values, which), 3);
    return text + "\n";
  };
  std::string text = line("wall_ms", "wall, ms    ") + line("cpu_ms", "CPU, ms     ");
  if (a.deadline > 0)
    text += "late          " + std::to_string(integer_in(latency, "late")) + " of " +
            std::to_string(integer_in(latency, "answers")) + " answers at " +
            significant(a.deadline) + " ms, " + std::to_string(integer_in(latency, "preempted")) +
            " of them preempted\n";
  return text;
}

std::string forgetting_text(const Json& report, const std::string& label) {
  std::string text;
  for (const Json& f : member(report, "forgetting").as_array())
    text += (text.empty() ? label : ", ") + text_in(f, "task") + " " +
            percent(number_in(f, "forgetting"));
  return text.empty() ? text : text + "\n";
}

std::string summary(const Args& a, const Run& run, const Run* ungated) {
  const Json& r = run.report;
  std::string text = tasks_text(run);
  text += "outputs       " + std::to_string(integer_in(r, "outputs")) + ", " +
          significant(number_in(r, "outputs_per_second")) + " per second, accuracy " +
          percent(number_in(r, "accuracy")) + "\n";
  text += "steps         " + std::to_string(integer_in(r, "steps")) + ", published " +
          std::to_string(integer_in(r, "publications")) + " times\n";
  text += latency_text(a, r) + forgetting_text(r, "forgotten     ");
  if (ungated) text += forgetting_text(ungated->report, "without gate  ");
  return text;
}

int run(const Args& a) {
  check_outputs(a);
  TaskStream stream =
      a.data.empty() ? TaskStream(a.tasks, a.fresh, a.seed) : TaskStream(a.data, a.tasks, a.seed);
  const Network network = or_exit(kRefused, [&] { return network_of(a, stream); }, a.network);
  const Interrupt interrupt;
  const std::optional<Network> before = a.ungated ? std::optional(network.copy()) : std::nullopt;
  Run first = run_tasks(a, network, stream, nullptr);
  std::optional<Run> second;
  const double none = 0;
  if (a.ungated && !first.stopped) second = run_tasks(a, *before, stream, &none);
  const Run* ungated = second ? &*second : nullptr;
  if (!a.svg.empty()) draw(a, stream, first, ungated);
  std::string text = summary(a, first, ungated);
  if (a.json) {
    Json json = std::move(first.report);
    json.set("info", std::move(first.info));
    if (second) json.set("ungated", std::move(second->report));
    text = json.dump() + "\n";
  }
  if (!print(text)) return kFailed;
  return first.stopped || (second && second->stopped) ? Interrupt::code() : kOk;
}

}  // namespace

void add_adapt(CLI::App& app, Action& action) {
  add_command<Args>(app, action, "adapt", "a network learns while it answers, and the task changes",
                    bind, run);
}

}  // namespace loom::cli
