// The configuration of a model in a GGUF file, from its metadata (ggml's docs/gguf.md) and from
// which tensors it has.
#include <algorithm>
#include <array>

#include "base/json/json.h"
#include "base/math/exact_math.h"
#include "base/message.h"
#include "llm/config/architecture.h"
#include "llm/config/config.h"

namespace loom {
namespace {

Status unsupported(std::string what) { return Status(Code::unsupported, message("GGUF: ", what)); }
Status corrupt(std::string what) { return Status(Code::corrupt, message("GGUF: ", what)); }

// The settings of such a table where the file says them; those of Llama 3.1 but for the factor,
// which is set, where it does not.
Status read_llama3(const Gguf& file, const std::string& prefix, RopeSpec& spec) {
  LOOM_ASSIGN(const std::uint64_t original,
              file.get_u64(prefix + "rope.scaling.original_context_length", 8192));
  spec.original_max_positions = static_cast<double>(original);
  const std::string own = "loom." + prefix + "rope.";
  LOOM_ASSIGN(spec.factor, file.get_f64(own + "factor", spec.factor));
  LOOM_ASSIGN(spec.low_freq_factor, file.get_f64(own + "low_freq_factor", spec.low_freq_factor));
  LOOM_ASSIGN(spec.high_freq_factor, file.get_f64(own + "high_freq_factor", spec.high_freq_factor));
  LOOM_ASSIGN(spec.original_max_positions,
              file.get_f64(own + "original_max_positions", spec.original_max_positions));
  return {};
}

// Llama 3.1 files carry a divisor per rotary frequency instead of the settings it was made from.
// All such models share the settings but for the factor, which is the largest divisor: compute the
// table from them and compare.
Status match_rope_factors(const Gguf& file, const TensorInfo& tensor, ModelConfig* c) {
  constexpr std::size_t kMax = 32768;  // attention's largest head_dim / 2
  const auto half = static_cast<std::size_t>(c->head_dim / 2);
  if (half < 1 || half > kMax || tensor.elements() != half) {
    return corrupt(message("rope_freqs.weight has ", tensor.elements(), " values, head_dim ",
                           c->head_dim, " needs ", half));
  }
  std::vector<float> factors(half);
  LOOM_TRY(read_f32(tensor, 0, factors));
  RopeSpec spec = c->rope;
  spec.scaling = RopeScaling::llama3;
  spec.factor = *std::max_element(factors.begin(), factors.end());
  LOOM_TRY(read_llama3(file, std::string(c->architecture->gguf) + ".", spec));
  for (std::size_t i = 0; i < half; ++i) {
    const double wavelength =
        6.283185307179586 *
        exact::pow(spec.theta, static_cast<double>(2 * i) / static_cast<double>(c->head_dim));
    const double turns = spec.original_max_positions / wavelength;
    const double smooth = std::clamp(
        (turns - spec.low_freq_factor) / (spec.high_freq_factor - spec.low_freq_factor), 0.0, 1.0);
    const double ratio = factors[i] * ((1 - smooth) / spec.factor + smooth);
    if (!(ratio > 0.9999 && ratio < 1.0001)) {
      return unsupported("rope_freqs.weight is not the table of Llama 3.1 (low " +
                         format_double(spec.low_freq_factor) + ", high " +
                         format_double(spec.high_freq_factor) + ", " +
                         format_double(spec.original_max_positions) + " positions): value " +
                         std::to_string(i) + " differs");
    }
  }
  c->rope = spec;
  return {};
}

// What Loom writes beside an f32 that cannot hold it; where another program has changed the f32, it
// counts.
Result<double> exact_f64(const Gguf& file, const std::string& key,
                         std::optional<float> fallback = {}) {
  LOOM_ASSIGN(const float value, file.get_f32(key, fallback));
  LOOM_ASSIGN(const double exact, file.get_f64("loom." + key, static_cast<double>(value)));
  return static_cast<float>(exact) == value ? exact : static_cast<double>(value);
}

Status read_rope(const Gguf& file, const std::string& prefix, ModelConfig* c) {
  LOOM_ASSIGN(c->rope.theta, exact_f64(file, prefix + "rope.freq_base", 10000.0f));
  LOOM_ASSIGN(const std::uint64_t rotated, file.get_u64(prefix + "rope.dimension_count",
                                                        static_cast<std::uint64_t>(c->head_dim)));
  if (rotated != static_cast<std::uint64_t>(c->head_dim)) {
    return unsupported(prefix + "rope.dimension_count: " + std::to_string(rotated) + " of " +
                       std::to_string(c->head_dim) + " values are rotated, only all are supported");
  }
  LOOM_ASSIGN(const std::string scaling, file.get_string(prefix + "rope.scaling.type", "none"));
  LOOM_ASSIGN(const float old_factor, file.get_f32(prefix + "rope.scale_linear", 1.0f));
  LOOM_ASSIGN(const float factor, file.get_f32(prefix + "rope.scaling.factor", old_factor));
  if (scaling != "none" && scaling != "linear")
    return unsupported(prefix + "rope.scaling.type " + quoted(scaling) +
                       " is not supported: known are none, linear");
  if (factor != 1 && (scaling == "linear" || file.find_key(prefix + "rope.scale_linear"))) {
    c->rope.scaling = RopeScaling::linear;
    LOOM_ASSIGN(c->rope.factor, exact_f64(file, prefix + "rope.scaling.factor", factor));
  }
  const TensorInfo* factors = file.find("rope_freqs.weight");
  return factors ? match_rope_factors(file, *factors, c) : Status();
}

// A count from 1 to 2^31 - 1.
Status read_count(const Gguf& file, const std::string& key, std::int64_t* out,
                  std::optional<std::int64_t> fallback = {}) {
  std::optional<std::uint64_t> absent;
  if (fallback) absent = static_cast<std::uint64_t>(*fallback);
  LOOM_ASSIGN(const std::uint64_t value, file.get_u64(key, absent));
  if (value < 1 || value > INT32_MAX)
    return corrupt(message(key, " must be in 1..2^31-1, it is ", value));
  *out = static_cast<std::int64_t>(value);
  return {};
}

// The counts, and that nothing is used that is not supported.
Status read_sizes(const Gguf& file, const std::string& prefix, ModelConfig& c) {
  LOOM_TRY(read_count(file, prefix + "embedding_length", &c.hidden_size));
  LOOM_TRY(read_count(file, prefix + "feed_forward_length", &c.intermediate_size));
  LOOM_TRY(read_count(file, prefix + "block_count", &c.layers));
  if (c.layers > 65536)
    return corrupt(message(prefix, "block_count is ", c.layers, ", at most 65536 are read"));
  LOOM_TRY(read_count(file, prefix + "attention.head_count", &c.heads));
  LOOM_TRY(read_count(file, prefix + "attention.head_count_kv", &c.kv_heads, c.heads));
  LOOM_TRY(read_count(file, prefix + "attention.key_length", &c.head_dim,
                      std::max<std::int64_t>(c.hidden_size / c.heads, 1)));
  std::int64_t value_length;
  LOOM_TRY(read_count(file, prefix + "attention.value_length", &value_length, c.head_dim));
  if (value_length != c.head_dim)
    return unsupported(prefix + "attention.value_length " + std::to_string(value_length) +
                       ", keys have " + std::to_string(c.head_dim));
  LOOM_TRY(read_count(file, prefix + "context_length", &c.max_positions));
  LOOM_ASSIGN(c.norm_eps, exact_f64(file, prefix + "attention.layer_norm_rms_epsilon"));
  LOOM_ASSIGN(const std::uint64_t experts, file.get_u64(prefix + "expert_count", 0));
  if (experts > 0)
    return unsupported(prefix + "expert_count: mixtures of experts (" + std::to_string(experts) +
                       ") are not supported");
  LOOM_ASSIGN(const std::uint64_t window, file.get_u64(prefix + "attention.sliding_window", 0));
  if (window > 0 && window < static_cast<std::uint64_t>(c.max_positions))
    return unsupported(prefix + "attention.sliding_window: " + std::to_string(window) +
                       " is not supported; the HuggingFace folder is");
  c.windows.assign(static_cast<std::size_t>(c.layers), 0);
  return {};
}

// What the metadata leaves to the tensors: the vocabulary's size, and what the layers have.
Status read_tensors(const Gguf& file, ModelConfig& c) {
  const TensorInfo* table = file.find("token_embd.weight");
  if (!table || table->shape.size() != 2)
    return corrupt("the tensor token_embd.weight is missing or no matrix");
  c.vocab_size = table->shape[0];
  c.tied = !file.find("output.weight");
  c.qkv_bias = file.find("blk.0.attn_q.bias");
  c.out_bias = file.find("blk.0.attn_output.bias");
  c.mlp_bias = file.find("blk.0.ffn_gate.bias");
  c.qk_norm = file.find("blk.0.attn_q_norm.weight");
  return {};
}

// A token of the vocabulary, or none.
std::optional<std::int32_t> token_id(const Gguf& file, const char* key, const ModelConfig& c) {
  auto value = file.get_u64(key, UINT64_MAX);
  if (!value.ok() || *value >= static_cast<std::uint64_t>(c.vocab_size)) return {};
  return static_cast<std::int32_t>(*value);
}

// What the model's authors recommend.
Status read_advice(const Gguf& file, SamplingAdvice& a) {
  const auto number = [&](const char* key, std::optional<double>* out) -> Status {
    const std::string name = std::string("general.sampling.") + key;
    if (file.find_key(name)) {
      LOOM_ASSIGN(*out, exact_f64(file, name));
    }
    return {};
  };
  LOOM_TRY(number("top_p", &a.top_p));
  LOOM_TRY(number("min_p", &a.min_p));
  LOOM_TRY(number("temp", &a.temperature));
  LOOM_TRY(number("penalty_repeat", &a.repetition_penalty));
  if (file.find_key("general.sampling.top_k")) {
    LOOM_ASSIGN(const std::uint64_t k, file.get_u64("general.sampling.top_k"));
    a.top_k = static_cast<std::int64_t>(std::min<std::uint64_t>(k, INT32_MAX));
  }
  return {};
}

}  // namespace

Result<ModelConfig> config_from_gguf(const Gguf& file) {
  LOOM_ASSIGN(const std::string name, file.get_string("general.architecture"));
  ModelConfig c;
  c.architecture = find_gguf_architecture(name);
  if (!c.architecture) return unsupported(unknown_architecture(name));
  const std::string prefix = name + ".";
  LOOM_TRY(read_sizes(file, prefix, c));
  LOOM_TRY(read_rope(file, prefix, &c));
  LOOM_TRY(read_tensors(file, c));
  LOOM_TRY(read_advice(file, c));
  c.bos = token_id(file, "tokenizer.ggml.bos_token_id", c);
  for (const char* key : {"tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id",
                          "tokenizer.ggml.eom_token_id"}) {
    const auto eos = token_id(file, key, c);
    if (eos && std::find(c.eos.begin(), c.eos.end(), *eos) == c.eos.end()) c.eos.push_back(*eos);
  }
  return c;
}

}  // namespace loom
