#include "fit/job.h"

#include <algorithm>

#include "base/files/paths.h"
#include "base/message.h"
#include "fit/outputs.h"
#include "llm/adapter.h"
#include "llm/import/locate.h"
#include "train/checkpoint.h"

namespace loom {
namespace {

std::string parent_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

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

Result<TrainingSpec> read_spec(const FitOptions& a) {
  LOOM_ASSIGN(const std::string text, read_text_file(a.spec));
  auto spec = parse_training_spec(std::string_view(text));
  if (!spec.ok()) return spec.status().at(a.spec);
  return spec;
}

// Before anything that takes time: what stands at the end can be written, and is nothing that the
// training reads. `spec`: null where it is chosen; `texts`: of an adapter that learns them.
Status check_output(const FitOptions& a, const std::string& out, bool adapter,
                    const TrainingSpec* spec, const std::vector<std::string>& texts) {
  if (out.empty()) return {};
  std::vector<std::string> inputs = texts;
  if (spec) {
    const std::string folder = parent_of(a.spec), &network = spec->network_file;
    const auto base = locate_model(spec->base);
    inputs = {
        a.spec, a.data.empty() ? spec->data.file : a.data, spec->data.targets_file,
        base.ok() ? *base : "",
        network.empty() || network[0] == '/' || folder.empty() ? network : folder + "/" + network};
  }
  if (out != a.out) inputs.push_back(a.out);
  inputs.push_back(a.teacher);
  std::vector<std::string> outputs = {out};
  if (adapter)
    for (const char* name :
         {"/adapter_config.json", "/adapter_model.safetensors", "/training.safetensors"})
      outputs.push_back(out + name);
  for (const std::string& file : outputs) {
    LOOM_TRY(check_not_input(file, inputs));
    if (!spec && texts.empty()) LOOM_TRY(check_not_input(file, {a.data, a.test}, Depth::all));
  }
  return {};
}

Result<Job> job_of_spec(const FitOptions& a, TrainingSpec spec) {
  Job job;
  job.spec = std::move(spec);
  if (a.seed) job.spec.seed = *a.seed;
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
    if (!single.empty()) job.notes.push_back(single);
  }
  return job;
}

// Texts without classes: an adapter of the embedded model learns them, as the guide does by hand.
Result<Job> job_of_texts(const FitOptions& a, const std::vector<std::string>& files) {
  if (!a.test.empty() || !a.task.empty() || !a.network.empty() || !a.method.empty() || a.fp8 ||
      !a.series.empty() || a.horizon || a.report || !a.teacher.empty())
    return Status(
        Code::invalid_argument,
        message(
            a.data,
            ": is text without classes, which an adapter of the embedded model learns: test, task, "
            "network, method, fp8, series, horizon, teacher and report are for other data"));
  Job job;
  TrainingSpec& s = job.spec;
  s.base = "embedded";
  s.base_dtype = a.dtype;
  s.lora = {.rank = 8, .alpha = 16};
  s.data.kind = DataKind::text;
  s.data.length = 64;
  s.loss = Loss::cross_entropy;
  s.seed = a.seed.value_or(0);
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
  job.notes.push_back("data: " + std::to_string(files.size()) +
                      (files.size() == 1 ? " text" : " texts") + " without classes, " +
                      std::to_string(samples) + " sequences of up to " +
                      std::to_string(s.data.length) + " tokens");
  job.notes.push_back(
      "network: an adapter (LoRA of rank 8) of the embedded language model, which stays as it is" +
      (a.dtype.empty() ? std::string() : ", in " + a.dtype));
  job.notes.push_back("split: " + std::to_string(learned) + " to learn from, " +
                      std::to_string(samples - learned) + " held back to judge by (seed " +
                      std::to_string(s.seed) + ")");
  job.notes.push_back(
      "training: adamw, cross-entropy, lr 0.005 falling as a cosine, " + std::to_string(s.steps) +
      " steps of " + std::to_string(s.batch) + "; the best adapter is kept" +
      (a.out.empty() ? ""
                     : ", in the folder " + a.out + ", for loom run embedded --adapter " + a.out));
  return job;
}

Result<Job> job_of_data(const FitOptions& a, const ImageDecoder& decoder) {
  MethodKind method = MethodKind::back_propagation;
  if (!a.method.empty()) {
    auto named = parse_method(a.method);
    if (!named.ok()) return named.status().at("method");
    method = *named;
  }
  LOOM_ASSIGN(AutoConfig chosen,
              auto_config({.data = a.data,
                           .test = a.test,
                           .target = a.target,
                           .task = a.task,
                           .network = a.network,
                           .dtype = a.fp8 && a.dtype.empty() ? "fp8e4m3" : a.dtype,
                           .seed = a.seed.value_or(0),
                           .steps = a.steps,
                           .series = a.series,
                           .horizon = a.horizon.value_or(kDefaultHorizon),
                           .decoder = decoder}));
  Job job;
  job.notes = chosen.decisions;
  LOOM_ASSIGN(job.network, chosen.network());
  job.spec = std::move(chosen.spec);
  job.spec.fp8 = a.fp8;
  job.spec.method.kind = method;
  if (method != MethodKind::back_propagation)
    job.notes.push_back("method: " + a.method + ", in place of back-propagation");
  job.whole = std::move(chosen.whole);
  job.test = std::move(chosen.test);
  job.split = std::move(chosen.split);
  job.series = std::move(chosen.series);
  job.rows = std::move(chosen.rows);
  job.test_rows = std::move(chosen.test_rows);
  if (a.report && job.rows.empty())
    return Status(Code::invalid_argument, message("report is of tables, and ", a.data, " is none"));
  if (a.horizon && !job.series)
    return Status(Code::invalid_argument,
                  message("horizon: ", a.data, " is not learned as a time series"));
  job.inputs = std::move(chosen.inputs);
  return job;
}

// The schedule that is chosen hangs on the number of steps, so that it is the one of the file.
Status take_planned_steps(FitOptions& a) {
  LOOM_ASSIGN(const std::int64_t planned, planned_steps(a.out));
  if (a.steps > 0 && planned > 0 && a.steps != planned)
    return Status(Code::invalid_argument,
                  message("steps ", a.steps, ": the training in ", a.out, " was planned for ",
                          planned, ", and so were its rates: resume it without --steps"));
  if (planned > 0) a.steps = planned;
  return {};
}

// What goes with a spec, and what without.
Status check_options(const FitOptions& a) {
  if (a.spec.empty() && a.data.empty())
    return Status(Code::invalid_argument, "give a spec, or data to have one chosen");
  if (a.resume && a.out.empty())
    return Status(Code::invalid_argument, "resume: goes on from the file of \"out\": give it");
  if (a.teacher.empty() && (a.temperature || a.alpha))
    return Status(Code::invalid_argument, message(a.temperature ? "temperature" : "alpha",
                                                  ": is of \"teacher\", which is not given"));
  if (!a.teacher.empty() && a.report)
    return Status(Code::invalid_argument, "report: is of training without a teacher");
  if (!a.spec.empty() && (!a.test.empty() || !a.target.empty() || !a.task.empty() ||
                          !a.network.empty() || !a.dtype.empty() || !a.method.empty() || a.fp8 ||
                          a.steps > 0 || !a.series.empty() || a.horizon || a.report))
    return Status(Code::invalid_argument,
                  "test, target, task, network, dtype, method, fp8, steps, series, horizon and "
                  "report are for training without a spec, which says these things itself");
  return {};
}

}  // namespace

