#include "models/generation.h"

#include "support/console.h"

namespace loom::cli {
namespace {

constexpr const char* kDot = "  \u00b7  ";

double rate(const Json& info, const char* count, const char* seconds) {
  const double time = number_in(info, seconds);
  return time > 0 ? number_in(info, count) / time : 0;
}

std::string decode_text(const Json& info) {
  return std::to_string(integer_in(info, "decode_tokens")) + " tokens, " +
         fixed(rate(info, "decode_tokens", "decode_seconds"), 0) + "/s";
}

std::string finish_name(const Answer& answer) {
  switch (answer.finish) {
    case LOOM_FINISH_LENGTH: return "length";
    case LOOM_FINISH_EOS: return "eos";
    case LOOM_FINISH_STOP: return "stop";
    default: return "cancelled";
  }
}

}  // namespace

void bind_sampling_options(CommandLine& c, SamplingOptions& o) {
  c.add("--tokens", o.tokens, "tokens at most (256); a text also ends where the context is full")
      .positive();
  const Option greedy = c.flag("--greedy", o.greedy, "always the most probable token");
  c.add("--temperature", o.temperature, "0 is greedy (what the model recommends, else 0.7)")
      .not_negative()
      .excludes(greedy);
  c.add("--top-k", o.top_k, "of the K most probable tokens; 0: all")
      .not_negative()
      .excludes(greedy);
  c.add("--top-p", o.top_p, "of the most probable tokens that together have probability P")
      .within(0.0, 1.0)
      .excludes(greedy);
  c.add("--min-p", o.min_p, "of tokens at least P times as probable as the best")
      .within(0.0, 1.0)
      .excludes(greedy);
  c.add("--repetition-penalty", o.repetition_penalty,
        "above 1: tokens that were there become less probable")
      .positive();
  c.add("--seed", o.seed, "same seed, same answer (0)");
  c.add("--stop", o.stop, "end before this text; may be given several times").one_value();
}

Json start_options(const SamplingOptions& o, const LoadedModel& model, std::int64_t tokens) {
  Json json = o.greedy ? Json::object() : member(model.info, "sampling");
  json.set("max_tokens", tokens);
  json.set("seed", static_cast<std::int64_t>(o.seed));
  Json stop = Json::array();
  for (const std::string& text : o.stop) stop.push(text);
  json.set("stop", std::move(stop));
  if (o.temperature) json.set("temperature", *o.temperature);
  if (o.top_p) json.set("top_p", *o.top_p);
  if (o.top_k) json.set("top_k", *o.top_k);
  if (o.min_p) json.set("min_p", *o.min_p);
  if (o.repetition_penalty) json.set("repetition_penalty", *o.repetition_penalty);
  return json;
}

void generate(Generator& generator, const std::function<void()>& feed, const Json& start,
              const Receivers& receivers, Answer& answer) {
  try {
    const Interrupt::Cancels cancels(generator.handle());
    feed();
    generator.start(start.dump());
    for (bool more = true; more;) {
      const Generator::Piece piece = generator.next();
      if (piece.id >= 0) {
        answer.ids.push_back(piece.id);
        if (receivers.on_id) receivers.on_id(piece.id);
      }
      answer.text += piece.text;
      if (!piece.text.empty() && receivers.on_text) receivers.on_text(piece.text);
      more = piece.finish == LOOM_FINISH_MORE;
      if (!more) answer.finish = piece.finish;
    }
  } catch (const Error& error) {
    if (error.code() != LOOM_CANCELLED) throw;
    answer.finish = LOOM_FINISH_CANCELLED;
  }
  // A signal that came behind the last piece would cancel the next text: this one uses it up.
  if (Interrupt::pressed() && !answer.cancelled()) {
    try {
      generator.start(R"({"max_tokens":1})");
      generator.next();
    } catch (const Error&) {
      // The answer is whole already.
    }
  }
}

std::string summary_line(const Json& info, const Answer& answer) {
  return decode_text(info) + kDot + "prompt " + std::to_string(integer_in(info, "prefill_tokens")) +
         " tokens, " + fixed(rate(info, "prefill_tokens", "prefill_seconds"), 0) + "/s" + kDot +
         "ended by " + finish_name(answer) + kDot + "ids sha256 " +
         text_in(info, "ids_sha256").substr(0, 16);
}

std::string story_line(const Json& info) {
  return decode_text(info) + kDot + "numerics: portable v" +
         std::to_string(loom_numerics_version()) + kDot + "ids sha256 " +
         text_in(info, "ids_sha256");
}

Json answer_json(const Json& info, const Answer& answer) {
  Json json = Json::object(), ids = Json::array();
  for (const std::int32_t id : answer.ids) ids.push(id);
  json.set("text", answer.text);
  json.set("ids", std::move(ids));
  json.set("finish", finish_name(answer));
  json.set("prompt_tokens", integer_in(info, "prefill_tokens") + integer_in(info, "reused_tokens"));
  json.set("prompt_seconds", member(info, "prefill_seconds"));
  json.set("tokens", member(info, "decode_tokens"));
  json.set("seconds", member(info, "decode_seconds"));
  json.set("ids_sha256", text_in(info, "ids_sha256"));
  return json;
}

}  // namespace loom::cli
