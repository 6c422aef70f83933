// Data and trainers.
#include "base/message.h"
#include "c_api/call.h"
#include "c_api/options/options.h"
#include "c_api/options/structs.h"
#include "train/checkpoint.h"
#include "train/data/data.h"
#include "train/data/tables/table.h"
#include "train/shards.h"
#include "train/spec/spec.h"

using namespace loom;
using namespace loom::c_api;

namespace {

template <class T>
Status give(Result<std::unique_ptr<T>> made, loom_data* data) {
  LOOM_TRY(made.status());
  *data = add(std::make_shared<DataObject>(std::move(*made)));
  return {};
}

// x as samples of `width` values.
template <class T>
Result<std::vector<T>> samples(const T* x, std::size_t count, std::int64_t width) {
  LOOM_ASSIGN(const std::span<const T> in, c_api::span(x, count, "x"));
  if (width < 1)
    return Status(Code::invalid_argument, message("width: must be at least 1, got ", width));
  if (count % static_cast<std::uint64_t>(width) != 0)
    return Status(Code::invalid_argument,
                  message("x: ", count, " values are no whole rows of ", width));
  return std::vector<T>(in.begin(), in.end());
}

template <class T>
Status data_values(const T* x, std::size_t x_count, std::int64_t width, const T* y,
                   std::size_t y_count, std::int64_t targets, loom_data* data) {
  LOOM_TRY(want(data));
  LOOM_ASSIGN(std::vector<T> in, samples(x, x_count, width));
  LOOM_ASSIGN(const std::span<const T> out, c_api::span(y, y_count, "y"));
  LOOM_ASSIGN(const std::int64_t expected,
              product("y", static_cast<std::int64_t>(x_count) / width, targets));
  LOOM_TRY(expect_count("y", y_count, expected));
  return give(
      ArrayData::create(std::move(in), width, std::vector<T>(out.begin(), out.end()), targets),
      data);
}

template <class T>
Status data_classes(const T* x, std::size_t x_count, std::int64_t width,
                    const std::int32_t* classes, std::size_t classes_count, loom_data* data) {
  LOOM_TRY(want(data));
  LOOM_ASSIGN(std::vector<T> in, samples(x, x_count, width));
  LOOM_ASSIGN(const std::span<const std::int32_t> c,
              c_api::span(classes, classes_count, "classes"));
  return give(
      ArrayData::create(std::move(in), width, std::vector<std::int32_t>(c.begin(), c.end())), data);
}

template <class T>
Status data_id_values(const std::int32_t* ids, std::size_t ids_count, std::int64_t steps,
                      const T* y, std::size_t y_count, std::int64_t targets, loom_data* data) {
  LOOM_TRY(want(data));
  LOOM_ASSIGN(auto in, unsigned_values(ids, ids_count, "ids"));
  LOOM_ASSIGN(const std::span<const T> out, c_api::span(y, y_count, "y"));
  return give(
      ArrayData::create(std::move(in), steps, std::vector<T>(out.begin(), out.end()), targets),
      data);
}

// An adapter's folder has no place for sections.
Status save(TrainerObject& object, Trainer& trainer, const Destination& to) {
  EntitySections sections;
  if (!trainer.adapter()) {
    LOOM_ASSIGN(sections, sections_of(*object.shared));
  }
  return save_checkpoint(to, trainer, sections, nullptr, base_of(*object.shared));
}

template <class F>
Status training(loom_trainer handle, bool changes, F body);

Status make_shard(loom_trainer trainer, std::int64_t number, const DataSource* given,
                  loom_bytes* bytes) {
  LOOM_ASSIGN(const auto object, get<TrainerObject>(trainer));
  return training(trainer, false, [&](Trainer& t) {
    return cancellable(*object, [&]() -> Status {
      LOOM_ASSIGN(const Shard made, t.shard(number, given));
      *bytes = new_bytes(made.to_bytes());
      return {};
    });
  });
}

// In a browser a call that returns at once, as those that read a network, cannot wait for a
// device.
#if defined(__wasm__)
constexpr bool kReadersWait = false;
#else
constexpr bool kReadersWait = true;
#endif

// After steps. What a device has learned is brought when somebody reads the network, if readers can
// wait for it; after a step that failed, or the last one, now.
Status after_steps(TrainerObject& object, Trainer& t, bool failed) {
  if (!kReadersWait || !t.on_device() || failed || t.done() >= t.steps()) return t.sync();
  object.shared->ahead = &object;
  return {};
}

// Runs body(trainer) with the network held alone, as training left it.
template <class F>
Status training(loom_trainer handle, bool changes, F body) {
  LOOM_ASSIGN(const auto t, get<TrainerObject>(handle));
  LOOM_ASSIGN(const auto inside, enter(*t));
  LOOM_ASSIGN(const auto lock, t->shared->hold_alone(t.get()));
  if (t->forms != t->shared->forms && t->forms - t->acts == t->shared->forms - t->shared->acts) {
    LOOM_TRY(t->trainer->follow());
    t->forms = t->shared->forms;
    t->acts = t->shared->acts;
  }
  if (t->forms != t->shared->forms)
    return Status(Code::invalid_argument,
                  "trainer: the network's topology or formats have changed since this trainer was "
                  "made: make a new one");
  if (t->values != t->shared->values) LOOM_TRY(t->trainer->refresh());
  t->values = changes ? ++t->shared->values : t->shared->values;
  // Also where the body ends by an exception, which may have begun to change the dtype.
  struct Forms {
    TrainerObject& t;
    const bool quantized = t.trainer->quantized();
    bool failed = true;
    ~Forms() {
      if (t.trainer->quantized() != quantized || (failed && t.trainer->quantizes()))
        t.forms = ++t.shared->forms;
    }
  } forms{*t};
  const Status status = body(*t->trainer);
  forms.failed = !status.ok();
  return status;
}

Status create(loom_network network, loom_data data, const Result<Json>& spec,
              const Result<Json>& options, loom_trainer* trainer) {
  LOOM_TRY(want(trainer));
  LOOM_ASSIGN(const auto n, get<NetworkObject>(network));
  LOOM_ASSIGN(const auto d, get<DataObject>(data));
  LOOM_ASSIGN(Json s, spec);
  if (s.is_object() && !s.find("format")) s.set("format", "loom-training");
  if (s.is_object() && !s.find("version")) s.set("version", 2);
  LOOM_ASSIGN(const TrainingSpec training_spec, parse_training_spec(s));
  TrainerCreate o;
  LOOM_TRY(read_options(options, o));
  LOOM_ASSIGN(Machine machine, machine_of(o.machine));
  TrainerOptions trainer_options;
  auto t = std::make_shared<TrainerObject>(n->shared, d->data, machine.mode.threads);
  place(trainer_options, o.machine, machine);
  t->device = std::move(machine.choice);
  trainer_options.cancel = &t->cancel;
  LOOM_ASSIGN(const auto lock, n->shared->hold_alone());
  trainer_options.places = places_of(*n->shared);
  trainer_options.adapter = n->shared->adapter;
  LOOM_ASSIGN(t->trainer, Trainer::create(training_spec, n->shared->network, *t->data, t->pool,
                                          trainer_options));
  const loom_handle made = add(t);
  if (t->trainer->adapter()) n->shared->adapter = t->trainer->adapter();
  if (t->trainer->quantized()) ++n->shared->forms;
  t->forms = n->shared->forms;
  t->acts = n->shared->acts;
  t->values = n->shared->values;
  *trainer = made;
  return {};
}

Status observe(TrainerObject& t, const PassesObserve& o) {
  if (o.observe.every == 0) {
    LOOM_TRY(t.trainer->observe(nullptr));
    return t.observing ? t.observing->window.flush() : Status();
  }
  auto next = std::make_unique<Observing>(o.keep, o.window);
  LOOM_TRY(t.trainer->observe(&next->window, o.observe));
  t.observing = std::move(next);
  return {};
}

Status given_twice(const std::string& key) {
  return Status(Code::invalid_argument,
                message("options: ", key, " is given, and \"spec\" has it, too: give one of them"));
}

// The training spec of a struct: its "spec", and the keys that its members give.
Result<Json> spec_of(const Json& given) {
  Json spec = Json::object();
  if (const Json* text = given.find("spec")) {
    const std::string& s = text->as_string();
    LOOM_ASSIGN(spec, json_argument(s.data(), s.size(), "spec"));
    if (!spec.is_object()) return Status(Code::invalid_argument, "spec: expected a JSON object");
  }
  for (const auto& [key, value] : given.as_object()) {
    if (key == "spec" || key == "options") continue;
    const Json* there = spec.find(key);
    if (!there || !value.is_object() || !there->is_object()) {
      if (there) return given_twice("\"" + key + "\"");
      spec.set(key, value);
      continue;
    }
    Json merged = *there;
    for (const auto& [inner, v] : value.as_object()) {
      if (merged.find(inner)) return given_twice("\"" + inner + "\" of \"" + key + "\"");
      merged.set(inner, v);
    }
    spec.set(key, std::move(merged));
  }
  return spec;
}

}  // namespace

