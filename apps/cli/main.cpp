// loom: the program. Parses the command line and runs one command; see command.h for the rules they
// keep.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <sstream>
#include <string_view>
#include <vector>

#include "arguments/options.h"
#include "commands/bridge.h"
#include "support/client.h"
#include "support/console.h"

namespace loom::cli {

namespace {

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

// Every long option of a command can also be set by an environment variable: --top-k is LOOM_TOP_K.
void name_environment(CLI::App& command) {
  for (CLI::Option* option : command.get_options()) {
    if (option->get_lnames().empty() || option == command.get_help_ptr() ||
        option == command.get_help_all_ptr())
      continue;
    std::string name = "LOOM_" + option->get_lnames()[0];
    for (char& c : name)
      c = c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    option->envname(name);
  }
}

// Help without the noise: "--top-k N", not "--top-k INT:NONNEGATIVE (Env:LOOM_TOP_K) Excludes:
// --greedy".
class Help : public CLI::Formatter {
 public:
  std::string make_group(std::string group, bool is_positional,
                         std::vector<const CLI::Option*> opts) const override {
    return group == kDescribedElsewhere
               ? std::string()
               : CLI::Formatter::make_group(std::move(group), is_positional, std::move(opts));
  }

  Help() { column_width(28); }
  std::string make_option_opts(const CLI::Option* option) const override {
    if (option->get_type_size() == 0 || option->get_positional()) return "";
    const std::string type = option->get_type_name();
    const std::string name = type.substr(0, type.find(':'));
    return name == "INT" || name == "UINT" || name == "FLOAT" ? " N" : " " + name;
  }
};

int usage_error(const CLI::App& app, const CLI::ParseError& error) {
  const auto called = app.get_subcommands();
  const CLI::App& command = called.empty() ? app : *called[0];
  std::string text = error.what();
  for (const std::string& extra : command.remaining(true)) {
    if (!extra.starts_with("--")) continue;
    std::vector<std::string> names;
    for (const CLI::Option* option : command.get_options())
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    if (const auto near = nearest_names(extra, names); !near.empty())
      text += "\n  " + extra + ": did you mean " + joined(near) + "?";
  }
  say("loom: " + text);
  say(called.empty() ? "  loom --help lists the commands"
                     : "  loom " + command.get_name() + " --help lists its options");
  return kUsage;
}

int unknown_command(const CLI::App& app, const std::string& name) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  say("loom: there is no command '" + name + "'");
  if (const auto near = nearest_names(name, names); !near.empty())
    say("  nearest: " + joined(near));
  else say("  commands: " + joined(names));
  if (name.find_first_of("/.") != std::string::npos) say("  to run a model: loom run " + name);
  return kUsage;
}

int run(int argc, char** argv) {
  std::uint64_t seed = 1;
  Action action = [&seed] { return welcome(seed); };
  CLI::App app("Loom trains and runs neural networks, bit for bit the same on every CPU.", "loom");
  app.formatter(std::make_shared<Help>());
  app.set_version_flag("--version", "loom " LOOM_VERSION);
  app.set_help_all_flag("--help-all", "the options of all commands");
  app.require_subcommand(0, 1);
  CLI::Option* story =
      app.add_option("--seed", seed, "without a command: the story of this seed (1)");
  app.footer(
      "Answers go to stdout, all else to stderr. Every option is also an environment variable: "
      "--top-k is LOOM_TOP_K.\n"
      "Exit codes: 0 done, 1 the run failed, 2 wrong usage, 3 a model or file is refused, 130, "
      "143, 129 ended by Ctrl-C, SIGTERM, SIGHUP.");
  for (auto* add : {add_run,     add_chat,    add_logits, add_eval,    add_tokenize, add_show,
                    add_convert, add_export,  add_train,  add_predict, add_accuracy, add_plan,
                    add_dna,     add_observe, add_mesh,   add_program, add_breed,    add_evolve,
                    add_adapt,   add_bridge,  add_stream, add_audit,   add_verify,   add_bench})
    add(app, action);
  for (CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    command->excludes(story);

  if (argc > 1 && argv[1][0] != '-') {
    const auto named = app.get_subcommands(
        [&](const CLI::App* command) { return command->get_name() == argv[1]; });
    if (named.empty()) return unknown_command(app, argv[1]);
    name_environment(*named[0]);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& e) {  // --help, --version
    std::ostringstream text;
    const int code = app.exit(e, text, text);
    print(text.str());
    return code;
  } catch (const CLI::ParseError& e) {
    return usage_error(app, e);
  }
  try {
    return action();
  } catch (const Exit& end) {
    say("loom: " + escaped(end.message));  // with names from files
    return end.code;
  } catch (const Error& error) {
    say("loom: " + problem_text(error));
    return kFailed;
  }
}

// The program under the name loom-stream is `loom stream`.
bool is_loom_stream(const char* called) {
  std::string_view name = called;
  name.remove_prefix(std::min(name.size(), name.find_last_of("/\\") + 1));
  return name == "loom-stream" || name == "loom-stream.exe";
}

int main(int argc, char** argv) {
  prepare_streams();
  std::vector<char*> args(argv, argv + argc);
  char stream[] = "stream";
  if (argc > 0 && is_loom_stream(argv[0])) args.insert(args.begin() + 1, stream);
  const auto count = static_cast<int>(args.size());
  args.push_back(nullptr);
  const int code = run(count, args.data());
  const std::string problem = print_problem();
  if (problem.empty()) return code;
  // Whatever the command went on with: its answer did not arrive.
  say("loom: io: " + problem);
  return code == kOk ? kFailed : code;
}

}  // namespace
}  // namespace loom::cli

int main(int argc, char** argv) { return loom::cli::main(argc, argv); }
