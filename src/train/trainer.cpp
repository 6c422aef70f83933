#include "train/trainer.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/sha256.h"

namespace loom {
namespace {

Status bad(std::string what) { return Status(Code::invalid_argument, "training: " + std::move(what)); }

// What the network takes must be what the data has.
Status check_form(const DataSource::Form& form, Network& network, Loss loss) {
  const Shape &in = network.input(), &out = network.output();
  if (in.ids > 0 && form.ids == 0) return bad("the network takes ids, the data has rows of " + std::to_string(form.width) + " values");
  if (in.ids > 0 && form.ids > in.ids) return bad("the data has ids up to " + std::to_string(form.ids - 1) + ", the network takes " + std::to_string(in.ids) + " ids");
  if (in.ids == 0 && form.width != in.width)
    return bad("the network takes rows of " + std::to_string(in.width) + " values, the data has " + (form.ids > 0 ? "ids" : "rows of " + std::to_string(form.width)));
  if (loss == Loss::mse && form.targets != out.width)
    return bad("the network gives " + std::to_string(out.width) + " values per row, the data has " + std::to_string(form.targets) + " targets");
  if (loss == Loss::cross_entropy && form.targets > 0) return bad("the loss cross_entropy needs classes, the data has target values");
  if (loss == Loss::cross_entropy && form.classes > out.width)
    return bad("the data has classes up to " + std::to_string(form.classes - 1) + ", the network gives " + std::to_string(out.width) + " logits");
  return {};
}

// Calls f(row of a float or double matrix) for each row of a moment.
template <class F>
void each_row(Executor& executor, const Learner::Moment& m, F f) {
  const bool f64 = executor.program().buffers[static_cast<std::size_t>(m.buffer)].type == ValueType::f64;
  for (std::int64_t r = 0; r < m.rows; ++r) {
    if (f64) f(executor.row<double>(m.buffer, r));
    else f(executor.row<float>(m.buffer, r));
  }
}

template <class T>
std::vector<T>& values_of(TrainingTensor& t) {
  if constexpr (sizeof(T) == 8) return t.f64;
  else return t.f32;
}

std::string weight_name(const Network::NamedParam& p) { return "weights/" + p.path + ":" + p.param->spec.role; }
std::string moment_name(const Learner::Moment& m) { return "moments/" + m.name; }

}  // namespace

Result<std::unique_ptr<Trainer>> Trainer::create(const TrainingSpec& spec, Network& network, const DataSource& data, ThreadPool& pool, const TrainerOptions& options) {
  LOOM_TRY(spec.check());
  LOOM_TRY(check_form(data.form(), network, spec.loss));
  TrainingSpec resolved = spec;
  if (resolved.steps == 0) {
    const auto samples = checked_mul(static_cast<std::uint64_t>(data.samples()), static_cast<std::uint64_t>(spec.epochs));
    if (!samples || *samples > (std::uint64_t{1} << 60)) return bad(std::to_string(spec.epochs) + " epochs are too many samples");
    resolved.steps = static_cast<std::int64_t>((*samples + static_cast<std::uint64_t>(spec.batch) - 1) / static_cast<std::uint64_t>(spec.batch));
  }
  // Samples are numbered through the whole training.
  if (resolved.steps > (std::int64_t{1} << 60) / spec.batch) return bad(std::to_string(resolved.steps) + " steps of " + std::to_string(spec.batch) + " samples are too many");
  if (resolved.schedule.kind == ScheduleKind::cosine && resolved.schedule.steps == 0) resolved.schedule.steps = resolved.steps;
  LOOM_TRY(resolved.schedule.check());
  const auto rows = checked_mul(static_cast<std::uint64_t>(data.max_rows()), static_cast<std::uint64_t>(spec.batch / spec.micro_batches));
  if (!rows || *rows > INT32_MAX)
    return bad("a micro-batch of " + std::to_string(spec.batch / spec.micro_batches) + " samples of up to " + std::to_string(data.max_rows()) + " rows is too large");
  LearnerOptions learning;
  learning.loss = spec.loss;
  learning.optimizer = spec.optimizer;
  learning.max_rows = static_cast<std::int64_t>(*rows);
  learning.max_positions = data.max_rows();
  learning.micro_batches = spec.micro_batches;
  learning.isa = options.isa;
  learning.device = options.device;
  learning.poison = options.poison;
  LOOM_ASSIGN(Learner learner, Learner::create(network, pool, learning));
  return std::unique_ptr<Trainer>(new Trainer(resolved, network, data, std::move(learner)));
}

// Samples first..first+count-1 of the training: epoch after epoch, each in an order of its own.
Status Trainer::fill(std::int64_t first, std::int64_t count) {
  batch_.clear();
  const std::int64_t samples = data_.samples();
  for (std::int64_t i = first; i < first + count;) {
    const std::int64_t epoch = i / samples, end = std::min(first + count, (epoch + 1) * samples);
    const Permutation order(samples, static_cast<std::uint64_t>(spec_.seed), static_cast<std::uint64_t>(epoch));
    for (; i < end; ++i) data_.append(spec_.shuffle ? order(i % samples) : i % samples, batch_);
  }
  if (!batch_.ids.empty()) return learner_.batch(batch_.ids, batch_.positions, batch_.classes);
  if (spec_.loss == Loss::cross_entropy) return learner_.batch(std::span<const float>(batch_.x), std::span<const std::int32_t>(batch_.classes));
  return learner_.batch(std::span<const float>(batch_.x), std::span<const float>(batch_.values));
}

Result<StepReport> Trainer::step() {
  if (done_ >= spec_.steps) return bad("all " + std::to_string(spec_.steps) + " steps are done");
  const std::int64_t number = done_ + 1, part = spec_.batch / spec_.micro_batches;
  StepReport report{.step = number, .steps = spec_.steps, .rate = spec_.schedule.at(number)};
  for (std::int64_t micro = 0; micro < spec_.micro_batches; ++micro) {
    LOOM_TRY(fill(done_ * spec_.batch + micro * part, part));
    LOOM_TRY(learner_.accumulate(micro));
    report.loss += learner_.loss_sum();
    report.rows += batch_.rows;
    report.counted += batch_.counted;
  }
  if (report.counted == 0) return bad("step " + std::to_string(number) + ": no row has a target");
  report.loss /= static_cast<double>(report.counted);
  if (!(report.loss - report.loss == 0)) return bad("step " + std::to_string(number) + ": the loss is not finite; a lower rate, a longer warm-up or \"clip_norm\" may help");
  LOOM_TRY(learner_.update(report.rate, report.counted, number));
  done_ = number;
  report.epoch = static_cast<double>(done_) * static_cast<double>(spec_.batch) / static_cast<double>(data_.samples());
  return report;
}

Status Trainer::run(const std::function<Result<bool>(const StepReport&)>& after_step) {
  while (done_ < spec_.steps) {
    LOOM_ASSIGN(const StepReport report, step());
    LOOM_ASSIGN(const bool go_on, after_step(report));
    if (!go_on || done_ == spec_.steps) LOOM_TRY(sync());
    if (!go_on) return Status(Code::cancelled, "training: stopped after step " + std::to_string(done_) + " of " + std::to_string(spec_.steps));
  }
  return {};
}

// The part of the spec that decides bits; network and data are compared themselves.
Json Trainer::comparable_spec() const {
  TrainingSpec spec = spec_;
  spec.network = Json();
  spec.network_file.clear();
  spec.data = {};
  spec.steps = spec.epochs = spec.checkpoint_every = spec.log_every = 0;
  return spec.to_json();
}

TrainingState Trainer::state() {
  TrainingState state;
  state.info = Json::object();
  state.info.set("step", done_);
  state.info.set("spec", comparable_spec());
  state.info.set("data", data_.hash());
  state.info.set("topology", network_.to_json());
  for (const Network::NamedParam& p : network_.params()) {
    if (p.tied) continue;
    const WeightStore& store = *p.param->store;
    TrainingTensor t{weight_name(p), store.rows(), store.cols(), {}, {}};
    t.f32.assign(store.master().begin(), store.master().end());
    t.f64.assign(store.master64().begin(), store.master64().end());
    state.tensors.push_back(std::move(t));
  }
  for (const Learner::Moment& m : learner_.moments()) {
    TrainingTensor t{moment_name(m), m.rows, m.cols, {}, {}};
    each_row(learner_.executor(), m, [&]<class T>(std::span<T> row) { values_of<T>(t).insert(values_of<T>(t).end(), row.begin(), row.end()); });
    state.tensors.push_back(std::move(t));
  }
  return state;
}

Status Trainer::check_info(const Json& info) const {
  if (!info.is_object()) return Status(Code::corrupt, "training state: expected an object");
  const Json* spec = info.find("spec");
  if (!spec || !spec->is_object()) return Status(Code::corrupt, "training state: no spec");
  auto differs = [](const std::string& key, const Json* saved, const Json* now) {
    return bad("the state was saved with another \"" + key + "\": " + (saved ? saved->dump() : "none") + ", now " + (now ? now->dump() : "none"));
  };
  auto same = [](const Json* a, const Json* b) { return (!a && !b) || (a && b && a->dump() == b->dump()); };
  const Json now = comparable_spec();
  for (const Json* side : {&now, spec}) {
    for (const auto& [key, unused] : side->as_object()) {
      const Json *saved = spec->find(key), *current = now.find(key);
      if (same(saved, current)) continue;
      if (!saved || !current || !saved->is_object() || !current->is_object()) return differs(key, saved, current);
      for (const Json* inner : {current, saved})
        for (const auto& [name, value] : inner->as_object())
          if (!same(saved->find(name), current->find(name))) return differs(key + ": " + name, saved->find(name), current->find(name));
    }
  }
  LOOM_ASSIGN(const std::string data, info.get_string("data", ""));
  if (data != data_.hash()) return bad("the state was saved with other data: its SHA-256 is " + data + ", now " + data_.hash());
  const Json* topology = info.find("topology");
  if (!topology || topology->dump() != network_.to_json().dump()) return bad("the state was saved with another network topology");
  return {};
}

Status Trainer::restore(const TrainingState& state) {
  LOOM_TRY(check_info(state.info));
  LOOM_ASSIGN(const std::int64_t step, state.info.get_integer("step", -1));
  if (step < 0) return Status(Code::corrupt, "training state: no step");
  if (step > spec_.steps) return bad("the state is after step " + std::to_string(step) + ", the spec ends at " + std::to_string(spec_.steps));

  const std::vector<Network::NamedParam> params = network_.params();
  std::vector<const TrainingTensor*> found;  // weights, then moments
  auto find = [&](const std::string& name, bool f64, std::int64_t rows, std::int64_t cols) -> Status {
    const auto t = std::find_if(state.tensors.begin(), state.tensors.end(), [&](const TrainingTensor& s) { return s.name == name; });
    if (t == state.tensors.end()) return Status(Code::not_found, "training state: no tensor '" + name + "'");
    const auto elements = static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols);
    if (t->rows != rows || t->cols != cols || t->f32.size() != (f64 ? 0 : elements) || t->f64.size() != (f64 ? elements : 0))
      return Status(Code::corrupt, "training state: tensor '" + name + "': expects " + std::to_string(rows) + " x " + std::to_string(cols) + (f64 ? " f64" : " f32") + ", got " + std::to_string(t->rows) +
                                       " x " + std::to_string(t->cols) + " with " + std::to_string(t->f32.size()) + " f32 and " + std::to_string(t->f64.size()) + " f64 values");
    found.push_back(&*t);
    return {};
  };
  for (const Network::NamedParam& p : params) {
    const WeightStore& store = *p.param->store;
    if (!p.tied) LOOM_TRY(find(weight_name(p), store.master_is_f64(), store.rows(), store.cols()));
  }
  for (const Learner::Moment& m : learner_.moments())
    LOOM_TRY(find(moment_name(m), learner_.executor().program().buffers[static_cast<std::size_t>(m.buffer)].type == ValueType::f64, m.rows, m.cols));
  if (found.size() != state.tensors.size())
    return Status(Code::corrupt, "training state: has " + std::to_string(state.tensors.size()) + " tensors, this training " + std::to_string(found.size()));