extern "C" {

int32_t loom_data_values(const float* x, size_t x_count, int64_t width, const float* y,
                         size_t y_count, int64_t targets, loom_data* data, loom_error* error) {
  return call(error, [&] { return data_values(x, x_count, width, y, y_count, targets, data); });
}
int32_t loom_data_values_f64(const double* x, size_t x_count, int64_t width, const double* y,
                             size_t y_count, int64_t targets, loom_data* data, loom_error* error) {
  return call(error, [&] { return data_values(x, x_count, width, y, y_count, targets, data); });
}
int32_t loom_data_classes(const float* x, size_t x_count, int64_t width, const int32_t* classes,
                          size_t classes_count, loom_data* data, loom_error* error) {
  return call(error, [&] { return data_classes(x, x_count, width, classes, classes_count, data); });
}
int32_t loom_data_classes_f64(const double* x, size_t x_count, int64_t width,
                              const int32_t* classes, size_t classes_count, loom_data* data,
                              loom_error* error) {
  return call(error, [&] { return data_classes(x, x_count, width, classes, classes_count, data); });
}
int32_t loom_data_id_values(const int32_t* ids, size_t ids_count, int64_t steps, const float* y,
                            size_t y_count, int64_t targets, loom_data* data, loom_error* error) {
  return call(error,
              [&] { return data_id_values(ids, ids_count, steps, y, y_count, targets, data); });
}
int32_t loom_data_id_values_f64(const int32_t* ids, size_t ids_count, int64_t steps,
                                const double* y, size_t y_count, int64_t targets, loom_data* data,
                                loom_error* error) {
  return call(error,
              [&] { return data_id_values(ids, ids_count, steps, y, y_count, targets, data); });
}

int32_t loom_data_id_classes(const int32_t* ids, size_t ids_count, int64_t steps,
                             const int32_t* classes, size_t classes_count, loom_data* data,
                             loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(data));
    LOOM_ASSIGN(auto in, unsigned_values(ids, ids_count, "ids"));
    LOOM_ASSIGN(const std::span<const std::int32_t> c,
                c_api::span(classes, classes_count, "classes"));
    return give(
        ArrayData::create(std::move(in), steps, std::vector<std::int32_t>(c.begin(), c.end())),
        data);
  });
}

