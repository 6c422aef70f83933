// Sessions: networks that run.
#include <algorithm>

#include "base/message.h"
#include "c_api/call.h"
#include "c_api/options/options.h"
#include "c_api/options/structs.h"

using namespace loom;
using namespace loom::c_api;

namespace loom::c_api {

Result<SessionSettings> session_settings(const Result<Json>& options,
                                         const SharedNetwork& network) {
  SessionCreate o;
  LOOM_TRY(read_options(options, o));
  LOOM_ASSIGN(Machine machine, machine_of(o.machine));
  SessionSettings s;
  s.options = std::move(o.session);
  const bool ids = network.network.input().ids > 0;
  s.options.max_head_rows = o.max_head_rows.value_or(ids ? 1 : s.options.max_rows);
  s.threads = machine.mode.threads;
  s.ignore_rules = o.ignore_rules;
  place(s.options, o.machine, machine);
  s.device = std::move(machine.choice);
  return s;
}

}  // namespace loom::c_api

namespace {

// Of a row; [] for single ids.
Json dims_of(const Shape& shape) {
  Json dims = Json::array();
  for (const std::int64_t d : shape.dims) dims.push(d);
  if (shape.dims.empty() && shape.ids == 0) dims.push(shape.width);
  return dims;
}

bool evaluates(const SessionObject& s) { return s.rules && !s.rules->replays(); }

// For the network as it is, which is held alone.
Result<Session> make_session(SessionObject& s) {
  Network& network = s.shared->network;
  s.options.watch = evaluates(s) && !ruled_layers(network).empty();
  LOOM_ASSIGN(Session session, Session::create(network, s.pool, s.options));
  if (s.observing && s.observing->on)
    LOOM_TRY(session.observe(s.observing->first(), s.observing->options));
  return session;
}

auto ready(SessionObject& s) {
  auto held = c_api::ready(s, s.session, [&s]() -> Result<Session> {
    if (s.rules) s.rules->sync(s.shared->network);
    else if (!s.ignore_rules) s.rules.emplace(s.shared->network);
    return make_session(s);
  });
  if (held.ok() && s.options.watch) s.session->watch(s.rules->due());
  return held;
}

// After a run: does what rules, or a trace, ask for. `held`: the network, as ready() gave it.
Status act(SessionObject& s, locks::shared_lock<locks::fair_mutex> held) {
  if (!s.rules) return {};
  const bool watched = s.options.watch && s.rules->due();
  if (!s.rules->passed(watched ? s.session->watched() : std::vector<Session::Watched>())) return {};
  held.unlock();
  SharedNetwork& n = *s.shared;
  LOOM_ASSIGN(const auto alone, n.hold_alone());
  if (s.forms != n.forms) {  // others were faster: what was measured was of another network
    s.rules->give_up();
    if (evaluates(s)) return {};
    return Status(Code::invalid_argument,
                  "trace: the network has changed, and its acts are of another one");
  }
  s.keep();
  LOOM_TRY(s.rules->act(n.network, [&]() -> Status {
    LOOM_ASSIGN(Session next, make_session(s));
    next.take(s.session->states());
    s.session.emplace(std::move(next));
    return {};
  }));
  ++n.acts;
  s.values = ++n.values;
  s.forms = ++n.forms;
  return {};
}

Status replay(SessionObject& s, std::string_view trace) {
  {
    LOOM_ASSIGN(const auto held, ready(s));
  }
  if (s.rules && (s.rules->passes() > 0 || s.rules->replays()))
    return Status(Code::invalid_argument,
                  "session: a trace is replayed from the first run on, and this session has run: "
                  "create another");
  LOOM_ASSIGN(const auto alone, s.shared->hold_alone());
  LOOM_ASSIGN(Metacognition script, Metacognition::replay(s.shared->network, trace));
  s.rules.emplace(std::move(script));
  s.session.reset();
  return {};
}

Json metacognition_json(const SessionObject& s) {
  if (!s.rules) return Json();
  Json json = Json::object();
  json.set("rules", s.rules->rules());
  json.set("replays", s.rules->replays());
  json.set("passes", s.rules->passes());
  json.set("acts", s.rules->acts());
  json.set("dropped", s.rules->dropped());
  return json;
}

// The same for a run that begins now.
auto ready_to_run(SessionObject& s) -> decltype(ready(s)) {
  LOOM_ASSIGN(auto held, ready(s));
  LOOM_TRY(s.session->pause_at(s.deadline()));
  return held;
}

Status observe(SessionObject& s, const PassesObserve& o) {
  LOOM_ASSIGN(const auto held, ready(s));
  if (o.observe.every == 0) {
    LOOM_TRY(s.session->observe(nullptr));
    if (!s.observing || !s.observing->on) return {};
    s.keep();
    s.observing->on = false;
    return s.observing->window.flush();
  }
  auto next = std::make_unique<Observing>(o.keep, o.window);
  next->options = o.observe;
  next->with_total = o.total;
  LOOM_TRY(s.session->observe(next->first(), next->options));
  s.observing = std::move(next);
  return {};
}

Json statistics(SessionObject& s) {
  s.keep();
  Json json = Json::object();
  const Observing* seen = s.observing.get();
  json.set("passes", seen ? seen->options.passed : 0);
  json.set("observed", seen ? seen->options.observed : 0);
  json.set("dropped", seen ? seen->recorder.dropped() : 0);
  json.set("events", seen ? s.observing->recorder.take() : Json::array());
  if (seen && seen->with_total) json.set("total", seen->total.to_json());
  return json;
}

Status create(loom_network network, const Result<Json>& options, loom_session* session) {
  LOOM_TRY(want(session));
  LOOM_ASSIGN(const auto object, get<NetworkObject>(network));
  LOOM_ASSIGN(SessionSettings settings, session_settings(options, *object->shared));
  auto s = std::make_shared<SessionObject>(object->shared, settings.threads);
  s->options = settings.options;
  s->ignore_rules = settings.ignore_rules;
  s->options.cancel = &s->cancel;
  s->device = std::move(settings.device);
  LOOM_TRY(ready(*s).status());
  *session = add(std::move(s));
  return {};
}

// Rows of values, of the type that the network takes.
template <class T>
Status run_rows(loom_session session, std::int64_t rows, const T* x, std::size_t x_count, T* y,
                std::size_t y_count) {
  LOOM_ASSIGN(const auto s, get<SessionObject>(session));
  LOOM_ASSIGN(const auto inside, enter(*s));
  return cancellable(*s, [&]() -> Status {
    LOOM_ASSIGN(const std::span<const T> in, c_api::span(x, x_count, "x"));
    LOOM_ASSIGN(const std::span<T> out, c_api::span(y, y_count, "y"));
    LOOM_ASSIGN(auto held, ready_to_run(*s));
    Network& n = s->shared->network;
    LOOM_ASSIGN(const std::int64_t x_expected, product("x", rows, n.input().width));
    LOOM_ASSIGN(const std::int64_t y_expected, product("y", rows, n.output().width));
    if (n.input().ids == 0) LOOM_TRY(expect_count("x", x_count, x_expected));
    LOOM_TRY(expect_count("y", y_count, y_expected));
    if constexpr (sizeof(T) == 8) LOOM_TRY(s->session->run(in, rows));
    else LOOM_TRY(s->session->run(in, rows).status());
    auto to = out.begin();
    for (std::int64_t r = 0; r < rows; ++r) {
      if constexpr (sizeof(T) == 8) {
        const auto wide = s->session->output_f64(r);
        if (!wide.empty()) {
          to = std::copy(wide.begin(), wide.end(), to);
          continue;
        }
      }
      const auto row = s->session->output(r);
      to = std::copy(row.begin(), row.end(), to);
    }
    return act(*s, std::move(held));
  });
}

// The session as a network that forecasts a series: rows of values, an answer each.
Status answer_rows(Session& session, const std::vector<float>& x, std::int64_t rows,
                   std::vector<float>& y) {
  LOOM_TRY(session.run(x, rows).status());
  y.clear();
  for (std::int64_t r = 0; r < rows; ++r) y.push_back(session.output(r)[0]);
  return {};
}

// How the network of a file of loom train forecasts. Called with the network held.
Result<SeriesForm> series_form(const SharedNetwork& shared) {
  const auto found = shared.sections.bytes.find("inputs");
  const Json none = Json::object();
  LOOM_ASSIGN(const Json inputs, found == shared.sections.bytes.end() ? Result<Json>(none)
                                                                      : Json::parse(found->second));
  if (!inputs.find("series"))
    return Status(Code::unsupported,
                  "the network is of no time series: forecasts need a network that loom train "
                  "learned from a table of dates and numbers");
  LOOM_ASSIGN(SeriesForm form, SeriesForm::from_json(inputs));
  if (form.width() != shared.network.input().width || shared.network.output().width != 1)
    return Status(Code::corrupt, "inputs: the series is of another network");
  return form;
}

// Whether the intervals are those of the network as it is now.
bool is_judged(const SharedNetwork& shared) {
  return shared.values == 0 && shared.sections.bytes.contains("report");
}

}  // namespace

