#include "command.h"
#include "console.h"

namespace loom::cli {
namespace {

struct Args {
  std::string what = "llm", model;
};

void bind(CLI::App& c, Args& a) {
  c.add_option("WHAT", a.what, "ops or llm")->check(CLI::IsMember({"ops", "llm"}));
  c.add_option("--model", a.model, "a shape, for example smollm2-135m");
}

int run(const Args&) {
  say("loom: bench is not in this build: it was made from a tree without src/verify");
  return kFailed;
}

}  // namespace

void add_bench(CLI::App& app, Action& action) { add_command<Args>(app, action, "bench", "speed of operations and models here", bind, run); }

}  // namespace loom::cli
