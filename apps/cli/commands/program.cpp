// loom program: the program that a network runs, as a file, and one that was saved.
#include <algorithm>

#include "arguments/machine_options.h"
#include "files/files.h"
#include "files/npy.h"
#include "files/outputs.h"
#include "files/values.h"
#include "models/network_file.h"
#include "support/client.h"
#include "support/console.h"

namespace loom::cli {
namespace {

struct Args {
  std::string network, load, save, input, output;
  std::int64_t rows = 64, ticks = 1, streams = 1;
  std::uint64_t seed = 1;
  Option seed_given;
  MachineOptions machine;
  bool text = false, json = false;
};

void bind(CommandLine& c, Args& a) {
  c.add("NETWORK", a.network,
        "an .entity file, or a topology (.json), whose weights are random: its weights are those "
        "of the program")
      .required();
  const Option load =
      c.add("--load", a.load, "a program that was saved, in place of the network's own")
          .type_name("FILE");
  c.add("--save", a.save, "write the program to this file").type_name("FILE");
  c.add("--rows", a.rows, "the most rows of a run (64)").between(1, 1 << 20).excludes(load);
  c.add("--ticks", a.ticks, "of a network that runs by ticks: those of a run (1)")
      .positive()
      .excludes(load);
  c.add("--streams", a.streams, "of such a network: streams side by side (1)")
      .between(1, 1 << 20)
      .excludes(load);
  c.add("--input", a.input,
        "rows that run: .npy, or CSV with a line for each row; as many runs as they need")
      .type_name("FILE");
  c.add("--output", a.output, "write the output to this .npy file").type_name("FILE");
  c.flag("--text", a.text, "print the program, a line per register, buffer and instruction");
  c.flag("--json", a.json, "one JSON object on stdout");
  a.seed_given = c.add("--seed", a.seed, "of the weights of a topology (1)");
  bind_machine_options(c, a.machine);
}

void check_outputs(const Args& a) {
  if (a.output.empty() != a.input.empty())
    throw problem(LOOM_INVALID_ARGUMENT, "--input and --output go together", kUsage);
  for (const auto& [name, path] : {std::pair("--save", &a.save), std::pair("--output", &a.output)})
    if (!path->empty()) check_file_output(name, *path, {a.network, a.load, a.input});
  if (!a.save.empty() && a.save == a.output)
    throw problem(LOOM_INVALID_ARGUMENT, "--save: " + a.save + ": is the file of --output, too",
                  kUsage);
}

Bytes bytes_of(const Args& a, const Network& network) {
  if (!a.load.empty()) return or_exit(kRefused, [&] { return Bytes::load(a.load); }, a.load);
  Json options = machine_json(a.machine);
  const Json topology = parsed(network.topology());
  if (const Json* by_ticks = topology.find("step_mesh"); by_ticks && by_ticks->as_bool()) {
    options.set("streams", a.streams);
    return or_exit(
        kRefused, [&] { return StepMesh(network, options.dump()).save_program(a.ticks); },
        a.network);
  }
  options.set("max_rows", a.rows);
  return or_exit(kRefused, [&] { return network.save_program(options.dump()); }, a.network);
}

// The only buffer of a kind.
Json one_of(const Args& a, const Json& info, std::string_view kind) {
  const Json* found = nullptr;
  std::string names;
  for (const Json& b : member(info, "buffers").as_array()) {
    if (text_in(b, "kind") != kind) continue;
    found = &b;
    names += (names.empty() ? "" : ", ") + text_in(b, "name");
  }
  if (!found || names.find(',') != std::string::npos)
    throw problem(LOOM_UNSUPPORTED,
                  a.network + ": the program has the " + std::string(kind) + "s " + names +
                      ": programs with one input and one output run here, others through the "
                      "library",
                  kRefused);
  return *found;
}

// Runs all rows of the input; those of one run are as many as the program takes.
struct Rows {
  Rows(const Args& a, Program& program)
      : a_(a),
        program_(program),
        info_(parsed(program.info())),
        x_(one_of(a, info_, "input")),
        y_(one_of(a, info_, "output")),
        file_(read_values(a.input)) {
    for (const Json& r : member(info_, "registers").as_array())
      if (text_in(r, "name") == "R") max_rows_ = integer_in(r, "max");
      else if (text_in(r, "type") != "measured")
        throw problem(LOOM_UNSUPPORTED,
                      a.network + ": the program has the register " + text_in(r, "name") +
                          ": it runs through the library",
                      kRefused);
    width_ = integer_in(x_, "of_row");
    const auto count = static_cast<std::int64_t>(file_.values.size());
    if (count == 0 || count % width_ != 0)
      throw problem(LOOM_INVALID_ARGUMENT,
                    a.input + ": has the shape " + shape_text(file_.shape) +
                        ": expects a multiple of " + std::to_string(width_) + " values",
                    kRefused);
    rows_ = count / width_;
  }

