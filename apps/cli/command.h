// A command of the program: a file in commands/ that adds its options to the command line and,
// where it was called, the action to take. Actions answer on stdout, say everything else on stderr,
// and return an exit code.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "arguments/options.h"

namespace loom::cli {

enum ExitCode : int {
  kOk = 0,
  kFailed = 1,   // the run went wrong
  kUsage = 2,    // the command line is wrong
  kRefused = 3,  // a model or file cannot be read as what it should be
  // Ended by a signal: 128 and its number, console.h (Interrupt::code).
  // docs/reference/command-line.md has the table.
};

using Action = std::function<int()>;

void add_run(CLI::App& app, Action& action);
void add_chat(CLI::App& app, Action& action);
void add_logits(CLI::App& app, Action& action);
void add_eval(CLI::App& app, Action& action);
void add_tokenize(CLI::App& app, Action& action);
void add_show(CLI::App& app, Action& action);
void add_convert(CLI::App& app, Action& action);
void add_export(CLI::App& app, Action& action);
void add_train(CLI::App& app, Action& action);
void add_predict(CLI::App& app, Action& action);
void add_accuracy(CLI::App& app, Action& action);
void add_plan(CLI::App& app, Action& action);
void add_dna(CLI::App& app, Action& action);
void add_observe(CLI::App& app, Action& action);
void add_mesh(CLI::App& app, Action& action);
void add_program(CLI::App& app, Action& action);
void add_breed(CLI::App& app, Action& action);
void add_evolve(CLI::App& app, Action& action);
void add_adapt(CLI::App& app, Action& action);
void add_audit(CLI::App& app, Action& action);
void add_verify(CLI::App& app, Action& action);
void add_bench(CLI::App& app, Action& action);
// `loom` alone: the story of this seed.
int welcome(std::uint64_t seed);

// Adds a subcommand: `bind` adds its options, `run` does the work where the command line calls it.
void add_command(CLI::App& app, Action& action, const char* name, const char* about,
                 const std::function<void(CommandLine&)>& bind, std::function<int()> run);
// The same with arguments that live as long as its action.
template <class Args>
void add_command(CLI::App& app, Action& action, const char* name, const char* about,
                 void (*bind)(CommandLine&, Args&), int (*run)(const Args&)) {
  const auto args = std::make_shared<Args>();
  add_command(
      app, action, name, about, [&](CommandLine& line) { bind(line, *args); },
      [args, run] { return run(*args); });
}

}  // namespace loom::cli
