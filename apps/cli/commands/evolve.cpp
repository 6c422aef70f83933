// loom evolve: networks of nodes and edges by NEAT, for a built-in task, a table or a spec; or, by
// a spec of level networks, whole networks on a table.
#include <algorithm>

#include "arguments/machine_options.h"
#include "drawings/evolve.h"
#include "files/files.h"
#include "files/outputs.h"
#include "files/values.h"
#include "support/client.h"
#include "support/console.h"

namespace loom::cli {
namespace {

struct Args {
  std::string task, out, champion, svg, score, data, network, costs;
  std::optional<std::int64_t> seed, population, outputs, threads;
  std::optional<double> goal;
  std::int64_t generations = 300;
  bool recurrent = false, json = false;
};

void bind(CommandLine& c, Args& a) {
  c.add("TASK", a.task,
        "xor, cart_pole or double_pole; a table (.csv or .npy) whose last columns are the outputs; "
        "a spec (.json); or a population that --out saved, to continue")
      .required();
  c.add("--generations", a.generations, "how many are evaluated unless the goal is reached (300)")
      .positive();
  c.add("--goal", a.goal, "fitness that ends the run (that of the task)");
  c.add("--seed", a.seed, "of all random numbers (1)");
  c.add("--population", a.population, "genomes of a generation (150; networks: 24)").positive();
  c.add("--data", a.data, "of a spec of level networks: the table (.csv or .npy)")
      .type_name("FILE");
  c.add("--network", a.network, "likewise: the first network (.entity, or a topology as .json)")
      .type_name("FILE");
  c.add("--costs", a.costs, "likewise: a table of costs (.json), as bench costs measures it")
      .type_name("FILE");
  c.add("--outputs", a.outputs, "of a table: how many columns are outputs (1)").positive();
  c.add("--score", a.score, "of a table (mse)").one_of({"mse", "sse", "accuracy"});
  c.flag("--recurrent", a.recurrent, "edges may form cycles");
  c.add("--out", a.out, "save the population at the end, to continue from").type_name("FILE");
  c.add("--champion", a.champion,
        "write the best genome as JSON, or as a network (.entity); the best network as .entity")
      .type_name("FILE");
  c.add("--svg", a.svg, "a drawing of fitness over generations").type_name("FILE");
  c.add("--threads", a.threads, "that evaluate (one per core)").positive();
  c.flag("--json", a.json, "one JSON object on stdout");
}

Exit usage(const std::string& text) { return problem(LOOM_INVALID_ARGUMENT, text, kUsage); }

bool ends_with(const std::string& text, std::string_view end) {
  return text.size() > end.size() && text.ends_with(end);
}
bool is_table(const Args& a) { return ends_with(a.task, ".csv") || ends_with(a.task, ".npy"); }
bool is_builtin(const Args& a) {
  return a.task == "xor" || a.task == "cart_pole" || a.task == "double_pole";
}

Json rows_of(const Values& file, std::int64_t rows, std::int64_t width, std::int64_t from,
             std::int64_t to) {
  Json list = Json::array();
  for (std::int64_t r = 0; r < rows; ++r) {
    Json row = Json::array();
    for (std::int64_t c = from; c < to; ++c)
      row.push(file.values[static_cast<std::size_t>(r * width + c)]);
    list.push(std::move(row));
  }
  return list;
}

// {"x": [[...]], "y": [[...]]} of a file whose last columns are the outputs.
Json table_of(const std::string& path, std::int64_t outputs) {
  const Values file = read_table(path);
  if (file.shape.size() != 2 || file.shape[0] < 1 || file.shape[1] <= outputs)
    throw problem(LOOM_INVALID_ARGUMENT,
                  path + ": has the shape " + shape_text(file.shape) +
                      ": expects rows of inputs and " + std::to_string(outputs) + " outputs",
                  kRefused);
  const std::int64_t rows = file.shape[0], width = file.shape[1];
  Json data = Json::object();
  data.set("x", rows_of(file, rows, width, 0, width - outputs));
  data.set("y", rows_of(file, rows, width, width - outputs, width));
  return data;
}

Json table_spec(const Args& a) {
  Json spec = Json::object();
  spec.set("task", "table");
  spec.set("data", table_of(a.task, a.outputs.value_or(1)));
  return spec;
}

Json read_json(const std::string& path) {
  auto json = Json::parse(read_text(path));
  if (!json.ok() || !json->is_object())
    throw problem(LOOM_INVALID_ARGUMENT,
                  path + ": " + (json.ok() ? "must be an object" : json.status().message()),
                  kRefused);
  return std::move(*json);
}

// What the command line says about the run, beside the task.
void set_options(const Args& a, Json& spec) {
  if (a.seed) spec.set("seed", *a.seed);
  if (a.population) spec.set("population", *a.population);
  if (a.goal) spec.set("goal", *a.goal);
  if (!a.score.empty()) spec.set("score", a.score);
  if (a.recurrent) spec.set("recurrent", true);
}

// The program has no function of fitness.
void check_task(const Args& a, const Json& spec) {
  if (spec.find("task") && text_in(spec, "task") != "host") return;
  throw problem(LOOM_INVALID_ARGUMENT,
                a.task +
                    ": \"task\": this program has no host: expects xor, cart_pole, "
                    "double_pole or table",
                kRefused);
}

bool is_of_networks(const Json& spec) {
  const Json* level = spec.find("level");
  return level && level->is_string() && level->as_string() == "networks";
}

Population networks_of(const Args& a, Json spec) {
  if (a.recurrent) throw usage("--recurrent is of genomes");
  if (!a.data.empty()) {
    spec.set("data", table_of(a.data, a.outputs.value_or(1)));
    if (!spec.find("task")) spec.set("task", "table");
  }
  check_task(a, spec);
  if (!a.costs.empty()) spec.set("costs", read_json(a.costs));
  const std::int64_t threads = a.threads.value_or(0);
  if (ends_with(a.network, ".json")) spec.set("network", read_json(a.network));
  if (a.network.empty() || ends_with(a.network, ".json"))
    return or_exit(kRefused, [&] { return Population(spec.dump(), threads); }, a.task);
  const Network first = or_exit(kRefused, [&] { return Network::load(a.network); }, a.network);
  return or_exit(kRefused, [&] { return Population(first, spec.dump(), threads); }, a.task);
}

Population population_of(const Args& a) {
  const std::int64_t threads = a.threads.value_or(0);
  Json spec = Json::object();
  if (is_table(a)) spec = table_spec(a);
  else if (is_builtin(a)) spec.set("task", a.task);
  else spec = read_json(a.task);
  const bool networks = is_of_networks(spec);
  if (!is_table(a) && (!a.score.empty() || (a.outputs && a.data.empty())))
    throw usage("--outputs and --score need a table");
  if (!networks && !(a.data + a.network + a.costs).empty())
    throw usage("--data, --network and --costs need a spec with \"level\": \"networks\"");
  if (spec.find("format")) {
    if (a.seed || a.population || a.goal || a.recurrent)
      throw usage("a saved population has its spec: only --generations can be given");
    return or_exit(
        kRefused, [&] { return Population::load(Bytes::load(a.task), threads); }, a.task);
  }
  set_options(a, spec);
  if (networks) return networks_of(a, std::move(spec));
  check_task(a, spec);
  return or_exit(kRefused, [&] { return Population(spec.dump(), threads); }, a.task);
}

struct History {
  std::vector<FitnessPoint> points;
  double seconds = 0, last = 0;
  std::int64_t evaluated = 0;  // generations
  bool cancelled = false;
};

History evolve(const Args& a, Population& population) {
  History h;
  Progress progress("generations", static_cast<std::uint64_t>(a.generations),
                    Progress::Unit::steps);
  const Interrupt::Cancels cancels(population.handle());
  const Stopwatch watch;
  for (std::int64_t i = 0; i < a.generations && !h.cancelled; ++i) {
    try {
      population.run(1);
    } catch (const Error& error) {
      if (error.code() != LOOM_CANCELLED) throw;
      h.cancelled = true;
      break;
    }
    const Json info = parsed(population.info());
    const auto generation = static_cast<double>(integer_in(info, "generation"));
    if (h.evaluated > 0 && h.last == generation) break;
    h.last = generation;
    ++h.evaluated;
    const bool known = !member(info, "best").is_null();  // else no network keeps to the limits
    if (known) h.points.push_back({generation, number_in(info, "best"), number_in(info, "mean")});
    progress.update(
        static_cast<std::uint64_t>(i + 1),
        known ? "best " + significant(number_in(info, "best")) : "none within the limits");
    if (flag_in(info, "reached")) break;
    h.cancelled = Interrupt::pressed();
  }
  h.seconds = watch.seconds();
  progress.finish();
  return h;
}

Json history_json(const History& h) {
  Json list = Json::array();
  for (const FitnessPoint& p : h.points) {
    Json item = Json::object();
    item.set("generation", static_cast<std::int64_t>(p.generation));
    item.set("best", p.best);
    item.set("mean", p.mean);
    list.push(std::move(item));
  }
  return list;
}

// What a champion is made of, and how it keeps to the limits.
std::string size_text(const Json& champion) {
  if (champion.find("nodes"))
    return std::to_string(integer_in(champion, "nodes")) + " nodes, " +
           std::to_string(integer_in(champion, "edges")) + " edges";
  const Json& took = member(champion, "milliseconds");
  return std::to_string(integer_in(champion, "layers")) + " layers, " +
         std::to_string(integer_in(champion, "parameters")) + " parameters, " +
         std::to_string(integer_in(champion, "bytes")) + " bytes" +
         (took.is_null() ? "" : ", " + significant(took.as_number()) + " ms") +
         (flag_in(champion, "feasible") ? "" : ", over the limits");
}

std::string summary(const Json& info) {
  const Json& champion = member(info, "champion");
  if (champion.is_null()) return "no generation was evaluated\n";
  return "generation  " + std::to_string(integer_in(info, "generation")) + "\ngoal        " +
         (flag_in(info, "reached") ? "reached" : "not reached") + "\nfitness     " +
         significant(number_in(champion, "fitness")) + "\nchampion    " + size_text(champion) +
         ", sha256 " + text_in(champion, "sha256").substr(0, 16) + "\nspecies     " +
         std::to_string(member(info, "species").as_array().size()) + "\n";
}

void write_champion(const std::string& path, const Population& population, const Json& info) {
  if (path.empty() || member(info, "champion").is_null()) return;
  if (info.find("level") || ends_with(path, ".entity")) population.network().save(path);
  else write_text(path, population.genome() + "\n");
}

void check_outputs(const Args& a) {
  const std::pair<const char*, const std::string*> outputs[] = {
      {"--out", &a.out}, {"--champion", &a.champion}, {"--svg", &a.svg}};
  for (const auto& [name, path] : outputs) {
    if (path->empty()) continue;
    // A population may replace the one that it continues from.
    std::vector<std::string> inputs;
    if (path != &a.out && !is_builtin(a)) inputs.push_back(a.task);
    for (const std::string* read : {&a.data, &a.network, &a.costs})
      if (!read->empty()) inputs.push_back(*read);
    check_file_output(name, *path, inputs);
    for (const auto& [other, same] : outputs)
      if (same != path && *same == *path)
        throw usage(std::string(name) + ": " + *path + ": is the file of " + other + ", too");
  }
}

int run(const Args& a) {
  check_outputs(a);
  Population population = population_of(a);
  const Interrupt interrupt;
  const History h = evolve(a, population);
  Json info = parsed(population.info());
  if (!a.out.empty()) population.save().save(a.out);
  write_champion(a.champion, population, info);
  const Json* goal = member(info, "spec").find("goal");
  const double level = goal ? goal->as_number() : 0;
  if (!a.svg.empty() && !h.points.empty())
    write_text(a.svg, evolve_svg(a.task, h.points, goal ? &level : nullptr));
  const double rate = h.seconds > 0 ? static_cast<double>(h.evaluated) / h.seconds : 0;
  std::string text = summary(info);
  if (a.json) {
    info.set("history", history_json(h));
    info.set("generations_per_second", rate);
    text = info.dump() + "\n";
  }
  const bool printed = print(text);
  say(std::to_string(h.evaluated) + " generations, " + significant(rate) + " per second");
  if (!printed) return kFailed;
  return h.cancelled ? Interrupt::code() : kOk;
}

}  // namespace

void add_evolve(CLI::App& app, Action& action) {
  add_command<Args>(app, action, "evolve", "networks of nodes and edges by NEAT, or whole networks",
                    bind, run);
}

}  // namespace loom::cli
