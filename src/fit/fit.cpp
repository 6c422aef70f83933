#include "fit/fit.h"

#include <filesystem>

#include "base/message.h"
#include "fit/judge.h"
#include "fit/teacher.h"
#include "llm/import/entity_model.h"
#include "train/check_data.h"
#include "train/checkpoint.h"

namespace loom {
namespace {

// A new event file; a resumed training goes on in the last one.
Result<EventFile> open_events(const std::string& folder, bool resume, double now) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return Status(Code::io, message(folder, ": ", error.message()));
  std::string name;
  if (resume)
    for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
      const std::string found = entry.path().filename().string();
      if (found.find("tfevents") != std::string::npos) name = std::max(name, found);
    }
  return EventFile::open(folder + "/" + (name.empty() ? event_file_name(now) : name), now);
}

Status write_events(Fit::State& course, const StepReport& r, const std::optional<Metrics>& metrics,
                    bool told) {
  if (course.lines) LOOM_TRY(course.lines->flush());
  if (!course.events) return {};
  LOOM_TRY(course.events->scalar("loss", r.step, static_cast<float>(r.loss), course.seconds()));
  LOOM_TRY(course.events->scalar("lr", r.step, static_cast<float>(r.lr), course.seconds()));
  if (metrics)
    LOOM_TRY(course.events->scalar("validation loss", r.step, static_cast<float>(metrics->loss),
                                   course.seconds()));
  return told ? course.events->flush() : Status();
}

Status make_trainer(Fit::State& s, const Fit::Where& where, const std::atomic<bool>* cancel) {
  Job& job = *s.job;
  Network& network = job.net();
  LOOM_ASSIGN(s.machine, machine_of(where.mode, where.threads, where.device, where.isa));
  // Threads that wait for each other cost more than a small step; the bits are the same.
  const bool small =
      s.options.spec.empty() && network.parameter_count() * job.spec.batch < 1'000'000;
  const int threads = s.machine.mode.threads;
  s.pool = std::make_unique<ThreadPool>(threads == 0 && small && where.mode.empty() ? 1 : threads);
  if (!s.options.teacher.empty()) LOOM_TRY(teach(job, s.options, *s.pool, where.isa, cancel));
  TrainerOptions options;
  options.isa = where.isa;
  options.device = s.machine.choice.device.get();
  options.fuse = s.machine.mode.fuse;
  options.auto_device = s.machine.mode.auto_device;
  options.judged = true;
  options.cancel = cancel;
  options.places = job.places;
  LOOM_ASSIGN(s.trainer, Trainer::create(job.spec, network, job.learned(), *s.pool, options));
  if (job.split.held_back) {
    LOOM_ASSIGN(s.validation,
                Validation::create(*s.trainer, *job.split.held_back, *s.pool, where.isa));
  }
  if (job.test) LOOM_TRY(check_data(*job.test, network, s.trainer->spec()).at("the test samples"));
  if (s.options.resume) LOOM_TRY(resume_checkpoint(s.options.out, *s.trainer, s.best()));
  return {};
}

}  // namespace

Fit::Fit(std::unique_ptr<State> state) : state_(std::move(state)) {}
Fit::~Fit() = default;

Result<std::unique_ptr<Fit>> Fit::open(const FitOptions& options, const Where& where,
                                       const ImageDecoder& decoder, const std::atomic<bool>* cancel,
                                       double (*seconds)()) {
  auto s = std::make_unique<State>();
  s->options = options;
  s->isa = where.isa;
  s->seconds = seconds;
  LOOM_ASSIGN(Job job, open_job(options, decoder));
  s->job = std::make_unique<Job>(std::move(job));
  LOOM_TRY(make_trainer(*s, where, cancel));
  if (s->job->model && !s->trainer->adapter()) {
    LOOM_ASSIGN(s->job->sections, model_sections(*s->job->model));
  }
  s->sections = std::move(s->job->sections);
  s->sections.bytes.erase("report");  // the figures of other weights
  if (!s->job->inputs.is_null()) s->sections.bytes["inputs"] = s->job->inputs.dump();
  s->early = s->validation && s->validation->spent();
  if (!options.events.empty()) {
    auto events = open_events(options.events, options.resume, seconds());
    if (!events.ok()) return events.status().at("events");
    s->events.emplace(std::move(*events));
  }
  if (!options.observe.empty()) {
    auto lines = EventLines::open(options.observe, options.resume);
    if (!lines.ok()) return lines.status().at("observe");
    s->lines = std::move(*lines);
    LOOM_TRY(s->trainer->observe(s->lines.get(), {.every = options.observe_every}));
  }
  return std::unique_ptr<Fit>(new Fit(std::move(s)));
}

