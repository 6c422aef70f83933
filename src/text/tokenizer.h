// Text to token ids and back, as HuggingFace's tokenizers do it, for BPE models. See
// docs/guide/tokenizers.md.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace loom {

namespace text {
struct TokenizerParts;
struct TokenizerData;
struct TextRange;
}  // namespace text

// What the tokenizer.ggml.* metadata of a GGUF file hold. Views: they must live until
// from_vocabulary() returns.
struct VocabularySpec {
  std::string model;          // "llama" (SentencePiece BPE) or "gpt2" (byte-level BPE)
  std::string pre_tokenizer;  // gpt2: tokenizer.ggml.pre, "" is "default"
  std::span<const std::string_view> tokens;
  std::span<const std::string_view> merges;   // gpt2: "left right"
  std::span<const float> scores;              // llama
  std::span<const std::int32_t> token_types;  // 1 normal, 2 unknown, 3 control, 4 user defined, 5
                                              // unused, 6 byte; may be empty
  std::optional<std::int32_t> bos, eos, unknown;
  std::optional<bool> add_bos, add_eos, add_space_prefix;  // defaults as in llama.cpp
  std::string chat_template;
};

// The same with its texts, for writers.
struct VocabularyTexts {
  std::string model, pre_tokenizer;
  std::vector<std::string> tokens, merges;
  std::vector<float> scores;
  std::vector<std::int32_t> token_types;
  std::optional<std::int32_t> bos, eos, unknown;
  bool add_bos = false, add_eos = false, add_space_prefix = false;
  std::string chat_template;
  std::vector<std::string> lost;  // what a vocabulary has no place for, in words
};

// Immutable and thread-safe; copies share their data.
class Tokenizer {
 public:
  // From a tokenizer.json. tokenizer_config.json, where given, names bos and eos, brings the chat
  // template, and adds bos or eos (add_bos_token, add_eos_token) where tokenizer.json has no
  // template. `name` stands in error messages. Errors: corrupt (no JSON, contradictions),
  // unsupported (a part is named that this build does not have).
  static Result<Tokenizer> from_json(std::string_view tokenizer_json,
                                     std::string_view tokenizer_config_json = {},
                                     std::string name = "tokenizer.json");
  // A tokenizer.json, or a folder that holds one. tokenizer_config.json and chat_template.jinja
  // beside it are read too.
  static Result<Tokenizer> load(const std::string& path);
  static Result<Tokenizer> from_vocabulary(const VocabularySpec& spec);
  // What from_vocabulary reads; ids up to `size` that have no token are padding. Errors:
  // unsupported for a tokenizer that no GGUF file can describe, with the reason.
  Result<VocabularyTexts> to_vocabulary(std::size_t size) const;
  // What from_json reads: tokenizer.json, and tokenizer_config.json with bos, eos and the template.
  std::string to_json() const;
  std::string config_json() const;
  // The section of a .entity file, docs/reference/tokenizer-section.md.
  std::string serialize() const;
  static Result<Tokenizer> deserialize(std::string_view section);

  // Ids of `text`. Special tokens that stand in it are recognized. Bytes that are no UTF-8 count as
  // U+FFFD, one per maximal invalid part. `add_special`: with the tokens that the model wants at
  // the beginning and the end. Time: n log n.
  std::vector<std::int32_t> encode(std::string_view text, bool add_special = true) const;
  // Ids of a text in which special tokens are plain characters: for what a user typed. Nothing is
  // added.
  std::vector<std::int32_t> encode_plain(std::string_view text) const;
  // Ids of a conversation: special tokens are plain characters where they touch a `typed` range of
  // bytes, and no word ends because a range does. The ranges go up. Nothing is added.
  std::vector<std::int32_t> encode_typed(std::string_view text,
                                         std::span<const text::TextRange> typed) const;
  // The text of ids, valid UTF-8. Ids that do not exist are passed over.
  std::string decode(std::span<const std::int32_t> ids, bool skip_special = false) const;

  // One more than the largest id.
  std::size_t vocab_size() const;
  std::optional<std::int32_t> token_to_id(std::string_view token) const;
  // As the vocabulary spells it; "" where there is none.
  std::string_view id_to_token(std::int32_t id) const;
  bool is_special(std::int32_t id) const;
  std::optional<std::int32_t> bos() const;
  std::optional<std::int32_t> eos() const;
  // Jinja, from tokenizer_config.json; may be empty.
  const std::string& chat_template() const;

  // For the module's own constructors.
  static Result<Tokenizer> build(text::TokenizerParts parts);

 private:
  friend class StreamDecoder;
  explicit Tokenizer(std::shared_ptr<const text::TokenizerData> data) : data_(std::move(data)) {}
  std::shared_ptr<const text::TokenizerData> data_;
};

// Decodes ids as they come. What push() and finish() return, put together, equals Tokenizer::decode
// of all ids; no part ends inside a character. Byte-fallback tokens are held back until their run
// ends, since a later byte can make it invalid.
class StreamDecoder {
 public:
  explicit StreamDecoder(Tokenizer tokenizer, bool skip_special = false);
  StreamDecoder(StreamDecoder&&) noexcept;
  StreamDecoder& operator=(StreamDecoder&&) noexcept;
  ~StreamDecoder();

  std::string push(std::int32_t id);  // the text that is final now, may be empty
  std::string finish();               // the rest; the decoder then starts anew

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace loom
