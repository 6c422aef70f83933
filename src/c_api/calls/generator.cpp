// Generators: text from a model, piece by piece.
#include <algorithm>
#include <chrono>

#include "base/files/sha256.h"
#include "base/message.h"
#include "base/numerics_version.h"
#include "c_api/call.h"
#include "c_api/calls/chat.h"
#include "c_api/options/options.h"
#include "c_api/options/structs.h"

using namespace loom;
using namespace loom::c_api;

namespace {

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Inside a generator, with its network held and made ready for it as it is now: a change of the
// network empties the sequences.
struct Inside {
  std::shared_ptr<GeneratorObject> object;
  locks::unique_lock<locks::mutex> mutex;
  locks::shared_lock<locks::fair_mutex> network;
  Generator* operator->() const { return &*object->generator; }
  Model& model() const { return *object->shared->model; }
};

// What its numbers may claim to be.
std::string numerics_of(const Inside& in) {
  return custom_numerics(in.object->generator->session().program().calls,
                         in.object->device.numerics);
}

// Equal ids, equal hash, on any machine.
std::string ids_hash(const std::vector<std::int32_t>& ids) {
  Sha256 hash;
  for (const std::int32_t id : ids) hash.update_u64(static_cast<std::uint64_t>(id));
  return Sha256::hex(hash.finish());
}

Status make_ready(Inside& in) {
  GeneratorObject& g = *in.object;
  LOOM_ASSIGN(in.network, ready(g, g.generator, [&g] {
                return Generator::create(*g.shared->model, g.pool, g.options);
              }));
  return {};
}

Result<Inside> enter_generator(loom_generator handle) {
  Inside in;
  LOOM_ASSIGN(in.object, get<GeneratorObject>(handle));
  LOOM_ASSIGN(in.mutex, enter(*in.object));
  LOOM_TRY(make_ready(in));
  return in;
}

// A cancel that came is spent by the call that it ended.
Status spent(const Inside& in, Status status) {
  if (status.code() == Code::cancelled) in.object->cancel = false;
  return status;
}

Status feed(const Inside& in, std::int64_t sequence, std::span<const std::int32_t> ids) {
  return spent(in, in->feed(ids, sequence));
}

Status check_sequence(const Inside& in, std::int64_t sequence) {
  if (sequence >= 0 && sequence < in.object->options.sequences) return {};
  return Status(Code::out_of_range, message("sequence ", sequence, ": the generator has ",
                                            in.object->options.sequences));
}

std::int32_t finish_code(const std::optional<Finish>& finish) {
  if (!finish) return LOOM_FINISH_MORE;
  switch (*finish) {
    case Finish::length: return LOOM_FINISH_LENGTH;
    case Finish::eos: return LOOM_FINISH_EOS;
    case Finish::stop: return LOOM_FINISH_STOP;
    case Finish::cancelled: break;
  }
  return LOOM_FINISH_CANCELLED;
}

Status create(loom_model model, const Result<Json>& options, loom_generator* generator) {
  LOOM_TRY(want(generator));
  LOOM_ASSIGN(const auto m, get<ModelObject>(model));
  GeneratorCreate o;
  LOOM_TRY(read_options(options, o));
  LOOM_ASSIGN(Machine machine, machine_of(o.machine));
  auto g = std::make_shared<GeneratorObject>(m->shared, machine.mode.threads);
  g->options = std::move(o.generator);
  place(g->options, o.machine, machine);
  g->device = std::move(machine.choice);
  g->options.seconds = seconds;
  g->options.cancel = &g->cancel;
  Inside in;
  in.object = g;
  LOOM_TRY(make_ready(in));
  *generator = add(std::move(g));
  return {};
}

Status start(loom_generator generator, std::int64_t sequence, const Result<Json>& options) {
  GeneratorStart o;
  LOOM_TRY(read_options(options, o));
  LOOM_ASSIGN(const Inside in, enter_generator(generator));
  o.generate.sampling.seed = static_cast<std::uint64_t>(o.seed);
  o.generate.end = in.object->chat_end;
  in.object->text_ids.clear();
  return spent(in, in->start(o.generate, sequence));
}

}  // namespace

extern "C" {

int32_t loom_generator_create(loom_model model, const char* options, size_t options_size,
                              loom_generator* generator, loom_error* error) {
  return call(error, [&] { return create(model, options_json(options, options_size), generator); });
}

int32_t loom_generator_create_with(loom_model model, const loom_generator_options* options,
                                   loom_generator* generator, loom_error* error) {
  return call(error, [&] { return create(model, options_json(options), generator); });
}

int32_t loom_generator_feed(loom_generator generator, int64_t sequence, const int32_t* ids,
                            size_t ids_count, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_ASSIGN(const std::span<const std::int32_t> i, c_api::span(ids, ids_count, "ids"));
    LOOM_ASSIGN(const Inside in, enter_generator(generator));
    LOOM_TRY(check_sequence(in, sequence));
    in.object->chat_end.clear();
    return feed(in, sequence, i);
  });
}

