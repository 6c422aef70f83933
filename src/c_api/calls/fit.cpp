// Training from files. Not in the WebAssembly module.
#include "fit/fit.h"

#include <chrono>

#include "base/message.h"
#include "c_api/call.h"
#include "c_api/calls/images.h"
#include "c_api/options/options.h"

using namespace loom;
using namespace loom::c_api;

namespace {

struct TrainingObject : ExclusiveOf<LOOM_KIND_TRAINING> {
  std::atomic<bool>* cancel_flag() override { return &cancel; }
  std::atomic<bool> cancel{false};
  std::unique_ptr<Fit> fit;
};

double now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

// Runs body(fit).
template <class F>
Status training(loom_training handle, F body) {
  LOOM_ASSIGN(const auto t, get<TrainingObject>(handle));
  LOOM_ASSIGN(const auto inside, enter(*t));
  return cancellable(*t, [&] { return body(*t->fit); });
}

Json heads_of(const Fit::Step& step, const std::vector<HeadSpec>& heads) {
  Json losses = Json::object();
  for (std::size_t i = 0; i < heads.size() && i < step.last.heads.size(); ++i)
    losses.set(name_of(heads[i], i), step.last.heads[i]);
  return losses;
}

Json report_of(const Fit::Step& step, const Fit& fit) {
  const StepReport& r = step.last;
  Json json = Json::object();
  json.set("ran", step.ran);
  if (step.ran > 0) {
    json.set("step", r.step);
    json.set("steps", r.steps);
    json.set("loss", r.loss);
    json.set("lr", r.lr);
    if (r.loss_scale > 0) json.set("loss_scale", r.loss_scale);
    if (r.skipped) json.set("skipped", true);
    if (!fit.spec().heads.empty()) json.set("heads", heads_of(step, fit.spec().heads));
    set_parts(json, r.parts);
    json.set("rows", r.rows);
    json.set("epoch", r.epoch);
  }
  json.set("logged", step.logged);
  if (step.validation) {
    json.set("validation", step.validation->to_json());
    json.set("validation_text", step.validation->to_text());
  }
  json.set("ended", fit.ended());
  json.set("early", fit.early());
  if (!step.events.ok()) json.set("failed", step.events.to_string());
  return json;
}

}  // namespace

extern "C" {

int32_t loom_training_open(const char* options, size_t options_size, loom_training* training,
                           loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(training));
    TrainingOpen o;
    LOOM_TRY(read_options(options, options_size, o));
    const MachineOptions& m = o.machine;
    auto t = std::make_shared<TrainingObject>();
    LOOM_ASSIGN(t->fit, Fit::open(o.fit, {m.mode, m.device, m.isa, static_cast<int>(m.threads)},
                                  image_decoder(), &t->cancel, now));
    *training = add(std::move(t));
    return {};
  });
}

int32_t loom_training_info(loom_training training, loom_bytes* info, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(info));
    return ::training(training, [&](Fit& fit) {
      Json json = fit.info();
      set_device(json, fit.device());
      json.set("numerics", fit.device().numerics);
      *info = new_json(json);
      return Status();
    });
  });
}

int32_t loom_training_step(loom_training training, int64_t steps, loom_bytes* report,
                           loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(report));
    if (steps < 1)
      return Status(Code::invalid_argument, message("steps: must be at least 1, got ", steps));
    return ::training(training, [&](Fit& fit) -> Status {
      LOOM_ASSIGN(const Fit::Step step, fit.step(steps));
      *report = new_json(report_of(step, fit));
      return {};
    });
  });
}

int32_t loom_training_judge(loom_training training, loom_bytes* figures, loom_bytes* text,
                            loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(figures, text));
    return ::training(training, [&](Fit& fit) -> Status {
      std::string words;
      LOOM_ASSIGN(const Json json, fit.judge(words));
      NewHandle first(new_json(json));
      *text = new_text(words);
      *figures = first.take();
      return {};
    });
  });
}

int32_t loom_training_report(loom_training training, const char* form, size_t form_size,
                             loom_bytes* report, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(report));
    LOOM_ASSIGN(const std::string_view wanted, text_argument(form, form_size, "form"));
    if (wanted != "text" && wanted != "svg")
      return Status(Code::invalid_argument, "form: expects \"text\" or \"svg\"");
    return ::training(training, [&](Fit& fit) -> Status {
      if (!fit.report())
        return Status(Code::not_found,
                      "report: there is none: it is of tables, after training_judge");
      *report = new_text(wanted == "svg" ? fit.report()->to_svg() : fit.report()->to_text(false));
      return {};
    });
  });
}

int32_t loom_training_digest(loom_training training, loom_bytes* sha256, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(sha256));
    return ::training(training, [&](Fit& fit) {
      *sha256 = new_text(fit.digest());
      return Status();
    });
  });
}

int32_t loom_training_save(loom_training training, const char* path, size_t path_size,
                           loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_ASSIGN(const std::string p, path_argument(path, path_size, "path"));
    return ::training(training, [&](Fit& fit) { return fit.save(p); });
  });
}

int32_t loom_training_save_bytes(loom_training training, loom_bytes* bytes, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(bytes));
    return ::training(training, [&](Fit& fit) -> Status {
      std::vector<std::byte> file;
      LOOM_TRY(fit.save(&file));
      *bytes = new_bytes(std::move(file));
      return {};
    });
  });
}

}  // extern "C"
