// Writes a tokenizer as the tokenizer.ggml.* metadata of a GGUF file, the inverse of
// tokenizer_vocabulary.cpp.

#include <algorithm>

#include "text/forms/byte_level_names.h"
#include "text/forms/token_types.h"
#include "text/tokenizer.h"
#include "text/tokenizer_data.h"

namespace loom {

using namespace text;

namespace {

constexpr std::string_view kSpace = "\u2581";

Status unsupported(std::string_view what) {
  return Status(Code::unsupported,
                "no GGUF file can describe this tokenizer: " + std::string(what));
}

// The same pipeline in one spelling: what a byte-level step splits by itself is a step.
std::vector<Step> spelled_out(const std::vector<Step>& steps) {
  std::vector<Step> out;
  for (Step s : steps) {
    if (s.kind == StepKind::byte_level && s.has(Step::kRegex)) {
      out.push_back(
          {.kind = StepKind::split, .flags = Step::kRegex, .text = std::string(kGpt2Pattern)});
      s.flags &= static_cast<std::uint8_t>(~Step::kRegex);
    }
    out.push_back(std::move(s));
  }
  return out;
}

class VocabularyWriter {
 public:
  VocabularyWriter(const TokenizerData& data, std::size_t size)
      : d_(data), size_(std::max(size, data.vocabulary.size())) {}

  Result<VocabularyTexts> write() {
    const BpeOptions& bpe = d_.bpe.options();
    if (!bpe.continuing_prefix.empty() || !bpe.end_suffix.empty())
      return unsupported("it has a prefix of continued words or a suffix of ended ones");
    LOOM_TRY(around());
    if (bpe.unknown) out_.unknown = static_cast<std::int32_t>(*bpe.unknown);
    const std::vector<Step>& steps = d_.decoder.steps();
    if (!steps.empty() && steps[0].kind == StepKind::decode_byte_level) {
      LOOM_TRY(byte_level());
    } else if (bpe.byte_fallback) {
      LOOM_TRY(sentence_piece());
    } else {
      return unsupported("it is neither byte-level BPE nor SentencePiece BPE with bytes");
    }
    flags_of_added();
    out_.chat_template = d_.chat_template;
    return std::move(out_);
  }

 private:
  // What encode() puts around a text.
  Status around() {
    const auto only = [](const std::vector<std::uint32_t>& ids, std::optional<std::uint32_t> id) {
      return ids.empty() || (ids.size() == 1 && id && ids[0] == *id);
    };
    if (!only(d_.prefix, d_.bos) || !only(d_.suffix, d_.eos))
      return unsupported("it puts other tokens around a text than bos and eos");
    out_.add_bos = !d_.prefix.empty();
    out_.add_eos = !d_.suffix.empty();
    if (d_.bos) out_.bos = static_cast<std::int32_t>(*d_.bos);
    if (d_.eos) out_.eos = static_cast<std::int32_t>(*d_.eos);
    return {};
  }

  void tokens(bool pieces) {
    for (std::uint32_t id = 0; id < size_; ++id) {
      const std::uint8_t flags = d_.vocabulary.flags(id);
      const std::string text(d_.vocabulary.text(id));
      const bool added = (flags & Vocabulary::kAdded) != 0;
      std::int32_t type = kNormal;
      if (flags == 0) type = kUnused;
      else if (pieces && d_.bpe.options().unknown == id) type = kUnknown;
      else if (added) type = flags & Vocabulary::kSpecial ? kControl : kUserDefined;
      else if (pieces && parse_byte_token(text)) type = kByte;
      out_.tokens.push_back(flags == 0 ? padding_token(id) : text);
      out_.token_types.push_back(type);
    }
  }

  Status byte_level() {
    out_.model = "gpt2";
    const std::vector<Step> own = spelled_out(d_.pre_tokenizer.steps());
    for (const std::string_view name : kByteLevelNames) {
      TokenizerParts parts;
      bool bos = false;
      LOOM_TRY(byte_level_pipeline(name, &parts, &bos));
      if (spelled_out(parts.pre_tokenizer) == own && parts.normalizer == d_.normalizer.steps() &&
          parts.bpe.ignore_merges == d_.bpe.options().ignore_merges) {
        out_.pre_tokenizer = name;
        break;
      }
    }
    if (out_.pre_tokenizer.empty()) {
      std::string known;
      for (const std::string_view name : kByteLevelNames)
        known += (known.empty() ? "" : ", ") + std::string(name);
      return unsupported("its normalizer and pre-tokenizer are none of " + known);
    }
    tokens(false);
    for (const Merge& m : d_.bpe.merges()) {
      const std::string_view left = d_.vocabulary.text(m.left), right = d_.vocabulary.text(m.right);
      if (left.find(' ', 1) != std::string_view::npos)
        return unsupported("the token \"" + std::string(left) + "\" of a merge has a space");
      out_.merges.push_back(std::string(left) + " " + std::string(right));
    }
    return {};
  }

