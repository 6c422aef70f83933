#include "train/judge/validation.h"

#include "base/message.h"
#include "train/check_data.h"

namespace loom {

Json Best::to_json() const {
  Json json = Json::object();
  json.set("step", step);
  json.set("stale", stale);
  json.set("loss", loss);
  json.set("metrics", metrics);
  return json;
}

Result<Best> Best::from_json(const Json& json) {
  Best best;
  LOOM_ASSIGN(best.step, json.get_integer("step", 0));
  LOOM_ASSIGN(best.stale, json.get_integer("stale", 0));
  LOOM_ASSIGN(best.loss, json.get_number("loss", 0));
  if (const Json* metrics = json.find("metrics")) best.metrics = *metrics;
  if (best.step < 1 || best.stale < 0)
    return Status(Code::corrupt, message("training state: the best step is ", best.step));
  return best;
}

EvaluatorOptions judging(const Trainer& trainer, const std::string& isa) {
  const TrainingSpec& spec = trainer.spec();
  return {.loss = spec.loss,
          .delta = spec.delta,
          .temperature = spec.temperature,
          .ignore = spec.ignore,
          .class_weights = spec.weights_of_classes(),
          .heads = spec.heads,
          .isa = isa,
          .adapter = trainer.adapter(),
          .stream = spec.streams > 0};
}

Result<std::unique_ptr<Validation>> Validation::create(Trainer& trainer, const DataSource& data,
                                                       ThreadPool& pool, const std::string& isa) {
  auto validation = std::unique_ptr<Validation>(new Validation(trainer, data, pool, isa));
  LOOM_TRY(check_data(data, trainer.network(), trainer.spec()).at("the samples held back"));
  validation->every_ = trainer.spec().validation.every;
  validation->patience_ = trainer.spec().validation.patience;
  LOOM_TRY(validation->evaluate());
  return validation;
}

// Made for the dtypes that the network has.
Status Validation::evaluate() {
  quantized_ = trainer_.quantized();
  LOOM_ASSIGN(evaluator_,
              Evaluator::create(trainer_.network(), data_, pool_, judging(trainer_, isa_)));
  return {};
}

Result<Metrics> Validation::judge() {
  LOOM_TRY(trainer_.sync());
  if (quantized_ != trainer_.quantized()) LOOM_TRY(evaluate());
  if (trainer_.quantized() && best.step <= trainer_.spec().quantize.after) best = {};
  LOOM_ASSIGN(const Metrics metrics, evaluator_->measure());
  if (!(metrics.loss - metrics.loss == 0))
    return Status(
        Code::invalid_argument,
        message("training: after step ", trainer_.done(),
                " the loss of the samples held back is not finite; a lower rate may help"));
  if (metrics.rows == 0)
    return Status(Code::invalid_argument,
                  "training: no row that was held back has a target and a weight above 0");
  if (best.step == 0 || metrics.loss < best.loss) {
    best.step = trainer_.done();
    best.stale = 0;
    best.loss = metrics.loss;
    best.metrics = metrics.to_json();
    best.weights = trainer_.weights();
  } else {
    ++best.stale;
  }
  return metrics;
}

}  // namespace loom
