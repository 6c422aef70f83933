#include "online/online.h"

namespace loom {

Json OnlineLearner::info() const {
  Json json = Json::object();
  json.set("task", tracker_.task());
  json.set("tasks", tracker_.tasks());
  json.set("outputs", tracker_.outputs());
  json.set("judged", tracker_.judged_outputs());
  json.set("correct", tracker_.correct());
  const double accuracy = tracker_.accuracy();
  json.set("accuracy", accuracy >= 0 ? Json(accuracy) : Json());
  json.set("steps", trainer_->done());
  json.set("in_step", trainer_->in_slices());
  json.set("loss", last_.step > 0 ? Json(last_.loss) : Json());
  json.set("lr", last_.step > 0 ? Json(last_.lr) : Json());
  json.set("publications", published_);
  json.set("published_step", published_step_);
  json.set("recent", memory_.recent());
  json.set("older", memory_.older());
  json.set("input_width", input_width());
  json.set("input_dtype", takes_ids() ? "ids" : "f32");
  json.set("output_width", output_width_);
  if (form_.places > 0) {
    json.set("classes", form_.classes);
    json.set("places", form_.places);
  }
  json.set("target", trainer_->target());
  json.set("threads", pool_.size());
  return json;
}

Json OnlineLearner::report() const {
  Json json = Json::object();
  tracker_.report(json);
  json.set("steps", trainer_->done());
  json.set("publications", published_);
  json.set("published_step", published_step_);
  return json;
}

}  // namespace loom