extern "C" {

int32_t loom_session_create(loom_network network, const char* options, size_t options_size,
                            loom_session* session, loom_error* error) {
  return call(error, [&] { return create(network, options_json(options, options_size), session); });
}

int32_t loom_session_create_with(loom_network network, const loom_session_options* options,
                                 loom_session* session, loom_error* error) {
  return call(error, [&] { return create(network, options_json(options), session); });
}

int32_t loom_session_run(loom_session session, int64_t rows, const float* x, size_t x_count,
                         float* y, size_t y_count, loom_error* error) {
  return call(error, [&] { return run_rows(session, rows, x, x_count, y, y_count); });
}

int32_t loom_session_run_f64(loom_session session, int64_t rows, const double* x, size_t x_count,
                             double* y, size_t y_count, loom_error* error) {
  return call(error, [&] { return run_rows(session, rows, x, x_count, y, y_count); });
}

int32_t loom_session_run_ids(loom_session session, const int32_t* ids, size_t ids_count, float* y,
                             size_t y_count, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_ASSIGN(const auto s, get<SessionObject>(session));
    LOOM_ASSIGN(const auto inside, enter(*s));
    return cancellable(*s, [&]() -> Status {
      LOOM_ASSIGN(const auto in, unsigned_values(ids, ids_count, "ids"));
      LOOM_ASSIGN(const std::span<float> out, c_api::span(y, y_count, "y"));
      LOOM_ASSIGN(auto held, ready_to_run(*s));
      Network& n = s->shared->network;
      const auto rows = static_cast<std::int64_t>(in.size()) / n.input().count();
      LOOM_ASSIGN(const std::int64_t expected, product("y", rows, n.output().width));
      LOOM_TRY(expect_count("y", y_count, expected));
      LOOM_TRY(s->session->run_ids(in).status());
      auto to = out.begin();
      for (std::int64_t r = 0; r < rows; ++r) {
        const auto row = s->session->output(r);
        to = std::copy(row.begin(), row.end(), to);
      }
      return act(*s, std::move(held));
    });
  });
}

