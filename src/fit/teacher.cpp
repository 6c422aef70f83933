#include "fit/teacher.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/escape.h"
#include "base/files/sha256.h"
#include "base/math/exact_math.h"
#include "base/message.h"
#include "exec/session.h"
#include "fit/rows.h"
#include "formats/onnx/onnx.h"
#include "onnx/import.h"

namespace loom {
namespace {

constexpr std::int64_t kBatch = 256;  // rows of a run of the teacher
constexpr double kAlpha = 0.9;

Status refused(const std::string& what) {
  return Status(Code::unsupported, message("teacher: ", what));
}

// Samples whose targets are a teacher's answers, with their own behind them where those count too.
class TaughtData : public DataSource {
 public:
  TaughtData(std::unique_ptr<DataSource> samples, std::vector<float> answers, bool own)
      : of_(std::move(samples)), answers_(std::move(answers)), own_(own) {
    width_ = answers_.size() / static_cast<std::size_t>(of_->samples());
    Sha256 sha;
    sha.update_text((own ? "taught beside " : "taught ") + of_->hash());
    sha.update_f32(answers_);
    hash_ = Sha256::hex(sha.finish());
  }
  std::int64_t samples() const override { return of_->samples(); }
  Form form() const override {
    Form form = of_->form();
    const std::int64_t own = form.classes > 0 ? 1 : form.targets;
    form.targets = static_cast<std::int64_t>(width_) + (own_ ? own : 0);
    form.classes = 0;
    form.whole_y = false;
    return form;
  }
  void append(std::int64_t sample, Batch& batch) const override {
    const std::size_t at = batch.values.size(), width = width_;
    of_->append(sample, batch);
    if (!own_) batch.values.resize(at);
    else
      for (const std::int32_t c : batch.classes) batch.values.push_back(static_cast<float>(c));
    batch.wide_values.clear();
    batch.classes.clear();
    const float* const answer = answers_.data() + static_cast<std::size_t>(sample) * width;
    batch.values.insert(batch.values.begin() + static_cast<std::ptrdiff_t>(at), answer,
                        answer + width);
  }
  std::int64_t row_of(std::int64_t sample) const override { return of_->row_of(sample); }

