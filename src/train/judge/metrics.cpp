#include "train/judge/metrics.h"

#include <algorithm>
#include <cstdio>

#include "base/escape.h"
#include "base/math/exact_math.h"
#include "base/message.h"

namespace loom {
namespace {

constexpr std::int64_t kRowsPerRun = 256;

double absolute(double x) { return x < 0 ? -x : x; }

double loss_term(Loss loss, double y, double t, double delta) {
  const double d = y - t, a = absolute(d);
  switch (loss) {
    case Loss::mae: return a;
    case Loss::huber: return a > delta ? delta * (a - 0.5 * delta) : 0.5 * d * d;
    case Loss::bce: return (y > 0 ? y : 0) - y * t + exact::softplus(-absolute(y));
    default: return d * d;
  }
}

std::string short_number(double v) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", v);
  return text;
}

}  // namespace

std::int32_t best_class(std::span<const float> y) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < y.size(); ++i)
    if (y[i] > y[best]) best = i;
  return static_cast<std::int32_t>(best);
}

std::vector<double> softmax(std::span<const float> y) {
  const double top = static_cast<double>(y[static_cast<std::size_t>(best_class(y))]);
  std::vector<double> p;
  double sum = 0;
  for (const float v : y) sum += p.emplace_back(exact::exp(static_cast<double>(v) - top));
  for (double& v : p) v /= sum;
  return p;
}

Json Metrics::to_json() const {
  Json json = Json::object();
  json.set("rows", rows);
  json.set("loss", loss);
  if (weighted) json.set("weighted", true);
  if (has_accuracy) json.set("accuracy", accuracy);
  if (has_errors) {
    json.set("mae", mae);
    json.set("rmse", rmse);
  }
  if (has_r2) json.set("r2", r2);
  if (!confusion.empty()) {
    Json table = Json::array();
    for (std::int64_t r = 0; r < classes; ++r) {
      Json row = Json::array();
      for (std::int64_t c = 0; c < classes; ++c)
        row.push(confusion[static_cast<std::size_t>(r * classes + c)]);
      table.push(std::move(row));
    }
    json.set("confusion", std::move(table));
  }
  if (!heads.empty()) {
    Json by_name = Json::object();
    for (const Metrics& head : heads) by_name.set(head.name, head.to_json());
    json.set("heads", std::move(by_name));
  }
  return json;
}

std::string Metrics::to_text() const {
  std::string text = "loss " + short_number(loss) + (weighted ? " (weighted)" : "");
  if (has_accuracy) text += "  accuracy " + short_number(accuracy);
  if (has_errors) text += "  mae " + short_number(mae);
  if (has_r2) text += "  r2 " + short_number(r2);
  for (const Metrics& head : heads) text += "  " + escaped(head.name) + ": " + head.to_text();
  return text;
}

MetricsCounter::MetricsCounter(Loss loss, double parameter, std::int64_t columns)
    : loss_(loss), parameter_(parameter), columns_(columns) {
  if (!takes_logits(loss)) spread_.resize(static_cast<std::size_t>(columns));
  else if (takes_classes(loss) && columns <= Metrics::kMaxConfused)
    confusion_.resize(static_cast<std::size_t>(columns * columns));
}

void MetricsCounter::add(std::span<const double> y, std::int32_t target_class, double weight) {
  const auto t = static_cast<std::size_t>(target_class);
  const auto best = std::max_element(y.begin(), y.end());  // the first of equal ones
  const auto answer = static_cast<std::size_t>(best - y.begin());
  double sum = 0;
  for (const double v : y) sum += exact::exp(v - *best);
  total_ += weight * (exact::log(sum) + (*best - y[t]));
  weight_ += weight;
  right_ += answer == t;
  ++rows_;
  if (!confusion_.empty()) ++confusion_[t * static_cast<std::size_t>(columns_) + answer];
}

void MetricsCounter::add_soft(std::span<const double> y, std::span<const double> target,
                              double weight) {
  const auto best = std::max_element(y.begin(), y.end());
  const double t = parameter_;
  double sum = 0, loss = 0;
  for (const double v : y) sum += exact::exp((v - *best) / t);
  const double logarithm = exact::log(sum);
  for (std::size_t c = 0; c < y.size(); ++c)
    if (target[c] != 0) loss += target[c] * (logarithm + (*best - y[c]) / t);
  total_ += weight * (t * t * loss);
  weight_ += weight;
  right_ += best - y.begin() == std::max_element(target.begin(), target.end()) - target.begin();
  ++rows_;
}

