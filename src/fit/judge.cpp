#include "fit/judge.h"

#include "base/escape.h"
#include "fit/rows.h"
#include "fit/text.h"

namespace loom {
namespace {

// How the network that is kept forecasts; the file gets the intervals.
Status judge_forecasts(Fit::State& course, Json& figures, std::string& text) {
  SeriesConfig& series = *course.job->series;
  LOOM_ASSIGN(Session session, Session::create(course.job->net(), *course.pool,
                                               {.max_rows = 256, .isa = course.isa}));
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
Result<ReportForm> report_form(const Fit::State& course) {
  const Job& job = *course.job;
  const bool test = job.test != nullptr;
  const DataSource* judged = test ? job.test.get() : job.split.held_back.get();
  const std::vector<std::int64_t>* places = test ? &job.test_rows : &job.rows;
  const auto place = [judged, places](std::int64_t sample) {
    return (*places)[static_cast<std::size_t>(judged->row_of(sample))];
  };
  ReportForm form;
  if (job.series) {
    const SeriesConfig* series = &*job.series;
    form.title = "forecasts one step ahead of " + quoted(series->form.columns.target);
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
  form.title = "answers for " + quoted(table.columns[static_cast<std::size_t>(table.target)].name);
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
Status report_table(Fit::State& course, Json& figures, std::string& text) {
  LOOM_ASSIGN(const ReportForm form, report_form(course));
  LOOM_ASSIGN(Session session, Session::create(course.job->net(), *course.pool,
                                               {.max_rows = 256, .isa = course.isa}));
  const Job& job = *course.job;
  LOOM_ASSIGN(Report report,
              make_report(session, job.test ? *job.test : *job.split.held_back, form));
  figures.set("report", report.to_json());
  text += report.to_text(true);
  course.report = std::move(report);
  return {};
}

// Names of classes, for a network that answers with some.
std::vector<std::string> labels_of(const Job& job, std::int64_t classes) {
  std::vector<std::string> labels;
  for (std::int64_t c = 0; c < classes; ++c) labels.push_back(label_of(job.inputs, c));
  return labels;
}

}  // namespace

// The figures of the network that is kept: for the file, and in words.
Result<Json> figures_of(Fit::State& course, std::string& text) {
  Trainer& trainer = *course.trainer;
  const Best& best = *course.best();
  const Job& job = *course.job;
  Json figures = Json::object();
  figures.set("step", trainer.done());
  figures.set("best_step", best.step);
  figures.set("validation", best.metrics);
  text = "kept: step " + std::to_string(best.step) +
         (course.early ? ", nothing better came after it" : "") + "\n";
  const std::vector<TrainingTensor> last = trainer.weights();
  LOOM_TRY(trainer.set_weights(best.weights));
  const DataSource& judged = job.test ? *job.test : *job.split.held_back;
  LOOM_ASSIGN(Evaluator evaluator, Evaluator::create(trainer.network(), judged, *course.pool,
                                                     judging(trainer, course.isa)));
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

}  // namespace loom
