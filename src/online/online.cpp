#include "online/online.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "checkpoint/entity.h"
#include "grid/metacognition/act.h"
#include "online/clocks.h"
#include "train/check_data.h"

namespace loom {
namespace {

Status bad(std::string what, Code code = Code::invalid_argument) {
  return Status(code, "online: " + std::move(what));
}

// Keys of a training spec that are about data which a trainer reads, and other programs of
// learning.
Status check_spec(const TrainingSpec& spec) {
  const TrainingSpec none;
  const auto refuse = [](bool given, std::string_view key, std::string_view why) -> Status {
    if (!given) return {};
    return bad("training: \"" + std::string(key) + "\": " + std::string(why));
  };
  constexpr std::string_view kData =
                                 "is of data that a trainer reads; here samples come one by one",
                             kOther = "is of another kind of training, not of one beside answers";
  LOOM_TRY(refuse(!spec.network.is_null() || !spec.network_file.empty() || !spec.base.empty(),
                  "network", "the network is the one that was given"));
  LOOM_TRY(refuse(spec.data.kind != DataKind::caller, "data", kData));
  LOOM_TRY(refuse(spec.epochs != 0, "epochs", kData));
  LOOM_TRY(refuse(!spec.shuffle, "shuffle", kData));
  LOOM_TRY(refuse(spec.micro_batches != 1, "micro_batches", kData));
  LOOM_TRY(refuse(spec.random_translate != 0, "random_translate", kData));
  LOOM_TRY(refuse(spec.streams != 0, "streams", kData));
  LOOM_TRY(refuse(spec.class_weights.is_string(), "class_weights",
                  "\"balanced\" is of data that a trainer reads: give a list"));
  LOOM_TRY(refuse(spec.validation.share > 0, "validation", "use measure"));
  LOOM_TRY(refuse(!spec.heads.empty(), "heads", kOther));
  LOOM_TRY(refuse(spec.lora.rank > 0, "lora", kOther));
  LOOM_TRY(refuse(spec.step_mesh.ticks != 0, "step_mesh", kOther));
  LOOM_TRY(refuse(spec.quantize.after != 0, "quantize.after", kOther));
  LOOM_TRY(refuse(spec.checkpoint_every != none.checkpoint_every, "checkpoint_every", kOther));
  return refuse(spec.log_every != none.log_every, "log_every", kOther);
}

// What samples of the network are.
Result<SampleForm> form_of(const Network& network, Loss loss) {
  const Shape& in = network.input();
  SampleForm form;
  if (in.ids > 0 && in.dims.empty())
    return bad(
        "the network takes one id per row, which later rows see: it has no answer to a row "
        "alone",
        Code::unsupported);
  form.ids = in.ids;
  if (in.ids > 0) form.steps = in.count();
  else form.width = in.width;
  if (takes_classes(loss)) {
    const ClassAxis axis = network.class_axis();
    form.places = axis.places;
    form.classes = axis.classes;
  } else {
    form.targets = network.output().width;
  }
  return form;
}

// One sample of this form, by which a trainer knows what its batches are.
Result<std::unique_ptr<DataSource>> one_sample(const SampleForm& form) {
  const auto n = [](std::int64_t count) { return static_cast<std::size_t>(count); };
  const auto made = [&](auto x, std::int64_t width) {
    if (form.places > 0)
      return ArrayData::create(std::move(x), width, std::vector<std::int32_t>(n(form.places)));
    return ArrayData::create(std::move(x), width, std::vector<float>(n(form.targets)),
                             form.targets);
  };
  auto data = form.steps > 0 ? made(std::vector<std::uint32_t>(n(form.steps)), form.steps)
                             : made(std::vector<float>(n(form.width)), form.width);
  LOOM_TRY(data.status());
  return std::unique_ptr<DataSource>(std::move(*data));
}

std::vector<WeightStore*> stores_of(Network& network) {
  std::vector<WeightStore*> stores;
  for (const Network::NamedParam& p : network.params())
    if (!p.tied) stores.push_back(p.param->store.get());
  return stores;
}

}  // namespace

Result<TrainingSpec> parse_online_spec(Json spec) {
  constexpr std::int64_t kEndless = std::int64_t{1} << 40;
  if (!spec.is_object()) return bad("training: expects a JSON object");
  if (!spec.find("format")) spec.set("format", "loom-training");
  if (!spec.find("version")) spec.set("version", 2);
  if (!spec.find("batch")) spec.set("batch", 32);
  const bool endless = !spec.find("steps") && !spec.find("epochs");
  if (endless) spec.set("steps", kEndless);
  LOOM_ASSIGN(TrainingSpec parsed, parse_training_spec(spec));
  if (endless && has_end(parsed.schedule.kind) && parsed.schedule.steps == 0)
    return bad("training: the schedule \"" + std::string(name(parsed.schedule.kind)) +
               "\" ends: give it \"steps\"");
  return parsed;
}

OnlineLearner::OnlineLearner(const TrainingSpec& spec, Network shadow, ThreadPool& pool,
                             const OnlineOptions& options)
    : options_(options),
      shadow_(std::move(shadow)),
      pool_(pool),
      loss_(spec.loss),
      ignore_(spec.ignore),
      detector_(options.detector_delta),
      tracker_(options.tracker, options.task) {}

Result<std::unique_ptr<OnlineLearner>> OnlineLearner::create(const TrainingSpec& spec,
                                                             Network& network, ThreadPool& pool,
                                                             const OnlineOptions& options,
                                                             const OnlineMachine& machine) {
  LOOM_TRY(spec.check());
  LOOM_TRY(check_spec(spec));
  if (network.step_mesh)
    return bad("the network is a step mesh, which has no answer to a row alone", Code::unsupported);
  LOOM_TRY(refuse_rules(network, "online learning").at("online"));
  LOOM_ASSIGN(Network shadow, copy_network(network));
  std::unique_ptr<OnlineLearner> learner(new OnlineLearner(spec, std::move(shadow), pool, options));
  LOOM_TRY(learner->prepare(spec, machine));
  return learner;
}

Status OnlineLearner::prepare(const TrainingSpec& spec, const OnlineMachine& machine) {
  LOOM_ASSIGN(form_, form_of(shadow_, spec.loss));
  LOOM_ASSIGN(form_data_, one_sample(form_));
  output_width_ = shadow_.output().width;
  axis_ = shadow_.class_axis();
  missing_ = shadow_.takes_missing();
  TrainerOptions training;
  training.isa = machine.isa;
  training.device = machine.device;
  training.fuse = machine.fuse;
  training.auto_device = machine.auto_device;
  training.cancel = machine.cancel;
  LOOM_ASSIGN(trainer_, Trainer::create(spec, shadow_, *form_data_, pool_, training));
  shadow_stores_ = stores_of(shadow_);
  LOOM_TRY(prepare_served(machine));
  memory_ =
      SampleMemory(form_, options_.recent, options_.older, static_cast<std::uint64_t>(spec.seed));
  drawn_.set_form(form_);
  const auto room = [&](std::int64_t width) {
    return static_cast<std::size_t>(options_.pending * width);
  };
  pending_x_.resize(room(form_.width));
  pending_ids_.resize(room(form_.steps));
  pending_y_.resize(room(output_width_));
  waits_.resize(room(1));
  return {};
}

Status OnlineLearner::prepare_served(const OnlineMachine& machine) {
  SessionOptions options;
  options.max_rows = options_.max_rows;
  options.isa = machine.isa;
  options.device = machine.device;
  options.fuse = machine.fuse;
  options.auto_device = machine.auto_device;
  for (std::unique_ptr<Served>& served : served_) {
    LOOM_ASSIGN(Network copy, copy_network(shadow_));
    served = std::make_unique<Served>(std::move(copy));
    served->stores = stores_of(served->network);
    LOOM_ASSIGN(Session session, Session::create(served->network, pool_, options));
    const Program& program = session.program();
    const bool states = std::ranges::any_of(
        program.buffers, [](const Buffer& b) { return b.kind == BufferKind::state; });
    if (states || program.find(BufferKind::input, "", "positions") != kNone)
      return bad(
          "rows of the network depend on rows before them: it has no answer to a row alone; "
          "sequences inside of a row, \"dims\": [steps, features], have",
          Code::unsupported);
    // The first run of a session allocates.
    LOOM_TRY(
        takes_ids()
            ? session.run_ids(std::vector<std::uint32_t>(static_cast<std::size_t>(form_.steps)))
                  .status()
            : session.run(std::vector<float>(static_cast<std::size_t>(form_.width)), 1).status());
    served->session.emplace(std::move(session));
  }
  return {};
}

template <class Run>
Result<std::int64_t> OnlineLearner::answer_by(std::size_t values, std::span<float> y,
                                              const Run& run) {
  const ClockReading begin = read_clocks();
  const auto width = static_cast<std::size_t>(input_width()),
             out = static_cast<std::size_t>(output_width_);
  if (values == 0 || values % width != 0)
    return bad("x: expects rows of " + std::to_string(width) + (takes_ids() ? " ids" : " values") +
               ", got " + std::to_string(values));
  const std::size_t rows = values / width;
  if (y.size() != rows * out)
    return bad("y: expects " + std::to_string(rows) + " rows of " + std::to_string(out) +
               " values, got " + std::to_string(y.size()));
  Session& session = *served_[active_]->session;
  LOOM_TRY(run(session));
  const std::int64_t first = answers_;
  for (std::size_t r = 0; r < rows; ++r) {
    const std::span<const float> row = session.output(static_cast<std::int64_t>(r));
    std::copy(row.begin(), row.end(), y.begin() + static_cast<std::ptrdiff_t>(r * out));
  }
  const ClockReading end = read_clocks();
  const std::int64_t wall = end.wall - begin.wall + std::exchange(overrun_wall_, 0),
                     overrun_cpu = std::exchange(overrun_cpu_, 0);
  tracker_.answered(static_cast<std::int64_t>(rows), wall,
                    begin.cpu < 0 ? -1 : end.cpu - begin.cpu + overrun_cpu, end.wall);
  return first;
}

Result<std::int64_t> OnlineLearner::answer(std::span<const float> x, std::span<float> y) {
  if (takes_ids()) return bad("x: the network takes ids, not values");
  const std::int64_t width = form_.width;
  LOOM_ASSIGN(const std::int64_t first, answer_by(x.size(), y, [&](Session& s) {
                return s.run(x, static_cast<std::int64_t>(x.size()) / width).status();
              }));
  for (std::size_t at = 0; at < x.size(); at += static_cast<std::size_t>(width)) {
    const std::int64_t slot = answers_ % options_.pending;
    std::copy_n(x.begin() + static_cast<std::ptrdiff_t>(at), width,
                pending_x_.begin() + slot * width);
    keep_pending(y, answers_ - first);
  }
  return first;
}

Result<std::int64_t> OnlineLearner::answer_ids(std::span<const std::uint32_t> ids,
                                               std::span<float> y) {
  if (!takes_ids()) return bad("x: the network takes values, not ids");
  LOOM_ASSIGN(const std::int64_t first,
              answer_by(ids.size(), y, [&](Session& s) { return s.run_ids(ids).status(); }));
  for (std::size_t at = 0; at < ids.size(); at += static_cast<std::size_t>(form_.steps)) {
    const std::int64_t slot = answers_ % options_.pending;
    std::copy_n(ids.begin() + static_cast<std::ptrdiff_t>(at), form_.steps,
                pending_ids_.begin() + slot * form_.steps);
    keep_pending(y, answers_ - first);
  }
  return first;
}

// The answer `row` of the call, which is number answers_ of all.
void OnlineLearner::keep_pending(std::span<const float> y, std::int64_t row) {
  const std::int64_t slot = answers_ % options_.pending;
  std::copy_n(y.begin() + row * output_width_, output_width_,
              pending_y_.begin() + slot * output_width_);
  waits_[static_cast<std::size_t>(slot)] = true;
  ++answers_;
}

template <class T>
Status OnlineLearner::feedback_of(std::int64_t first, std::span<const T> targets,
                                  std::int64_t width, bool expected) {
  if (!expected)
    return bad(form_.places > 0 ? "targets: the loss cross_entropy takes classes, not values"
                                : "classes: the loss takes target values, not classes");
  const auto rows = static_cast<std::int64_t>(targets.size()) / width;
  if (rows < 1 || rows * width != std::ssize(targets))
    return bad((form_.places > 0 ? "classes: expects " : "targets: expects rows of ") +
               std::to_string(width) +
               (form_.places > 0 ? " for each row, got " : " values, got ") +
               std::to_string(targets.size()));
  if (first < 0 || first > answers_ - rows || first < answers_ - options_.pending)
    return bad("answer " + std::to_string(first) + ": " +
                   (first < 0 || first > answers_ - rows
                        ? "there are " + std::to_string(answers_) + " so far"
                        : "is no longer kept: \"pending\" is " + std::to_string(options_.pending)),
               Code::not_found);
  const auto sample_at = [&](std::int64_t r) {
    const std::int64_t slot = (first + r) % options_.pending;
    const auto part = [slot](const auto& all, std::int64_t count) {
      return std::span(all).subspan(static_cast<std::size_t>(slot * count),
                                    static_cast<std::size_t>(count));
    };
    Sample s;
    s.x = part(pending_x_, form_.width);
    s.ids = part(pending_ids_, form_.steps);
    const auto target =
        targets.subspan(static_cast<std::size_t>(r * width), static_cast<std::size_t>(width));
    if constexpr (std::is_same_v<T, float>) s.y = target;
    else s.classes = target;
    return s;
  };
  for (std::int64_t r = 0; r < rows; ++r) {
    if (!waits_[static_cast<std::size_t>((first + r) % options_.pending)])
      return bad("answer " + std::to_string(first + r) + ": has its feedback already",
                 Code::not_found);
    LOOM_TRY(check_sample(sample_at(r), first + r));
  }
  for (std::int64_t r = 0; r < rows; ++r) {
    const std::int64_t slot = (first + r) % options_.pending;
    waits_[static_cast<std::size_t>(slot)] = false;
    const Sample sample = sample_at(r);
    if (!counts(sample)) continue;
    take_feedback(std::span<const float>(pending_y_)
                      .subspan(static_cast<std::size_t>(slot * output_width_),
                               static_cast<std::size_t>(output_width_)),
                  sample);
  }
  return {};
}

void OnlineLearner::take_feedback(std::span<const float> y, const Sample& sample) {
  const bool right = correct(y, sample);
  memory_.add(sample);
  const std::int64_t now = read_clocks().wall;
  tracker_.judged(right, now);
  if (options_.detector == "adwin" && detector_.add(right ? 0 : 1))
    changed(std::to_string(tracker_.tasks()), "detector", detector_.width());
}

Status OnlineLearner::feedback(std::int64_t first, std::span<const float> targets) {
  return feedback_of(first, targets, std::max<std::int64_t>(form_.targets, 1), form_.targets > 0);
}
Status OnlineLearner::feedback(std::int64_t first, std::span<const std::int32_t> classes) {
  return feedback_of(first, classes, std::max<std::int64_t>(form_.places, 1), form_.places > 0);
}

// Nothing is learned from what is no number, nor from a class that the network does not have.
Status OnlineLearner::check_sample(const Sample& s, std::int64_t answer) const {
  const std::string where = "answer " + std::to_string(answer) + ": ";
  for (const float v : s.x)
    if (!(std::isfinite(v) || (missing_ && std::isnan(v))))
      return bad(where + "its x has a value that is not finite");
  for (const float v : s.y)
    if (!std::isfinite(v) || (loss_ == Loss::bce && (v < 0 || v > 1)))
      return bad(where + (loss_ == Loss::bce ? "the loss bce takes targets from 0 to 1"
                                             : "targets: expects finite values"));
  for (const std::int32_t c : s.classes)
    if (c != ignore_ && (c < 0 || c >= axis_.classes))
      return bad(where + "class" + class_refusal(c, axis_.classes, ignore_));
  return {};
}

// Of classes: whether one of them counts.
bool OnlineLearner::counts(const Sample& s) const {
  return s.classes.empty() ||
         std::ranges::any_of(s.classes, [&](std::int32_t c) { return c != ignore_; });
}

// All of its places that count.
bool OnlineLearner::right_class(std::span<const float> y,
                                std::span<const std::int32_t> classes) const {
  for (std::int64_t p = 0; p < axis_.places; ++p) {
    const std::int32_t wanted = classes[static_cast<std::size_t>(p)];
    if (wanted == ignore_) continue;
    const auto logit = [&](std::int64_t c) {
      return y[static_cast<std::size_t>(axis_.first ? c * axis_.places + p
                                                    : p * axis_.classes + c)];
    };
    std::int64_t best = 0;
    for (std::int64_t c = 1; c < axis_.classes; ++c)
      if (logit(c) > logit(best)) best = c;
    if (best != wanted) return false;
  }
  return true;
}

bool OnlineLearner::correct(std::span<const float> y, const Sample& s) const {
  const std::string& how = options_.correct;
  if (!s.classes.empty()) return right_class(y, s.classes);
  if (how == "argmax") {
    const auto largest = [](std::span<const float> v) {
      return std::ranges::max_element(v) - v.begin();
    };
    return largest(y) == largest(s.y);
  }
  const bool logits = loss_ == Loss::bce, sign = how == "sign" || (how == "auto" && logits);
  for (std::size_t i = 0; i < y.size(); ++i) {
    const bool right = sign ? (y[i] > 0) == (s.y[i] > (logits ? 0.5f : 0.0f))
                            : std::abs(static_cast<double>(y[i]) - static_cast<double>(s.y[i])) <=
                                  options_.tolerance;
    if (!right) return false;
  }
  return true;
}

Status OnlineLearner::check_samples(const DataSource& data) const {
  if (data.form().weighted) return bad("data: weights of samples are not used here");
  return check_data(data, shadow_, trainer_->spec(), true);
}

Status OnlineLearner::add(const DataSource& data) {
  LOOM_TRY(check_samples(data));
  Batch batch;
  for (std::int64_t i = 0; i < data.samples(); ++i) {
    batch.clear();
    data.append(i, batch);
    const Sample sample{batch.x, batch.ids, batch.values, batch.classes};
    if (counts(sample)) memory_.add(sample);
  }
  return {};
}

Status OnlineLearner::task(std::string name) {
  if (name.empty()) return bad("task: expects a name");
  detector_.reset();
  changed(std::move(name), "caller", 0);
  return {};
}

// The task is another one since `since` judged outputs.
void OnlineLearner::changed(std::string name, const char* source, std::int64_t since) {
  tracker_.change(std::move(name), source, since, read_clocks().wall);
  if (options_.forget) memory_.keep_newest(since);
  boost_left_ = options_.boost_steps;
}

}  // namespace loom