int32_t loom_data_tokens(const int32_t* ids, size_t ids_count, const int64_t* ends,
                         size_t ends_count, int64_t length, loom_data* data, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(data));
    LOOM_ASSIGN(std::vector<std::uint32_t> i, unsigned_values(ids, ids_count, "ids"));
    LOOM_ASSIGN(const std::span<const std::int64_t> e, c_api::span(ends, ends_count, "ends"));
    for (const std::int64_t end : e)
      if (end < 0) return Status(Code::out_of_range, message("ends: ", end, " is below 0"));
    const std::vector<std::uint64_t> document_ends(e.begin(), e.end());
    return give(TokenData::create(std::move(i), document_ends, length), data);
  });
}

int32_t loom_data_table(const char* csv, size_t csv_size, const char* options, size_t options_size,
                        loom_data* data, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(data));
    LOOM_ASSIGN(const std::string_view table, text_argument(csv, csv_size, "csv"));
    LOOM_ASSIGN(Json o, json_argument(options, options_size, "options"));
    if (o.is_object() && !o.find("type")) o.set("type", "table");
    LOOM_ASSIGN(const DataSpec spec, parse_data_spec(o));
    if (spec.kind != DataKind::table)
      return Status(Code::invalid_argument, "options: \"type\" must be \"table\"");
    return give(read_table(table, spec), data);
  });
}

