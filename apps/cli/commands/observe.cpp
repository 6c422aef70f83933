// loom observe: statistics of the output of every cell of a network, over data.
#include <algorithm>
#include <chrono>
#include <cmath>

#include "arguments/machine_options.h"
#include "drawings/observe.h"
#include "drawings/trace.h"
#include "files/files.h"
#include "files/outputs.h"
#include "files/values.h"
#include "models/network_file.h"
#include "sinks/recording.h"
#include "sinks/sinks.h"
#include "support/client.h"
#include "support/console.h"
#include "support/memory_history.h"

namespace loom::cli {
namespace {

struct Args {
  std::string network, data, svg, trace, replay, from, memory;
  SinkOptions sinks;
  std::int64_t every = 1, rows = 64;
  std::uint64_t seed = 1;
  double speed = 0;
  Option seed_given, speed_given;
  std::vector<std::pair<const char*, Option>> of_runs;  // that a recording has no use for
  MachineOptions machine;
  bool json = false;
};

void bind(CommandLine& c, Args& a) {
  c.add("NETWORK", a.network,
        "an .entity file, or a topology (.json), whose weights are random; with --from it is "
        "optional, and tells --udp of layers");
  const auto of_runs = [&a](const char* name, const Option& option) {
    a.of_runs.emplace_back(name, option);
    return option;
  };
  of_runs("--data", c.add("--data", a.data,
                          "the rows that run: .npy, or CSV with a line for each row; of a network "
                          "of tokens the ids of one sequence"))
      .type_name("FILE");
  of_runs("--rows", c.add("--rows", a.rows, "rows of a pass (64)")).between(1, 1 << 20);
  of_runs("--every",
          c.add("--every", a.every, "observe the first pass and every N-th after it (1)"))
      .positive()
      .type_name("N");
  c.flag("--json", a.json, "one JSON object on stdout");
  bind_sinks(c, a.sinks);
  c.add("--svg", a.svg,
        "a drawing: mean and standard deviation over the cells; with --trace or --replay over the "
        "passes, with the acts")
      .type_name("FILE");
  of_runs("--trace", c.add("--trace", a.trace,
                           "let the rules of the network act between passes, and write what they "
                           "did, a JSON object a line"))
      .type_name("FILE");
  of_runs("--replay",
          c.add("--replay", a.replay, "do what a file of --trace says, without evaluating rules"))
      .type_name("FILE");
  c.add("--from", a.from, "nothing runs: take the events from a file that --events wrote")
      .type_name("EVENTS")
      .no_stdin();
  a.speed_given =
      c.add("--speed", a.speed,
            "of --from: 1 keeps the pace of the recording, 2 is twice as fast, 0 does not wait (0)")
          .not_negative();
  bind_memory(c, a.memory);
  a.seed_given = c.add("--seed", a.seed, "of the weights of a topology (1)");
  bind_machine_options(c, a.machine);
}

Exit usage(const std::string& text) { return problem(LOOM_INVALID_ARGUMENT, text, kUsage); }

void check_inputs(const Args& a) {
  if (a.from.empty()) {
    if (a.network.empty() || a.data.empty())
      throw usage("observe: NETWORK and --data are required, or --from");
    if (a.speed_given.given()) throw usage("--speed: is for --from");
    return;
  }
  if (a.network.empty() && a.seed_given.given())
    throw usage("--seed: is for the weights of NETWORK, which is not there");
  for (const auto& [name, option] : a.of_runs)
    if (option.given()) throw usage(std::string(name) + ": is for runs, and with --from none runs");
}

void check_outputs(const Args& a) {
  const std::pair<const char*, const std::string*> outputs[] = {{"--svg", &a.svg},
                                                                {"--events", &a.sinks.events},
                                                                {"--trace", &a.trace},
                                                                {"--memory", &a.memory}};
  for (const auto& [name, path] : outputs) {
    if (path->empty()) continue;
    check_file_output(name, *path, {a.network, a.data, a.replay, a.from});
    for (const auto& [other, same] : outputs)
      if (same != path && *same == *path)
        throw usage(std::string(name) + ": " + *path + ": is the file of " + other + ", too");
  }
}

// The rows of a file for a network.
struct Data {
  std::vector<double> values;
  std::int64_t rows = 0, width = 0;
  bool ids = false, tokens = false, wide = false;
  std::int64_t output = 0;
};

Data data_of(const Args& a, const Network& network) {
  const Json info = parsed(network.info());
  const Json& input = member(info, "input");
  Data d;
  d.output = integer_in(member(info, "output"), "width");
  d.ids = input.find("ids") != nullptr;
  d.tokens = d.ids && !input.find("dims");
  d.wide = input.find("dtype") && text_in(input, "dtype") == "f64";
  d.width = 1;
  if (!d.ids) d.width = integer_in(input, "width");
  else if (!d.tokens)
    for (const Json& steps : member(input, "dims").as_array()) d.width *= steps.as_integer();
  Values file = read_values(a.data);
  const auto count = static_cast<std::int64_t>(file.values.size());
  // One sequence of ids may be a line or a column.
  const bool right = d.tokens ? count > 0 && count == *std::ranges::max_element(file.shape)
                              : count > 0 && sizes_before(file, d.width).has_value();
  if (!right)
    throw problem(
        LOOM_INVALID_ARGUMENT,
        a.data + ": has the shape " + shape_text(file.shape) + ": expects " +
            (d.tokens ? "the ids of one sequence" : "(rows, " + std::to_string(d.width) + ")"),
        kRefused);
  for (const double v : file.values)
    if (d.ids && !(v == std::floor(v) && v >= 0 && v <= 2147483647))
      throw problem(LOOM_INVALID_ARGUMENT, a.data + ": expects ids, got " + significant(v),
                    kRefused);
  d.rows = count / d.width;
  d.values = std::move(file.values);
  return d;
}

// Rows [begin, begin + rows) run.
void run_rows(Session& session, const Data& d, std::int64_t begin, std::int64_t rows) {
  const auto first = d.values.begin() + begin * d.width, last = first + rows * d.width;
  const auto room = static_cast<std::size_t>(rows * d.output);
  if (d.wide) {
    std::vector<double> y(room);
    return session.run(rows, std::span<const double>(first, last), std::span<double>(y));
  }
  std::vector<float> y(room);
  if (!d.ids) return session.run(rows, std::vector<float>(first, last), std::span<float>(y));
  const std::vector<std::int32_t> ids(first, last);
  if (!d.tokens) return session.run_ids(ids, y);
  std::vector<std::int32_t> positions, head;
  for (std::int32_t r = 0; r < rows; ++r) {
    positions.push_back(static_cast<std::int32_t>(begin) + r);
    head.push_back(r);
  }
  session.run_tokens(ids, positions, {}, head, y);
}

// Events of all passes, which go to sinks, and the library's total of them.
class Seen {
 public:
  Seen(const Args& a, Sinks& sinks)
      : rows_(a.rows),
        draws_(!a.svg.empty() && !(a.trace.empty() && a.replay.empty())),
        sinks_(sinks) {}
  void begin_pass() { began_ = elapsed_ns(); }
  void take(Session& session) {
    const std::int64_t ended = elapsed_ns();
    const Json told = parsed(session.statistics());
    passes_ = integer_in(told, "passes"), observed_ = integer_in(told, "observed");
    Json events = member(told, "events");
    if (draws_) every_.push_back(events);
    for (Json& event : events.as_array()) {
      from_first_row(event, "pass");
      event.set("t0_ns", began_);
      event.set("t1_ns", ended);
      sinks_.add(event);
    }
    cells_ = member(told, "total");
    for (Json& cell : cells_.as_array()) from_first_row(cell, "first_bad_pass");
  }
  const Json& cells() const { return cells_; }
  // With a trace: the events of each pass.
  const std::vector<Json>& every() const { return every_; }
  std::int64_t passes() const { return passes_; }
  std::int64_t observed() const { return observed_; }