int32_t loom_session_run_tokens(loom_session session, const int32_t* ids, size_t ids_count,
                                const int32_t* positions, size_t positions_count,
                                const int32_t* sequences, size_t sequences_count,
                                const int32_t* head, size_t head_count, float* y, size_t y_count,
                                loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_ASSIGN(const auto s, get<SessionObject>(session));
    LOOM_ASSIGN(const auto inside, enter(*s));
    return cancellable(*s, [&]() -> Status {
      LOOM_ASSIGN(const auto i, unsigned_values(ids, ids_count, "ids"));
      LOOM_ASSIGN(const auto p, unsigned_values(positions, positions_count, "positions"));
      LOOM_ASSIGN(auto q, unsigned_values(sequences, sequences_count, "sequences"));
      LOOM_ASSIGN(auto h, unsigned_values(head, head_count, "head"));
      LOOM_ASSIGN(const std::span<float> out, c_api::span(y, y_count, "y"));
      if (i.empty()) return Status(Code::invalid_argument, "ids: give at least one");
      if (q.empty()) q.assign(i.size(), 0);
      if (h.empty()) h.push_back(static_cast<std::uint32_t>(i.size() - 1));
      for (std::size_t k = 0; k < h.size(); ++k) {
        if (h[k] >= i.size())
          return Status(Code::out_of_range,
                        message("head[", k, "] is ", h[k], ", the run has ", i.size(), " rows"));
        if (k > 0 && h[k] <= h[k - 1])
          return Status(Code::invalid_argument, "head: rows must ascend");
      }
      LOOM_ASSIGN(auto held, ready_to_run(*s));
      Network& n = s->shared->network;
      LOOM_ASSIGN(const std::int64_t expected,
                  product("y", static_cast<std::int64_t>(h.size()), n.output().width));
      LOOM_TRY(expect_count("y", y_count, expected));
      LOOM_TRY(s->session->run_tokens(i, q, p, h));
      auto to = out.begin();
      for (std::size_t k = 0; k < h.size(); ++k) {
        const auto row = s->session->output(n.head >= 0 ? static_cast<std::int64_t>(k) : h[k]);
        to = std::copy(row.begin(), row.end(), to);
      }
      return act(*s, std::move(held));
    });
  });
}

