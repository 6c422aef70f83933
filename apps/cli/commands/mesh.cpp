// loom mesh: a network by ticks, over streams of values.
#include <algorithm>
#include <cmath>

#include "arguments/machine_options.h"
#include "drawings/mesh.h"
#include "files/files.h"
#include "files/npy.h"
#include "files/outputs.h"
#include "files/values.h"
#include "models/network_file.h"
#include "support/client.h"
#include "support/console.h"

namespace loom::cli {
namespace {

constexpr std::int64_t kMaxRects = 20000, kMaxColumns = 256, kMaxRows = 512;  // of a heat map

struct Args {
  std::string network, input, output, restore, snapshot, svg;
  std::optional<std::int64_t> ticks;
  std::int64_t streams = 1;
  std::uint64_t seed = 1;
  Option seed_given;
  MachineOptions machine;
  bool json = false;
};

void bind(CommandLine& c, Args& a) {
  c.add("NETWORK", a.network, "an .entity file, or a topology (.json), whose weights are random")
      .required();
  c.add("--input", a.input,
        "what arrives: .npy of (ticks, width) or (streams, ticks, width), or CSV with a line for "
        "each tick, stream after stream; one tick is held for --ticks; without it zeros arrive")
      .type_name("FILE");
  c.add("--ticks", a.ticks, "how many ticks run (as many as the input has)").positive();
  c.add("--streams", a.streams, "streams side by side (1)").between(1, 1 << 20);
  c.add("--output", a.output, "write the output after every tick to this .npy file")
      .type_name("FILE");
  c.add("--restore", a.restore, "continue from this snapshot").type_name("FILE");
  c.add("--snapshot", a.snapshot, "write the values of all cells at the end, to continue from")
      .type_name("FILE");
  c.add("--svg", a.svg, "a drawing of the cells over the ticks, of the first stream")
      .type_name("FILE");
  a.seed_given = c.add("--seed", a.seed, "of the weights of a topology (1)");
  c.flag("--json", a.json, "one JSON object on stdout");
  bind_machine_options(c, a.machine);
}

Exit usage(const std::string& text) { return problem(LOOM_INVALID_ARGUMENT, text, kUsage); }

void check_outputs(const Args& a) {
  const std::pair<const char*, const std::string*> outputs[] = {
      {"--output", &a.output}, {"--snapshot", &a.snapshot}, {"--svg", &a.svg}};
  for (const auto& [name, path] : outputs) {
    if (path->empty()) continue;
    // A snapshot may replace the one that it continues from.
    std::vector<std::string> inputs = {a.network, a.input};
    if (path != &a.snapshot) inputs.push_back(a.restore);
    check_file_output(name, *path, inputs);
    for (const auto& [other, same] : outputs)
      if (same != path && *same == *path)
        throw usage(std::string(name) + ": " + *path + ": is the file of " + other + ", too");
  }
}

// What arrives, and for how many ticks.
struct Input {
  std::vector<double> values;  // streams x ticks x width, or streams x width
  bool held = true;
  std::int64_t ticks = 0;
};

Input input_of(const Args& a, std::int64_t width) {
  Input in;
  const std::int64_t once = a.streams * width;
  if (a.input.empty()) {
    if (!a.ticks) throw usage("give --input FILE, or --ticks N to run without input");
    in.values.resize(static_cast<std::size_t>(once));
    in.ticks = *a.ticks;
    return in;
  }
  Values file = read_values(a.input);
  const auto count = static_cast<std::int64_t>(file.values.size());
  const auto before = sizes_before(file, width);
  const std::int64_t found = count / once;
  // Streams stand first where the file has them.
  const bool right = before && count > 0 && count % once == 0 && before->size() < 3 &&
                     (before->size() < 2 || before->front() == a.streams) &&
                     (!a.ticks || found == 1 || found == *a.ticks);
  if (!right) {
    const std::string ticks = a.ticks ? std::to_string(*a.ticks) : "ticks",
                      of_tick = ticks + ", " + std::to_string(width) + ")";
    throw problem(LOOM_INVALID_ARGUMENT,
                  a.input + ": has the shape " + shape_text(file.shape) + ": expects " +
                      (a.streams > 1 ? "(" + std::to_string(a.streams) + ", " + of_tick + " or (" +
                                           std::to_string(a.streams) + " x " + of_tick
                                     : "(" + of_tick),
                  kRefused);
  }
  in.values = std::move(file.values);
  in.ticks = a.ticks.value_or(found);
  in.held = found == 1;
  return in;
}

// A mesh with its buffers, in the type that it takes.
class Run {
 public:
  Run(const Args& a, StepMesh& mesh, const Json& info, const Input& in)
      : a_(a),
        mesh_(mesh),
        in_(in),
        width_(integer_in(info, "input_width")),
        out_(integer_in(info, "output_width")),
        dtype_(text_in(info, "input_dtype")) {}

