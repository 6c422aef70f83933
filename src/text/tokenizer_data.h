// The parts of a tokenizer as plain data, and the tokenizer that is made of them. Internal to the
// module.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "text/bpe/bpe.h"
#include "text/bpe/vocabulary.h"
#include "text/pipeline/added_tokens.h"
#include "text/pipeline/decoder.h"
#include "text/pipeline/normalizer.h"
#include "text/pipeline/pre_tokenizer.h"

namespace loom::text {

struct TokenizerParts {
  Vocabulary vocabulary;  // of the model and the added tokens
  std::vector<Merge> merges;
  BpeOptions bpe;
  std::vector<AddedToken> added;
  std::vector<Step> normalizer, pre_tokenizer, decoder;
  std::vector<std::uint32_t> prefix, suffix;  // ids that encode() adds
  std::optional<std::uint32_t> bos, eos;
  std::string chat_template;
};

struct TokenizerData {
  Vocabulary vocabulary;
  Bpe bpe;
  std::vector<AddedToken> added;
  AddedTokenFinder raw_finder, normalized_finder;
  Normalizer normalizer;
  PreTokenizer pre_tokenizer;
  Decoder decoder;
  std::vector<std::uint32_t> prefix, suffix;
  std::optional<std::uint32_t> bos, eos;
  std::string chat_template;
  // Sorted by id. Added tokens whose text is another one after normalization: it is that one that
  // decoding yields.
  std::vector<std::pair<std::uint32_t, std::string>> normalized_text;

  std::string_view decoded_text(std::uint32_t id) const;
};

}  // namespace loom::text