int32_t loom_generator_feed_text(loom_generator generator, int64_t sequence, const char* text,
                                 size_t text_size, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_ASSIGN(const std::string_view s, text_argument(text, text_size, "text"));
    LOOM_ASSIGN(const Inside in, enter_generator(generator));
    LOOM_TRY(check_sequence(in, sequence));
    LOOM_TRY(in.model().tokenizer.status());
    std::vector<std::int32_t> ids = in.model().tokenizer->encode(s);
    if (ids.empty() && in.model().config.bos) ids.push_back(*in.model().config.bos);
    in.object->chat_end.clear();
    return feed(in, sequence, ids);
  });
}

int32_t loom_generator_feed_chat(loom_generator generator, int64_t sequence, const char* messages,
                                 size_t messages_size, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_ASSIGN(const Conversation chat, conversation(messages, messages_size));
    LOOM_ASSIGN(const Inside in, enter_generator(generator));
    LOOM_TRY(check_sequence(in, sequence));
    LOOM_TRY(in.model().tokenizer.status());
    const Tokenizer& tokenizer = *in.model().tokenizer;
    LOOM_ASSIGN(const auto ids, render_chat(tokenizer, chat.messages, chat.options));
    in.object->chat_end = chat_stop_ids(tokenizer, chat.messages, chat.options);
    return feed(in, sequence, ids);
  });
}

int32_t loom_generator_logits(loom_generator generator, int64_t sequence, float* logits,
                              size_t logits_count, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_ASSIGN(const std::span<float> out, c_api::span(logits, logits_count, "logits"));
    LOOM_ASSIGN(const Inside in, enter_generator(generator));
    LOOM_TRY(check_sequence(in, sequence));
    LOOM_TRY(spent(in, in->settle(sequence)));
    const std::span<const float> row = in->logits(sequence);
    if (row.empty())
      return Status(Code::invalid_argument,
                    message("sequence ", sequence, " is empty: feed it first"));
    LOOM_TRY(expect_count("logits", logits_count, static_cast<std::int64_t>(row.size())));
    std::copy(row.begin(), row.end(), out.begin());
    return {};
  });
}

int32_t loom_generator_start(loom_generator generator, int64_t sequence, const char* options,
                             size_t options_size, loom_error* error) {
  return call(error,
              [&] { return start(generator, sequence, options_json(options, options_size)); });
}

int32_t loom_generator_start_with(loom_generator generator, int64_t sequence,
                                  const loom_sampling_options* options, loom_error* error) {
  return call(error, [&] { return start(generator, sequence, options_json(options)); });
}

int32_t loom_generator_next(loom_generator generator, int32_t* finish, int32_t* id,
                            loom_bytes* text, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(finish, id, text));
    LOOM_ASSIGN(const Inside in, enter_generator(generator));
    auto piece = in->next();
    LOOM_TRY(spent(in, piece.status()));
    if (piece->finish == Finish::cancelled) in.object->cancel = false;
    if (piece->id >= 0) in.object->text_ids.push_back(piece->id);
    *text = new_text(piece->text);
    *finish = finish_code(piece->finish);
    *id = piece->id;
    return {};
  });
}

int32_t loom_generator_ids(loom_generator generator, int64_t sequence, loom_bytes* ids,
                           loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(ids));
    LOOM_ASSIGN(const Inside in, enter_generator(generator));
    LOOM_TRY(check_sequence(in, sequence));
    *ids = new_ids(in->tokens(sequence));
    return {};
  });
}

int32_t loom_generator_fingerprint(loom_generator generator, int64_t sequence, loom_bytes* sha256,
                                   loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(sha256));
    LOOM_ASSIGN(const Inside in, enter_generator(generator));
    LOOM_TRY(check_sequence(in, sequence));
    LOOM_TRY(spent(in, in->settle(sequence)));
    Sha256 sha;
    sha.update_u64(LOOM_NUMERICS_VERSION);
    const std::string numerics = numerics_of(in);
    if (numerics != "portable")
      sha.update_text(numerics);  // another fingerprint, even where the bits agree
    for (const std::int32_t id : in->tokens(sequence))
      sha.update_u64(static_cast<std::uint64_t>(id));
    sha.update_f32(in->logits(sequence));
    *sha256 = new_text(Sha256::hex(sha.finish()));
    return {};
  });
}

int32_t loom_generator_info(loom_generator generator, loom_bytes* info, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(info));
    LOOM_ASSIGN(const Inside in, enter_generator(generator));
    const Statistics& s = in->statistics();
    Json json = Json::object();
    json.set("context", in->context());
    json.set("sequences", in.object->options.sequences);
    const Executor& executor = in->session().executor();
    json.set("target", executor.target());
    set_device(json, in.object->device);
    json.set("numerics", numerics_of(in));
    json.set("threads", in.object->pool.size());
    json.set("weight_bytes", executor.weight_bytes());
    json.set("state_bytes", executor.state_bytes());
    json.set("arena_bytes", executor.arena_bytes());
    json.set("scratch_bytes", executor.scratch_bytes());
    json.set("ids_sha256", ids_hash(in.object->text_ids));
    json.set("reused_tokens", s.reused_tokens);
    json.set("prefill_tokens", s.prefill_tokens);
    json.set("prefill_seconds", s.prefill_seconds);
    json.set("decode_tokens", s.decode_tokens);
    json.set("decode_seconds", s.decode_seconds);
    *info = new_json(json);
    return {};
  });
}

}  // extern "C"
