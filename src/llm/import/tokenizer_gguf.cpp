// The tokenizer of a GGUF file (ggml's docs/gguf.md, "Tokenizer").
#include "llm/model.h"

namespace loom {
namespace {

std::vector<std::string_view> views(const std::vector<std::string>& texts) {
  return {texts.begin(), texts.end()};
}

Result<std::vector<std::string>> strings_or_none(const Gguf& file, std::string_view key) {
  if (!file.find_key(key)) return std::vector<std::string>();
  return file.get_strings(key);
}

Result<Tokenizer> read_tokenizer(const Gguf& file) {
  VocabularySpec spec;
  LOOM_ASSIGN(spec.model, file.get_string("tokenizer.ggml.model"));
  LOOM_ASSIGN(spec.pre_tokenizer, file.get_string("tokenizer.ggml.pre", ""));
  LOOM_ASSIGN(spec.chat_template, file.get_string("tokenizer.chat_template", ""));
  LOOM_ASSIGN(const std::vector<std::string> tokens, file.get_strings("tokenizer.ggml.tokens"));
  LOOM_ASSIGN(const std::vector<std::string> merges,
              strings_or_none(file, "tokenizer.ggml.merges"));
  std::vector<float> scores;
  if (file.find_key("tokenizer.ggml.scores")) {
    LOOM_ASSIGN(scores, file.get_floats("tokenizer.ggml.scores"));
  }
  std::vector<std::int32_t> types;
  if (file.find_key("tokenizer.ggml.token_type")) {
    LOOM_ASSIGN(const std::vector<std::int64_t> wide,
                file.get_integers("tokenizer.ggml.token_type"));
    for (const std::int64_t t : wide)
      types.push_back(t >= 0 && t < 256 ? static_cast<std::int32_t>(t) : 0);
  }
  const std::vector<std::string_view> token_views = views(tokens), merge_views = views(merges);
  spec.tokens = token_views;
  spec.merges = merge_views;
  spec.scores = scores;
  spec.token_types = types;

  auto id = [&](std::string_view key, std::optional<std::int32_t>* out) -> Status {
    if (!file.find_key(key)) return {};
    const auto value = file.get_u64(key);
    if (!value.ok())
      return value.status().code() == Code::out_of_range
                 ? Status()
                 : value.status();  // llama.cpp writes -1 for none
    if (*value < tokens.size()) *out = static_cast<std::int32_t>(*value);
    return {};
  };
  LOOM_TRY(id("tokenizer.ggml.bos_token_id", &spec.bos));
  LOOM_TRY(id("tokenizer.ggml.eos_token_id", &spec.eos));
  LOOM_TRY(id("tokenizer.ggml.unknown_token_id", &spec.unknown));
  auto flag = [&](std::string_view key, std::optional<bool>* out) -> Status {
    if (!file.find_key(key)) return {};
    LOOM_ASSIGN(*out, file.get_bool(key));
    return {};
  };
  LOOM_TRY(flag("tokenizer.ggml.add_bos_token", &spec.add_bos));
  LOOM_TRY(flag("tokenizer.ggml.add_eos_token", &spec.add_eos));
  LOOM_TRY(flag("tokenizer.ggml.add_space_prefix", &spec.add_space_prefix));
  return Tokenizer::from_vocabulary(spec);
}

}  // namespace

Result<Tokenizer> tokenizer_from_gguf(const Gguf& file) {
  constexpr std::string_view kModel = "tokenizer.ggml.model";
  const auto model = file.get_string(kModel);
  // llama.cpp writes "no_vocab" for none, and older files "none".
  const bool none = model.ok() && (*model == "no_vocab" || *model == "none");
  if (none || !file.find_key(kModel))
    return Status(Code::not_found, "the GGUF file holds no tokenizer");
  auto tokenizer = read_tokenizer(file);
  // not_found is for models without a tokenizer, and this one lacks a part of it.
  if (!tokenizer.ok() && tokenizer.status().code() == Code::not_found)
    return Status(Code::corrupt, tokenizer.status().message());
  return tokenizer;
}

}  // namespace loom