int32_t loom_session_observe(loom_session session, const char* options, size_t options_size,
                             loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_ASSIGN(const auto s, get<SessionObject>(session));
    LOOM_ASSIGN(const auto inside, enter(*s));
    PassesObserve o;
    LOOM_TRY(read_options(options, options_size, o));
    return observe(*s, o);
  });
}

int32_t loom_session_statistics(loom_session session, loom_bytes* statistics_json,
                                loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(statistics_json));
    LOOM_ASSIGN(const auto s, get<SessionObject>(session));
    LOOM_ASSIGN(const auto inside, enter(*s));
    *statistics_json = new_json(statistics(*s));
    return {};
  });
}

int32_t loom_session_trace(loom_session session, loom_bytes* trace, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(trace));
    LOOM_ASSIGN(const auto s, get<SessionObject>(session));
    LOOM_ASSIGN(const auto inside, enter(*s));
    *trace = new_text(s->rules ? s->rules->trace() : std::string());
    return {};
  });
}

int32_t loom_session_replay(loom_session session, const char* trace, size_t trace_size,
                            loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_ASSIGN(const auto s, get<SessionObject>(session));
    LOOM_ASSIGN(const auto inside, enter(*s));
    LOOM_ASSIGN(const std::string_view text, text_argument(trace, trace_size, "trace"));
    return replay(*s, text);
  });
}

int32_t loom_session_forecast(loom_session session, const char* options, size_t options_size,
                              const double* history, size_t history_count, loom_bytes* forecasts,
                              loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(forecasts));
    LOOM_ASSIGN(const auto s, get<SessionObject>(session));
    LOOM_ASSIGN(const auto inside, enter(*s));
    return cancellable(*s, [&]() -> Status {
      SessionForecast o;
      LOOM_TRY(read_options(options, options_size, o));
      LOOM_ASSIGN(const std::span<const double> values,
                  c_api::span(history, history_count, "history"));
      LOOM_ASSIGN(const auto held, ready(*s));
      if (s->options.watch || (s->rules && s->rules->replays()))
        return Status(Code::unsupported,
                      "session: a forecast is of several passes, between which rules do not act: "
                      "create the session with \"ignore_rules\"");
      LOOM_TRY(s->session->pause_at(Executor::kNoDeadline));
      LOOM_ASSIGN(SeriesForm form, series_form(*s->shared));
      LOOM_TRY(continue_after(form, values, o.last));
      LOOM_ASSIGN(std::vector<Forecast> list,
                  forecast(form, o.horizon, [&](const auto& x, std::int64_t rows, auto& y) {
                    return answer_rows(*s->session, x, rows, y);
                  }));
      Json json = Json::array();
      for (Forecast& f : list) {
        f.measured = f.measured && is_judged(*s->shared);
        json.push(f.to_json());
      }
      *forecasts = new_json(json);
      return {};
    });
  });
}

int32_t loom_session_info(loom_session session, loom_bytes* info, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(info));
    LOOM_ASSIGN(const auto s, get<SessionObject>(session));
    LOOM_ASSIGN(const auto inside, enter(*s));
    LOOM_ASSIGN(const auto held, ready(*s));
    const auto& executor = s->session->executor();
    Json json = Json::object();
    json.set("target", executor.target());
    set_device(json, s->device);
    json.set("numerics", custom_numerics(executor.program().calls, s->device.numerics));
    json.set("threads", s->pool.size());
    json.set("input_width", s->shared->network.input().width);
    json.set("output_width", s->shared->network.output().width);
    json.set("input_dims", dims_of(s->shared->network.input()));
    json.set("output_dims", dims_of(s->shared->network.output()));
    json.set("arena_bytes", executor.arena_bytes());
    json.set("state_bytes", executor.state_bytes());
    json.set("weight_bytes", executor.weight_bytes());
    json.set("scratch_bytes", executor.scratch_bytes());
    json.set("metacognition", metacognition_json(*s));
    *info = new_json(json);
    return {};
  });
}

}  // extern "C"