 private:
  std::int64_t elapsed_ns() const { return static_cast<std::int64_t>(watch_.seconds() * 1e9); }
  // Rows count from the first of the data.
  void from_first_row(Json& event, const char* pass) const {
    Json bad = member(event, "first_bad");
    if (bad.is_null()) return;
    bad.as_array()[0] = bad.as_array()[0].as_integer() + integer_in(event, pass) * rows_;
    event.set("first_bad", std::move(bad));
  }
  const std::int64_t rows_;
  const bool draws_;
  Sinks& sinks_;
  const Stopwatch watch_;
  std::vector<Json> every_;
  std::int64_t passes_ = 0, observed_ = 0, began_ = 0;
  Json cells_ = Json::array();
};

std::string table_of(const Json& cells) {
  std::string table = "path type mean std min max active-share nan inf count first-bad\n";
  for (const Json& cell : cells.as_array()) {
    const std::string type = text_in(cell, "type");
    table += text_in(cell, "path") + " " + (flag_in(cell, "enabled") ? type : type + "(off)");
    for (const char* key : {"mean", "std", "min", "max"}) {
      const Json& v = member(cell, key);
      table += " " + (v.is_null() ? std::string("-") : significant(v.as_number()));
    }
    table += " " + fixed(number_in(cell, "active_share"), 4);
    for (const char* key : {"nan_count", "inf_count", "count"})
      table += " " + std::to_string(integer_in(cell, key));
    const Json& bad = member(cell, "first_bad");
    table += bad.is_null() ? " -\n"
                           : " " + std::to_string(bad.as_array()[0].as_integer()) + "," +
                                 std::to_string(bad.as_array()[1].as_integer()) + "\n";
  }
  return table;
}

// Passes over the data until the end or Ctrl-C; the rows that ran.
std::int64_t run_passes(const Args& a, Session& session, const Data& d, Seen& seen) {
  Progress progress("rows", static_cast<std::uint64_t>(d.rows), Progress::Unit::steps);
  const Interrupt::Cancels cancels(session.handle());
  std::int64_t done = 0;
  while (done < d.rows && !Interrupt::pressed()) {
    const std::int64_t rows = std::min(a.rows, d.rows - done);
    seen.begin_pass();
    try {
      run_rows(session, d, done, rows);
    } catch (const Error& error) {
      if (error.code() != LOOM_CANCELLED) throw;
      break;
    }
    seen.take(session);
    done += rows;
    progress.update(static_cast<std::uint64_t>(done));
  }
  progress.finish();
  return done;
}

// What rules have done, from the session's lines.
Json acts_of(const std::string& lines) {
  Json acts = Json::array();
  for (std::size_t begin = 0; begin < lines.size();) {
    const std::size_t end = std::min(lines.find('\n', begin), lines.size());
    acts.push(parsed(lines.substr(begin, end - begin)));
    begin = end + 1;
  }
  return acts;
}

std::string acts_text(const Json& acts) {
  std::string text;
  for (const Json& act : acts.as_array())
    text += "pass " + std::to_string(integer_in(act, "pass")) + ": " + text_in(act, "path") + ": " +
            text_in(act, "act") + " by " + text_in(act, "statistic") + " " +
            significant(number_in(act, "value")) + ": " + member(act, "before").dump() + " -> " +
            member(act, "after").dump() + "\n";
  return text;
}

Session start(const Args& a, const Network& network, const Data& d) {
  Json options = machine_json(a.machine);
  options.set("max_rows", a.rows);
  options.set("max_head_rows", a.rows);
  options.set("ignore_rules", a.trace.empty());
  if (d.tokens) options.set("max_positions", std::max<std::int64_t>(d.rows, 64));
  Session session = or_exit(kRefused, [&] { return Session(network, options.dump()); }, a.network);
  say_note(parsed(session.info()));
  if (!a.replay.empty()) or_exit(kRefused, [&] { session.replay(read_text(a.replay)); }, a.replay);
  Json observe = Json::object();
  observe.set("every", a.every);
  observe.set("keep", 1);
  observe.set("total", true);
  or_exit(kRefused, [&] { session.observe(observe.dump()); }, a.network);
  return session;
}

int run_network(const Args& a) {
  MemoryHistory memory(a.memory, {a.network, a.data, a.replay});
  const Network network = load_network(a.network, a.seed, a.seed_given);
  memory.step("network");
  const Data d = data_of(a, network);
  Session session = start(a, network, d);
  memory.weights(integer_in(parsed(network.info()), "weight_bytes", -1), parsed(session.info()));
  memory.step("passes");
  Sinks sinks(a.sinks);
  sinks.begin(parsed(network.blueprint(json_text(a.network))));
  Seen seen(a, sinks);
  const Interrupt interrupt;
  const std::int64_t done =
      or_exit(kRefused, [&] { return run_passes(a, session, d, seen); }, a.data);
  sinks.finish();
  memory.finish("loom observe " + a.network);
  const std::string lines = session.trace();
  const Json acts = acts_of(lines);
  if (!a.trace.empty()) write_text(a.trace, lines);
  const bool acting = !a.trace.empty() || !a.replay.empty();
  const std::string title = a.network + ", " + std::to_string(done) + " rows";
  if (!a.svg.empty())
    write_text(a.svg,
               acting ? trace_svg(title, seen.every(), acts) : observe_svg(title, seen.cells()));
  Json answer = Json::object();
  answer.set("rows", done);
  answer.set("passes", seen.passes());
  answer.set("observed", seen.observed());
  answer.set("cells", seen.cells());
  answer.set("receivers", sinks.report());
  if (acting) answer.set("acts", acts);
  const bool printed =
      print(a.json ? answer.dump() + "\n" : table_of(seen.cells()) + acts_text(acts));
  say(std::to_string(done) + " of " + std::to_string(d.rows) + " rows ran");
  if (!printed) return kFailed;
  return done < d.rows && print_problem().empty() ? Interrupt::code() : kOk;
}

int run_recording(const Args& a) {
  MemoryHistory memory(a.memory, {a.network, a.from});
  check_recording(a.from);
  Sinks sinks(a.sinks);
  if (!a.network.empty())
    sinks.begin(
        parsed(load_network(a.network, a.seed, a.seed_given).blueprint(json_text(a.network))));
  const Interrupt interrupt;
  const Replayed replayed = replay_recording(a.from, a.speed, sinks);
  sinks.finish();
  memory.finish("loom observe --from " + a.from);
  if (!a.svg.empty())
    write_text(a.svg, observe_svg(a.from + ", " + std::to_string(replayed.events) + " events",
                                  replayed.cells));
  Json answer = Json::object();
  answer.set("events", replayed.events);
  answer.set("passes", replayed.passes);
  answer.set("cells", replayed.cells);
  answer.set("receivers", sinks.report());
  const bool printed = print(a.json ? answer.dump() + "\n" : table_of(replayed.cells));
  say(std::to_string(replayed.events) + " events replayed");
  if (!printed) return kFailed;
  return replayed.ended ? kOk : Interrupt::code();
}

int run(const Args& a) {
  check_inputs(a);
  check_outputs(a);
  return a.from.empty() ? run_network(a) : run_recording(a);
}

}  // namespace

void add_observe(CLI::App& app, Action& action) {
  add_command<Args>(app, action, "observe", "statistics of the output of every cell, over data",
                    bind, run);
}

}  // namespace loom::cli
