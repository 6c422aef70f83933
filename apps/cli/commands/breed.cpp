// loom breed: a child of two networks, networks as the branches of one, or a mutated copy.
#include "files/outputs.h"
#include "support/client.h"
#include "support/console.h"

namespace loom::cli {
namespace {

struct Args {
  std::string how, out, options;
  std::vector<std::string> networks;
  std::uint64_t seed = 1;
  bool json = false;
};

void bind(CommandLine& c, Args& a) {
  c.add("HOW", a.how, "splice, graft or mutate").required();
  c.add("NETWORKS", a.networks, ".entity files: two to splice, one to mutate, any to graft")
      .required();
  c.add("--out", a.out, "the child").required().type_name("FILE");
  c.add("--options", a.options, "as JSON: keys of docs/reference/evolution.md").type_name("JSON");
  c.add("--seed", a.seed, "of what splice and mutate draw (1)");
  c.flag("--json", a.json, "the report as JSON");
}

Exit usage(const std::string& text) { return problem(LOOM_INVALID_ARGUMENT, text, kUsage); }

void check_arguments(const Args& a) {
  const std::size_t count = a.networks.size();
  const auto expects = [&](const char* what) {
    return usage(a.how + ": expects " + what + ", got " + std::to_string(count));
  };
  if (a.how != "splice" && a.how != "graft" && a.how != "mutate")
    throw usage("'" + escaped(a.how) + "': expects splice, graft or mutate");
  if (a.how == "splice" && count != 2) throw expects("two networks");
  if (a.how == "mutate" && count != 1) throw expects("one network");
  check_file_output("--out", a.out, a.networks);
}

// What was done, and nothing of a graft.
struct Child {
  Network network;
  std::string report;
};

Child bred(const Args& a, const std::vector<Network>& parents) {
  std::string report = "{}";
  if (a.how == "mutate") {
    Network child = parents[0].mutate(a.options, a.seed, &report);
    return {std::move(child), report};
  }
  if (a.how == "graft") {
    std::vector<const Network*> all;
    for (const Network& one : parents) all.push_back(&one);
    return {Network::graft(all, a.options), report};
  }
  Json options = Json::object();
  if (!a.options.empty()) options = parsed(a.options);
  if (!options.find("seed")) options.set("seed", static_cast<std::int64_t>(a.seed));
  Network child = parents[0].splice(parents[1], options.dump(), &report);
  return {std::move(child), report};
}

std::string splice_text(const Json& report) {
  std::string table = "a b action similarity share moved-units\n";
  for (const Json& layer : member(report, "layers").as_array()) {
    const Json &b = member(layer, "b"), &similarity = member(layer, "similarity");
    table += text_in(layer, "a") + " " + (b.is_null() ? "-" : b.as_string()) + " " +
             text_in(layer, "action") + " " +
             (similarity.is_null() ? "-" : fixed(similarity.as_number(), 4)) + " " +
             fixed(number_in(layer, "share"), 4) + " " +
             std::to_string(integer_in(layer, "moved_units")) +
             (layer.find("reason") ? " (" + text_in(layer, "reason") + ")" : "") + "\n";
  }
  return table;
}

std::string mutation_text(const Json& report) {
  std::string table = "kind at what\n";
  for (const Json& one : member(report, "done").as_array())
    table += text_in(one, "kind") + " " + text_in(one, "at") + " " +
             (one.find("what") ? text_in(one, "what") : "-") +
             (flag_in(one, "stitched") ? " stitched" : "") + "\n";
  for (const Json& one : member(report, "failed").as_array())
    table += one.as_string() + " - no place\n";
  return table;
}

int run(const Args& a) {
  check_arguments(a);
  if (!a.options.empty() && (!Json::parse(a.options).ok() || a.options.front() != '{'))
    throw usage("--options: expects a JSON object");
  std::vector<Network> parents;
  for (const std::string& path : a.networks)
    parents.push_back(or_exit(kRefused, [&] { return Network::load(path); }));
  const Child child = or_exit(kRefused, [&] { return bred(a, parents); });
  or_exit(kFailed, [&] { child.network.save(a.out); });
  const Json report = parsed(child.report);
  if (a.json) return print(report.dump() + "\n") ? kOk : kFailed;
  const std::string text = a.how == "splice"   ? splice_text(report)
                           : a.how == "mutate" ? mutation_text(report)
                                               : "";
  return text.empty() || print(text) ? kOk : kFailed;
}

}  // namespace

void add_breed(CLI::App& app, Action& action) {
  add_command<Args>(app, action, "breed",
                    "a child of two networks, networks as branches of one, a mutant", bind, run);
}

}  // namespace loom::cli