 private:
  std::unique_ptr<DataSource> of_;
  std::vector<float> answers_;
  bool own_;
  std::size_t width_ = 0;
};

struct Teacher {
  std::string file;
  Network network;
  Json inputs;        // what its file says of raw data and answers; null: nothing
  bool soft = false;  // it answers with classes
  double temperature = 1, alpha = kAlpha;
  std::optional<bool> probabilities = {};
};

Result<Teacher> open_teacher(const std::string& path) {
  if (path.ends_with(".onnx")) {
    LOOM_ASSIGN(const onnx::Model model, onnx::open_model(path));
    LOOM_ASSIGN(onnx::ImportedGraph graph, onnx::import_graph(model));
    LOOM_ASSIGN(Json inputs, inputs_in(model, graph.network));
    return Teacher{path, std::move(graph.network), std::move(inputs)};
  }
  LOOM_ASSIGN(SourcePtr source, open_source(path));
  LOOM_ASSIGN(const Entity file, Entity::open(std::move(source)));
  LOOM_ASSIGN(Network network, load_network(file, {.masters = false}));
  Json inputs;
  if (file.find_section("inputs")) {
    LOOM_ASSIGN(inputs, file.json("inputs"));
  }
  return Teacher{path, std::move(network), std::move(inputs)};
}

// Columns that are inputs, each with the words that are told apart.
std::string columns_of(const Json& inputs) {
  std::string text;
  const auto form = TableForm::from_json(inputs);
  if (!form.ok()) return text;
  for (std::size_t c = 0; c < form->columns.size(); ++c) {
    const Column& column = form->columns[c];
    if (static_cast<std::int64_t>(c) == form->target || column.kind == Column::Kind::unused)
      continue;
    text = message(text, text.empty() ? "" : ", ", quoted(column.name));
    for (const std::string& word : column.values) text = message(text, "/", quoted(word));
  }
  return text;
}

std::string classes_of(const Json& inputs, std::int64_t count) {
  std::string text;
  for (std::int64_t c = 0; inputs.find("labels") && c < count; ++c)
    text = message(text, c ? ", " : "", quoted(label_of(inputs, c)));
  return text;
}

// Where both files say what columns and classes are, they say the same.
Status expect_same(const char* what, const std::string& its, const std::string& ours) {
  if (its == ours || its.empty() || ours.empty()) return {};
  return Status(Code::invalid_argument, message("teacher: its ", what, " are ", its.substr(0, 300),
                                                ", those of the data ", ours.substr(0, 300)));
}

// What a teacher cannot be of.
Status check_job(Job& job) {
  const TrainingSpec& spec = job.spec;
  const DataSource& data = job.learned();
  const DataSource::Form form = data.form();
  const char* what = job.series || spec.step_mesh.ticks > 0 || spec.streams > 0
                         ? "time series, ticks and streams are learned without one"
                     : form.ids > 0 || job.net().input().ids > 0
                         ? "the data are ids: welvet.distill takes a teacher of these"
                     : data.max_rows() > 1 || form.places > 1
                         ? "a sample has several rows or places: welvet.distill takes those"
                     : !spec.heads.empty() || !job.net().outputs_by_name.empty()
                         ? "the training has several heads or outputs"
                     : !spec.class_weights.is_null() ? "class_weights are of a training without one"
                     : spec.loss == Loss::soft_cross_entropy
                         ? "the data have probabilities as targets: \"cross_entropy\" learns those "
                           "of a teacher"
                         : nullptr;
  return what ? refused(what) : Status();
}

Status check_teacher(const Teacher& t, const Job& job, std::int64_t width, std::int64_t outputs) {
  const Shape &in = t.network.input(), &out = t.network.output();
  if (in.ids > 0) return refused(message(t.file, " takes ids, the data are values"));
  if (in.width != width || out.width != outputs)
    return Status(
        Code::invalid_argument,
        message("teacher: ", t.file, " takes rows of ", in.width, " values and returns ", out.width,
                "; the data have ", width, ", the network that learns ", outputs));
  LOOM_TRY(expect_same("columns", columns_of(t.inputs), columns_of(job.inputs)));
  return expect_same("classes", classes_of(t.inputs, outputs), classes_of(job.inputs, outputs));
}

// Rows of numbers from 0 to 1 that sum to 1.
bool are_shares(std::span<const float> answers, std::size_t width) {
  for (std::size_t at = 0; at < answers.size(); at += width) {
    double sum = 0;
    for (const float v : answers.subspan(at, width)) {
      if (!(v >= 0 && v <= 1.001f)) return false;
      sum += static_cast<double>(v);
    }
    if (!(std::fabs(sum - 1) < 1e-3)) return false;
  }
  return true;
}

// softmax(answer / temperature), in place.
Status to_shares(const Teacher& t, std::span<float> row) {
  std::vector<double> e;
  double top = -std::numeric_limits<double>::infinity(), sum = 0;
  for (const float v : row) {
    e.push_back(*t.probabilities ? exact::log(static_cast<double>(v)) : static_cast<double>(v));
    top = std::max(top, e.back());
  }
  if (!(top - top == 0))
    return Status(Code::invalid_argument, "teacher: its answers are not finite");
  for (double& v : e) sum += v = exact::exp((v - top) / t.temperature);
  for (std::size_t i = 0; i < row.size(); ++i) row[i] = static_cast<float>(e[i] / sum);
  return {};
}

// What is learned of the teacher's answers.
Status to_targets(Teacher& t, std::vector<float>& answers, std::size_t width) {
  if (std::any_of(answers.begin(), answers.end(),
                  [&](float v) { return v != v || (!t.soft && v - v != 0); }))
    return Status(Code::invalid_argument, "teacher: its answers are not finite");
  if (!t.soft) return {};
  const bool shares = are_shares(answers, width);
  if (!t.probabilities) t.probabilities = shares;
  if (*t.probabilities && !shares)
    return Status(Code::invalid_argument,
                  message("teacher: ", t.file,
                          ": its answers are no probabilities: rows of numbers from 0 to 1 that "
                          "sum to 1"));
  if (*t.probabilities && t.temperature == 1) return {};
  for (std::size_t at = 0; at < answers.size(); at += width)
    LOOM_TRY(to_shares(t, std::span(answers).subspan(at, width)));
  return {};
}

Status take(std::unique_ptr<DataSource>& data, Teacher& t, Session& session) {
  if (!data) return {};
  std::vector<float> answers, y;
  Batch batch;
  for (std::int64_t at = 0; at < data->samples();) {
    batch.clear();
    for (const std::int64_t end = std::min(at + kBatch, data->samples()); at < end; ++at)
      data->append(at, batch);
    LOOM_TRY(batch.wide_x.empty()
                 ? run_rows(session, std::span<const float>(batch.x), batch.rows, y)
                 : run_rows(session, std::span<const double>(batch.wide_x), batch.rows, y));
    answers.insert(answers.end(), y.begin(), y.end());
  }
  LOOM_TRY(to_targets(t, answers, static_cast<std::size_t>(t.network.output().width)));
  data = std::make_unique<TaughtData>(std::move(data), std::move(answers), t.alpha < 1);
  return {};
}

// The loss of the spec, in place of the one by the targets alone.
void set_losses(TrainingSpec& spec, const Teacher& t, std::int64_t outputs) {
  const Loss own = spec.loss, taught = t.soft ? Loss::soft_cross_entropy : own;
  spec.data = {};  // whose targets are others now
  if (t.alpha == 1) {
    spec.loss = taught;
    spec.temperature = t.temperature;
    spec.ignore = kIgnoredClass;
    return;
  }
  HeadSpec head{.name = "teacher",
                .columns = outputs,
                .loss = taught,
                .delta = spec.delta,
                .weight = t.alpha * spec.loss_weight,
                .temperature = t.temperature};
  spec.heads.push_back(head);
  head = {.name = "labels",
          .loss = own,
          .delta = spec.delta,
          .weight = (1 - t.alpha) * spec.loss_weight};
  head.same_columns = true;
  spec.heads.push_back(std::move(head));
  spec.loss = Loss::mse;
  spec.delta = spec.loss_weight = 1;
}

std::string note_of(const Teacher& t, bool moved) {
  const std::string rest = t.alpha < 1 ? message("; its answers count ", format_double(t.alpha),
                                                 ", the targets the rest")
                                       : "; the targets are not learned";
  return message("teacher: ", t.file,
                 !t.soft            ? ""
                 : *t.probabilities ? ", probabilities at temperature "
                                    : ", logits at temperature ",
                 t.soft ? format_double(t.temperature) : "", rest,
                 moved ? "; it sees images where they stand, before they are moved" : "");
}

}  // namespace

Status teach(Job& job, const FitOptions& options, ThreadPool& pool, const std::string& isa,
             const std::atomic<bool>* cancel) {
  LOOM_TRY(check_job(job));
  auto opened = open_teacher(options.teacher);
  if (!opened.ok()) return opened.status().at("teacher");
  Teacher& t = *opened;
  t.soft = job.spec.loss == Loss::cross_entropy;
  if (options.temperature && !t.soft)
    return Status(Code::invalid_argument,
                  message("temperature: is of classes, and the loss is ", name(job.spec.loss)));
  t.temperature = options.temperature.value_or(1);
  t.alpha = options.alpha.value_or(kAlpha);
  if (const Json* answers = t.inputs.find("answers");
      answers && answers->is_string() && answers->as_string() == "probabilities")
    t.probabilities = true;
  const std::int64_t outputs = job.net().output().width;
  LOOM_TRY(check_teacher(t, job, job.learned().form().width, outputs));
  LOOM_ASSIGN(Session session,
              Session::create(t.network, pool, {.max_rows = kBatch, .isa = isa, .cancel = cancel}));
  if (session.executor().state_bytes() > 0)
    return refused(message(t.file, " carries state from row to row, the samples are single ones"));
  if (job.split.learned) {
    LOOM_TRY(take(job.split.learned, t, session));
    LOOM_TRY(take(job.split.held_back, t, session));
  } else {
    LOOM_TRY(take(job.whole, t, session));
  }
  LOOM_TRY(take(job.test, t, session));
  set_losses(job.spec, t, outputs);
  job.rows.clear();  // the report of a table is of its targets
  job.notes.push_back(note_of(t, job.spec.random_translate > 0));
  return job.spec.check();
}

}  // namespace loom