int32_t loom_data_weighted(loom_data samples, const float* weights, size_t weights_count,
                           loom_data* data, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(data));
    LOOM_ASSIGN(const auto d, get<DataObject>(samples));
    LOOM_ASSIGN(const std::span<const float> w, c_api::span(weights, weights_count, "weights"));
    return give(WeightedData::create(d->data, std::vector<float>(w.begin(), w.end())), data);
  });
}

int32_t loom_data_info(loom_data data, loom_bytes* info, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(info));
    LOOM_ASSIGN(const auto d, get<DataObject>(data));
    const DataSource::Form form = d->data->form();
    Json json = Json::object();
    json.set("samples", d->data->samples());
    json.set("max_rows", d->data->max_rows());
    if (form.ids > 0) json.set("ids", form.ids);
    else json.set("width", form.width);
    if (form.steps > 0) json.set("steps", form.steps);
    if (form.places != 1) json.set("places", form.places);
    if (form.weighted) json.set("weighted", true);
    if (form.targets > 0) json.set("targets", form.targets);
    else json.set("classes", form.classes);
    json.set("sha256", d->data->hash());
    *info = new_json(json);
    return {};
  });
}

int32_t loom_trainer_create(loom_network network, loom_data data, const char* spec,
                            size_t spec_size, const char* options, size_t options_size,
                            loom_trainer* trainer, loom_error* error) {
  return call(error, [&] {
    return create(network, data, json_argument(spec, spec_size, "spec"),
                  options_json(options, options_size), trainer);
  });
}

int32_t loom_trainer_create_with(loom_network network, loom_data data,
                                 const loom_training_options* options, loom_trainer* trainer,
                                 loom_error* error) {
  return call(error, [&]() -> Status {
    const Result<Json> given = options_json(options);
    if (!given.ok()) return create(network, data, given, given, trainer);
    const Json* place = given->find("options");
    return create(network, data, spec_of(*given), place ? *place : Json::object(), trainer);
  });
}

int32_t loom_trainer_step(loom_trainer trainer, int64_t steps, int64_t* step, double* loss,
                          double* lr, int64_t* rows, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(step, loss, lr, rows));
    if (steps < 0)
      return Status(Code::invalid_argument, message("steps: must not be negative, got ", steps));
    LOOM_ASSIGN(const auto object, get<TrainerObject>(trainer));
    StepReport last;
    std::int64_t done = 0, seen = 0;
    bool ended = false;
    const auto one = [&](Trainer& t) -> Status {
      ended = t.done() >= t.steps();
      if (ended) return {};
      LOOM_ASSIGN(last, t.step());
      seen += last.rows;
      if (t.on_device()) object->shared->ahead = object.get();
      return {};
    };
    // A cancel that came before ends this call, even where it has no steps.
    LOOM_TRY(training(trainer, false,
                      [&](Trainer&) { return cancellable(*object, [] { return Status(); }); }));
    Status status;
    for (std::int64_t i = 0; i < steps && !ended && status.ok(); ++i) {
      // Step by step, so that others get at the network between.
      status = training(trainer, true,
                        [&](Trainer& t) { return cancellable(*object, [&] { return one(t); }); });
    }
    const Status synced = training(trainer, steps > 0, [&](Trainer& t) {
      done = t.done();
      return after_steps(*object, t, !status.ok());
    });
    LOOM_TRY(status);
    LOOM_TRY(synced);
    *step = done;
    *loss = last.loss;
    *lr = last.lr;
    *rows = seen;
    return {};
  });
}

