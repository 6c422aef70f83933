#include "text/forms/byte_level_names.h"

#include <algorithm>

namespace loom::text {
namespace {

Step split(std::string_view pattern) {
  return {.kind = StepKind::split, .flags = Step::kRegex, .text = std::string(pattern)};
}
Step map_bytes() { return {.kind = StepKind::byte_level}; }

constexpr std::string_view kLlama3 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kQwen2 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kTekken =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

}  // namespace

Status byte_level_pipeline(std::string_view name, TokenizerParts* parts, bool* bos) {
  const auto any = [&](std::initializer_list<std::string_view> names) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  auto& steps = parts->pre_tokenizer;
  *bos = false;
  if (any({"llama3", "llama-v3", "llama-bpe", "falcon3"})) {
    *bos = true;
    parts->bpe.ignore_merges = true;
    steps = {split(kLlama3)};
  } else if (any({"gpt-2", "phi-2", "jina-es", "jina-de", "jina-v2-es", "jina-v2-de", "mpt",
                  "olmo"})) {
    steps = {split(kGpt2Pattern)};
  } else if (any({"qwen2", "deepseek-r1-qwen"})) {
    // The tokenizers of this family compose their text first.
    parts->normalizer = {{.kind = StepKind::nfc}};
    steps = {split(kQwen2)};
  } else if (any({"smollm", "starcoder", "refact", "command-r", "codeshell"})) {
    steps = {{.kind = StepKind::digits, .flags = Step::kIndividual}, split(kGpt2Pattern)};
  } else if (any({"tekken"})) {
    parts->bpe.ignore_merges = true;
    *bos = true;
    steps = {split(kTekken)};
  } else if (any({"", "default"})) {
    steps = {split(R"([\p{P}\$\+<=>\^~\|]+)"), split(kGpt2Pattern), split(R"(\p{N}+)"),
             split("[0-9][0-9][0-9]")};
  } else {
    return Status(Code::unsupported,
                  "pre-tokenizer '" + std::string(name) + "' of a GGUF vocabulary");
  }
  steps.push_back(map_bytes());
  parts->decoder = {{.kind = StepKind::decode_byte_level}};
  return {};
}

}  // namespace loom::text
