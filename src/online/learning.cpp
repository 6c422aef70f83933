// Learning in slices, and the publication of what was learned.
#include <algorithm>

#include "online/clocks.h"
#include "online/online.h"

namespace loom {
namespace {

Status bad(std::string what) {
  return Status(Code::invalid_argument, "online: " + std::move(what));
}

// Values that are copied between two looks at the clock.
constexpr std::int64_t kCopied = 1 << 14;

template <class T>
bool copy_some(std::span<const T> from, std::span<T> to, std::int64_t& at) {
  const auto begin = static_cast<std::size_t>(at),
             count = std::min(from.size() - begin, static_cast<std::size_t>(kCopied));
  std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(begin), count,
              to.begin() + static_cast<std::ptrdiff_t>(begin));
  at += static_cast<std::int64_t>(count);
  return at == std::ssize(from);
}

// The next values of a store; true: they were the last.
bool copy_some(const WeightStore& from, WeightStore& to, std::int64_t& at) {
  return from.master_is_f64() ? copy_some(from.master64(), to.mutable_master64(), at)
                              : copy_some(from.master(), to.mutable_master(), at);
}

}  // namespace

Status OnlineLearner::begin_step() {
  if (!drawn_again_) {
    drawn_.batch.clear();
    memory_.draw(trainer_->spec().batch, options_.recent_share, drawn_.batch);
  }
  drawn_again_ = false;
  trainer_->set_rate_factor(boost_left_ > 0 ? options_.boost : 1);
  return trainer_->begin_step_on(drawn_);
}

Status OnlineLearner::begin_publication() {
  LOOM_TRY(trainer_->sync());
  publication_ = Publication();
  return {};
}

// Copies what was learned to the weights that do not answer, and then exchanges them; true: done.
Result<bool> OnlineLearner::publish_until(std::int64_t deadline) {
  Served& next = *served_[1 - active_];
  Publication& p = *publication_;
  while (p.store < next.stores.size()) {
    WeightStore& to = *next.stores[p.store];
    if (copy_some(*shadow_stores_[p.store], to, p.at)) {
      to.touch();
      LOOM_TRY(next.session->refresh());
      p = {.store = p.store + 1};
    }
    if (p.store < next.stores.size() && Executor::slice_clock() >= deadline) return false;
  }
  publication_.reset();
  active_ = 1 - active_;
  ++published_;
  published_step_ = trainer_->done();
  return true;
}

Status OnlineLearner::learn_until(std::int64_t deadline, std::int64_t steps, Learned& learned) {
  while (Executor::slice_clock() < deadline) {
    if (publication_) {
      LOOM_ASSIGN(const bool published, publish_until(deadline));
      if (!published) return {};
      ++learned.publications;
      continue;
    }
    if (!trainer_->in_slices()) {
      if (steps > 0 && learned.steps >= steps) return {};
      if (memory_.recent() == 0 && !drawn_again_) return {};
      LOOM_TRY(begin_step());
    }
    LOOM_ASSIGN(const bool ended, trainer_->continue_step(deadline, &last_));
    if (!ended) return {};
    ++learned.steps;
    boost_left_ = std::max<std::int64_t>(boost_left_ - 1, 0);
    if (last_.step - published_step_ >= options_.publish_every) LOOM_TRY(begin_publication());
  }
  return {};
}

Status OnlineLearner::learn(std::int64_t budget, std::int64_t steps, Learned& learned) {
  learned = {};
  if (budget < 0 && steps <= 0) return bad("learn: expects a budget of time or a number of steps");
  const ClockReading begin = read_clocks();
  constexpr std::int64_t kNone = Executor::kNoDeadline;
  const std::int64_t deadline =
      budget < 0 || begin.wall > kNone - budget ? kNone : begin.wall + budget;
  const Status status = learn_until(deadline, steps, learned);
  if (status.code() == Code::cancelled) drawn_again_ = true;
  const ClockReading end = read_clocks();
  if (budget >= 0) {
    overrun_wall_ += std::max<std::int64_t>(end.wall - begin.wall - budget, 0);
    if (end.cpu >= 0) overrun_cpu_ += std::max<std::int64_t>(end.cpu - begin.cpu - budget, 0);
  }
  return status;
}

Status OnlineLearner::publish() {
  if (trainer_->updating()) LOOM_TRY(end_step());
  LOOM_TRY(begin_publication());
  return publish_until(Executor::kNoDeadline).status();
}

// Completes an update that has begun, without which there are no weights of a complete step.
Status OnlineLearner::end_step() {
  return trainer_->continue_step(Executor::kNoDeadline, &last_).status();
}

Result<double> OnlineLearner::measure(const DataSource& data, std::string task) {
  if (task.empty()) return bad("measure: expects the name of a task");
  LOOM_TRY(check_samples(data));
  Session& session = *served_[active_]->session;
  std::int64_t judged = 0, right = 0;
  Batch batch;
  for (std::int64_t i = 0; i < data.samples(); ++i) {
    batch.clear();
    data.append(i, batch);
    const Sample sample{batch.x, batch.ids, batch.values, batch.classes};
    if (!counts(sample)) continue;
    LOOM_TRY(takes_ids() ? session.run_ids(batch.ids).status()
                         : session.run(std::span<const float>(batch.x), 1).status());
    ++judged;
    right += correct(session.output(0), sample);
  }
  if (judged == 0) return bad("measure: no sample has a class that counts");
  const double accuracy = static_cast<double>(right) / static_cast<double>(judged);
  tracker_.measured(std::move(task), accuracy, judged, read_clocks().wall);
  return accuracy;
}

Result<bool> OnlineLearner::commit(Network& network) {
  const std::vector<WeightStore*>& from = served_[active_]->stores;
  std::vector<WeightStore*> to;
  for (const Network::NamedParam& p : network.params())
    if (!p.tied) to.push_back(p.param->store.get());
  const auto same = [](const WeightStore* a, const WeightStore* b) {
    return a->rows() == b->rows() && a->cols() == b->cols();
  };
  if (!std::ranges::equal(from, to, same))
    return bad("commit: the network has other cells than the one that was copied");
  bool morphed = false;
  for (std::size_t i = 0; i < to.size(); ++i) {
    if (!(to[i]->format() == from[i]->format()) ||
        to[i]->master_is_f64() != from[i]->master_is_f64()) {
      morphed = true;
      LOOM_TRY(to[i]->morph(from[i]->format()));
    }
    if (to[i]->master_is_f64() != from[i]->master_is_f64())
      return bad("commit: the network has values of another type");
    for (std::int64_t at = 0; !copy_some(*from[i], *to[i], at);) continue;
    to[i]->touch();
  }
  return morphed;
}

}  // namespace loom