  auto next = found.begin();
  for (const Network::NamedParam& p : params) {
    if (p.tied) continue;
    WeightStore& store = *p.param->store;
    const TrainingTensor& t = **next++;
    std::copy(t.f32.begin(), t.f32.end(), store.mutable_master().begin());
    std::copy(t.f64.begin(), t.f64.end(), store.mutable_master64().begin());
    store.touch();
  }
  for (const Learner::Moment& m : learner_.moments()) {
    TrainingTensor t = **next++;
    std::size_t at = 0;
    each_row(learner_.executor(), m, [&]<class T>(std::span<T> row) {
      std::copy_n(values_of<T>(t).begin() + static_cast<std::ptrdiff_t>(at), row.size(), row.begin());
      at += row.size();
    });
  }
  done_ = step;
  return learner_.executor().refresh();
}

std::string Trainer::digest() {
  const TrainingState now = state();
  Sha256 sha;
  sha.update_u64(static_cast<std::uint64_t>(done_));
  for (const TrainingTensor& t : now.tensors) {
    sha.update_text(t.name);
    sha.update_u64(static_cast<std::uint64_t>(t.rows));
    sha.update_u64(static_cast<std::uint64_t>(t.cols));
    sha.update_f32(t.f32);
    sha.update_f64(t.f64);
  }
  return Sha256::hex(sha.finish());
}

ProgressMeter::Reading ProgressMeter::update(const StepReport& report, double seconds) {
  constexpr double kWindow = 30;
  rows_ += report.rows;
  Reading reading;
  if (!marks_.empty()) {
    const Mark& from = marks_.front();
    const double passed = seconds - from.seconds;
    if (passed > 0) {
      reading.rows_per_second = static_cast<double>(rows_ - from.rows) / passed;
      reading.seconds_left = passed / static_cast<double>(std::max<std::int64_t>(report.step - from.step, 1)) * static_cast<double>(report.steps - report.step);
    }
  }
  if (marks_.empty() || seconds - marks_.back().seconds >= 1) marks_.push_back({seconds, report.step, rows_});
  while (marks_.size() > 1 && seconds - marks_[1].seconds >= kWindow) marks_.erase(marks_.begin());
  return reading;
}

}  // namespace loom