bool Fit::early() const { return state_->early; }
bool Fit::ended() const {
  return state_->early || state_->trainer->done() >= state_->trainer->steps();
}
const webgpu::Choice& Fit::device() const { return state_->machine.choice; }
const TrainingSpec& Fit::spec() const { return state_->job->spec; }
const std::optional<Report>& Fit::report() const { return state_->report; }

Result<Fit::Step> Fit::step(std::int64_t max) {
  State& s = *state_;
  Trainer& trainer = *s.trainer;
  const TrainingSpec& spec = s.job->spec;
  Step out;
  while (out.ran < max && !ended()) {
    auto stepped = trainer.step();
    if (stepped.status().code() == Code::cancelled) LOOM_TRY(trainer.sync());
    LOOM_ASSIGN(out.last, std::move(stepped));
    ++out.ran;
    const StepReport& r = out.last;
    out.logged = (spec.log_every > 0 && r.step % spec.log_every == 0) || r.step == r.steps;
    if (s.validation && s.validation->due()) {
      LOOM_ASSIGN(out.validation, s.validation->judge());
      s.early = s.validation->spent();
    }
    out.events = write_events(s, r, out.validation, out.logged);
    if (spec.checkpoint_every > 0 && r.step % spec.checkpoint_every == 0 && r.step < r.steps &&
        !s.options.out.empty())
      LOOM_TRY(save(s.options.out));
    if (out.logged || out.validation || !out.events.ok()) break;
  }
  if (ended() || !out.events.ok()) LOOM_TRY(trainer.sync());
  return out;
}

Result<Json> Fit::judge(std::string& text) {
  State& s = *state_;
  LOOM_TRY(s.trainer->sync());
  if (!s.best() || s.best()->step == 0) return Json();
  LOOM_ASSIGN(Json figures, figures_of(s, text));
  s.sections.bytes["report"] = figures.dump();
  return figures;
}

Status Fit::save(const Destination& to) {
  LOOM_TRY(state_->trainer->sync());
  return save_checkpoint(to, *state_->trainer, state_->sections, state_->best(), state_->job->base);
}

std::string Fit::digest() { return state_->trainer->digest(); }

Json Fit::info() const {
  const State& s = *state_;
  Json json = Json::object(), notes = Json::array();
  for (const std::string& note : s.job->notes) notes.push(note);
  json.set("notes", std::move(notes));
  json.set("parameters", s.job->net().parameter_count());
  json.set("weight_bytes", s.job->net().weight_bytes());
  if (const auto& adapter = s.trainer->adapter())
    json.set("adapter_parameters", adapter->parameter_count());
  json.set("samples", s.job->learned().samples());
  json.set("step", s.trainer->done());
  json.set("steps", s.trainer->steps());
  json.set("ended", ended());
  json.set("early", s.early);
  json.set("table", !s.job->rows.empty());
  json.set("spec", s.trainer->spec().to_json());
  json.set("threads", s.pool->size());
  if (const Streams* cut = s.trainer->streams()) {
    Json streams = Json::object();
    streams.set("lanes", s.job->spec.streams);
    streams.set("rows", cut->lane_rows());
    streams.set("window", cut->max_rows());
    streams.set("windows", cut->windows());
    streams.set("left_out", cut->left_out());
    json.set("streams", std::move(streams));
  }
  return json;
}

}  // namespace loom
