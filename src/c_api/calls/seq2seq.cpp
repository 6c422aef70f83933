// Encoder-decoders, step by step.
#include <algorithm>

#include "c_api/call.h"
#include "c_api/options/options.h"
#include "c_api/options/structs.h"
#include "llm/generate/search.h"
#include "ops/calls/custom_layer.h"

using namespace loom;
using namespace loom::c_api;

namespace {

auto ready(Seq2SeqObject& s) {
  return c_api::ready(s, s.seq2seq,
                      [&s] { return Seq2Seq::create(s.shared->network, s.pool, s.options); });
}

Json json_of(const Shape& part) {
  Json json = Json::object();
  json.set("name", part.name);
  json.set(part.ids > 0 ? "ids" : "width", part.ids > 0 ? part.ids : part.width);
  if (part.dims.empty()) return json;
  Json dims = Json::array();
  for (const std::int64_t d : part.dims) dims.push(d);
  json.set("dims", std::move(dims));
  return json;
}

Json json_of(const Found& found) {
  Json json = Json::object(), ids = Json::array();
  for (const std::int32_t id : found.ids) ids.push(std::int64_t{id});
  json.set("ids", std::move(ids));
  json.set("score", found.score);
  json.set("finished", found.finished);
  return json;
}

Status create(loom_network network, const Result<Json>& options, loom_seq2seq* seq2seq) {
  LOOM_TRY(want(seq2seq));
  LOOM_ASSIGN(const auto object, get<NetworkObject>(network));
  Seq2SeqCreate o;
  LOOM_TRY(read_options(options, o));
  LOOM_ASSIGN(Machine machine, machine_of(o.machine));
  auto s = std::make_shared<Seq2SeqObject>(object->shared, machine.mode.threads);
  s->options = std::move(o.seq2seq);
  s->options.cancel = &s->cancel;
  place(s->options, o.machine, machine);
  s->device = std::move(machine.choice);
  LOOM_TRY(ready(*s).status());
  *seq2seq = add(std::move(s));
  return {};
}

Status found_by(loom_seq2seq seq2seq, std::int64_t rows, const double* x, std::size_t x_count,
                const Result<Json>& options, loom_bytes* found) {
  LOOM_TRY(want(found));
  LOOM_ASSIGN(const auto s, get<Seq2SeqObject>(seq2seq));
  LOOM_ASSIGN(const auto inside, enter(*s));
  return cancellable(*s, [&]() -> Status {
    LOOM_ASSIGN(const std::span<const double> in, c_api::span(x, x_count, "x"));
    Seq2SeqSearch o;
    LOOM_TRY(read_options(options, o));
    o.search.sampling.seed = static_cast<std::uint64_t>(o.seed);
    LOOM_ASSIGN(const auto held, ready(*s));
    LOOM_ASSIGN(const auto all, search(*s->seq2seq, in, rows, o.search));
    Json json = Json::array();
    for (const std::vector<Found>& row : all) {
      Json list = Json::array();
      for (const Found& one : row) list.push(json_of(one));
      json.push(std::move(list));
    }
    *found = new_json(json);
    return {};
  });
}

}  // namespace

extern "C" {

int32_t loom_seq2seq_create(loom_network network, const char* options, size_t options_size,
                            loom_seq2seq* seq2seq, loom_error* error) {
  return call(error, [&] { return create(network, options_json(options, options_size), seq2seq); });
}

int32_t loom_seq2seq_create_with(loom_network network, const loom_seq2seq_options* options,
                                 loom_seq2seq* seq2seq, loom_error* error) {
  return call(error, [&] { return create(network, options_json(options), seq2seq); });
}

int32_t loom_seq2seq_encode(loom_seq2seq seq2seq, int64_t rows, const double* x, size_t x_count,
                            loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_ASSIGN(const auto s, get<Seq2SeqObject>(seq2seq));
    LOOM_ASSIGN(const auto inside, enter(*s));
    return cancellable(*s, [&]() -> Status {
      LOOM_ASSIGN(const std::span<const double> in, c_api::span(x, x_count, "x"));
      LOOM_ASSIGN(const auto held, ready(*s));
      return s->seq2seq->encode(in, rows);
    });
  });
}

int32_t loom_seq2seq_step(loom_seq2seq seq2seq, const double* target, size_t target_count,
                          double* y, size_t y_count, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_ASSIGN(const auto s, get<Seq2SeqObject>(seq2seq));
    LOOM_ASSIGN(const auto inside, enter(*s));
    return cancellable(*s, [&]() -> Status {
      LOOM_ASSIGN(const std::span<const double> in, c_api::span(target, target_count, "target"));
      LOOM_ASSIGN(const std::span<double> out, c_api::span(y, y_count, "y"));
      LOOM_ASSIGN(const auto held, ready(*s));
      Seq2Seq& own = *s->seq2seq;
      // Before encode, step says so.
      if (own.rows() > 0) LOOM_TRY(expect_count("y", y_count, own.rows() * own.answer().width));
      LOOM_TRY(own.step(in));
      auto to = out.begin();
      for (std::int64_t r = 0; r < own.rows(); ++r) {
        const auto wide = own.output_f64(r);
        const auto row = own.output(r);
        to = wide.empty() ? std::copy(row.begin(), row.end(), to)
                          : std::copy(wide.begin(), wide.end(), to);
      }
      return {};
    });
  });
}

int32_t loom_seq2seq_reorder(loom_seq2seq seq2seq, const int32_t* from, size_t from_count,
                             loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_ASSIGN(const auto s, get<Seq2SeqObject>(seq2seq));
    LOOM_ASSIGN(const auto inside, enter(*s));
    LOOM_ASSIGN(const auto rows, unsigned_values(from, from_count, "from"));
    LOOM_ASSIGN(const auto held, ready(*s));
    return s->seq2seq->reorder(rows);
  });
}

int32_t loom_seq2seq_search(loom_seq2seq seq2seq, int64_t rows, const double* x, size_t x_count,
                            const char* options, size_t options_size, loom_bytes* found,
                            loom_error* error) {
  return call(error, [&] {
    return found_by(seq2seq, rows, x, x_count, options_json(options, options_size), found);
  });
}

int32_t loom_seq2seq_search_with(loom_seq2seq seq2seq, int64_t rows, const double* x,
                                 size_t x_count, const loom_search_options* options,
                                 loom_bytes* found, loom_error* error) {
  return call(error,
              [&] { return found_by(seq2seq, rows, x, x_count, options_json(options), found); });
}

int32_t loom_seq2seq_info(loom_seq2seq seq2seq, loom_bytes* info, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(info));
    LOOM_ASSIGN(const auto s, get<Seq2SeqObject>(seq2seq));
    LOOM_ASSIGN(const auto inside, enter(*s));
    LOOM_ASSIGN(const auto held, ready(*s));
    Seq2Seq& own = *s->seq2seq;
    Json json = Json::object(), sources = Json::array();
    for (const Shape& part : own.sources()) sources.push(json_of(part));
    json.set("sources", std::move(sources));
    json.set("source_width", own.source_width());
    json.set("target", json_of(own.target()));
    json.set("answer_width", own.answer().width);
    json.set("lanes", own.lanes());
    json.set("rows", own.rows());
    json.set("position", own.position());
    json.set("max_positions", own.max_positions());
    json.set("device", own.executor().target());
    json.set("numerics", custom_numerics(own.executor().program().calls, s->device.numerics));
    json.set("threads", s->pool.size());
    json.set("state_bytes", own.executor().state_bytes());
    *info = new_json(json);
    return {};
  });
}

}  // extern "C"