int32_t loom_trainer_step_on(loom_trainer trainer, loom_data data, int64_t* step, double* loss,
                             double* lr, int64_t* rows, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(step, loss, lr, rows));
    LOOM_ASSIGN(const auto object, get<TrainerObject>(trainer));
    LOOM_ASSIGN(const auto batch, get<DataObject>(data));
    StepReport report;
    LOOM_TRY(training(trainer, true, [&](Trainer& t) {
      const Status status = cancellable(*object, [&]() -> Status {
        LOOM_ASSIGN(report, t.step_on(*batch->data));
        return {};
      });
      const Status synced = after_steps(*object, t, !status.ok());
      return status.ok() ? synced : status;
    }));
    *step = report.step;
    *loss = report.loss;
    *lr = report.lr;
    *rows = report.rows;
    return {};
  });
}

int32_t loom_trainer_shard(loom_trainer trainer, int64_t shard, loom_bytes* bytes,
                           loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(bytes));
    return make_shard(trainer, shard, nullptr, bytes);
  });
}

int32_t loom_trainer_shard_on(loom_trainer trainer, int64_t shard, loom_data data,
                              loom_bytes* bytes, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(bytes));
    LOOM_ASSIGN(const auto given, get<DataObject>(data));
    return make_shard(trainer, shard, given->data.get(), bytes);
  });
}

int32_t loom_trainer_apply(loom_trainer trainer, const int64_t* shards, size_t shards_count,
                           int64_t* step, double* loss, double* lr, int64_t* rows,
                           loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(step, loss, lr, rows));
    LOOM_ASSIGN(const auto given, c_api::span(shards, shards_count, "shards"));
    std::vector<Shard> read;
    for (const std::int64_t handle : given) {
      LOOM_ASSIGN(const auto bytes, get<Bytes>(static_cast<loom_handle>(handle)));
      auto one = Shard::from_bytes({bytes->data, bytes->size});
      if (!one.ok()) return one.status().at("shards: " + std::to_string(read.size()));
      read.push_back(std::move(*one));
    }
    StepReport report;
    LOOM_TRY(training(trainer, true, [&](Trainer& t) -> Status {
      LOOM_ASSIGN(report, t.apply(read));
      return t.sync();
    }));
    *step = report.step;
    *loss = report.loss;
    *lr = report.lr;
    *rows = report.rows;
    return {};
  });
}

int32_t loom_trainer_moments(loom_trainer trainer, loom_bytes* moments, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(moments));
    return training(trainer, false, [&](Trainer& t) {
      Json list = Json::array();
      for (const TrainingTensor& m : t.moments()) {
        Json one = Json::object();
        one.set("name", m.name);
        one.set("rows", m.rows);
        one.set("cols", m.cols);
        list.push(std::move(one));
      }
      *moments = new_json(list);
      return Status();
    });
  });
}

int32_t loom_trainer_get_moment(loom_trainer trainer, const char* name, size_t name_size,
                                double* values, size_t values_count, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_ASSIGN(const std::string_view wanted, text_argument(name, name_size, "name"));
    LOOM_ASSIGN(const auto to, c_api::span(values, values_count, "values"));
    return training(trainer, false, [&](Trainer& t) -> Status {
      LOOM_ASSIGN(const TrainingTensor m, t.moment(wanted));
      if (to.size() != m.f32.size() + m.f64.size())
        return Status(Code::invalid_argument, message("values: moment ", m.name, " has ", m.rows,
                                                      " x ", m.cols, ", got room for ", to.size()));
      std::ranges::copy(m.f64, std::ranges::copy(m.f32, to.begin()).out);
      return {};
    });
  });
}

int32_t loom_trainer_set_moment(loom_trainer trainer, const char* name, size_t name_size,
                                const double* values, size_t values_count, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_ASSIGN(const std::string_view wanted, text_argument(name, name_size, "name"));
    LOOM_ASSIGN(const auto from, c_api::span(values, values_count, "values"));
    return training(trainer, true, [&](Trainer& t) { return t.set_moment(wanted, from); });
  });
}