void MetricsCounter::add(std::span<const double> y, std::span<const double> target, double weight) {
  if (loss_ == Loss::soft_cross_entropy) return add_soft(y, target, weight);
  double sum = 0;
  for (std::size_t c = 0; c < spread_.size(); ++c) {
    const double a = y[c], t = target[c], d = a - t;
    Column& column = spread_[c];
    if (rows_ == 0) column.first = t;
    column.sum += t - column.first;
    column.squares += (t - column.first) * (t - column.first);
    column.errors += d * d;
    sum += loss_term(loss_, a, t, parameter_);
    absolute_ += absolute(d);
    right_ += (a > 0) == (t > 0.5);
  }
  total_ += weight * (sum / static_cast<double>(columns_));
  weight_ += weight;
  ++rows_;
}

Metrics MetricsCounter::finish() const {
  Metrics m;
  if (!(weight_ > 0)) return m;
  m.rows = rows_;
  const double n = static_cast<double>(rows_),
               cells = n * static_cast<double>(takes_logits(loss_) ? 1 : columns_);
  m.loss = total_ / weight_;
  m.has_accuracy = takes_logits(loss_) || loss_ == Loss::bce;
  m.accuracy = static_cast<double>(right_) / cells;
  if (takes_logits(loss_)) {
    m.classes = columns_;
    m.confusion = confusion_;
    return m;
  }
  if (loss_ == Loss::bce) return m;
  m.has_errors = true;
  m.mae = absolute_ / cells;
  double squares = 0, r2 = 0;
  std::int64_t counted = 0;
  for (const Column& c : spread_) {
    squares += c.errors;
    const double spread = c.squares - c.sum * c.sum / n;
    if (!(spread > 0)) continue;
    r2 += 1 - c.errors / spread;
    ++counted;
  }
  m.rmse = exact::sqrt(squares / cells);
  m.has_r2 = counted > 0;
  if (m.has_r2) m.r2 = r2 / static_cast<double>(counted);
  return m;
}

Result<Evaluator> Evaluator::create(Network& network, const DataSource& given, ThreadPool& pool,
                                    const EvaluatorOptions& judged) {
  EvaluatorOptions resolved = judged;
  std::unique_ptr<Streams> stream;
  if (judged.stream) {
    LOOM_ASSIGN(stream, Streams::create(given, 1));
  }
  const DataSource& data = stream ? *stream : given;
  LOOM_TRY(resolve_heads(network, resolved.heads));
  SessionOptions options;
  options.adapter = judged.adapter;
  options.max_rows = std::max(kRowsPerRun, data.max_rows());
  options.max_head_rows = options.max_rows;
  options.max_positions = stream ? stream->lane_rows() : data.max_rows();
  const bool tokens = network.input().ids > 0 && network.input().dims.empty();
  options.whole_sequences = tokens && !network.recurs_over_rows();
  options.isa = judged.isa;
  options.cancel = judged.cancel;
  LOOM_ASSIGN(Session session, Session::create(network, pool, options));
  return Evaluator(std::move(session), std::move(stream), data, resolved, network);
}

// Every head of every row of the last run, of the samples from `first` on.
Status Evaluator::count(std::vector<MetricsCounter>& counters, const Batch& batch,
                        std::int64_t first) {
  const std::vector<double> narrow(batch.values.begin(), batch.values.end());
  const std::span<const double> values(
      batch.wide_values.empty() || !session_.gives_f64() ? narrow : batch.wide_values);
  std::size_t target = 0;
  for (std::size_t r = 0; r < static_cast<std::size_t>(batch.rows); ++r) {
    const std::span<const double> all = answer(static_cast<std::int64_t>(r));
    const double weight = batch.weights.empty() ? 1.0 : static_cast<double>(batch.weights[r]);
    // A sequence of tokens is a run of its own.
    const std::int64_t sample =
        first + (batch.positions.empty() ? static_cast<std::int64_t>(r) : 0);
    for (std::size_t i = 0; i < heads_.size(); ++i) {
      const HeadSpec& head = heads_[i];
      const auto columns = static_cast<std::size_t>(head.columns);
      const std::span<const double> y = all.subspan(static_cast<std::size_t>(head.column), columns);
      const auto class_at = [&](std::size_t p) -> std::int64_t {
        return options_.heads.empty() ? batch.classes[target + p]
                                      : static_cast<std::int64_t>(values[target + p]);
      };
      if (takes_classes(head.loss))
        LOOM_TRY(count_classes(counters[i], head, y, class_at, weight, sample));
      else if (head.loss == Loss::soft_cross_entropy)
        count_soft(counters[i], head, y, values.subspan(target, columns), weight);
      else counters[i].add(y, values.subspan(target, columns), weight);
      target += static_cast<std::size_t>(head.targets());
    }
  }
  return {};
}

