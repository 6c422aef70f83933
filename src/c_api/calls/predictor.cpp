// Trained networks that answer raw data. Not in the WebAssembly module.
#include "fit/predictor.h"

#include <functional>

#include "base/message.h"
#include "c_api/call.h"
#include "c_api/calls/images.h"
#include "c_api/options/options.h"

using namespace loom;
using namespace loom::c_api;

namespace {

struct PredictorObject : ExclusiveOf<LOOM_KIND_PREDICTOR> {
  std::atomic<bool>* cancel_flag() override { return &cancel; }
  std::atomic<bool> cancel{false};
  std::unique_ptr<Predictor> predictor;
};

// Runs body(predictor), whose answer goes to `out` where there is one.
Status answered(loom_predictor handle, loom_bytes* out,
                const std::function<Result<Json>(Predictor&)>& body) {
  LOOM_ASSIGN(const auto p, get<PredictorObject>(handle));
  LOOM_ASSIGN(const auto inside, enter(*p));
  return cancellable(*p, [&]() -> Status {
    LOOM_ASSIGN(const Json json, body(*p->predictor));
    if (out) *out = new_json(json);
    return {};
  });
}

}  // namespace

extern "C" {

int32_t loom_predictor_open(const char* network, size_t network_size, const char* options,
                            size_t options_size, loom_predictor* predictor, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(predictor));
    LOOM_ASSIGN(const std::string path, path_argument(network, network_size, "network"));
    PredictorOpen o;
    LOOM_TRY(read_options(options, options_size, o));
    LOOM_ASSIGN(Machine machine, machine_of(o.machine));
    auto p = std::make_shared<PredictorObject>();
    LOOM_ASSIGN(p->predictor, Predictor::open(path, std::move(machine), o.machine.isa, &p->cancel));
    *predictor = add(std::move(p));
    return {};
  });
}

int32_t loom_predictor_info(loom_predictor predictor, loom_bytes* info, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(info));
    return answered(predictor, info, [&](Predictor& p) -> Result<Json> {
      Json json = p.info();
      set_device(json, p.device());
      json.set("numerics", p.device().numerics);
      return json;
    });
  });
}

int32_t loom_predictor_read(loom_predictor predictor, const char* data, size_t data_size,
                            loom_bytes* info, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(info));
    LOOM_ASSIGN(const std::string path, path_argument(data, data_size, "data"));
    return answered(predictor, info, [&](Predictor& p) { return p.read(path, image_decoder()); });
  });
}

int32_t loom_predictor_next(loom_predictor predictor, int64_t rows, loom_bytes* answers,
                            loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(answers));
    if (rows < 1)
      return Status(Code::invalid_argument, message("rows: must be at least 1, got ", rows));
    return answered(predictor, answers, [&](Predictor& p) { return p.next(rows); });
  });
}

int32_t loom_predictor_forecast(loom_predictor predictor, const char* data, size_t data_size,
                                int64_t horizon, loom_bytes* forecasts, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(forecasts));
    std::string path;
    if (data_size > 0) {
      LOOM_ASSIGN(path, path_argument(data, data_size, "data"));
    }
    return answered(predictor, forecasts, [&](Predictor& p) { return p.forecast(path, horizon); });
  });
}

int32_t loom_predictor_measure(loom_predictor predictor, loom_bytes* figures, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(figures));
    return answered(predictor, figures, [&](Predictor& p) { return p.measure(); });
  });
}

int32_t loom_predictor_morph(loom_predictor predictor, const char* format, size_t format_size,
                             loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_ASSIGN(const std::string_view text, text_argument(format, format_size, "format"));
    LOOM_ASSIGN(const WeightFormat to, parse_weight_format(text));
    return answered(predictor, nullptr, [&](Predictor& p) -> Result<Json> {
      LOOM_TRY(p.morph(to));
      return Json();
    });
  });
}

int32_t loom_predictor_plan(loom_predictor predictor, const char* options, size_t options_size,
                            loom_bytes* report, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(report));
    PlanOptions o;
    LOOM_TRY(read_options(options, options_size, o));
    return answered(predictor, report, [&](Predictor& p) { return p.plan(o); });
  });
}

int32_t loom_predictor_save(loom_predictor predictor, const char* path, size_t path_size,
                            loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_ASSIGN(const std::string p, path_argument(path, path_size, "path"));
    return answered(predictor, nullptr, [&](Predictor& own) -> Result<Json> {
      LOOM_TRY(own.save(p));
      return Json();
    });
  });
}

}  // extern "C"
