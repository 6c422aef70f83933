// A member on a table: back-propagation on the rows that it may see, its score on the others.
#include <algorithm>
#include <cmath>

#include "base/math/exact_math.h"
#include "exec/session.h"
#include "populations/population.h"
#include "train/learner/learner.h"

namespace loom::populations {
namespace {

constexpr double kLowest = -1e300;

// The rows in one order of the seed's; those held out come last.
std::vector<std::int64_t> shuffled_rows(const SearchSpec& spec) {
  std::vector<std::int64_t> rows(static_cast<std::size_t>(spec.table.rows));
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<std::int64_t>(i);
  const RandomStream random(static_cast<std::uint64_t>(spec.seed), 0x7ab1e);
  for (std::size_t i = rows.size(); i > 1; --i)
    std::swap(rows[i - 1], rows[random.below(i, static_cast<std::uint32_t>(i))]);
  return rows;
}

std::int64_t held_out(const SearchSpec& spec) {
  const auto share =
      static_cast<std::int64_t>(spec.holdout * static_cast<double>(spec.table.rows) + 0.5);
  return std::min(std::max<std::int64_t>(share, 1), spec.table.rows - 1);
}

class OnTable {
 public:
  OnTable(Network& network, const SearchSpec& spec)
      : network_(network),
        spec_(spec),
        rows_(shuffled_rows(spec)),
        learned_(spec.table.rows - held_out(spec)),
        inputs_(static_cast<std::int64_t>(spec.table.x.size()) / spec.table.rows),
        classes_(spec.train.loss == "cross_entropy") {}

  Status check() const {
    const Shape& in = network_.input();
    const auto wrong = [](std::string text) {
      return Status(Code::invalid_argument, std::move(text));
    };
    if (in.ids > 0 || in.width != inputs_)
      return wrong("data.x: " + std::to_string(inputs_) + " columns, and the network takes " +
                   in.to_string());
    const std::int64_t outputs = network_.output().width;
    if (!classes_ && outputs != spec_.outputs)
      return wrong("data.y: " + std::to_string(spec_.outputs) +
                   " columns, and the network returns " + network_.output().to_string());
    for (const float y : spec_.table.y)
      if (classes_ && y >= static_cast<float>(outputs))
        return wrong("data.y: class " + std::to_string(static_cast<std::int64_t>(y)) +
                     ", and the network returns " + network_.output().to_string());
    return {};
  }

  Status train(std::int64_t generation, std::int64_t index, const std::atomic<bool>* cancel) {
    ThreadPool pool(1);
    LearnerOptions options;
    options.loss = classes_ ? Loss::cross_entropy : Loss::mse;
    options.max_rows = std::min(spec_.train.batch, learned_);
    options.seed = static_cast<std::uint64_t>(spec_.seed);
    options.cancel = cancel;
    LOOM_ASSIGN(Learner learner, Learner::create(network_, pool, options));
    evolve::Draws draws(options.seed, generation, index, evolve::Purpose::learn);
    for (std::int64_t step = 1; step <= spec_.train.steps; ++step) {
      std::vector<std::int64_t> batch;
      for (std::int64_t i = 0; i < options.max_rows; ++i)
        batch.push_back(rows_[draws.below(static_cast<std::size_t>(learned_))]);
      gather(batch);
      LOOM_TRY(classes_ ? learner.batch(x_, class_of_) : learner.batch(x_, y_));
      LOOM_TRY(learner.accumulate());
      if (!std::isfinite(learner.loss_sum()))
        return {Code::invalid_argument, "its loss is not finite"};
      LOOM_TRY(learner.update(spec_.train.lr, learner.weight(), step));
    }
    return learner.sync();
  }

  Result<double> score() {
    ThreadPool pool(1);
    SessionOptions options;
    options.max_rows = 64;
    options.whole_sequences = true;
    LOOM_ASSIGN(Session session, Session::create(network_, pool, options));
    double sum = 0;
    const auto count = static_cast<std::int64_t>(rows_.size());
    for (std::int64_t from = learned_; from < count; from += options.max_rows) {
      const std::int64_t to = std::min(from + options.max_rows, count);
      gather({rows_.begin() + from, rows_.begin() + to});
      LOOM_TRY(session.run(x_, to - from).status());
      for (std::int64_t r = 0; r < to - from; ++r)
        sum += of_row(session.output(r), static_cast<std::size_t>(r));
    }
    const double mean = sum / static_cast<double>(count - learned_);
    if (!(std::abs(mean) <= 1e300))
      return Status(Code::invalid_argument, "its score is not finite");
    return mean;
  }

 private:
  void gather(const std::vector<std::int64_t>& rows) {
    x_.clear();
    y_.clear();
    class_of_.clear();
    const auto take = [](std::vector<float>& to, const std::vector<float>& from, std::int64_t row,
                         std::int64_t width) {
      const auto begin = from.begin() + row * width;
      to.insert(to.end(), begin, begin + width);
    };
    for (const std::int64_t row : rows) {
      take(x_, spec_.table.x, row, inputs_);
      take(y_, spec_.table.y, row, spec_.outputs);
      if (classes_)
        class_of_.push_back(
            static_cast<std::int32_t>(spec_.table.y[static_cast<std::size_t>(row)]));
    }
  }

  double of_row(std::span<const float> out, std::size_t r) const {
    const auto best = [](std::span<const float> values) {
      return std::ranges::max_element(values) - values.begin();
    };
    const auto width = static_cast<std::size_t>(spec_.outputs);
    const std::span<const float> y(y_.data() + r * width, width);
    if (spec_.score == "accuracy")
      return best(out) == (classes_ ? static_cast<std::ptrdiff_t>(y[0]) : best(y)) ? 1 : 0;
    double sum = 0;
    if (classes_) {
      const double high = *std::ranges::max_element(out);
      for (const float v : out) sum += exact::exp(static_cast<double>(v) - high);
      return static_cast<double>(out[static_cast<std::size_t>(y[0])]) - high - exact::log(sum);
    }
    for (std::size_t k = 0; k < width; ++k) {
      const double d = static_cast<double>(out[k]) - static_cast<double>(y[k]);
      sum += d * d;
    }
    return -sum / static_cast<double>(width);
  }

  Network& network_;
  const SearchSpec& spec_;
  const std::vector<std::int64_t> rows_;
  const std::int64_t learned_, inputs_;
  const bool classes_;
  std::vector<float> x_, y_;
  std::vector<std::int32_t> class_of_;
};

}  // namespace

Result<double> train_and_score(Network& network, const SearchSpec& spec, std::int64_t generation,
                               std::int64_t index, const std::atomic<bool>* cancel,
                               std::string& failed) {
  OnTable table(network, spec);
  LOOM_TRY(table.check());
  const auto lost = [&](const Status& status) -> Result<double> {
    if (status.code() == Code::cancelled || status.code() == Code::out_of_memory) return status;
    failed = status.message();
    return kLowest;
  };
  if (spec.train.steps > 0)
    if (const Status done = table.train(generation, index, cancel); !done.ok()) return lost(done);
  auto score = table.score();
  return score.ok() ? std::move(score) : lost(score.status());
}

}  // namespace loom::populations