  // SentencePiece has no merges, but scores: of two pairs the one whose token has the higher score
  // is merged. So merges become scores where the same merges come back from those.
  Status sentence_piece() {
    out_.model = "llama";
    LOOM_TRY(spaces());
    tokens(true);
    const std::vector<Merge> merges = d_.bpe.merges();
    constexpr float kNone = 1;
    out_.scores.assign(size_, kNone);
    float level = 0;
    for (std::size_t i = 0; i < merges.size(); ++i) {
      const Merge& m = merges[i];
      if (i > 0 && m.rank != merges[i - 1].rank && m.merged != merges[i - 1].merged) --level;
      float& score = out_.scores[m.merged];
      if (score != kNone && score != level)
        return unsupported("the merges that make the token \"" +
                           std::string(d_.vocabulary.text(m.merged)) +
                           "\" do not follow one another, as SentencePiece's do");
      score = level;
    }
    for (float& score : out_.scores)
      if (score == kNone) score = level - 1;
    return {};
  }

  Status spaces() {
    const auto replaces = [](const Step& s) {
      return s.kind == StepKind::replace && !s.has(Step::kRegex) && s.text == " " &&
             s.replacement == kSpace;
    };
    const std::vector<Step>&before = d_.normalizer.steps(), &split = d_.pre_tokenizer.steps();
    const bool prepends = !before.empty() && before[0].kind == StepKind::prepend;
    if (split.empty() && before.size() == (prepends ? 2u : 1u) && replaces(before.back()) &&
        (!prepends || before[0].text == kSpace)) {
      out_.add_space_prefix = prepends;
      return {};
    }
    if (before.empty() && split.size() == 1 && split[0].kind == StepKind::metaspace &&
        split[0].text == kSpace && !split[0].has(Step::kSplit)) {
      out_.add_space_prefix = split[0].has(Step::kAddSpace);
      if (split[0].has(Step::kFirstOnly))
        out_.lost.push_back(
            "that a space is put before the first word of a text alone, and not "
            "behind special tokens");
      return {};
    }
    return unsupported("its normalizer and pre-tokenizer do more than write spaces as \u2581");
  }

  // What a vocabulary does not say of tokens that are found in the text.
  void flags_of_added() {
    std::size_t lost = 0;
    for (const AddedToken& t : d_.added) lost += t.single_word || t.lstrip || t.rstrip;
    if (lost > 0)
      out_.lost.push_back("lstrip, rstrip and single_word of " + std::to_string(lost) +
                          " added tokens");
  }

  const TokenizerData& d_;
  std::size_t size_;
  VocabularyTexts out_;
};

// Whether SentencePiece merges what `own` merges, given the scores that `again` was read from.
// Added tokens are found before anything is merged: what makes them does not matter.
Status same_merges(std::vector<Merge> own, std::vector<Merge> again, const Vocabulary& vocabulary) {
  const auto by_pair = [](const Merge& a, const Merge& b) {
    return a.left != b.left ? a.left < b.left : a.right < b.right;
  };
  std::sort(own.begin(), own.end(), by_pair);
  std::sort(again.begin(), again.end(), by_pair);
  std::size_t at = 0;
  for (const Merge& m : again) {
    const bool same = at < own.size() && own[at].left == m.left && own[at].right == m.right;
    at += same;
    if (!same && (vocabulary.flags(m.merged) & Vocabulary::kAdded) == 0)
      return unsupported("SentencePiece would also merge \"" +
                         std::string(vocabulary.text(m.left)) + "\" and \"" +
                         std::string(vocabulary.text(m.right)) + "\"");
  }
  if (at == own.size()) return {};
  return unsupported("SentencePiece would not merge \"" +
                     std::string(vocabulary.text(own[at].left)) + "\" and \"" +
                     std::string(vocabulary.text(own[at].right)) + "\"");
}

std::vector<std::string_view> views(const std::vector<std::string>& texts) {
  return {texts.begin(), texts.end()};
}

}  // namespace

Result<VocabularyTexts> Tokenizer::to_vocabulary(std::size_t size) const {
  LOOM_ASSIGN(VocabularyTexts out, VocabularyWriter(*data_, size).write());
  if (out.model != "llama") return out;
  VocabularySpec spec;
  const std::vector<std::string_view> tokens = views(out.tokens);
  spec.model = out.model;
  spec.tokens = tokens;
  spec.scores = out.scores;
  spec.token_types = out.token_types;
  spec.unknown = out.unknown;
  LOOM_ASSIGN(const Tokenizer again, from_vocabulary(spec));
  LOOM_TRY(same_merges(data_->bpe.merges(), again.data_->bpe.merges(), data_->vocabulary));
  return out;
}

}  // namespace loom
