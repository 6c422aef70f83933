// loom verify: the numerics table of this machine, a hash per row and one for all.
#include <algorithm>

#include "arguments/machine_options.h"
#include "base/files/source.h"
#include "base/json/json.h"
#include "base/numerics_version.h"
#include "bench/device.h"
#include "support/console.h"
#include "support/internal.h"
#include "verify/verify.h"

namespace loom::cli {
namespace {

struct Args {
  std::string against, isa, device = "cpu";
  int threads = 0;
  bool json = false;
};

void bind(CommandLine& c, Args& a) {
  c.add("--against", a.against, "a table of another machine: names the first difference")
      .type_name("FILE");
  c.add("--isa", a.isa, "the instruction set to use").type_name("NAME");
  bind_device_option(c, a.device);
  c.add("--threads", a.threads, "0: one per core").between(0, ThreadPool::kMaxThreads);
  c.flag("--json", a.json, "one JSON object on stdout");
}

int run(const Args& a) {
  std::string expected;
  if (!a.against.empty()) {
    LOOM_OR_EXIT(expected, read_text_file(a.against), kRefused);
  }
  ThreadPool pool(a.threads);
  VerifyOptions options;
  options.isa = a.isa;
  LOOM_OR_EXIT(const webgpu::Choice choice, device_of(a.device), kRefused);
  gpu::Device* const device = options.device = choice.device.get();
  if (device) say(device->info().name + ": numerics: " + choice.numerics);
  if (!a.json)
    options.on_row = [](const VerifyRow& r) {
      r.hash.empty() ? say(r.name + " not run: " + r.why)
                     : void(print(r.name + " " + r.hash + "\n"));
    };
  LOOM_OR_EXIT(const std::vector<VerifyRow> rows, run_verify(pool, options), kFailed);
  if (a.json) {
    Json table = Json::object();
    for (const VerifyRow& r : rows)
      if (!r.hash.empty()) table.set(r.name, r.hash);
    Json answer = Json::object();
    answer.set("numerics_version", LOOM_NUMERICS_VERSION);
    answer.set("rows", std::move(table));
    if (!device) answer.set("all", fingerprint(rows));
    if (!print(answer.dump() + "\n")) return kFailed;
  } else if (!device &&
             !print("all " + fingerprint(rows) + "\n")) {  // a device has some of the rows
    return kFailed;
  }
  std::string other = a.against;
  if (device && other.empty()) {  // the CPU is what a device is held against
    LOOM_OR_EXIT(const std::vector<VerifyRow> own, run_verify(pool, {.isa = a.isa}), kFailed);
    for (const VerifyRow& r : own) expected += r.name + " " + r.hash + "\n";
    other = "the CPU";
  }
  if (other.empty()) return kOk;
  const std::string difference = compare_tables(rows, expected);
  const auto run_rows =
      std::count_if(rows.begin(), rows.end(), [](const VerifyRow& r) { return !r.hash.empty(); });
  const std::string who =
      device ? device->info().name + ": " + std::to_string(run_rows) + " rows " : "";
  say(difference.empty() ? who + "equal to " + other : who + "differs: " + difference);
  return difference.empty() ? kOk : kFailed;
}

}  // namespace

void add_verify(CLI::App& app, Action& action) {
  add_command<Args>(app, action, "verify", "the numerics table of this machine", bind, run);
}

}  // namespace loom::cli
