// The byte-level pre-tokenizers by the names that llama.cpp's converter writes
// (tokenizer.ggml.pre). Internal to this folder.
#pragma once

#include <string_view>

#include "text/tokenizer_data.h"

namespace loom::text {

// Into `parts`: normalizer, pre-tokenizer, decoder and bpe.ignore_merges. `bos`: whether the family
// begins a text with it. Errors: unsupported for another name.
Status byte_level_pipeline(std::string_view name, TokenizerParts* parts, bool* bos);

// One name of each pipeline.
inline constexpr std::string_view kByteLevelNames[] = {"llama-bpe", "qwen2",  "gpt-2",
                                                       "smollm",    "tekken", "default"};

}  // namespace loom::text
