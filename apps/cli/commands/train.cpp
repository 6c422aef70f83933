// loom train: learns a network as a spec says (docs/reference/training-spec.md) and saves it with all it needs to go on.
#include <chrono>
#include <filesystem>
#include <optional>

#include "base/json.h"
#include "base/source.h"
#include "command.h"
#include "console.h"
#include "open_model.h"
#include "telemetry/event_file.h"
#include "train/checkpoint.h"

namespace loom::cli {
namespace {

struct Args {
  std::string spec, data, out, events, isa, device = "cpu";
  int threads = 0;
  bool resume = false, json = false;
};

void bind(CLI::App& c, Args& a) {
  c.add_option("SPEC", a.spec, "the training spec, JSON")->required();
  c.add_option("--data", a.data, "the file to learn from (the one that the spec names)")->type_name("FILE");
  c.add_option("--out", a.out, "the .entity file to write; Ctrl-C writes it too")->required()->type_name("FILE");
  c.add_flag("--resume", a.resume, "go on from the file of --out, with the same bits as if never stopped");
  c.add_option("--events", a.events, "write loss and rate to a TensorBoard event file in this folder")->type_name("FOLDER");
  bind_machine_options(c, a.threads, a.isa, a.device);
  c.add_flag("--json", a.json, "one JSON object on stdout for each report");
}

std::string parent_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

double now() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

// A new event file; a resumed training goes on in the last one.
Result<EventFile> open_events(const std::string& folder, bool resume) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return Status(Code::io, folder + ": " + error.message());
  std::string name;
  if (resume)
    for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
      const std::string found = entry.path().filename().string();
      if (found.find("tfevents") != std::string::npos) name = std::max(name, found);
    }
  return EventFile::open(folder + "/" + (name.empty() ? event_file_name(now()) : name), now());
}

bool report(const StepReport& r, bool json) {
  char numbers[128];
  std::snprintf(numbers, sizeof numbers, "loss %.6g  rate %.4g", r.loss, r.rate);
  if (!json) return print("step " + std::to_string(r.step) + "  " + numbers + "\n");
  Json line = Json::object();
  line.set("step", r.step);
  line.set("steps", r.steps);
  line.set("loss", r.loss);
  line.set("rate", r.rate);
  line.set("rows", r.rows);
  line.set("epoch", r.epoch);
  return print(line.dump() + "\n");
}

int run(const Args& a) {
  LOOM_OR_EXIT(const std::string text, read_text_file(a.spec), kRefused);
  const auto spec = parse_training_spec(std::string_view(text));
  if (!spec.ok()) return fail(spec.status().at(a.spec), kRefused);
  LOOM_OR_EXIT(Network network, create_network(*spec, parent_of(a.spec)), kRefused);
  LOOM_OR_EXIT(const std::unique_ptr<DataSource> data, open_data(*spec, a.data), kRefused);
  ThreadPool pool(a.threads);
  LOOM_OR_EXIT(const webgpu::Choice choice, device_of(a.device), kRefused);
  TrainerOptions options;
  options.isa = a.isa;
  options.device = choice.device.get();
  LOOM_OR_EXIT(const std::unique_ptr<Trainer> trainer, Trainer::create(*spec, network, *data, pool, options), kRefused);
  if (a.resume)
    if (const Status status = resume_checkpoint(a.out, *trainer); !status.ok()) return fail(status, kRefused);
  say(count_text(static_cast<double>(network.parameter_count())) + " parameters  \u00b7  " + std::to_string(data->samples()) + " samples  \u00b7  " + std::to_string(trainer->steps()) + " steps");

  std::optional<EventFile> events;
  if (!a.events.empty()) {
    LOOM_OR_EXIT(events, open_events(a.events, a.resume), kFailed);
  }

  const Interrupt interrupt;
  Progress progress("training", static_cast<std::uint64_t>(trainer->steps()), Progress::Unit::steps, static_cast<std::uint64_t>(trainer->done()));
  Status status = trainer->run([&](const StepReport& r) -> Result<bool> {
    progress.update(static_cast<std::uint64_t>(r.step), "loss " + fixed(r.loss, 4) + "  rate " + fixed(r.rate, 6));
    const bool told = (spec->log_every > 0 && r.step % spec->log_every == 0) || r.step == r.steps;
    if (told && !report(r, a.json)) return Status(Code::io, "stdout is closed");
    if (events) {
      LOOM_TRY(events->scalar("loss", r.step, static_cast<float>(r.loss), now()));
      LOOM_TRY(events->scalar("rate", r.step, static_cast<float>(r.rate), now()));
      if (told) LOOM_TRY(events->flush());
    }
    if (spec->checkpoint_every > 0 && r.step % spec->checkpoint_every == 0 && r.step < r.steps) LOOM_TRY(save_checkpoint(a.out, *trainer));
    return !Interrupt::pressed();
  });
  progress.finish();
  const bool stopped = status.code() == Code::cancelled;
  if (!status.ok() && !stopped) return fail(status, kFailed);
  if (const Status saved = save_checkpoint(a.out, *trainer); !saved.ok()) return fail(saved, kFailed);
  say(a.out + ": step " + std::to_string(trainer->done()) + " of " + std::to_string(trainer->steps()) + (stopped ? ", --resume goes on" : "") + "  \u00b7  sha256 " + trainer->digest());
  return stopped ? kInterrupted : kOk;
}

}  // namespace

void add_train(CLI::App& app, Action& action) { add_command<Args>(app, action, "train", "train a network as a spec says", bind, run); }

}  // namespace loom::cli
