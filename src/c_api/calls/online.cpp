// Learning beside answers.
#include "base/message.h"
#include "c_api/call.h"
#include "c_api/options/options.h"
#include "c_api/options/structs.h"
#include "ops/calls/custom_layer.h"

using namespace loom;
using namespace loom::c_api;

namespace {

Status create(loom_network network, const Result<Json>& spec, const Result<Json>& options,
              loom_online* online) {
  LOOM_TRY(want(online));
  LOOM_ASSIGN(const auto n, get<NetworkObject>(network));
  LOOM_ASSIGN(Json s, spec);
  LOOM_ASSIGN(const TrainingSpec training, parse_online_spec(std::move(s)));
  OnlineCreate o;
  LOOM_TRY(read_options(options, o));
  LOOM_ASSIGN(Machine machine, machine_of(o.machine));
  auto object = std::make_shared<OnlineObject>(n->shared, machine.mode.threads);
  OnlineMachine place_of;
  place(place_of, o.machine, machine);
  place_of.cancel = &object->cancel;
  object->device = std::move(machine.choice);
  LOOM_ASSIGN(const auto lock, n->shared->hold_alone());
  if (n->shared->adapter)
    return Status(
        Code::invalid_argument,
        "online: the network runs with an adapter, which would not be seen: add it to the "
        "weights (merge_adapter) or take it away (unload_adapter)");
  LOOM_ASSIGN(object->learner, OnlineLearner::create(training, n->shared->network, object->pool,
                                                     o.online, place_of));
  object->forms = n->shared->forms;
  *online = add(std::move(object));
  return {};
}

// Runs body(object), which no other call is inside.
Status with_online(loom_online handle, Status (*body)(OnlineObject&, void*), void* context) {
  LOOM_ASSIGN(const auto o, get<OnlineObject>(handle));
  LOOM_ASSIGN(const auto inside, enter(*o));
  return body(*o, context);
}
template <class F>
std::int32_t on(loom_online handle, loom_error* error, F body) {
  return call(error, [&] {
    return with_online(
        handle, [](OnlineObject& o, void* f) -> Status { return (*static_cast<F*>(f))(o); }, &body);
  });
}

Status commit(OnlineObject& o) {
  SharedNetwork& shared = *o.shared;
  LOOM_ASSIGN(const auto lock, shared.hold_alone());
  if (o.forms != shared.forms)
    return Status(Code::invalid_argument,
                  "online: the network's topology or formats have changed since this was made");
  // Also where it fails between two cells.
  ++shared.values;
  const Result<bool> morphed = o.learner->commit(shared.network);
  if (!morphed.ok() || *morphed) o.forms = ++shared.forms;
  return morphed.status();
}

}  // namespace

