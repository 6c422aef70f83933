// loom dna: the identity of a network's layers, how two networks relate, and where, in a row of
// checkpoints, something moved.
#include "drawings/dna.h"
#include "files/outputs.h"
#include "support/client.h"
#include "support/console.h"

namespace loom::cli {
namespace {

struct Args {
  std::vector<std::string> networks;
  std::string svg;
  bool history = false, json = false;
};

void bind(CommandLine& c, Args& a) {
  c.add("NETWORKS", a.networks,
        ".entity files: one, two to compare, or with --history checkpoints in their order")
      .required();
  c.flag("--history", a.history, "compares each with the one before it");
  c.add("--svg", a.svg, "a drawing of two networks: their grids by likeness, arrows for shifts")
      .type_name("FILE");
  c.flag("--json", a.json, "the answer as JSON");
}

void check_arguments(const Args& a) {
  const auto usage = [](const std::string& text) {
    return problem(LOOM_INVALID_ARGUMENT, text, kUsage);
  };
  if (a.history && a.networks.size() < 2)
    throw usage("--history compares checkpoints: expects at least two files");
  if (!a.history && a.networks.size() > 2)
    throw usage("got " + std::to_string(a.networks.size()) +
                " networks: expects one, or two to compare, or --history");
  if (a.svg.empty()) return;
  if (a.history || a.networks.size() != 2) throw usage("--svg is a drawing of two networks");
  check_file_output("--svg", a.svg, a.networks);
}

Network load(const std::string& path) {
  return or_exit(kRefused, [&] { return Network::load(path); });
}

std::string or_none(const Json& row, std::string_view key) {
  const Json& value = member(row, key);
  return value.is_null() ? "-" : fixed(value.as_number(), 4);
}

std::string pair_line(const Json& pair) {
  return text_in(pair, "from") + " " + text_in(pair, "to") + " " + or_none(pair, "cosine") + " " +
         or_none(pair, "encoded") + " " + or_none(pair, "matched") + " " + or_none(pair, "chance") +
         " " + or_none(pair, "score") + " " + or_none(pair, "coverage") + " " +
         std::to_string(integer_in(pair, "moved_units")) +
         (flag_in(pair, "small") ? " small" : "") + "\n";
}

int print_one(const Args& a) {
  const Json dna = parsed(or_exit(kFailed, [&] { return load(a.networks[0]).dna(); }));
  if (a.json) return print(dna.dump() + "\n") ? kOk : kFailed;
  std::string table = "path type format rows cols values norm sha256\n";
  for (const Json& layer : member(dna, "layers").as_array())
    table += text_in(layer, "path") + " " + text_in(layer, "type") + " " +
             text_in(layer, "format") + " " + std::to_string(integer_in(layer, "rows")) + " " +
             std::to_string(integer_in(layer, "cols")) + " " +
             std::to_string(integer_in(layer, "values")) + " " +
             significant(number_in(layer, "norm")) + " " + text_in(layer, "sha256") + "\n";
  return print(table) ? kOk : kFailed;
}

int print_two(const Args& a) {
  const Network first = load(a.networks[0]), second = load(a.networks[1]);
  const Json report = parsed(or_exit(kFailed, [&] { return first.compare_dna(second); }));
  if (!a.svg.empty()) {
    const Json dna_a = parsed(first.dna()), dna_b = parsed(second.dna());
    write_dna_svg(a.svg, {a.networks[0], dna_a}, {a.networks[1], dna_b}, report);
  }
  if (a.json) return print(report.dump() + "\n") ? kOk : kFailed;
  std::string table = "from to cosine encoded matched chance score coverage moved-units\n";
  for (const Json& pair : member(report, "layers").as_array()) table += pair_line(pair);
  for (const char* only : {"only_a", "only_b"})
    for (const Json& path : member(report, only).as_array())
      table += std::string(only) + " " + path.as_string() + "\n";
  for (const Json& pair : member(report, "shifts").as_array()) table += "shift " + pair_line(pair);
  table += "overlap " + fixed(number_in(report, "overlap"), 4) + "\nsimilarity " +
           fixed(number_in(report, "similarity"), 4) + "\n";
  return print(table) ? kOk : kFailed;
}

int print_history(const Args& a) {
  Network before = load(a.networks[0]);
  Json all = Json::array();
  std::string table = "epoch file similarity overlap shifts\n";
  for (std::size_t i = 1; i < a.networks.size(); ++i) {
    Network now = load(a.networks[i]);
    Json report = parsed(or_exit(kFailed, [&] { return before.compare_dna(now); }, a.networks[i]));
    table += std::to_string(i) + " " + escaped(a.networks[i]) + " " +
             fixed(number_in(report, "similarity"), 4) + " " +
             fixed(number_in(report, "overlap"), 4);
    const auto& shifts = member(report, "shifts").as_array();
    for (const Json& shift : shifts)
      table += " " + text_in(shift, "from") + "->" + text_in(shift, "to");
    table += shifts.empty() ? " none\n" : "\n";
    report.set("epoch", static_cast<std::int64_t>(i));
    report.set("file", json_text(a.networks[i]));
    all.push(std::move(report));
    before = std::move(now);
  }
  return print(a.json ? all.dump() + "\n" : table) ? kOk : kFailed;
}

int run(const Args& a) {
  check_arguments(a);
  if (a.history) return print_history(a);
  return a.networks.size() == 1 ? print_one(a) : print_two(a);
}

}  // namespace

void add_dna(CLI::App& app, Action& action) {
  add_command<Args>(app, action, "dna",
                    "the identity of a network's layers; how networks relate, and what moved", bind,
                    run);
}

}  // namespace loom::cli
