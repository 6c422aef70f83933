// Builds a tokenizer from the tokenizer.ggml.* metadata of a GGUF file, which name the
// pre-tokenizer instead of describing it.

#include <algorithm>

#include "text/forms/byte_level_names.h"
#include "text/forms/token_types.h"
#include "text/tokenizer.h"
#include "text/tokenizer_data.h"
#include "text/unicode/utf8.h"

namespace loom {

using namespace text;

namespace {

class VocabularyReader {
 public:
  explicit VocabularyReader(const VocabularySpec& spec) : spec_(spec) {}

  Result<Tokenizer> read() {
    if (spec_.tokens.empty()) return Status(Code::invalid_argument, "has no tokens");
    if (!spec_.token_types.empty() && spec_.token_types.size() != spec_.tokens.size())
      return Status(Code::corrupt, "has " + std::to_string(spec_.token_types.size()) +
                                       " token types for " + std::to_string(spec_.tokens.size()) +
                                       " tokens");
    LOOM_TRY(tokens());
    bool add_bos = false;
    if (spec_.model == "llama") {
      add_bos = true;
      LOOM_TRY(sentence_piece());
    } else if (spec_.model == "gpt2") {
      LOOM_TRY(byte_level_pipeline(spec_.pre_tokenizer, &parts_, &add_bos));
      LOOM_TRY(merges());
    } else {
      return Status(Code::unsupported, "tokenizer model '" + spec_.model +
                                           "' of a GGUF file; this build reads 'llama' and 'gpt2'");
    }
    parts_.bos = id(spec_.bos);
    parts_.eos = id(spec_.eos);
    if (spec_.add_bos.value_or(add_bos) && parts_.bos) parts_.prefix = {*parts_.bos};
    if (spec_.add_eos.value_or(false) && parts_.eos) parts_.suffix = {*parts_.eos};
    parts_.chat_template = spec_.chat_template;
    return Tokenizer::build(std::move(parts_));
  }

 private:
  std::int32_t type(std::size_t i) const {
    return spec_.token_types.empty() ? 1 : spec_.token_types[i];
  }

  // Files write -1 or 2^32 - 1 for a token that they do not have.
  std::optional<std::uint32_t> id(std::optional<std::int32_t> value) const {
    return value && *value >= 0 && static_cast<std::size_t>(*value) < spec_.tokens.size()
               ? std::optional(static_cast<std::uint32_t>(*value))
               : std::nullopt;
  }

  Status tokens() {
    std::vector<Vocabulary::Entry> entries;
    for (std::size_t i = 0; i < spec_.tokens.size(); ++i) {
      const auto token_id = static_cast<std::uint32_t>(i);
      if (type(i) == kUnused && spec_.tokens[i] == padding_token(token_id)) continue;
      const bool control = type(i) == kControl, added = control || type(i) == kUserDefined;
      entries.push_back(
          {spec_.tokens[i], token_id,
           static_cast<std::uint8_t>(Vocabulary::kModel | (added ? Vocabulary::kAdded : 0) |
                                     (control ? Vocabulary::kSpecial : 0))});
      if (added)
        parts_.added.push_back(
            {.id = token_id, .content = std::string(spec_.tokens[i]), .special = control});
      // The unknown token is no control token there, but decoding leaves it out as well.
      if (type(i) == kUnknown) {
        entries.back().flags |= Vocabulary::kAdded | Vocabulary::kSpecial;
        parts_.added.push_back(
            {.id = token_id, .content = std::string(spec_.tokens[i]), .special = true});
      }
    }
    LOOM_ASSIGN(parts_.vocabulary, Vocabulary::build(entries));
    return {};
  }