extern "C" {

int32_t loom_online_create(loom_network network, const char* spec, size_t spec_size,
                           const char* options, size_t options_size, loom_online* online,
                           loom_error* error) {
  return call(error, [&] {
    return create(network, json_argument(spec, spec_size, "spec"),
                  options_json(options, options_size), online);
  });
}

int32_t loom_online_create_with(loom_network network, const char* spec, size_t spec_size,
                                const loom_online_options* options, loom_online* online,
                                loom_error* error) {
  return call(error, [&] {
    return create(network, json_argument(spec, spec_size, "spec"), options_json(options), online);
  });
}

int32_t loom_online_answer(loom_online online, const float* x, size_t x_count, float* y,
                           size_t y_count, int64_t* first, loom_error* error) {
  return on(online, error, [&](OnlineObject& o) -> Status {
    LOOM_TRY(want(first));
    LOOM_ASSIGN(const auto in, c_api::span(x, x_count, "x"));
    LOOM_ASSIGN(const auto out, c_api::span(y, y_count, "y"));
    LOOM_ASSIGN(*first, o.learner->answer(in, out));
    return {};
  });
}

int32_t loom_online_answer_ids(loom_online online, const int32_t* ids, size_t ids_count, float* y,
                               size_t y_count, int64_t* first, loom_error* error) {
  return on(online, error, [&](OnlineObject& o) -> Status {
    LOOM_TRY(want(first));
    LOOM_ASSIGN(const auto in, unsigned_values(ids, ids_count, "ids"));
    LOOM_ASSIGN(const auto out, c_api::span(y, y_count, "y"));
    LOOM_ASSIGN(*first, o.learner->answer_ids(in, out));
    return {};
  });
}

int32_t loom_online_feedback(loom_online online, int64_t first, const float* targets,
                             size_t targets_count, loom_error* error) {
  return on(online, error, [&](OnlineObject& o) -> Status {
    LOOM_ASSIGN(const auto values, c_api::span(targets, targets_count, "targets"));
    return o.learner->feedback(first, values);
  });
}

int32_t loom_online_feedback_classes(loom_online online, int64_t first, const int32_t* classes,
                                     size_t classes_count, loom_error* error) {
  return on(online, error, [&](OnlineObject& o) -> Status {
    LOOM_ASSIGN(const auto values, c_api::span(classes, classes_count, "classes"));
    return o.learner->feedback(first, values);
  });
}

int32_t loom_online_add(loom_online online, loom_data data, loom_error* error) {
  return on(online, error, [&](OnlineObject& o) -> Status {
    LOOM_ASSIGN(const auto d, get<DataObject>(data));
    return o.learner->add(*d->data);
  });
}

int32_t loom_online_task(loom_online online, const char* task, size_t task_size,
                         loom_error* error) {
  return on(online, error, [&](OnlineObject& o) -> Status {
    LOOM_ASSIGN(const std::string_view name, text_argument(task, task_size, "task"));
    return o.learner->task(std::string(name));
  });
}

int32_t loom_online_learn(loom_online online, int64_t microseconds, int64_t steps, int64_t* done,
                          loom_error* error) {
  return on(online, error, [&](OnlineObject& o) -> Status {
    LOOM_TRY(want(done));
    constexpr std::int64_t kMaxTime = INT64_MAX / 1000;
    if (microseconds < -1 || microseconds > kMaxTime)
      return Status(Code::out_of_range,
                    message("microseconds: expects -1 to ", kMaxTime, ", got ", microseconds));
    if (steps < 0)
      return Status(Code::out_of_range, message("steps: must not be negative, got ", steps));
    OnlineLearner::Learned learned;
    const Status status = cancellable(o, [&] {
      return o.learner->learn(microseconds < 0 ? -1 : 1000 * microseconds, steps, learned);
    });
    LOOM_TRY(status);
    *done = learned.steps;
    return {};
  });
}

int32_t loom_online_publish(loom_online online, loom_error* error) {
  return on(online, error, [](OnlineObject& o) { return o.learner->publish(); });
}

int32_t loom_online_measure(loom_online online, loom_data data, const char* task, size_t task_size,
                            double* accuracy, loom_error* error) {
  return on(online, error, [&](OnlineObject& o) -> Status {
    LOOM_TRY(want(accuracy));
    LOOM_ASSIGN(const auto d, get<DataObject>(data));
    LOOM_ASSIGN(const std::string_view name, text_argument(task, task_size, "task"));
    LOOM_ASSIGN(*accuracy, o.learner->measure(*d->data, std::string(name)));
    return {};
  });
}

int32_t loom_online_commit(loom_online online, loom_error* error) {
  return on(online, error, commit);
}

int32_t loom_online_report(loom_online online, loom_bytes* report, loom_error* error) {
  return on(online, error, [&](OnlineObject& o) -> Status {
    LOOM_TRY(want(report));
    *report = new_json(o.learner->report());
    return {};
  });
}

int32_t loom_online_info(loom_online online, loom_bytes* info, loom_error* error) {
  return on(online, error, [&](OnlineObject& o) -> Status {
    LOOM_TRY(want(info));
    Json json = o.learner->info();
    set_device(json, o.device);
    json.set("numerics", custom_numerics(o.learner->program().calls, o.device.numerics));
    *info = new_json(json);
    return {};
  });
}

}  // extern "C"
