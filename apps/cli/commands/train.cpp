// loom train: learns a network as a spec says (docs/reference/training-spec.md), or as the data
// suggests, and saves it with all it needs to go on.
#include <chrono>
#include <filesystem>
#include <optional>

#include "base/escape.h"
#include "base/files/bytes.h"
#include "base/files/paths.h"
#include "base/json/json.h"
#include "bench/device.h"
#include "checkpoint/adapter_file.h"
#include "console.h"
#include "decode_image.h"
#include "internal.h"
#include "llm/adapter.h"
#include "llm/import/entity_model.h"
#include "llm/import/locate.h"
#include "models/trained_network.h"
#include "outputs.h"
#include "report/report.h"
#include "telemetry/event_file.h"
#include "train/auto_config/auto_config.h"
#include "train/check_data.h"
#include "train/checkpoint.h"

namespace loom::cli {
namespace {

struct Args {
  std::string spec, data, test, target, task, network, dtype, out, report, events;
  MachineOptions machine;
  std::int64_t seed = -1, steps = 0;
  std::optional<std::int64_t> horizon;
  bool fp8 = false, resume = false, json = false, series = false, no_series = false;
};

void bind(CommandLine& c, Args& a) {
  c.add("SPEC", a.spec,
        "the training spec, JSON; without one, what to learn and how is chosen by looking at the "
        "data");
  c.add("--data", a.data,
        "what to learn from: a file as the spec says; without a spec a table (CSV), a folder of "
        "idx or .npy files, a folder with a folder of images or of .txt files for each class (also "
        "within train and test), or texts for the embedded language model (a .txt file, or a "
        "folder of them)")
      .type_name("FILE")
      .no_stdin();
  c.add("--test", a.test, "data of the same form, judged at the end; without a spec")
      .type_name("FILE")
      .no_stdin();
  c.add("--target", a.target, "the column to predict, the last one where not given; without a spec")
      .type_name("NAME");
  c.add("--task", a.task, "whether the target is a class or a number; without a spec")
      .one_of({"classes", "numbers"});
  c.add("--network", a.network,
        "what to learn with, in place of convolutions for images and dense layers for all else; "
        "without a spec")
      .one_of({"dense", "convolutional"});
  c.add("--dtype", a.dtype,
        "of the weights, for example ternary, binary, i4: learned as they will run; without a spec")
      .type_name("NAME");
  const Option series = c.flag(
      "--series", a.series,
      "the table is a time series, also where it has more columns than dates and numbers, or their "
      "names say too little; without a spec");
  c.flag("--no-series", a.no_series, "the table is learned row by row; without a spec")
      .excludes(series);
  c.add("--horizon", a.horizon, "of a time series: steps ahead that are judged, 12 where not given")
      .positive()
      .type_name("N");
  c.flag("--fp8", a.fp8, "products in FP8, forward and backward; without a spec");
  c.add("--steps", a.steps, "in place of as many as the data suggests; without a spec")
      .between(std::int64_t{1}, std::int64_t{1} << 40)
      .type_name("N");
  c.add("--seed", a.seed, "of the first weights, the order and what is held back")
      .between(std::int64_t{0}, INT64_MAX)
      .type_name("N");
  c.add("--out", a.out,
        "the .entity file to write, or the folder of an adapter; Ctrl-C, SIGTERM and SIGHUP write "
        "it too")
      .required()
      .type_name("FILE");
  c.add("--report", a.report,
        "of a table: write which columns the answers rest on and which rows went worst, as an "
        "image (.svg) or as text (.txt)")
      .check("",
             [](const std::string& name) -> std::string {
               return name.ends_with(".svg") || name.ends_with(".txt")
                          ? ""
                          : "a report is a .svg or a .txt file";
             })
      .type_name("FILE");
  c.flag("--resume", a.resume,
         "go on from the file of --out, with the same bits as if never stopped");
  c.add("--events", a.events, "write loss and rate to a TensorBoard event file in this folder")
      .type_name("FOLDER");
  bind_machine_options(c, a.machine);
  c.flag("--json", a.json, "one JSON object on stdout for each report");
}

std::string parent_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

double now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

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

bool report(const StepReport& r, const std::vector<HeadSpec>& heads, bool json) {
  char numbers[128];
  std::snprintf(numbers, sizeof numbers, "loss %.6g  lr %.4g", r.loss, r.lr);
  std::string of_heads;
  Json losses = Json::object();
  for (std::size_t i = 0; i < heads.size(); ++i) {
    const std::string name = name_of(heads[i], i);
    char loss[32];
    std::snprintf(loss, sizeof loss, " %.6g", r.heads[i]);
    of_heads += "  " + escaped(name) + loss;
    losses.set(name, r.heads[i]);
  }
  if (!json)
    return print("step " + std::to_string(r.step) + "  " + numbers + of_heads +
                 (r.skipped ? "  skipped: a gradient overflowed" : "") + "\n");
  Json line = Json::object();
  line.set("step", r.step);
  line.set("steps", r.steps);
  line.set("loss", r.loss);
  line.set("lr", r.lr);
  if (r.loss_scale > 0) line.set("loss_scale", r.loss_scale);
  if (r.skipped) line.set("skipped", true);
  if (!heads.empty()) line.set("heads", std::move(losses));
  line.set("rows", r.rows);
  line.set("epoch", r.epoch);
  return print(line.dump() + "\n");
}

// What is learned, from either of the two ways to say it.
struct Job {
  TrainingSpec spec;
  std::unique_ptr<DataSource> whole, test;
  Split split;  // where something is held back
  std::optional<SeriesConfig> series;
  std::vector<std::int64_t> rows, test_rows;  // of a table, where its samples stand
  Json inputs;
  std::optional<Network> network;
  std::optional<Model> model;  // in place of the network: a language model that goes on learning
  EntitySections sections;     // of the file that the network came from
  std::vector<AdapterPlace> places;
  AdapterBase base;
  Network& net() { return model ? model->network : *network; }
  const DataSource& learned() const { return split.learned ? *split.learned : *whole; }
};

// The spec's "base" and what belongs to it.
Status open_base(const TrainingSpec& spec, Job& job) {
  std::optional<WeightFormat> format;
  if (!spec.base_dtype.empty()) {
    LOOM_ASSIGN(format, parse_weight_format(spec.base_dtype));
  }
  job.base.name = spec.base;
  auto model = load_model(spec.base, format);
  if (model.ok()) {
    job.model.emplace(std::move(*model));
    job.places = adapter_places(*job.model);
    job.base.language_model = true;
    return {};
  }
  // An .entity that is no language model is a network.
  LOOM_ASSIGN(const PathKind kind, kind_at(spec.base));
  if (model.status().code() != Code::unsupported || kind != PathKind::file) return model.status();
  LOOM_ASSIGN(SourcePtr source, open_source(spec.base));
  LOOM_ASSIGN(const Entity file, Entity::open(std::move(source)));
  LOOM_ASSIGN(job.network, load_network(file));
  LOOM_ASSIGN(job.sections, kept_sections(file));
  if (format) LOOM_TRY(job.network->morph(*format));
  return {};
}

// Texts in the tokens of the model that learns them; a sequence lies within one of them.
Result<std::unique_ptr<DataSource>> text_data(const Model& model,
                                              const std::vector<std::string>& files,
                                              std::int64_t length) {
  LOOM_TRY(model.tokenizer.status());
  std::vector<std::uint32_t> ids;
  std::vector<std::uint64_t> ends;
  for (const std::string& file : files) {
    LOOM_ASSIGN(const std::string text, read_text_file(file));
    const std::vector<std::int32_t> more = model.tokenizer->encode(text);
    ids.insert(ids.end(), more.begin(), more.end());
    ends.push_back(ids.size());
  }
  // One is a stream.
  if (files.size() == 1) ends.clear();
  LOOM_ASSIGN(auto data, TokenData::create(std::move(ids), ends, length));
  return std::unique_ptr<DataSource>(std::move(data));
}

Result<TrainingSpec> read_spec(const Args& a) {
  LOOM_ASSIGN(const std::string text, read_text_file(a.spec));
  auto spec = parse_training_spec(std::string_view(text));
  if (!spec.ok()) return spec.status().at(a.spec);
  return spec;
}

// Before anything that takes time: what stands at the end can be written, and is nothing that the
// training reads. `spec`: null where it is chosen; `texts`: of an adapter that learns them.
Status check_out(const Args& a, const TrainingSpec* spec, const std::vector<std::string>& texts) {
  std::vector<std::string> inputs = texts;
  if (spec) {
    const std::string folder = parent_of(a.spec), &network = spec->network_file;
    const auto base = locate_model(spec->base);
    inputs = {
        a.spec, a.data.empty() ? spec->data.file : a.data, spec->data.targets_file,
        base.ok() ? *base : "",
        network.empty() || network[0] == '/' || folder.empty() ? network : folder + "/" + network};
  }
  const bool adapter = spec ? spec->lora.rank > 0 : !texts.empty();
  std::vector<std::string> outputs = {a.out};
  if (adapter)
    for (const char* name :
         {"/adapter_config.json", "/adapter_model.safetensors", "/training.safetensors"})
      outputs.push_back(a.out + name);
  for (const std::string& out : outputs) {
    check_not_input("--out", out, inputs);
    if (!spec && texts.empty()) check_not_input("--out", out, {a.data, a.test}, Depth::all);
  }
  return check_checkpoint_output(a.out, adapter);
}

Result<Job> job_of_spec(const Args& a, TrainingSpec spec) {
  Job job;
  job.spec = std::move(spec);
  if (a.seed >= 0) job.spec.seed = a.seed;
  if (job.spec.base.empty()) {
    LOOM_ASSIGN(job.network, create_network(job.spec, parent_of(a.spec)));
  } else {
    LOOM_TRY(open_base(job.spec, job));
  }
  const bool words = job.model && job.spec.data.kind == DataKind::text;
  const std::string& file = a.data.empty() ? job.spec.data.file : a.data;
  LOOM_ASSIGN(job.whole, words ? text_data(*job.model, {file}, job.spec.data.length)
                               : open_data(job.spec, a.data));
  if (job.spec.validation.share > 0) {
    const double share = job.spec.validation.share;
    LOOM_ASSIGN(job.split, job.spec.streams > 0
                               ? split_end(*job.whole, share)
                               : split(*job.whole, share, static_cast<std::uint64_t>(job.spec.seed),
                                       job.spec.ignore));
    const std::string single = single_text(job.split, job.inputs);
    if (!single.empty()) say(single);
  }
  return job;
}

// Texts without classes: an adapter of the embedded model learns them, as the guide does by hand.
Result<Job> job_of_texts(const Args& a, const std::vector<std::string>& files) {
  if (!a.test.empty() || !a.task.empty() || !a.network.empty() || a.fp8 || a.series ||
      a.no_series || a.horizon || !a.report.empty())
    return Status(
        Code::invalid_argument,
        a.data +
            ": is text without classes, which an adapter of the embedded model learns: --test, "
            "--task, --network, --fp8, --series, --no-series, --horizon and --report are for other "
            "data");
  Job job;
  TrainingSpec& s = job.spec;
  s.base = "embedded";
  s.base_dtype = a.dtype;
  s.lora = {.rank = 8, .alpha = 16};
  s.data.kind = DataKind::text;
  s.data.length = 64;
  s.loss = Loss::cross_entropy;
  s.seed = std::max<std::int64_t>(a.seed, 0);
  LOOM_TRY(open_base(s, job));
  auto data = text_data(*job.model, files, s.data.length);
  if (!data.ok()) return data.status().at(a.data);
  job.whole = std::move(*data);
  const std::int64_t samples = job.whole->samples();
  s.validation.share = samples < 2 ? 0 : 0.1;
  if (s.validation.share > 0) {
    LOOM_ASSIGN(job.split,
                split(*job.whole, s.validation.share, static_cast<std::uint64_t>(s.seed)));
  }
  const std::int64_t learned = job.learned().samples();
  s.batch = std::min<std::int64_t>(8, learned);
  const std::int64_t an_epoch = (learned + s.batch - 1) / s.batch;
  s.steps = a.steps > 0 ? a.steps
                        : std::clamp<std::int64_t>(3 * an_epoch,
                                                   std::min<std::int64_t>(20 * an_epoch, 60), 2000);
  s.schedule = {.kind = ScheduleKind::cosine,
                .lr = 0.005,
                .warmup = std::min<std::int64_t>(s.steps / 20, 50),
                .steps = s.steps};
  if (s.validation.share > 0) s.validation.every = std::max<std::int64_t>(s.steps / 10, 1);
  s.log_every = std::max<std::int64_t>(s.steps / 20, 1);
  LOOM_TRY(s.check());
  say("data: " + std::to_string(files.size()) + (files.size() == 1 ? " text" : " texts") +
      " without classes, " + std::to_string(samples) + " sequences of up to " +
      std::to_string(s.data.length) + " tokens");
  say("network: an adapter (LoRA of rank 8) of the embedded language model, which stays as it is" +
      (a.dtype.empty() ? std::string() : ", in " + a.dtype));
  say("split: " + std::to_string(learned) + " to learn from, " + std::to_string(samples - learned) +
      " held back to judge by (seed " + std::to_string(s.seed) + ")");
  say("training: adamw, cross-entropy, lr 0.005 falling as a cosine, " + std::to_string(s.steps) +
      " steps of " + std::to_string(s.batch) + "; the best adapter is kept, in the folder " +
      a.out + ", for loom run embedded --adapter " + a.out);
  return job;
}

Result<Job> job_of_data(const Args& a) {
  LOOM_ASSIGN(AutoConfig chosen,
              auto_config({.data = a.data,
                           .test = a.test,
                           .target = a.target,
                           .task = a.task,
                           .network = a.network,
                           .dtype = a.fp8 && a.dtype.empty() ? "fp8e4m3" : a.dtype,
                           .seed = std::max<std::int64_t>(a.seed, 0),
                           .steps = a.steps,
                           .series = a.series      ? "yes"
                                     : a.no_series ? "no"
                                                   : "",
                           .horizon = a.horizon.value_or(kDefaultHorizon),
                           .decoder = image_decoder()}));
  for (const std::string& line : chosen.decisions) say(escaped(line));
  Job job;
  LOOM_ASSIGN(job.network, chosen.network());
  job.spec = std::move(chosen.spec);
  job.spec.fp8 = a.fp8;
  job.whole = std::move(chosen.whole);
  job.test = std::move(chosen.test);
  job.split = std::move(chosen.split);
  job.series = std::move(chosen.series);
  job.rows = std::move(chosen.rows);
  job.test_rows = std::move(chosen.test_rows);
  if (!a.report.empty() && job.rows.empty())
    return Status(Code::invalid_argument, "--report is of tables, and " + a.data + " is none");
  if (a.horizon && !job.series)
    return Status(Code::invalid_argument,
                  "--horizon: " + a.data + " is not learned as a time series");
  job.inputs = std::move(chosen.inputs);
  return job;
}

bool report(const char* what, std::int64_t step, const Metrics& metrics, bool json) {
  if (!json)
    return print("step " + std::to_string(step) + "  " + what + ": " + metrics.to_text() + "\n");
  Json line = Json::object();
  line.set("step", step);
  line.set(what, metrics.to_json());
  return print(line.dump() + "\n");
}

// A training under way, and what is told of it.
struct Course {
  const Args& args;
  Job& job;
  Trainer& trainer;
  ThreadPool& pool;
  Validation* validation = nullptr;
  std::optional<EventFile> events = {};
  EntitySections sections = {};
  std::string report = {};  // the file of --report
  bool early = false;       // nothing better came for long
  Status failure = {};      // of the events: the training is saved before it is told
  Best* best() const { return validation ? &validation->best : nullptr; }
  Status save() { return save_checkpoint(args.out, trainer, sections, best(), job.base); }
};

Status write_events(Course& course, const StepReport& r, const std::optional<Metrics>& metrics,
                    bool told) {
  if (!course.events) return {};
  LOOM_TRY(course.events->scalar("loss", r.step, static_cast<float>(r.loss), now()));
  LOOM_TRY(course.events->scalar("lr", r.step, static_cast<float>(r.lr), now()));
  if (metrics)
    LOOM_TRY(
        course.events->scalar("validation loss", r.step, static_cast<float>(metrics->loss), now()));
  return told ? course.events->flush() : Status();
}

// False: the training ends here, and is saved.
Result<bool> after_step(Course& course, const StepReport& r) {
  const TrainingSpec& spec = course.job.spec;
  const bool told = (spec.log_every > 0 && r.step % spec.log_every == 0) || r.step == r.steps;
  if (told) report(r, spec.heads, course.args.json);
  std::optional<Metrics> metrics;
  if (course.validation && course.validation->due()) {
    LOOM_ASSIGN(metrics, course.validation->judge());
    report("validation", r.step, *metrics, course.args.json);
    course.early = course.validation->spent();
  }
  course.failure = write_events(course, r, metrics, told);
  if (spec.checkpoint_every > 0 && r.step % spec.checkpoint_every == 0 && r.step < r.steps)
    LOOM_TRY(course.save());
  return !course.early && course.failure.ok() && !Interrupt::pressed() && print_problem().empty();
}

// How the network that is kept forecasts; the file gets the intervals.
Status judge_forecasts(Course& course, Json& figures, std::string& text) {
  SeriesConfig& series = *course.job.series;
  LOOM_ASSIGN(Session session, Session::create(course.job.net(), course.pool,
                                               {.max_rows = 256, .isa = course.args.machine.isa}));
  LOOM_ASSIGN(const SeriesJudgment judged,
              judge_series(series.form, series.values, series.held_back, series.horizon,
                           [&](const auto& x, std::int64_t rows, auto& y) {
                             return run_rows(session, x, rows, y);
                           }));
  course.sections.bytes["inputs"] = series.form.to_json().dump();
  Json json = Json::object();
  json.set("mae", judged.mae);
  json.set("naive_mae", judged.naive);
  json.set("horizon", series.horizon);
  json.set("origins", judged.origins);
  json.set("forecasts", judged.forecasts);
  figures.set("forecasts", std::move(json));
  const std::int64_t season = series.form.season;
  text += "forecasts of 1 to " + std::to_string(series.horizon) + " steps from each of the last " +
          std::to_string(judged.origins) + " dates: mean absolute error " +
          significant(judged.mae) + "; the value " +
          (season > 1 ? std::to_string(season) + " steps before: " : "before: ") +
          significant(judged.naive) + "\n";
  return {};
}

// How the rows of the table that judge are told of.
Result<ReportForm> report_form(const Course& course) {
  const Job& job = course.job;
  const bool test = job.test != nullptr;
  const DataSource* judged = test ? job.test.get() : job.split.held_back.get();
  const std::vector<std::int64_t>* places = test ? &job.test_rows : &job.rows;
  const auto place = [judged, places](std::int64_t sample) {
    return (*places)[static_cast<std::size_t>(judged->row_of(sample))];
  };
  ReportForm form;
  if (job.series) {
    const SeriesConfig* series = &*job.series;
    form.title = "forecasts one step ahead of " + loom::quoted(series->form.columns.target);
    for (auto& [name, values] : series->form.inputs()) form.inputs.push_back({name, values});
    form.name = [=](std::int64_t sample) { return series->form.steps.at(place(sample)).text(); };
    form.value = [=](std::int64_t sample, float v) {
      std::vector<double> z;
      const std::int64_t end = place(sample), begin = end - series->form.before();
      for (std::int64_t p = begin; p < end; ++p)
        z.push_back(series->form.to_z(series->values.values[static_cast<std::size_t>(p)]));
      return series->form.to_value(series->form.base(z) + static_cast<double>(v));
    };
    return form;
  }
  LOOM_ASSIGN(const TableForm table, TableForm::from_json(job.inputs));
  form.title =
      "answers for " + loom::quoted(table.columns[static_cast<std::size_t>(table.target)].name);
  if (table.classes) form.labels = table.labels;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    const Column& column = table.columns[c];
    if (static_cast<std::int64_t>(c) == table.target || column.kind == Column::Kind::unused)
      continue;
    const bool words = column.kind == Column::Kind::words;
    form.inputs.push_back(
        {column.name, words ? static_cast<std::int64_t>(column.values.size()) : 1});
  }
  form.name = [=](std::int64_t sample) { return "row " + std::to_string(place(sample)); };
  form.value = [](std::int64_t, float v) { return static_cast<double>(v); };
  return form;
}

// What the answers of the network that is kept rest on, and where they fail.
Status report_table(Course& course, Json& figures, std::string& text) {
  LOOM_ASSIGN(const ReportForm form, report_form(course));
  LOOM_ASSIGN(Session session, Session::create(course.job.net(), course.pool,
                                               {.max_rows = 256, .isa = course.args.machine.isa}));
  const Job& job = course.job;
  LOOM_ASSIGN(const Report report,
              make_report(session, job.test ? *job.test : *job.split.held_back, form));
  figures.set("report", report.to_json());
  text += report.to_text(true);
  const std::string& file = course.args.report;
  if (!file.empty())
    course.report = file.ends_with(".svg") ? report.to_svg() : report.to_text(false);
  return {};
}

// Names of classes, for a network that answers with some.
std::vector<std::string> labels_of(const Job& job, std::int64_t classes) {
  std::vector<std::string> labels;
  for (std::int64_t c = 0; c < classes; ++c) labels.push_back(label_of(job.inputs, c));
  return labels;
}

// The figures of the network that is kept: for the file, and in words.
Result<Json> figures_of(Course& course, std::string& text) {
  Trainer& trainer = course.trainer;
  const Best& best = *course.best();
  const Job& job = course.job;
  Json figures = Json::object();
  figures.set("step", trainer.done());
  figures.set("best_step", best.step);
  figures.set("validation", best.metrics);
  text = "kept: step " + std::to_string(best.step) +
         (course.early ? ", nothing better came after it" : "") + "\n";
  const std::vector<TrainingTensor> last = trainer.weights();
  LOOM_TRY(trainer.set_weights(best.weights));
  const DataSource& judged = job.test ? *job.test : *job.split.held_back;
  LOOM_ASSIGN(Evaluator evaluator, Evaluator::create(course.job.net(), judged, course.pool,
                                                     judging(trainer, course.args.machine.isa)));
  LOOM_ASSIGN(const Metrics metrics, evaluator.measure());
  if (job.test) figures.set("test", metrics.to_json());
  text += std::string(job.test     ? "test"
                      : job.series ? "one step ahead, as it is learned"
                                   : "validation") +
          ": " + metrics.to_text() + " over " + std::to_string(metrics.rows) + " rows\n" +
          confusion_text(metrics.confusion, labels_of(job, metrics.classes));
  if (job.series) LOOM_TRY(judge_forecasts(course, figures, text));
  if (!job.rows.empty()) LOOM_TRY(report_table(course, figures, text));
  LOOM_TRY(trainer.set_weights(last));
  return figures;
}

// Learns, saves, and says how it ended.
int learn(Course& course) {
  Trainer& trainer = course.trainer;
  const Args& a = course.args;
  const Interrupt interrupt;
  Progress progress("training", static_cast<std::uint64_t>(trainer.steps()), Progress::Unit::steps,
                    static_cast<std::uint64_t>(trainer.done()));
  course.early = course.validation && course.validation->spent();
  Status status;
  if (!course.early)
    status = trainer.run([&](const StepReport& r) {
      progress.update(static_cast<std::uint64_t>(r.step),
                      "loss " + fixed(r.loss, 4) + "  lr " + fixed(r.lr, 6));
      return after_step(course, r);
    });
  progress.finish();
  const bool stopped = status.code() == Code::cancelled && !course.early;
  if (!status.ok() && status.code() != Code::cancelled) return fail(status, kFailed);
  std::string answer;
  if (course.best() && course.best()->step > 0 && !stopped) {
    LOOM_OR_EXIT(const Json figures, figures_of(course, answer), kFailed);
    course.sections.bytes["report"] = figures.dump();
    if (a.json) answer = figures.dump() + "\n";
  }
  if (const Status saved = course.save(); !saved.ok()) return fail(saved, kFailed);
  if (!course.report.empty())
    if (const Status told = write_file(a.report, as_bytes(course.report)); !told.ok())
      return fail(told, kFailed);
  if (!a.report.empty() && course.report.empty())
    say(a.report + ": not written, as the training did not end");
  print(answer);
  say(a.out + ": step " + std::to_string(trainer.done()) + " of " +
      std::to_string(trainer.steps()) +
      (stopped        ? ", --resume goes on"
       : course.early ? ", stopped early"
                      : "") +
      "  \u00b7  sha256 " + trainer.digest());
  if (!course.failure.ok()) return fail(course.failure, kFailed);
  return stopped && print_problem().empty() ? Interrupt::code()
                                            : kOk;  // main() tells of the problem
}

int train(const Args& a, Job job) {
  Network& network = job.net();
  // Threads that wait for each other cost more than a small step; the bits are the same.
  const bool small = a.spec.empty() && network.parameter_count() * job.spec.batch < 1'000'000;
  LOOM_OR_EXIT(const Machine machine, open_machine(a.machine), kRefused);
  ThreadPool pool(
      machine.mode.threads == 0 && small && a.machine.mode.empty() ? 1 : machine.mode.threads);
  TrainerOptions options;
  options.isa = a.machine.isa;
  options.device = machine.choice.device.get();
  options.fuse = machine.mode.fuse;
  options.auto_device = machine.mode.auto_device;
  options.judged = true;
  options.cancel = Interrupt::flag();
  options.places = job.places;
  LOOM_OR_EXIT(const std::unique_ptr<Trainer> trainer,
               Trainer::create(job.spec, network, job.learned(), pool, options), kRefused);
  std::unique_ptr<Validation> validation;
  if (job.split.held_back) {
    LOOM_OR_EXIT(validation,
                 Validation::create(*trainer, *job.split.held_back, pool, a.machine.isa), kRefused);
  }
  if (job.test) {
    const Status good = check_data(*job.test, network, trainer->spec()).at("the test samples");
    if (!good.ok()) return fail(good, kRefused);
  }
  Course course{a, job, *trainer, pool, validation.get()};
  if (a.resume)
    if (const Status status = resume_checkpoint(a.out, *trainer, course.best()); !status.ok())
      return fail(status, kRefused);
  const std::shared_ptr<Adapter>& adapter = trainer->adapter();
  if (job.model && !adapter) {
    LOOM_OR_EXIT(job.sections, model_sections(*job.model), kRefused);
  }
  course.sections = std::move(job.sections);
  course.sections.bytes.erase("report");  // the figures of other weights
  if (!job.inputs.is_null()) course.sections.bytes["inputs"] = job.inputs.dump();
  say((adapter ? "an adapter of " + count_text(static_cast<double>(adapter->parameter_count())) +
                     " parameters beside "
               : "") +
      count_text(static_cast<double>(network.parameter_count())) + " parameters  \u00b7  " +
      std::to_string(job.learned().samples()) + " samples  \u00b7  " +
      std::to_string(trainer->steps()) + " steps");
  if (const Streams* s = trainer->streams())
    say("streams: " + std::to_string(job.spec.streams) + " lanes of " +
        std::to_string(s->lane_rows()) + " rows in windows of " + std::to_string(s->max_rows()) +
        "  \u00b7  " + std::to_string(s->windows()) + " steps an epoch" +
        (s->left_out() > 0 ? "  \u00b7  the last " + std::to_string(s->left_out()) +
                                 (s->left_out() > 1 ? " rows are" : " row is") + " left out"
                           : ""));
  if (!a.events.empty()) {
    LOOM_OR_EXIT(course.events, open_events(a.events, a.resume), kFailed);
  }
  return learn(course);
}

int run(const Args& given) {
  Args a = given;
  if (a.spec.empty() && a.data.empty())
    return fail(Status(Code::invalid_argument, "give a SPEC, or --data FILE to have one chosen"),
                kUsage);
  if (!a.spec.empty() && (!a.test.empty() || !a.target.empty() || !a.task.empty() ||
                          !a.network.empty() || !a.dtype.empty() || a.fp8 || a.steps > 0 ||
                          a.series || a.no_series || a.horizon || !a.report.empty()))
    return fail(Status(Code::invalid_argument,
                       "--test, --target, --task, --network, --dtype, --fp8, --steps, --series, "
                       "--no-series, --horizon and --report are for training without a SPEC, which "
                       "says these things itself"),
                kUsage);
  std::optional<TrainingSpec> spec;
  std::vector<std::string> texts;
  if (!a.spec.empty()) {
    LOOM_OR_EXIT(spec, read_spec(a), kRefused);
  } else if (a.target.empty()) {
    LOOM_OR_EXIT(texts, texts_without_classes(a.data), kRefused);
  }
  if (const Status out = check_out(a, spec ? &*spec : nullptr, texts); !out.ok())
    return fail(out.at("--out"), kUsage);
  if (!a.report.empty()) {
    check_file_output("--report", a.report, {a.data, a.test, a.out});
    if (a.report == a.out)
      return fail(
          Status(Code::invalid_argument, "--report: " + a.out + ": is the file of --out, too"),
          kUsage);
  }
  if (a.resume && !spec) {
    // The schedule that is chosen hangs on the number of steps, so that it is the one of the file.
    LOOM_OR_EXIT(const std::int64_t planned, planned_steps(a.out), kRefused);
    if (a.steps > 0 && planned > 0 && a.steps != planned)
      return fail(Status(Code::invalid_argument,
                         "--steps " + std::to_string(a.steps) + ": the training in " + a.out +
                             " was planned for " + std::to_string(planned) +
                             ", and so were its rates: resume it without --steps"),
                  kUsage);
    if (planned > 0) a.steps = planned;
  }
  LOOM_OR_EXIT(Job job,
               spec             ? job_of_spec(a, std::move(*spec))
               : !texts.empty() ? job_of_texts(a, texts)
                                : job_of_data(a),
               kRefused);
  return train(a, std::move(job));
}

}  // namespace

void add_train(CLI::App& app, Action& action) {
  add_command<Args>(app, action, "train", "train a network, as a spec says or as the data suggests",
                    bind, run);
}

}  // namespace loom::cli
