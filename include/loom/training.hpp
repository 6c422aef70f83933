// Data, training and measures, a part of loom.hpp, which includes it.
#ifndef LOOM_TRAINING_HPP
#define LOOM_TRAINING_HPP

#include "loom.hpp"

namespace loom {
inline namespace api {

class Data : public Object {
 public:
  using Object::Object;
  // Samples are the first dimension of x and ids; y and classes have as many.
  static Data values(const TensorView<const float>& x, const TensorView<const float>& y) {
    detail::same_rows("x", x.shape(), "y", y.shape());
    return values(x.values(), x.width(), y.values(), y.width());
  }
  static Data values(const TensorView<const double>& x, const TensorView<const double>& y) {
    detail::same_rows("x", x.shape(), "y", y.shape());
    return values(x.values(), x.width(), y.values(), y.width());
  }
  static Data id_values(const TensorView<const std::int32_t>& ids,
                        const TensorView<const float>& y) {
    detail::same_rows("ids", ids.shape(), "y", y.shape());
    return id_values(ids.values(), ids.width(), y.values(), y.width());
  }
  static Data classes(const TensorView<const float>& x, std::span<const std::int32_t> classes) {
    return Data::classes(x.values(), x.width(), classes);
  }
  static Data classes(const TensorView<const double>& x, std::span<const std::int32_t> classes) {
    return Data::classes(x.values(), x.width(), classes);
  }
  static Data id_classes(const TensorView<const std::int32_t>& ids,
                         std::span<const std::int32_t> classes) {
    return id_classes(ids.values(), ids.width(), classes);
  }
  static Data values(std::span<const float> x, std::int64_t width, std::span<const float> y,
                     std::int64_t targets) {
    return detail::made<Data>(loom_data_values, x.data(), x.size(), width, y.data(), y.size(),
                              targets);
  }
  static Data classes(std::span<const float> x, std::int64_t width,
                      std::span<const std::int32_t> classes) {
    return detail::made<Data>(loom_data_classes, x.data(), x.size(), width, classes.data(),
                              classes.size());
  }
  // Doubles, from which cells that compute in f64 learn as they are.
  static Data values(std::span<const double> x, std::int64_t width, std::span<const double> y,
                     std::int64_t targets) {
    return detail::made<Data>(loom_data_values_f64, x.data(), x.size(), width, y.data(), y.size(),
                              targets);
  }
  static Data classes(std::span<const double> x, std::int64_t width,
                      std::span<const std::int32_t> classes) {
    return detail::made<Data>(loom_data_classes_f64, x.data(), x.size(), width, classes.data(),
                              classes.size());
  }
  static Data id_values(std::span<const std::int32_t> ids, std::int64_t steps,
                        std::span<const double> y, std::int64_t targets) {
    return detail::made<Data>(loom_data_id_values_f64, ids.data(), ids.size(), steps, y.data(),
                              y.size(), targets);
  }
  // Rows of `steps` ids.
  static Data id_values(std::span<const std::int32_t> ids, std::int64_t steps,
                        std::span<const float> y, std::int64_t targets) {
    return detail::made<Data>(loom_data_id_values, ids.data(), ids.size(), steps, y.data(),
                              y.size(), targets);
  }
  static Data id_classes(std::span<const std::int32_t> ids, std::int64_t steps,
                         std::span<const std::int32_t> classes) {
    return detail::made<Data>(loom_data_id_classes, ids.data(), ids.size(), steps, classes.data(),
                              classes.size());
  }
  static Data tokens(std::span<const std::int32_t> ids, std::span<const std::int64_t> ends,
                     std::int64_t length) {
    return detail::made<Data>(loom_data_tokens, ids.data(), ids.size(), ends.data(), ends.size(),
                              length);
  }
  static Data table(std::string_view csv, std::string_view options) {
    return detail::made<Data>(loom_data_table, csv.data(), csv.size(), options.data(),
                              options.size());
  }
  // The same samples, each with a weight of its loss.
  Data weighted(std::span<const float> weights) const {
    return detail::made<Data>(loom_data_weighted, handle(), weights.data(), weights.size());
  }
  std::string info() const { return detail::text(loom_data_info, handle()); }
};

class Trainer : public Object {
 public:
  struct Report {
    std::int64_t step = 0;  // done since the beginning
    double loss = 0, lr = 0;
    std::int64_t rows = 0;  // seen in these steps
  };
  using Object::Object;
  Trainer(Network& network, const Data& data, const TrainingOptions& options)
      : Object(detail::made_with(options, loom_trainer_create_with, network.handle(),
                                 data.handle())) {}
  // A spec and the options of loom_trainer_create as JSON.
  template <detail::Text Json>
  Trainer(Network& network, const Data& data, const Json& spec, std::string_view options = {})
      : Trainer(network, data, std::string_view(spec), options, 0) {}

  // One step on a batch that is given, of any number of samples.
  Report step_on(const Data& batch) {
    Report r;
    check(loom_trainer_step_on, handle(), batch.handle(), &r.step, &r.loss, &r.lr, &r.rows);
    return r;
  }
  // One of the spec's micro_batches of the next step, by itself, of the trainer's own data or of
  // samples that are given. apply() is the step of all of them, in their order, with the bits of
  // step(), whichever trainers of the same spec, network and data computed them.
  Bytes shard(std::int64_t number) const {
    return detail::made<Bytes>(loom_trainer_shard, handle(), number);
  }
  Bytes shard(std::int64_t number, const Data& data) const {
    return detail::made<Bytes>(loom_trainer_shard_on, handle(), number, data.handle());
  }
  Report apply(const std::vector<const Bytes*>& shards) {
    std::vector<std::int64_t> handles;
    for (const Bytes* one : shards) handles.push_back(static_cast<std::int64_t>(one->handle()));
    Report r;
    check(loom_trainer_apply, handle(), handles.data(), handles.size(), &r.step, &r.loss, &r.lr,
          &r.rows);
    return r;
  }
  // The optimizer's moments, as JSON [{name, rows, cols}]; the values of one, and new ones; as if
  // that number of steps were done: to continue a training that another framework began.
  std::string moments() const { return detail::text(loom_trainer_moments, handle()); }
  void get_moment(std::string_view name, std::span<double> values) const {
    check(loom_trainer_get_moment, handle(), name.data(), name.size(), values.data(),
          values.size());
  }
  void set_moment(std::string_view name, std::span<const double> values) {
    check(loom_trainer_set_moment, handle(), name.data(), name.size(), values.data(),
          values.size());
  }
  void set_step(std::int64_t step) { check(loom_trainer_set_step, handle(), step); }
  // More steps, or more epochs (the other is 0); returns the steps that the training has then.
  std::int64_t extend(std::int64_t steps, std::int64_t epochs = 0) {
    std::int64_t total = 0;
    check(loom_trainer_extend, handle(), steps, epochs, &total);
    return total;
  }
  Report step(std::int64_t steps = 1) {
    Report r;
    check(loom_trainer_step, handle(), steps, &r.step, &r.loss, &r.lr, &r.rows);
    return r;
  }
  // From any thread: the step inside, or else the next one, throws Error{LOOM_CANCELLED}; the
  // trainer is then as it was before that step.
  void cancel() { check(loom_cancel, handle()); }
  std::string info() const { return detail::text(loom_trainer_info, handle()); }
  // Statistics of the outputs of every cell, and of gradients, from the next step on
  // (docs/guide/observe.md): JSON options every (0: none any more), passes, window, keep, nested,
  // weights. statistics() takes the events so far: JSON, docs/reference/c-api.md.
  void observe(std::string_view options = {}) {
    check(loom_trainer_observe, handle(), options.data(), options.size());
  }
  std::string statistics() { return detail::text(loom_trainer_statistics, handle()); }
  std::string digest() const { return detail::text(loom_trainer_digest, handle()); }
  void save(std::string_view path) const {
    check(loom_trainer_save, handle(), path.data(), path.size());
  }
  Bytes save() const { return detail::made<Bytes>(loom_trainer_save_bytes, handle()); }
  void resume(std::string_view path) {
    check(loom_trainer_resume, handle(), path.data(), path.size());
  }
  void resume(const Bytes& bytes) { check(loom_trainer_resume_bytes, handle(), bytes.handle()); }

 private:
  Trainer(Network& network, const Data& data, std::string_view spec, std::string_view options, int)
      : Object(detail::made<Object>(loom_trainer_create, network.handle(), data.handle(),
                                    spec.data(), spec.size(), options.data(), options.size())) {}
};

// Images that are no PGM or PPM, for trainings from files; the functions of loom/training.h.
inline void register_image_decoder(const loom_image_decoder& decoder) {
  check(loom_image_decoder_register, &decoder);
}
inline void unregister_image_decoder() { check(loom_image_decoder_unregister); }

// Training from files, as loom train does it. Texts are JSON: docs/reference/c-api.md.
class Training : public Object {
 public:
  struct Judged {
    std::string figures, text;
  };
  using Object::Object;
  static Training open(std::string_view options) {
    return detail::made<Training>(loom_training_open, options.data(), options.size());
  }
  std::string info() const { return detail::text(loom_training_info, handle()); }
  // At most `steps`; the report of the last one.
  std::string step(std::int64_t steps = 1) {
    return detail::text(loom_training_step, handle(), steps);
  }
  // From any thread: the call inside, or else the next one, throws Error{LOOM_CANCELLED}; the
  // training is then as it was before the step that ran.
  void cancel() { check(loom_cancel, handle()); }
  Judged judge() {
    loom_bytes figures = 0, text = 0;
    check(loom_training_judge, handle(), &figures, &text);
    const Bytes first(figures), second(text);
    return {first.text(), second.text()};
  }
  // `form`: "text" or "svg".
  std::string report(std::string_view form) const {
    return detail::text(loom_training_report, handle(), form.data(), form.size());
  }
  std::string digest() const { return detail::text(loom_training_digest, handle()); }
  void save(std::string_view path) const {
    check(loom_training_save, handle(), path.data(), path.size());
  }
  Bytes save() const { return detail::made<Bytes>(loom_training_save_bytes, handle()); }
};

// A trained network over raw data as it learned them: a path of a table, arrays, images, texts.
// Answers are JSON: docs/reference/c-api.md.
class Predictor : public Object {
 public:
  using Object::Object;
  static Predictor open(std::string_view network, std::string_view options = {}) {
    return detail::made<Predictor>(loom_predictor_open, network.data(), network.size(),
                                   options.data(), options.size());
  }
  std::string info() const { return detail::text(loom_predictor_info, handle()); }
  // What next(), measure() and plan() work on.
  std::string read(std::string_view data) {
    return detail::text(loom_predictor_read, handle(), data.data(), data.size());
  }
  // The answers to the next rows; "[]" behind the last one.
  std::string next(std::int64_t rows) { return detail::text(loom_predictor_next, handle(), rows); }
  // After the table of training, or after `data`.
  std::string forecast(std::string_view data, std::int64_t horizon) {
    return detail::text(loom_predictor_forecast, handle(), data.data(), data.size(), horizon);
  }
  std::string measure() { return detail::text(loom_predictor_measure, handle()); }
  void morph(std::string_view format) {
    check(loom_predictor_morph, handle(), format.data(), format.size());
  }
  std::string plan(std::string_view options) {
    return detail::text(loom_predictor_plan, handle(), options.data(), options.size());
  }
  void save(std::string_view path) const {
    check(loom_predictor_save, handle(), path.data(), path.size());
  }
  // From any thread: the call inside, or else the next one, throws Error{LOOM_CANCELLED}.
  void cancel() { check(loom_cancel, handle()); }
};

// How well a model predicts the ids of a text.
class Evaluator : public Object {
 public:
  using Object::Object;
  Evaluator(const Model& model, std::span<const std::int32_t> ids, std::string_view options = {})
      : Evaluator(model.handle(), 0, ids, options) {}
  // Also how far it is from another model.
  Evaluator(const Model& model, const Model& reference, std::span<const std::int32_t> ids,
            std::string_view options = {})
      : Evaluator(model.handle(), reference.handle(), ids, options) {}

  // Runs the next rows and returns their number, 0 at the end; `logits`: chunk x vocab_size, or
  // empty.
  std::int64_t next(std::span<float> logits = {}) {
    std::int64_t rows = 0;
    check(loom_evaluator_next, handle(), logits.data(), logits.size(), &rows);
    return rows;
  }
  void cancel() { check(loom_cancel, handle()); }
  // JSON: docs/reference/c-api.md.
  std::string info() const { return detail::text(loom_evaluator_info, handle()); }

 private:
  Evaluator(loom_handle model, loom_handle reference, std::span<const std::int32_t> ids,
            std::string_view options)
      : Object(detail::made<Object>(loom_evaluator_create, model, reference, ids.data(), ids.size(),
                                    options.data(), options.size())) {}
};

}  // namespace api
}  // namespace loom

#endif