  Status merges() {
    std::string joined;
    for (std::size_t i = 0; i < spec_.merges.size(); ++i) {
      const std::string_view line = spec_.merges[i];
      const std::size_t gap = line.find(
          ' ', 1);  // a token may begin with a space, but these are written as other characters
      if (gap == std::string_view::npos)
        return Status(Code::corrupt, "merge " + std::to_string(i) +
                                         ": expected two tokens with a space between them");
      const std::string_view left = line.substr(0, gap), right = line.substr(gap + 1);
      joined.assign(left).append(right);
      const auto l = parts_.vocabulary.find(left), r = parts_.vocabulary.find(right),
                 m = parts_.vocabulary.find(joined);
      if (!l || !r || !m)
        return Status(Code::corrupt, "merge " + std::to_string(i) + ": \"" +
                                         std::string(!l   ? left
                                                     : !r ? right
                                                          : joined) +
                                         "\" is not in the vocabulary");
      parts_.merges.push_back({*l, *r, static_cast<std::uint32_t>(i), *m});
    }
    return {};
  }

  // SentencePiece's BPE merges the pair whose token has the highest score. So every way to split a
  // token in two becomes a merge, ranked by the token's score; equal scores share a rank, and the
  // leftmost pair goes first.
  Status sentence_piece() {
    if (spec_.scores.size() != spec_.tokens.size())
      return Status(Code::corrupt, "has " + std::to_string(spec_.scores.size()) + " scores for " +
                                       std::to_string(spec_.tokens.size()) + " tokens");
    std::vector<std::uint32_t> order;
    for (std::uint32_t i = 0; i < spec_.tokens.size(); ++i) {
      if (spec_.scores[i] != spec_.scores[i])
        return Status(Code::corrupt,
                      "the score of token " + std::to_string(i) + " is not a number");
      if (mergeable(i)) order.push_back(i);
    }
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      return spec_.scores[a] > spec_.scores[b];
    });
    std::uint32_t rank = 0;
    for (std::size_t n = 0; n < order.size(); ++n) {
      const std::uint32_t token = order[n];
      if (n > 0 && spec_.scores[token] != spec_.scores[order[n - 1]]) ++rank;
      const std::string_view text = spec_.tokens[token];
      if (text.size() > kLongestPiece) continue;
      for (std::size_t at = 0; (void)utf8_next(text, at), at < text.size();) {
        const auto left = parts_.vocabulary.find(text.substr(0, at)),
                   right = parts_.vocabulary.find(text.substr(at));
        if (left && right && mergeable(*left) && mergeable(*right))
          parts_.merges.push_back({*left, *right, rank, token});
      }
    }
    parts_.bpe.unknown = id(spec_.unknown);
    for (std::uint32_t i = 0; i < spec_.tokens.size() && !parts_.bpe.unknown; ++i)
      if (type(i) == kUnknown) parts_.bpe.unknown = i;
    parts_.bpe.byte_fallback = true;
    parts_.bpe.fuse_unknown = true;
    const bool space = spec_.add_space_prefix.value_or(true);
    if (space) parts_.normalizer.push_back({.kind = StepKind::prepend, .text = "\u2581"});
    parts_.normalizer.push_back({.kind = StepKind::replace, .text = " ", .replacement = "\u2581"});
    parts_.decoder = {{.kind = StepKind::decode_replace, .text = "\u2581", .replacement = " "},
                      {.kind = StepKind::decode_byte_fallback},
                      {.kind = StepKind::decode_fuse}};
    if (space) parts_.decoder.push_back({.kind = StepKind::decode_strip, .start = 1, .text = " "});
    return {};
  }

  // Longer pieces would make their splits quadratic in the file's size; SentencePiece's own limit
  // is 16 characters by default.
  static constexpr std::size_t kLongestPiece = 1024;
  bool mergeable(std::uint32_t i) const {
    return !spec_.tokens[i].empty() && type(i) != kUnknown && type(i) != kControl &&
           type(i) != kUnused && type(i) != kByte;
  }

  const VocabularySpec& spec_;
  TokenizerParts parts_;
};

}  // namespace

Result<Tokenizer> Tokenizer::from_vocabulary(const VocabularySpec& spec) {
  auto result = VocabularyReader(spec).read();
  if (!result.ok()) return result.status().at("vocabulary");
  return result;
}

}  // namespace loom