  // `count` ticks from number `done` of the run on: their outputs in y(), as many as it did.
  // False: it was cancelled.
  bool step(std::int64_t done, std::int64_t count) {
    const std::int64_t of_stream = in_.held ? 1 : count;
    x_.clear();
    for (std::int64_t s = 0; s < a_.streams; ++s) {
      const std::int64_t from = in_.held ? s * width_ : (s * in_.ticks + done) * width_;
      x_.insert(x_.end(), in_.values.begin() + from,
                in_.values.begin() + from + of_stream * width_);
    }
    y_.assign(static_cast<std::size_t>(a_.streams * count * out_), 0);
    try {
      call(count);
    } catch (const Error& error) {
      if (error.code() != LOOM_CANCELLED) throw;
      return false;
    }
    return true;
  }
  bool wide() const { return dtype_ == "f64"; }
  std::int64_t output_width() const { return out_; }
  // streams x the ticks of the last step x output_width.
  const std::vector<double>& y() const { return y_; }

 private:
  void call(std::int64_t count) {
    if (wide()) return mesh_.run(count, std::span<const double>(x_), std::span<double>(y_));
    narrow_.resize(y_.size());
    const struct Widened {  // also what a cancelled run has done
      std::vector<float>& from;
      std::vector<double>& to;
      ~Widened() { std::copy(from.begin(), from.end(), to.begin()); }
    } widened{narrow_, y_};
    if (dtype_ == "ids") {
      std::vector<std::int32_t> ids;
      for (const double v : x_) {
        if (v != std::floor(v) || std::abs(v) > 2147483647)
          throw problem(LOOM_INVALID_ARGUMENT, a_.input + ": expects ids, got " + significant(v),
                        kRefused);
        ids.push_back(static_cast<std::int32_t>(v));
      }
      return mesh_.run_ids(count, ids, narrow_);
    }
    const std::vector<float> x(x_.begin(), x_.end());
    mesh_.run(count, x, narrow_);
  }
  const Args& a_;
  StepMesh& mesh_;
  const Input& in_;
  const std::int64_t width_, out_;
  const std::string dtype_;
  std::vector<double> x_, y_;
  std::vector<float> narrow_;
};

std::int64_t tick_of(const StepMesh& mesh) { return integer_in(parsed(mesh.info()), "tick"); }

// The cells that a heat map shows, and how many ticks lie between two columns.
struct Drawing {
  HeatMap map;
  std::vector<std::pair<std::string, std::int64_t>> cells;  // path, values
  std::int64_t every = 1;
};

Drawing drawing_of(const Args& a, const StepMesh& mesh, std::int64_t ticks) {
  Drawing d;
  if (a.svg.empty()) return d;
  const Json cells = parsed(mesh.cells());
  for (const Json& cell : cells.as_array()) {
    d.cells.emplace_back(text_in(cell, "path"), integer_in(cell, "width"));
    d.map.cells.push_back(text_in(cell, "path"));
  }
  const auto rows = static_cast<std::int64_t>(d.cells.size());
  if (rows > kMaxRows)
    throw usage("--svg draws up to " + std::to_string(kMaxRows) + " cells, the network has " +
                std::to_string(rows));
  const std::int64_t columns = std::min(kMaxColumns, kMaxRects / rows);
  d.every = (ticks + columns - 1) / columns;
  return d;
}

void draw(Drawing& d, const StepMesh& mesh, std::int64_t tick) {
  std::vector<double> column, value;
  for (const auto& [path, count] : d.cells) {
    value.resize(static_cast<std::size_t>(count));
    mesh.value(path, 0, value);
    double sum = 0;
    for (const double v : value) sum += std::abs(v);
    column.push_back(sum / static_cast<double>(std::max<std::int64_t>(count, 1)));
  }
  d.map.ticks.push_back(tick);
  d.map.columns.push_back(std::move(column));
}

// What ran: of each stream the outputs of its ticks.
struct Answer {
  std::vector<std::vector<double>> y;  // without --output those of the last step
  std::int64_t first = 0, done = 0;    // ticks before it, and of it
};

bool tell(const Args& a, const Answer& answer, std::int64_t from, std::int64_t width) {
  if (a.json || !a.output.empty()) return true;
  std::string lines;
  for (std::int64_t t = 0; t < answer.done - from; ++t)
    for (std::size_t s = 0; s < answer.y.size(); ++s) {
      lines += (answer.y.size() > 1 ? std::to_string(s) + " " : "") +
               std::to_string(answer.first + from + t + 1);
      for (std::int64_t i = 0; i < width; ++i)
        lines += " " + significant(answer.y[s][static_cast<std::size_t>(t * width + i)]);
      lines += "\n";
    }
  return print(lines);
}

void run_ticks(const Args& a, StepMesh& mesh, const Input& in, Run& run, Drawing& d,
               Answer& answer) {
  Progress progress("ticks", static_cast<std::uint64_t>(in.ticks), Progress::Unit::steps);
  const Interrupt::Cancels cancels(mesh.handle());
  const std::int64_t width = run.output_width();
  std::int64_t step = 1;  // ticks of a call: as many as take a moment
  bool goes_on = true;
  while (goes_on && answer.done < in.ticks && !Interrupt::pressed()) {
    std::int64_t count = std::min(step, in.ticks - answer.done);
    if (!a.svg.empty()) count = std::min(count, d.every - answer.done % d.every);
    const Stopwatch watch;
    goes_on = run.step(answer.done, count);
    if (watch.seconds() < 0.02) step = std::min<std::int64_t>(2 * step, 1 << 12);
    else if (watch.seconds() > 0.1) step = std::max<std::int64_t>(step / 2, 1);
    const std::int64_t before = answer.done;
    answer.done = goes_on ? before + count : tick_of(mesh) - answer.first;
    for (std::int64_t s = 0; s < a.streams; ++s) {
      const auto at = run.y().begin() + s * count * width;
      auto& y = answer.y[static_cast<std::size_t>(s)];
      if (a.output.empty() && answer.done > before) y.clear();  // told, or the last tick alone is
      y.insert(y.end(), at, at + (answer.done - before) * width);
    }
    if (!a.svg.empty() && goes_on && (answer.done % d.every == 0 || answer.done == in.ticks))
      draw(d, mesh, answer.first + answer.done);
    progress.update(static_cast<std::uint64_t>(answer.done));
    if (!tell(a, answer, before, width)) break;
  }
  progress.finish();
}

void save_output(const Args& a, const Answer& answer, const Run& run) {
  std::vector<std::int64_t> shape = {answer.done, run.output_width()};
  if (a.streams > 1) shape.insert(shape.begin(), a.streams);
  NpyFile file(shape, run.wide());
  std::size_t at = 0;
  for (const auto& stream : answer.y)
    for (const double v : stream) file.set(at++, v);
  file.save(a.output);
}

bool print_json(const Args& a, const Answer& answer, const Run& run, const StepMesh& mesh) {
  Json json = parsed(mesh.info()), last = Json::array();
  json.set("ticks", answer.done);
  const auto width = static_cast<std::ptrdiff_t>(run.output_width());
  for (const auto& stream : answer.y) {
    Json values = Json::array();
    if (std::ssize(stream) >= width)
      for (auto v = stream.end() - width; v != stream.end(); ++v)
        values.push(std::isfinite(*v) ? Json(*v) : Json());
    last.push(std::move(values));
  }
  json.set("output", std::move(last));
  return !a.json || print(json.dump() + "\n");
}

int run(const Args& a) {
  check_outputs(a);
  const Network network = load_network(a.network, a.seed, a.seed_given);
  Json options = machine_json(a.machine);
  options.set("streams", a.streams);
  StepMesh mesh = or_exit(kRefused, [&] { return StepMesh(network, options.dump()); }, a.network);
  const Json info = parsed(mesh.info());
  const Input in = input_of(a, integer_in(info, "input_width"));
  Drawing d = drawing_of(a, mesh, in.ticks);
  if (!a.restore.empty())
    or_exit(kRefused, [&] { mesh.restore(Bytes::load(a.restore)); }, a.restore);
  say_note(info);
  Answer answer{.y = std::vector<std::vector<double>>(static_cast<std::size_t>(a.streams)),
                .first = tick_of(mesh)};
  Run run(a, mesh, info, in);
  const Interrupt interrupt;
  run_ticks(a, mesh, in, run, d, answer);
  if (!a.output.empty()) save_output(a, answer, run);
  if (!a.snapshot.empty()) mesh.snapshot().save(a.snapshot);
  if (!a.svg.empty()) {
    const std::string title = a.network + ", ticks " + std::to_string(answer.first + 1) + " to " +
                              std::to_string(answer.first + answer.done);
    write_text(a.svg, mesh_svg(title, d.map));
  }
  const bool printed = print_json(a, answer, run, mesh);
  const bool stopped = answer.done < in.ticks;
  say("tick " + std::to_string(answer.first + answer.done) + ", " + std::to_string(answer.done) +
      " of " + std::to_string(in.ticks) + " ticks ran" +
      (stopped && !a.snapshot.empty() ? ": --restore " + a.snapshot + " goes on" : ""));
  if (!printed) return kFailed;
  return stopped && print_problem().empty() ? Interrupt::code() : kOk;
}

}  // namespace

void add_mesh(CLI::App& app, Action& action) {
  add_command<Args>(app, action, "mesh", "run a network by ticks, over streams of values", bind,
                    run);
}

}  // namespace loom::cli