// A row of the last run.
std::span<const double> Evaluator::answer(std::int64_t row) {
  if (session_.gives_f64()) return session_.output_f64(row);
  const std::span<const float> y = session_.output(row);
  answer_.assign(y.begin(), y.end());
  return answer_;
}

// Every place of a head's row.
Status Evaluator::count_classes(MetricsCounter& counter, const HeadSpec& head,
                                std::span<const double> y,
                                const std::function<std::int64_t(std::size_t)>& target,
                                double weight, std::int64_t sample) {
  const auto places = static_cast<std::size_t>(head.axis.places),
             classes = static_cast<std::size_t>(head.axis.classes);
  std::vector<double> place(classes);
  for (std::size_t p = 0; p < places; ++p) {
    const std::int64_t number = target(p);
    if (number == options_.ignore) continue;
    if (number < 0 || number >= head.axis.classes)
      return Status(
          Code::invalid_argument,
          message("classes, row ", data_->row_of(sample),
                  class_refusal(static_cast<double>(number), head.axis.classes, options_.ignore)));
    for (std::size_t c = 0; c < classes; ++c)
      place[c] = y[head.axis.first ? c * places + p : p * classes + c];
    const std::vector<double>& of_class = options_.class_weights;
    counter.add(place, static_cast<std::int32_t>(number),
                of_class.empty() ? weight : weight * of_class[static_cast<std::size_t>(number)]);
  }
  return {};
}

// Every place of a head's row, of which each has a probability for each class.
void Evaluator::count_soft(MetricsCounter& counter, const HeadSpec& head, std::span<const double> y,
                           std::span<const double> target, double weight) {
  const auto places = static_cast<std::size_t>(head.axis.places),
             classes = static_cast<std::size_t>(head.axis.classes);
  std::vector<double> logits(classes), shares(classes);
  for (std::size_t p = 0; p < places; ++p) {
    for (std::size_t c = 0; c < classes; ++c) {
      const std::size_t at = head.axis.first ? c * places + p : p * classes + c;
      logits[c] = y[at];
      shares[c] = target[at];
    }
    counter.add(logits, shares, weight);
  }
}

Result<Metrics> Evaluator::measure() {
  LOOM_TRY(session_.refresh());
  std::vector<MetricsCounter> counters;
  for (const HeadSpec& head : heads_)
    counters.emplace_back(head.loss, head.loss == Loss::huber ? head.delta : head.temperature,
                          takes_logits(head.loss) ? head.axis.classes : head.columns);
  Batch batch;
  std::vector<std::uint32_t> sequences, head;
  const DataSource::Form form = data_->form();
  const bool tokens = form.ids > 0 && form.steps == 0;
  for (std::int64_t sample = 0; sample < data_->samples();) {
    batch.clear();
    const std::int64_t first = sample;
    // A sequence of rows is a run of its own; other rows go together.
    do data_->append(sample++, batch);
    while (!tokens && !stream_ && sample < data_->samples() && batch.rows < kRowsPerRun);
    const auto rows = static_cast<std::size_t>(batch.rows);
    const bool wide = !batch.wide_x.empty() && session_.takes_f64();
    if (tokens) {
      sequences.assign(rows, 0);
      head.resize(rows);
      for (std::size_t r = 0; r < rows; ++r) head[r] = static_cast<std::uint32_t>(r);
      LOOM_TRY(session_.run_tokens(batch.ids, sequences, batch.positions, head));
    } else if (stream_) {
      sequences.assign(rows, 0);
      LOOM_TRY(wide ? session_.run(batch.wide_x, sequences, batch.positions)
                    : session_.run(batch.x, sequences, batch.positions).status());
    } else {
      LOOM_TRY(form.ids > 0 ? session_.run_ids(batch.ids).status()
               : wide       ? session_.run(batch.wide_x, batch.rows)
                            : session_.run(batch.x, batch.rows).status());
    }
    LOOM_TRY(count(counters, batch, first));
  }
  Metrics all;
  for (std::size_t i = 0; i < heads_.size(); ++i) {
    Metrics metrics = counters[i].finish();
    metrics.weighted = form.weighted || !options_.class_weights.empty();
    if (options_.heads.empty()) return metrics;
    all.rows = std::max(all.rows, metrics.rows);
    all.loss += heads_[i].weight * metrics.loss;
    all.weighted = metrics.weighted;
    metrics.name = name_of(heads_[i], i);
    all.heads.push_back(std::move(metrics));
  }
  return all;
}

}  // namespace loom
