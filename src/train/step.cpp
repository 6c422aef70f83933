// The steps of a training: whole, and in slices.
#include <algorithm>

#include "base/message.h"
#include "train/check_data.h"
#include "train/trainer.h"

namespace loom {

static Status bad(std::string what) {
  return Status(Code::invalid_argument, message("training: ", std::move(what)));
}

Result<StepReport> Trainer::step() {
  LOOM_TRY(whole());
  LOOM_TRY(cut_into(0));
  const std::int64_t part = spec_.batch / spec_.micro_batches;
  const auto has_classes = [](const HeadSpec& head) { return takes_classes(head.loss); };
  if (spec_.micro_batches > 1 && std::ranges::any_of(spec_.heads, has_classes)) {
    HeadSums sums;
    for (std::int64_t micro = 0; micro < spec_.micro_batches; ++micro) {
      read(done_ * spec_.batch + micro * part, part);
      learner_.add_to(sums, batch_.values, batch_.weights);
    }
    learner_.set_sums(std::move(sums));
  }
  return do_step(spec_.micro_batches, [&](std::int64_t micro) {
    return fill(done_ * spec_.batch + micro * part, part);
  });
}

// Reads a batch that is given, and makes room for it.
Status Trainer::take(const DataSource& batch) {
  if (spec_.micro_batches != 1 || spec_.random_translate != 0)
    return bad(
        "\"micro_batches\" and \"shift\" are of data that the trainer reads, not of batches "
        "that are given");
  if (streams_)
    return bad(
        "\"streams\" are cut from data that the trainer reads: a batch that is given is no window "
        "of them");
  LOOM_TRY(check_data(batch, network_, spec_, true));
  batch_.clear();
  for (std::int64_t i = 0; i < batch.samples(); ++i) batch.append(i, batch_);
  // The program is made again where a batch has more rows than it has room for; no bit changes.
  LearnerOptions room = learning_;
  room.max_positions = std::max(room.max_positions, batch.max_rows());
  room.max_rows = std::max(room.max_rows, batch.samples() * batch.max_rows());
  room.weighted = room.weighted || batch.form().weighted;
  if (room.max_rows > INT32_MAX)
    return bad(message("a batch of ", room.max_rows, " rows is too large"));
  if (room.max_rows != learning_.max_rows || room.max_positions != learning_.max_positions ||
      room.weighted != learning_.weighted)
    LOOM_TRY(remake(room));
  return {};
}

Result<StepReport> Trainer::step_on(const DataSource& batch) {
  LOOM_TRY(whole());
  LOOM_TRY(take(batch));
  return do_step(1, [&](std::int64_t) { return give(); });
}

// One step of `micro_batches`, which `fill_micro_batch` hands to the learner one by one. After an
// error all is as it was before: the states of streams and the dtype too. (What a device has
// written of a state stays there: the step that goes on does not read it.)
Result<StepReport> Trainer::do_step(std::int64_t micro_batches,
                                    const std::function<Status(std::int64_t)>& fill_micro_batch) {
  const bool quantized = quantized_;
  LOOM_TRY(next_dtype());
  std::vector<TrainingTensor> states;
  const auto each_state = [&](const auto& f) {
    for (const Learner::Moment& m : learner_.moments())
      if (m.of_streams && !learning_.device) f(m);
  };
  each_state([&](const Learner::Moment& m) { states.push_back(read(m)); });
  auto report = try_step(micro_batches, fill_micro_batch);
  if (report.ok()) return report;
  auto before = states.begin();
  each_state([&](const Learner::Moment& m) { exchange(m, *before++); });
  LOOM_TRY(set_quantized(quantized));
  if (report.status().code() != Code::cancelled) return report;
  return report.status().at("training: step " + std::to_string(done_ + 1));
}

// What a step begins with.
StepReport Trainer::begin_report() const {
  return {.step = done_ + 1,
          .steps = spec_.steps,
          .heads = std::vector<double>(spec_.heads.size()),
          .lr = spec_.schedule.at(done_ + 1) * rate_factor_};
}

// The losses of a micro-batch that was accumulated.
void Trainer::add_losses(StepReport& report, double& weight) {
  report.loss += learner_.loss_sum();
  for (std::size_t i = 0; i < report.heads.size(); ++i) report.heads[i] += learner_.loss_sum(i);
  report.rows += batch_.rows;
  report.counted += learner_.counted();
  weight += learner_.weight();
}

// Means of the losses; whether they can be learned from.
Status Trainer::mean_losses(StepReport& report, double weight) {
  const std::string number = std::to_string(report.step);
  if (report.counted == 0) return bad(message("step ", number, ": no row has a target"));
  if (!(weight > 0)) return bad(message("step ", number, ": all of its rows have the weight 0"));
  report.loss /= weight;
  for (double& loss : report.heads) loss /= weight;
  if (!(report.loss - report.loss == 0))
    return bad(message(
        "step ", number,
        ": the loss is not finite; a lower rate, a longer warm-up or \"clip_norm\" may help"));
  if (spec_.fp8) {
    report.loss_scale = scale_.value();
    report.skipped = !learner_.gradients_finite();
  }
  if (report.skipped && scale_.exponent == kMinScale)
    return bad(
        message("step ", number,
                ": gradients are not finite in fp8 at any loss scale; a lower rate, or \"fp8\" "
                "off, may help"));
  return {};
}

// After the update, or without one where it is skipped.
void Trainer::end_step(StepReport& report, const std::vector<double>& alignment) {
  if (!report.skipped) {
    report_parts(alignment);
    report.parts = parts_;
    if (++scale_.since >= kScaleGrowth && scale_.exponent < kMaxScale)
      scale_.exponent += 1, scale_.since = 0;
  } else {
    scale_.exponent -= 1, scale_.since = 0, scale_.skipped += 1;
  }
  done_ = report.step;
  learner_.resume(done_);
  report.epoch = static_cast<double>(done_) * static_cast<double>(spec_.batch) /
                 static_cast<double>(data_.samples());
}

Result<StepReport> Trainer::try_step(std::int64_t micro_batches,
                                     const std::function<Status(std::int64_t)>& fill_micro_batch) {
  StepReport report = begin_report();
  double weight = 0;
  tap_step();
  for (std::int64_t micro = 0; micro < micro_batches; ++micro) {
    LOOM_TRY(fill_micro_batch(micro));
    if (spec_.fp8) learner_.set_loss_scale(scale_.value());
    LOOM_TRY(learner_.accumulate(micro));
    add_losses(report, weight);
  }
  const Status learnable = mean_losses(report, weight);
  LOOM_TRY(report_taps(report.step, weight));
  LOOM_TRY(learnable);
  std::vector<double> alignment;
  if (aligns(report.step)) LOOM_TRY(measure_alignment(micro_batches, fill_micro_batch, alignment));
  if (!report.skipped) LOOM_TRY(learner_.update(report.lr, weight, report.step - scale_.skipped));
  end_step(report, alignment);
  return report;
}

bool Trainer::aligns(std::int64_t step) const {
  const std::int64_t every = spec_.method.alignment_every;
  return every > 0 && (step % every == 0 || step == spec_.steps);
}

// The weights are seen in the dtype that the next step has.
Status Trainer::next_dtype() {
  if (done_ >= spec_.steps) return bad(message("all ", spec_.steps, " steps are done"));
  if (!matrices_.empty() && done_ >= spec_.quantize.after) LOOM_TRY(set_quantized(true));
  return {};
}

Status Trainer::whole() const {
  if (!slices_) return {};
  return bad("a step is under way in slices: continue it to its end first");
}

Status Trainer::begin_step_on(const DataSource& batch) {
  LOOM_TRY(whole());
  LOOM_TRY(take(batch));
  const bool quantized = quantized_;
  LOOM_TRY(next_dtype());
  if (const Status given = give(); !given.ok()) {
    LOOM_TRY(set_quantized(quantized));
    return given;
  }
  if (spec_.fp8) learner_.set_loss_scale(scale_.value());
  tap_step();
  slices_ = Slices();
  slices_->report = begin_report();
  slices_->quantized = quantized;
  return {};
}

// The next slice of the step, up to the deadline; true: its end.
Result<bool> Trainer::slice(Slices& s, std::int64_t deadline) {
  using At = Slices::At;
  if (s.at == At::begin) {
    LOOM_ASSIGN(const bool prepared, learner_.prepare_until(deadline));
    if (!prepared) return false;
  }
  if (s.at == At::begin || s.at == At::passes) {
    LOOM_ASSIGN(const bool passed, s.at == At::begin ? learner_.accumulate_until(0, deadline)
                                                     : learner_.executor().resume(deadline));
    s.at = At::passes;
    if (!passed) return false;
    add_losses(s.report, s.weight);
    const Status learnable = mean_losses(s.report, s.weight);
    LOOM_TRY(report_taps(s.report.step, s.weight));
    LOOM_TRY(learnable);
    if (aligns(s.report.step))
      LOOM_TRY(measure_alignment(1, [&](std::int64_t) { return give(); }, s.alignment));
    s.at = At::passed;
    if (!s.report.skipped && Executor::slice_clock() >= deadline) return false;
  }
  if (!s.report.skipped) {
    const std::int64_t number = s.report.step - scale_.skipped;
    LOOM_ASSIGN(const bool updated,
                s.at == At::passed ? learner_.update_until(s.report.lr, s.weight, number, deadline)
                                   : learner_.executor().resume(deadline));
    s.at = At::update;
    if (!updated) return false;
    learner_.end_update(number);
  }
  end_step(s.report, s.alignment);
  return true;
}

Result<bool> Trainer::continue_step(std::int64_t deadline, StepReport* report) {
  if (!slices_) return bad("no step has begun");
  auto ended = slice(*slices_, deadline);
  if (ended.ok() && !*ended) return ended;
  const Slices last = std::move(*slices_);
  slices_.reset();
  if (ended.ok()) {
    if (report) *report = last.report;
    return ended;
  }
  LOOM_TRY(set_quantized(last.quantized));
  if (ended.status().code() != Code::cancelled) return ended;
  return ended.status().at("training: step " + std::to_string(done_ + 1));
}

Status Trainer::drop_step() {
  if (!slices_) return {};
  if (slices_->at == Slices::At::update) return continue_step(Executor::kNoDeadline).status();
  const bool quantized = slices_->quantized;
  slices_.reset();
  return set_quantized(quantized);
}

}  // namespace loom