Result<Job> open_job(FitOptions a, const ImageDecoder& decoder) {
  LOOM_TRY(check_options(a));
  std::optional<TrainingSpec> spec;
  std::vector<std::string> texts;
  if (!a.spec.empty()) {
    LOOM_ASSIGN(spec, read_spec(a));
  } else if (a.target.empty()) {
    LOOM_ASSIGN(texts, texts_without_classes(a.data));
  }
  const TrainingSpec* const given = spec ? &*spec : nullptr;
  const bool adapter = spec ? spec->lora.rank > 0 : !texts.empty();
  LOOM_TRY(check_output(a, a.out, adapter, given, texts).at("out"));
  if (!a.out.empty()) LOOM_TRY(check_checkpoint_output(a.out, adapter).at("out"));
  if (a.observe.empty() && a.observe_every != 1)
    return Status(Code::invalid_argument, "observe_every: is of \"observe\", which is not given");
  if (!a.observe.empty() && a.observe == a.out)
    return Status(Code::invalid_argument,
                  message("observe: ", a.out, ": is the file of \"out\", too"));
  LOOM_TRY(check_output(a, a.observe, false, given, texts).at("observe"));
  if (a.resume && !spec) LOOM_TRY(take_planned_steps(a));
  if (spec) return job_of_spec(a, std::move(*spec));
  return texts.empty() ? job_of_data(a, decoder) : job_of_texts(a, texts);
}

}  // namespace loom