int32_t loom_trainer_set_step(loom_trainer trainer, int64_t step, loom_error* error) {
  return call(error, [&]() -> Status {
    return training(trainer, true, [&](Trainer& t) { return t.set_done(step); });
  });
}

int32_t loom_trainer_extend(loom_trainer trainer, int64_t steps, int64_t epochs, int64_t* total,
                            loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(total));
    return training(trainer, false, [&](Trainer& t) -> Status {
      LOOM_TRY(t.extend(steps, epochs));
      *total = t.steps();
      return {};
    });
  });
}

int32_t loom_trainer_info(loom_trainer trainer, loom_bytes* info, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(info));
    return training(trainer, false, [&](Trainer& t) {
      Json json = Json::object();
      json.set("step", t.done());
      json.set("steps", t.steps());
      json.set("spec", t.spec().to_json());
      json.set("arena_bytes", t.arena_bytes());
      set_parts(json, t.parts());
      if (const Streams* s = t.streams()) {
        Json cut = Json::object();
        cut.set("rows", s->lane_rows());
        cut.set("window", s->max_rows());
        cut.set("windows", s->windows());
        cut.set("left_out", s->left_out());
        json.set("streams", std::move(cut));
      }
      *info = new_json(json);
      return Status();
    });
  });
}

int32_t loom_trainer_observe(loom_trainer trainer, const char* options, size_t options_size,
                             loom_error* error) {
  return call(error, [&]() -> Status {
    PassesObserve o{.of = PassesObserve::Of::trainer};
    LOOM_TRY(read_options(options, options_size, o));
    LOOM_ASSIGN(const auto object, get<TrainerObject>(trainer));
    return training(trainer, false, [&](Trainer&) { return observe(*object, o); });
  });
}

int32_t loom_trainer_statistics(loom_trainer trainer, loom_bytes* statistics_json,
                                loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(statistics_json));
    LOOM_ASSIGN(const auto object, get<TrainerObject>(trainer));
    LOOM_ASSIGN(const auto inside, enter(*object));
    const Trainer& t = *object->trainer;
    *statistics_json =
        new_json(statistics(object->observing.get(), t.passes(), t.observed_passes()));
    return {};
  });
}

int32_t loom_trainer_digest(loom_trainer trainer, loom_bytes* sha256, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(sha256));
    return training(trainer, false, [&](Trainer& t) {
      LOOM_TRY(t.sync());
      const std::string digest = t.digest();
      LOOM_TRY(t.sync());  // what a device could not give back of it
      *sha256 = new_text(digest);
      return Status();
    });
  });
}

int32_t loom_trainer_save(loom_trainer trainer, const char* path, size_t path_size,
                          loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_ASSIGN(const std::string p, path_argument(path, path_size, "path"));
    LOOM_ASSIGN(const auto object, get<TrainerObject>(trainer));
    return training(trainer, false, [&](Trainer& t) { return save(*object, t, p); });
  });
}

int32_t loom_trainer_save_bytes(loom_trainer trainer, loom_bytes* bytes, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(bytes));
    std::vector<std::byte> file;
    LOOM_ASSIGN(const auto object, get<TrainerObject>(trainer));
    LOOM_TRY(training(trainer, false, [&](Trainer& t) { return save(*object, t, &file); }));
    *bytes = new_bytes(std::move(file));
    return {};
  });
}

int32_t loom_trainer_resume(loom_trainer trainer, const char* path, size_t path_size,
                            loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_ASSIGN(const std::string p, path_argument(path, path_size, "path"));
    return training(trainer, true, [&](Trainer& t) { return resume_checkpoint(p, t); });
  });
}

int32_t loom_trainer_resume_bytes(loom_trainer trainer, loom_bytes bytes, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_ASSIGN(const auto b, get<Bytes>(bytes));
    return training(trainer, true, [&](Trainer& t) { return resume_checkpoint(b->source(), t); });
  });
}

}  // extern "C"
