#include "fit/predictor.h"

#include <algorithm>

#include "base/files/source.h"
#include "base/json/json_text.h"
#include "base/message.h"
#include "fit/rows.h"
#include "grid/metacognition/act.h"
#include "train/judge/metrics.h"

namespace loom {
namespace {

constexpr std::int64_t kMaxRows = 256;  // of a run

Json notes_of(const std::vector<std::string>& lines) {
  Json notes = Json::array();
  for (const std::string& line : lines) notes.push(json_text(line));
  return notes;
}

// Of all parameters, as they are packed.
std::uint64_t bytes_of(Network& network) {
  std::uint64_t bytes = 0;
  for (const Network::NamedParam& p : network.params())
    if (!p.tied) bytes += p.param->store->packed_bytes();
  return bytes;
}

}  // namespace

Predictor::Predictor(std::string path, Machine machine, std::string isa,
                     const std::atomic<bool>* cancel, Entity file, Network network)
    : path_(std::move(path)),
      isa_(std::move(isa)),
      machine_(std::move(machine)),
      cancel_(cancel),
      pool_(machine_.mode.threads),
      file_(std::move(file)),
      network_(std::move(network)) {}

Result<std::unique_ptr<Predictor>> Predictor::open(const std::string& path, Machine machine,
                                                   const std::string& isa,
                                                   const std::atomic<bool>* cancel) {
  LOOM_ASSIGN(SourcePtr source, open_source(path));
  LOOM_ASSIGN(Entity file, Entity::open(std::move(source)));
  LOOM_ASSIGN(Network network, load_network(file));
  std::unique_ptr<Predictor> p(
      new Predictor(path, std::move(machine), isa, cancel, std::move(file), std::move(network)));
  LOOM_TRY(p->read_inputs());
  return p;
}

Status Predictor::read_inputs() {
  if (!file_.find_section("inputs")) return {};
  LOOM_ASSIGN(inputs_, file_.json("inputs"));
  if (!inputs_.is_object() || network_.input().ids > 0)
    return Status(Code::corrupt, message(path_, ": its section 'inputs' is none"));
  const Json* count = inputs_.find("classes");
  const Json* labels = inputs_.find("labels");
  LOOM_ASSIGN(answers_, answer_kind(inputs_));
  if (labels || (count && count->is_integer() && count->as_integer() > 0))
    classes_ = network_.output().width;
  pair_ = classes_ == 1 && labels && labels->is_array() && labels->as_array().size() == 2;
  if (pair_) classes_ = 2;
  if (labels && labels->is_array() &&
      static_cast<std::int64_t>(labels->as_array().size()) != classes_)
    return Status(Code::corrupt,
                  message(path_, ": its section 'inputs' names ", labels->as_array().size(),
                          " classes, the network has ", classes_));
  return {};
}

Json Predictor::info() {
  Json json = Json::object();
  const bool raw = inputs_.is_object();
  json.set("raw", raw);
  json.set("series", raw && inputs_.find("series"));
  json.set("classes", classes_);
  Json labels = Json::array();
  for (std::int64_t c = 0; c < classes_; ++c) labels.push(label_at(inputs_, c));
  json.set("labels", std::move(labels));
  json.set("inputs", network_.input().width);
  json.set("outputs", network_.output().width);
  json.set("bytes", static_cast<std::int64_t>(bytes_of(network_)));
  json.set("threads", pool_.size());
  return json;
}

Result<Json> Predictor::read(const std::string& data, const ImageDecoder& decoder) {
  if (inputs_.is_null() && network_.input().ids > 0)
    return Status(Code::unsupported, "the network takes ids, not rows of values");
  LOOM_ASSIGN(rows_, inputs_.is_null() ? read_plain_rows(network_.input().width, data)
                                       : read_rows(inputs_, network_.input().width, data, decoder));
  data_ = data;
  at_ = 0;
  if (rows_.judged && (pair_ || answers_ != AnswerKind::logits)) {
    rows_.judged = nullptr;
    rows_.decisions.push_back("not measured: the loss is of the logits of all classes");
  }
  Json json = Json::object();
  json.set("rows", rows_.rows);
  json.set("targets", rows_.judged ? rows_.judged->samples() : 0);
  json.set("notes", inputs_.is_null() ? Json::array() : notes_of(rows_.decisions));
  return json;
}

Result<Session*> Predictor::ready(std::int64_t max_rows) {
  if (session_ && session_->options().max_rows == max_rows) return &*session_;
  LOOM_TRY(refuse_rules(network_, "a predictor").at("predictor"));
  session_.reset();
  SessionOptions options;
  options.max_rows = max_rows;
  options.device = machine_.choice.device.get();
  options.fuse = machine_.mode.fuse;
  options.auto_device = machine_.mode.auto_device;
  options.isa = isa_;
  options.cancel = cancel_;
  LOOM_ASSIGN(Session made, Session::create(network_, pool_, options));
  session_.emplace(std::move(made));
  return &*session_;
}

// A class with the probabilities or scores of all, or values; of a row that comes from a file of
// its own, with the name of that.
Json Predictor::answer(std::span<const float> y, std::int64_t row) const {
  Json json = Json::object();
  json.set("row", row + 1);
  if (!rows_.names.empty()) json.set("file", json_text(rows_.names[static_cast<std::size_t>(row)]));
  const auto finite = [](double v) { return v - v == 0 ? Json(v) : Json(); };
  Json all = Json::array();
  for (const float v : y) all.push(finite(static_cast<double>(v)));
  if (classes_ == 0) {
    json.set("values", std::move(all));
    return json;
  }
  const bool probable = answers_ == AnswerKind::probabilities;
  const bool known = std::none_of(y.begin(), y.end(), [](float v) { return v != v; });
  float both[2];
  if (pair_) {
    both[0] = probable ? 1 - y[0] : 0;
    both[1] = y[0];
    y = both;
  }
  const std::int32_t best = best_class(y);
  json.set("class", known ? label_at(inputs_, best) : Json());
  if (answers_ == AnswerKind::scores) {
    json.set("scores", std::move(all));
    return json;
  }
  const std::vector<double> p = probable ? std::vector<double>(y.begin(), y.end()) : softmax(y);
  json.set("probability", finite(p[static_cast<std::size_t>(best)]));
  all = Json::array();
  for (const double v : p) all.push(finite(v));
  json.set("probabilities", std::move(all));
  return json;
}

Result<Json> Predictor::next(std::int64_t rows) {
  if (data_.empty())
    return Status(Code::invalid_argument, "no data were read: loom_predictor_read comes before");
  Json answers = Json::array();
  const std::int64_t n = std::min(rows, rows_.rows - at_);
  if (n <= 0) return answers;
  LOOM_ASSIGN(Session* const session, ready(std::min(rows_.rows, kMaxRows)));
  std::vector<double> x;
  std::vector<float> y;
  LOOM_TRY(rows_.read(at_, n, network_.input().width, x));
  LOOM_TRY(run_rows(*session, x, n, y));
  const std::size_t outputs = y.size() / static_cast<std::size_t>(n);
  for (std::int64_t r = 0; r < n; ++r)
    answers.push(
        answer(std::span(y).subspan(static_cast<std::size_t>(r) * outputs, outputs), at_ + r));
  at_ += n;
  return answers;
}

Result<Json> Predictor::forecast(const std::string& data, std::int64_t horizon) {
  if (!inputs_.is_object() || !inputs_.find("series"))
    return Status(Code::unsupported, message(path_, " is no network of a time series"));
  std::vector<std::string> decisions;
  LOOM_ASSIGN(const SeriesForm form, data.empty() ? SeriesForm::from_json(inputs_)
                                                  : continue_series(inputs_, data, decisions));
  if (form.width() != network_.input().width)
    return Status(Code::corrupt, message(path_, ": its section 'inputs' is of another network"));
  LOOM_ASSIGN(Session* const session, ready(1));
  LOOM_ASSIGN(const std::vector<Forecast> list,
              loom::forecast(form, horizon, [&](const auto& x, std::int64_t rows, auto& y) {
                return run_rows(*session, x, rows, y);
              }));
  Json json = Json::object(), forecasts = Json::array();
  for (const Forecast& f : list) forecasts.push(f.to_json());
  json.set("forecasts", std::move(forecasts));
  json.set("judged_steps", static_cast<std::int64_t>(form.half80.size()));
  json.set("notes", notes_of(decisions));
  return json;
}

Status Predictor::expect_targets() const {
  if (inputs_.is_null())
    return Status(Code::unsupported,
                  message(path_,
                          ": says nothing of raw data: it has no section 'inputs', "
                          "which loom train writes where it is given no SPEC"));
  if (data_.empty())
    return Status(Code::invalid_argument, "no data were read: loom_predictor_read comes before");
  if (!rows_.judged)
    return Status(
        Code::invalid_argument,
        message(data_, ": no row has a target, and without them there is no loss to measure"));
  return {};
}

Result<Json> Predictor::measure() {
  LOOM_TRY(expect_targets());
  EvaluatorOptions options;
  options.loss = classes_ > 0 ? Loss::cross_entropy : Loss::mse;
  options.isa = isa_;
  options.cancel = cancel_;
  LOOM_ASSIGN(Evaluator evaluator, Evaluator::create(network_, *rows_.judged, pool_, options));
  LOOM_ASSIGN(const Metrics metrics, evaluator.measure());
  Json json = metrics.to_json();
  json.set("text", metrics.to_text());
  json.set("bytes", static_cast<std::int64_t>(bytes_of(network_)));
  return json;
}

Status Predictor::morph(const WeightFormat& format) {
  session_.reset();
  return network_.morph(format, &pool_);
}

Result<Json> Predictor::plan(const PlanOptions& options) {
  LOOM_TRY(expect_targets());
  session_.reset();
  return plan_precision(network_, *rows_.judged, classes_ > 0 ? Loss::cross_entropy : Loss::mse,
                        options, pool_, isa_, cancel_);
}

Status Predictor::save(const std::string& path) {
  LOOM_ASSIGN(const EntitySections sections, kept_sections(file_));
  return save_network(path, network_, sections);
}

}  // namespace loom
