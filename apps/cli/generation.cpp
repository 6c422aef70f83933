#include "generation.h"

#include "base/files/sha256.h"
#include "base/numerics_version.h"
#include "console.h"

namespace loom::cli {
namespace {

// Names an answer: equal ids, equal hash, on any machine.
std::string ids_hash(const std::vector<std::int32_t>& ids) {
  Sha256 hash;
  for (const std::int32_t id : ids) hash.update_u64(static_cast<std::uint64_t>(id));
  return Sha256::hex(hash.finish());
}

double rate(std::int64_t count, double seconds) {
  return seconds > 0 ? static_cast<double>(count) / seconds : 0;
}

constexpr const char* kDot = "  \u00b7  ";

std::string decode_text(const Statistics& s) {
  return std::to_string(s.decode_tokens) + " tokens, " +
         fixed(rate(s.decode_tokens, s.decode_seconds), 0) + "/s";
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

GeneratorOptions generator_options_of(const ModelOptions& options, const OpenModel& opened) {
  GeneratorOptions g;
  g.context = options.context;
  g.isa = options.isa;
  g.device = opened.device.get();
  g.fuse = opened.mode.fuse;
  g.auto_device = opened.mode.auto_device;
  g.adapter = opened.adapter;
  g.seconds = [watch = Stopwatch()] { return watch.seconds(); };
  g.cancel = Interrupt::flag();
  return g;
}

GenerateOptions generate_options_of(const SamplingOptions& o, const Model& model) {
  GenerateOptions g;
  g.max_tokens = o.tokens;
  g.stop = o.stop;
  SamplerOptions& s = g.sampling;
  if (!o.greedy) s = recommended_sampling(model.config);
  s.seed = o.seed;
  s.temperature = o.temperature.value_or(s.temperature);
  s.top_p = o.top_p.value_or(s.top_p);
  s.top_k = o.top_k.value_or(s.top_k);
  s.min_p = o.min_p.value_or(s.min_p);
  s.repetition_penalty = o.repetition_penalty.value_or(s.repetition_penalty);
  return g;
}

std::string summary_line(const Statistics& s, const Generation& answer) {
  return decode_text(s) + kDot + "prompt " + std::to_string(s.prefill_tokens) + " tokens, " +
         fixed(rate(s.prefill_tokens, s.prefill_seconds), 0) + "/s" + kDot + "ended by " +
         std::string(name(answer.finish)) + kDot + "ids sha256 " +
         ids_hash(answer.ids).substr(0, 16);
}

std::string story_line(const Statistics& s, const Generation& story) {
  return decode_text(s) + kDot + "numerics: portable v" + std::to_string(LOOM_NUMERICS_VERSION) +
         kDot + "ids sha256 " + ids_hash(story.ids);
}

Json answer_json(const Statistics& s, const Generation& answer) {
  Json json = Json::object(), ids = Json::array();
  for (const std::int32_t id : answer.ids) ids.push(id);
  json.set("text", answer.text);
  json.set("ids", std::move(ids));
  json.set("finish", name(answer.finish));
  json.set("prompt_tokens", s.prefill_tokens + s.reused_tokens);
  json.set("prompt_seconds", s.prefill_seconds);
  json.set("tokens", s.decode_tokens);
  json.set("seconds", s.decode_seconds);
  json.set("ids_sha256", ids_hash(answer.ids));
  return json;
}

}  // namespace loom::cli