  void run() {
    const std::int64_t of_run = std::max<std::int64_t>(max_rows_, 1);
    for (std::int64_t begin = 0; begin < rows_; begin += of_run) {
      const std::int64_t rows = std::min(of_run, rows_ - begin);
      write(begin * width_, rows * width_);
      program_.run();
      std::vector<double> y(static_cast<std::size_t>(rows * values_of(y_)));
      program_.read(text_in(y_, "name"), y);
      out_.insert(out_.end(), y.begin(), y.end());
    }
  }

  void save() const {
    NpyFile file({rows_, values_of(y_)}, text_in(y_, "type") == "f64");
    for (std::size_t i = 0; i < out_.size(); ++i) file.set(i, out_[i]);
    file.save(a_.output);
  }
  std::int64_t count() const { return rows_; }

 private:
  // Of a row of the register R, or of a whole run where there is none.
  std::int64_t values_of(const Json& b) const {
    return integer_in(b, "cols") * integer_in(b, "max_rows") / std::max<std::int64_t>(max_rows_, 1);
  }
  void write(std::int64_t begin, std::int64_t count) {
    const std::string name = text_in(x_, "name"), type = text_in(x_, "type");
    const auto first = file_.values.begin() + begin, last = first + count;
    if (type == "f64") return program_.write(name, std::vector<double>(first, last));
    if (type == "f32") return program_.write(name, std::vector<float>(first, last));
    for (auto v = first; v != last; ++v)
      if (*v != static_cast<std::int32_t>(*v))
        throw problem(LOOM_INVALID_ARGUMENT, a_.input + ": expects ids, got " + significant(*v),
                      kRefused);
    program_.write_ids(name, std::vector<std::int32_t>(first, last));
  }
  const Args& a_;
  Program& program_;
  const Json info_, x_, y_;
  const Values file_;
  std::int64_t max_rows_ = 0, width_ = 0, rows_ = 0;
  std::vector<double> out_;
};

std::string table_of(const Json& info) {
  std::string text = "sha256        " + text_in(info, "sha256") + "\ninstructions  " +
                     std::to_string(integer_in(info, "instructions")) + "\n";
  for (const Json& r : member(info, "registers").as_array())
    text += "register      " + text_in(r, "name") + " " + text_in(r, "type") +
            (r.find("max") ? ", at most " + std::to_string(integer_in(r, "max")) : "") + "\n";
  for (const Json& b : member(info, "buffers").as_array()) {
    std::string kind = text_in(b, "kind");
    kind.resize(14, ' ');
    text += kind + text_in(b, "name") + " " + text_in(b, "type") + " [" +
            std::to_string(integer_in(b, "max_rows")) + ", " +
            std::to_string(integer_in(b, "cols")) + "]\n";
  }
  return text;
}

int run(const Args& a) {
  check_outputs(a);
  const Network network = load_network(a.network, a.seed, a.seed_given);
  const Bytes bytes = bytes_of(a, network);
  Program program = or_exit(
      kRefused, [&] { return Program(network, bytes, machine_json(a.machine).dump()); },
      a.load.empty() ? a.network : a.load);
  if (!a.save.empty()) bytes.save(a.save);
  Json answer = parsed(program.info());
  say_note(answer);
  if (!a.input.empty()) {
    Rows rows(a, program);
    const Interrupt interrupt;
    const Interrupt::Cancels cancels(program.handle());
    try {
      rows.run();
    } catch (const Error& error) {
      if (error.code() == LOOM_CANCELLED) return Interrupt::code();
      throw Exit{problem_text(error, a.input), kRefused};
    }
    rows.save();
    answer.set("rows", rows.count());
    say(std::to_string(rows.count()) + " rows ran");
  }
  const std::string out = a.json   ? answer.dump() + "\n"
                          : a.text ? program.text()
                                   : table_of(answer);
  return print(out) ? kOk : kFailed;
}

}  // namespace

void add_program(CLI::App& app, Action& action) {
  add_command<Args>(app, action, "program", "save the program that a network runs, run a saved one",
                    bind, run);
}

}  // namespace loom::cli
