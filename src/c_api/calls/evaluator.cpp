// Models measured over a text.
#include <algorithm>

#include "c_api/call.h"
#include "c_api/options/options.h"

using namespace loom;
using namespace loom::c_api;

namespace {

// Both models, held for a run, in the order of their addresses: two evaluators that hold them the
// other way round do not wait for each other.
struct Held {
  locks::shared_lock<locks::fair_mutex> first, second;
};

Result<Held> hold(const EvaluatorObject& e) {
  SharedNetwork *a = e.shared.get(), *b = e.reference.get();
  if (b && b < a) std::swap(a, b);
  Held held;
  LOOM_ASSIGN(held.first, a->hold_shared());
  if (b && b != a) {
    LOOM_ASSIGN(held.second, b->hold_shared());
  }
  const auto same = [](const SharedNetwork& n, std::uint64_t values, std::uint64_t forms) {
    return n.values == values && n.forms == forms;
  };
  if (same(*e.shared, e.values, e.forms) &&
      (!e.reference || same(*e.reference, e.reference_values, e.reference_forms)))
    return held;
  return Status(Code::invalid_argument,
                "evaluator: a model has changed since this evaluator was made: make a new one");
}

Status make(EvaluatorObject& e, std::vector<std::int32_t> ids, const EvaluateOptions& options) {
  SharedNetwork *a = e.shared.get(), *b = e.reference.get();
  if (b && b < a) std::swap(a, b);
  LOOM_ASSIGN(const auto first, a->hold_alone());
  locks::unique_lock<locks::fair_mutex> second;
  if (b && b != a) {
    LOOM_ASSIGN(second, b->hold_alone());
  }
  EvaluateOptions o = options;
  o.adapter = e.shared->adapter;
  if (e.reference) o.reference_adapter = e.reference->adapter;
  LOOM_ASSIGN(e.evaluator,
              TextEvaluator::create(*e.shared->model, e.reference ? &*e.reference->model : nullptr,
                                    e.pool, std::move(ids), o));
  e.values = e.shared->values;
  e.forms = e.shared->forms;
  if (e.reference) {
    e.reference_values = e.reference->values;
    e.reference_forms = e.reference->forms;
  }
  return {};
}

Json info_json(const EvaluatorObject& e) {
  const Evaluation r = e.evaluator->result();
  Json json = Json::object();
  json.set("done", e.evaluator->done());
  json.set("rows", e.evaluator->rows());
  json.set("tokens", r.tokens);
  json.set("loss", r.loss);
  json.set("perplexity", r.perplexity);
  if (e.reference) {
    json.set("reference_loss", r.reference_loss);
    json.set("kl", r.kl);
    json.set("largest_kl", r.largest_kl);
    json.set("same_argmax", r.same_best);
  }
  if (!e.logits_sha256.empty()) json.set("logits_sha256", e.logits_sha256);
  json.set("target", e.evaluator->session().executor().target());
  set_device(json, e.device);
  json.set("numerics", custom_numerics(e.evaluator->session().program().calls, e.device.numerics));
  json.set("threads", e.pool.size());
  return json;
}

}  // namespace

extern "C" {

int32_t loom_evaluator_create(loom_model model, loom_model reference, const int32_t* ids,
                              size_t ids_count, const char* options, size_t options_size,
                              loom_evaluator* evaluator, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(evaluator));
    LOOM_ASSIGN(const auto m, get<ModelObject>(model));
    LOOM_ASSIGN(const std::span<const std::int32_t> i, c_api::span(ids, ids_count, "ids"));
    EvaluatorCreate o;
    LOOM_TRY(read_options(options, options_size, o));
    LOOM_ASSIGN(Machine machine, machine_of(o.machine));
    auto e = std::make_shared<EvaluatorObject>(m->shared, machine.mode.threads);
    if (reference != 0) {
      LOOM_ASSIGN(const auto other, get<ModelObject>(reference));
      e->reference = other->shared;
    }
    EvaluateOptions settings;
    settings.context = o.context;
    settings.chunk = e->chunk = o.chunk;
    settings.last_row = o.last_row;
    settings.activations = o.activations;
    settings.cancel = &e->cancel;
    place(settings, o.machine, machine);
    e->device = std::move(machine.choice);
    if (o.hash) e->hash.emplace();
    LOOM_TRY(make(*e, {i.begin(), i.end()}, settings));
    *evaluator = add(std::move(e));
    return {};
  });
}

int32_t loom_evaluator_next(loom_evaluator evaluator, float* logits, size_t logits_count,
                            int64_t* rows, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(rows));
    LOOM_ASSIGN(const std::span<float> out, c_api::span(logits, logits_count, "logits"));
    LOOM_ASSIGN(const auto e, get<EvaluatorObject>(evaluator));
    LOOM_ASSIGN(const auto inside, enter(*e));
    return cancellable(*e, [&]() -> Status {
      if (!out.empty()) {
        LOOM_ASSIGN(const std::int64_t wanted,
                    product("logits", e->chunk, e->shared->model->config.vocab_size));
        LOOM_TRY(expect_count("logits", logits_count, wanted));
      }
      LOOM_ASSIGN(const auto held, hold(*e));
      LOOM_ASSIGN(const std::int64_t ran, e->evaluator->next());
      auto to = out.begin();
      for (std::int64_t r = 0; r < ran; ++r) {
        const std::span<const float> row = e->evaluator->row(r);
        if (e->hash) e->hash->update_f32(row);
        if (!out.empty()) to = std::copy(row.begin(), row.end(), to);
      }
      if (e->hash && e->evaluator->done() == e->evaluator->rows()) {
        e->logits_sha256 = Sha256::hex(e->hash->finish());
        e->hash.reset();
      }
      *rows = ran;
      return {};
    });
  });
}

int32_t loom_evaluator_info(loom_evaluator evaluator, loom_bytes* info, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(info));
    LOOM_ASSIGN(const auto e, get<EvaluatorObject>(evaluator));
    LOOM_ASSIGN(const auto inside, enter(*e));
    LOOM_ASSIGN(const auto held, hold(*e));
    *info = new_json(info_json(*e));
    return {};
  });
}

}  // extern "C"
