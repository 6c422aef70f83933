// GGUF as llama.cpp takes it: names of ggml's docs/gguf.md, and what llama.cpp's own converter
// writes.
#include <algorithm>

#include "base/files/bytes.h"
#include "base/math/exact_math.h"
#include "base/message.h"
#include "formats/gguf/gguf_writer.h"
#include "llm/config/architecture.h"
#include "llm/export/outgoing.h"

namespace loom {
namespace {

constexpr std::string_view kTypes = "f32, f16, bf16, q8_0 or q4_0";

// The family as llama.cpp has it; null where it has none.
const Architecture* gguf_family(const Architecture& a) {
  return find_gguf_architecture(a.gguf_family.empty() ? a.gguf : a.gguf_family);
}

Status check_family(const ModelConfig& c) {
  const Architecture& a = *c.architecture;
  const auto refused = [&](const std::string& what) {
    return Status(Code::unsupported, message("llama.cpp has no '", a.name, "' ", what));
  };
  const Architecture* family = gguf_family(a);
  if (!family) {
    std::string known;
    for (const Architecture* other : architectures())
      if (gguf_family(*other)) known += (known.empty() ? "" : ", ") + std::string(other->name);
    return refused("as this one computes; GGUF files are written of " + known);
  }
  for (const std::int64_t window : c.windows)
    if (window > 0 && window < c.max_positions)
      return refused("with sliding windows (here of " + std::to_string(window) +
                     " positions); a HuggingFace folder has them");
  if (c.rope.scaling == RopeScaling::llama3 && !family->gguf_rope_divisors)
    return refused("with the rope scaling of llama3");
  if (family->qk_norm != c.qk_norm)
    return refused(c.qk_norm ? "with norms of queries and keys"
                             : "without norms of queries and keys");
  const auto biased = [&](Bias rule, bool has, const char* what) {
    if (family->gguf_optional_biases || has == (rule == Bias::always)) return Status();
    return refused(std::string(has ? "with" : "without") + " biases of " + what);
  };
  LOOM_TRY(biased(family->qkv_bias, c.qkv_bias, "q, k and v"));
  LOOM_TRY(biased(family->out_bias, c.out_bias, "the output projection"));
  LOOM_TRY(biased(family->mlp_bias, c.mlp_bias, "the mlp"));
  return {};
}

std::uint32_t u32(std::int64_t value) { return static_cast<std::uint32_t>(value); }

// llama.cpp takes f32; what that cannot hold goes along for Loom, which reads it where it rounds to
// the f32.
void exact(GgufMetadata& m, const std::string& key, double value) {
  m.f32(key, static_cast<float>(value));
  if (static_cast<double>(static_cast<float>(value)) != value) m.f64("loom." + key, value);
}

void put_settings(const ModelConfig& c, const std::string& family, GgufMetadata& m) {
  const std::string p = family + ".";
  m.u32(p + "vocab_size", u32(c.vocab_size));
  m.u32(p + "context_length", u32(c.max_positions));
  m.u32(p + "embedding_length", u32(c.hidden_size));
  m.u32(p + "block_count", u32(c.layers));
  m.u32(p + "feed_forward_length", u32(c.intermediate_size));
  m.u32(p + "attention.head_count", u32(c.heads));
  m.u32(p + "attention.head_count_kv", u32(c.kv_heads));
  m.u32(p + "attention.key_length", u32(c.head_dim));
  m.u32(p + "attention.value_length", u32(c.head_dim));
  exact(m, p + "attention.layer_norm_rms_epsilon", c.norm_eps);
  m.u32(p + "rope.dimension_count", u32(c.head_dim));
  exact(m, p + "rope.freq_base", c.rope.theta);
  if (c.rope.scaling == RopeScaling::linear) {
    m.string(p + "rope.scaling.type", "linear");
    exact(m, p + "rope.scaling.factor", c.rope.factor);
  }
  // llama.cpp takes rope_freqs.weight alone; these are the settings it was made from.
  if (c.rope.scaling == RopeScaling::llama3) {
    m.f64("loom." + p + "rope.factor", c.rope.factor);
    m.f64("loom." + p + "rope.low_freq_factor", c.rope.low_freq_factor);
    m.f64("loom." + p + "rope.high_freq_factor", c.rope.high_freq_factor);
    m.f64("loom." + p + "rope.original_max_positions", c.rope.original_max_positions);
  }
}

void put_advice(const SamplingAdvice& a, GgufMetadata& m) {
  const auto put = [&](const char* key, const std::optional<double>& value) {
    if (value) exact(m, key, *value);
  };
  if (a.top_k) m.i32("general.sampling.top_k", static_cast<std::int32_t>(*a.top_k));
  put("general.sampling.top_p", a.top_p);
  put("general.sampling.min_p", a.min_p);
  put("general.sampling.temp", a.temperature);
  put("general.sampling.penalty_repeat", a.repetition_penalty);
}

// The ids that begin and end a text, in the keys that llama.cpp has for them.
void put_ids(const ModelConfig& c, const VocabularyTexts& texts, GgufMetadata& m,
             std::vector<std::string>& notes) {
  const auto bos = texts.bos ? texts.bos : c.bos;
  if (bos) m.u32("tokenizer.ggml.bos_token_id", u32(*bos));
  std::vector<std::int32_t> ends = c.eos;
  if (texts.eos) {
    const auto own = std::find(ends.begin(), ends.end(), *texts.eos);
    if (own != ends.end()) std::rotate(ends.begin(), own, own + 1);
    else if (ends.empty()) ends.push_back(*texts.eos);
    else
      notes.push_back("left out: the tokenizer's eos, " + std::to_string(*texts.eos) +
                      ", which does not end a text of this model");
  }
  constexpr std::string_view kKeys[] = {"eos", "eot", "eom"};
  for (std::size_t i = 0; i < ends.size(); ++i) {
    if (i < std::size(kKeys))
      m.u32(message("tokenizer.ggml.", kKeys[i], "_token_id"), u32(ends[i]));
    else
      notes.push_back("left out: that token " + std::to_string(ends[i]) +
                      " ends a text, for which GGUF has no key left");
  }
}

Status put_tokenizer(const Outgoing& model, bool wanted, GgufMetadata& m,
                     std::vector<std::string>& notes) {
  VocabularyTexts texts;
  const Status none = model.tokenizer.status();
  if (!wanted || none.code() == Code::not_found) {
    notes.push_back("without a tokenizer: " +
                    (wanted ? none.message() : std::string("it was left out")));
    m.string("tokenizer.ggml.model", "no_vocab");
    put_ids(model.config, texts, m, notes);
    return {};
  }
  const auto refused = [&](const Status& why) {
    return Status(why.code(),
                  model.name + ": " + why.message() + "; \"tokenizer\": false leaves it out");
  };
  if (!none.ok()) return refused(none);
  auto written = model.tokenizer->to_vocabulary(static_cast<std::size_t>(model.config.vocab_size));
  if (!written.ok()) return refused(written.status());
  texts = std::move(*written);
  if (texts.tokens.size() > static_cast<std::size_t>(model.config.vocab_size))
    return refused(Status(Code::unsupported, message("the tokenizer has ", texts.tokens.size(),
                                                     " ids, the model ", model.config.vocab_size)));
  m.string("tokenizer.ggml.model", texts.model);
  m.string("tokenizer.ggml.pre", texts.model == "llama" ? "default" : texts.pre_tokenizer);
  m.strings("tokenizer.ggml.tokens", texts.tokens);
  if (!texts.scores.empty()) m.f32s("tokenizer.ggml.scores", texts.scores);
  m.i32s("tokenizer.ggml.token_type", texts.token_types);
  if (texts.model == "gpt2") m.strings("tokenizer.ggml.merges", texts.merges);
  put_ids(model.config, texts, m, notes);
  if (texts.unknown) m.u32("tokenizer.ggml.unknown_token_id", u32(*texts.unknown));
  m.boolean("tokenizer.ggml.add_bos_token", texts.add_bos);
  m.boolean("tokenizer.ggml.add_eos_token", texts.add_eos);
  if (texts.model == "llama") m.boolean("tokenizer.ggml.add_space_prefix", texts.add_space_prefix);
  if (!texts.chat_template.empty()) m.string("tokenizer.chat_template", texts.chat_template);
  for (const std::string& lost : texts.lost) notes.push_back("left out: " + lost);
  return {};
}

// Vectors are f32, as llama.cpp takes them.
Result<StorageType> type_of(const OutgoingTensor& t, const ModelConfig& c,
                            std::optional<StorageType> wanted) {
  if (!t.matrix) return StorageType::f32;
  if (!wanted) {
    const StorageType type = t.values.type;
    if (!t.own_type || type == StorageType::f64 || !gguf_holds(type) ||
        t.cols % info(type).block != 0)
      return needs_dtype(t, "llama.cpp", kTypes);
    return type;
  }
  const bool output = t.place.block < 0 && (t.place.name->place == "output" || c.tied);
  StorageType type = *wanted;
  if (type == StorageType::q4_0 && output) type = StorageType::q8_0;
  return t.cols % info(type).block == 0 ? type : StorageType::f16;
}

// The divisor of each rotary frequency of Llama 3.1, as llama.cpp takes them.
std::vector<float> rope_divisors(const RopeSpec& r, std::int64_t head_dim) {
  std::vector<float> divisors;
  for (std::int64_t i = 0; i < head_dim / 2; ++i) {
    const double wavelength =
        6.283185307179586 *
        exact::pow(r.theta, static_cast<double>(2 * i) / static_cast<double>(head_dim));
    const double turns = r.original_max_positions / wavelength;
    const double smooth = std::clamp(
        (turns - r.low_freq_factor) / (r.high_freq_factor - r.low_freq_factor), 0.0, 1.0);
    divisors.push_back(static_cast<float>(1 / ((1 - smooth) / r.factor + smooth)));
  }
  return divisors;
}

// general.file_type of what takes most bytes.
std::uint32_t file_type(const std::vector<TensorInfo>& tensors) {
  constexpr std::pair<StorageType, std::uint32_t> kNumbers[] = {
      {StorageType::f32, 0},  {StorageType::f16, 1},  {StorageType::bf16, 32},
      {StorageType::q4_0, 2}, {StorageType::q8_0, 7}, {StorageType::q4_k, 15},
      {StorageType::q6_k, 18}};
  std::uint64_t largest = 0;
  std::uint32_t number = 0;
  for (const auto& [type, id] : kNumbers) {
    std::uint64_t bytes = 0;
    for (const TensorInfo& t : tensors) bytes += t.type == type ? t.size : 0;
    if (bytes > largest) largest = bytes, number = id;
  }
  return number;
}

Status make_tensors(const Outgoing& model, std::optional<StorageType> wanted, ModelExport& report,
                    std::vector<TensorInfo>& tensors) {
  const ModelConfig& c = model.config;
  const Target target{Naming::gguf, gguf_family(*c.architecture)->gguf_interleaves_qk, c.head_dim};
  report.tensors.resize(model.tensors.size());
  std::size_t whole = 0;
  for (std::size_t i = 0; i < model.tensors.size(); ++i) {
    const OutgoingTensor& t = model.tensors[i];
    LOOM_ASSIGN(const StorageType type, type_of(t, c, wanted));
    whole += t.matrix && wanted && info(*wanted).block > 1 && info(type).block == 1;
    ExportedTensor& row = report.tensors[i];
    tensors.push_back(target_tensor(t, target, type, &row.error));
    const TensorInfo& made = tensors.back();
    row = {made.name, made.shape, t.from, std::string(name(type)), t.bytes, made.size, {}};
  }
  if (whole > 0)
    report.notes.push_back(
        message(whole, " matrices are f16, since their rows are not whole blocks"));
  return {};
}

}  // namespace

Result<ModelExport> write_gguf_model(Outgoing& model, const Destination& out,
                                     const ModelExportOptions& options) {
  const ModelConfig& c = model.config;
  LOOM_TRY(check_family(c).at(model.name));
  std::optional<StorageType> wanted;
  if (!options.dtype.empty()) {
    LOOM_ASSIGN(wanted, wanted_type(options.dtype, ModelTarget::gguf));
  }
  ModelExport report;
  report.notes = model.notes;
  std::vector<TensorInfo> tensors;
  LOOM_TRY(make_tensors(model, wanted, report, tensors));
  const std::vector<float> divisors = c.rope.scaling == RopeScaling::llama3
                                          ? rope_divisors(c.rope, c.head_dim)
                                          : std::vector<float>();
  if (!divisors.empty())
    tensors.push_back(tensor_from_f32("rope_freqs.weight",
                                      {static_cast<std::int64_t>(divisors.size())}, divisors));
  GgufMetadata m;
  const std::string family(gguf_family(*c.architecture)->gguf);
  m.string("general.architecture", family);
  m.string("general.type", "model");
  m.u32("general.file_type", file_type(tensors));
  const auto blocks = [](const TensorInfo& t) { return info(t.type).block > 1; };
  if (std::any_of(tensors.begin(), tensors.end(), blocks)) m.u32("general.quantization_version", 2);
  put_settings(c, family, m);
  put_advice(c, m);
  LOOM_TRY(put_tokenizer(model, options.tokenizer, m, report.notes));
  LOOM_TRY(write_gguf(out, m, tensors));
  return report;
}

}  // namespace loom
