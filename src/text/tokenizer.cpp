#include "text/tokenizer.h"

#include <algorithm>

#include "text/pipeline/growth.h"
#include "text/tokenizer_data.h"
#include "text/unicode/utf8.h"

namespace loom {

using namespace text;

std::string_view TokenizerData::decoded_text(std::uint32_t id) const {
  const auto found =
      std::lower_bound(normalized_text.begin(), normalized_text.end(), id,
                       [](const auto& entry, std::uint32_t key) { return entry.first < key; });
  return found != normalized_text.end() && found->first == id ? std::string_view(found->second)
                                                              : vocabulary.text(id);
}

Result<Tokenizer> Tokenizer::build(TokenizerParts parts) {
  auto data = std::make_shared<TokenizerData>();
  data->vocabulary = std::move(parts.vocabulary);
  const Vocabulary& vocabulary = data->vocabulary;
  const auto check = [&](std::uint32_t id, const char* what) {
    return vocabulary.contains(id)
               ? Status()
               : Status(Code::corrupt,
                        std::string(what) + ": there is no token " + std::to_string(id));
  };
  for (const Merge& m : parts.merges) {
    LOOM_TRY(check(m.left, "merge"));
    LOOM_TRY(check(m.right, "merge"));
    LOOM_TRY(check(m.merged, "merge"));
    if (m.rank == UINT32_MAX) return Status(Code::corrupt, "merge: rank 4294967295 is reserved");
  }
  if (parts.bpe.unknown) LOOM_TRY(check(*parts.bpe.unknown, "unknown token"));
  if (parts.bos) LOOM_TRY(check(*parts.bos, "bos"));
  if (parts.eos) LOOM_TRY(check(*parts.eos, "eos"));
  for (const std::uint32_t id : parts.prefix) LOOM_TRY(check(id, "prefix"));
  for (const std::uint32_t id : parts.suffix) LOOM_TRY(check(id, "suffix"));
  for (const AddedToken& t : parts.added) LOOM_TRY(check(t.id, "added token"));

  data->bpe = Bpe::build(vocabulary, parts.merges, std::move(parts.bpe));
  std::vector<Step> on_text = parts.normalizer;
  on_text.insert(on_text.end(), parts.pre_tokenizer.begin(), parts.pre_tokenizer.end());
  LOOM_TRY(check_growth(on_text, "normalizer and pre-tokenizer"));
  LOOM_TRY(check_growth(parts.decoder, "decoder"));
  LOOM_ASSIGN(data->normalizer, Normalizer::build(std::move(parts.normalizer)));
  LOOM_ASSIGN(data->pre_tokenizer, PreTokenizer::build(std::move(parts.pre_tokenizer)));
  LOOM_ASSIGN(data->decoder, Decoder::build(std::move(parts.decoder)));
  std::vector<std::string> raw, normalized;
  for (const AddedToken& t : parts.added) {
    raw.push_back(t.normalized ? std::string() : t.content);
    normalized.push_back(!t.normalized ? std::string() : data->normalizer.apply(t.content));
    if (t.normalized && normalized.back() != t.content)
      data->normalized_text.emplace_back(t.id, normalized.back());
  }
  std::stable_sort(data->normalized_text.begin(), data->normalized_text.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  data->raw_finder.build(parts.added, raw);
  data->normalized_finder.build(parts.added, normalized);
  data->added = std::move(parts.added);
  data->prefix = std::move(parts.prefix);
  data->suffix = std::move(parts.suffix);
  data->bos = parts.bos;
  data->eos = parts.eos;
  data->chat_template = std::move(parts.chat_template);
  return Tokenizer(std::move(data));
}

namespace {

// One call of encode: the stages of the pipeline over one text.
class Encoding {
 public:
  Encoding(const TokenizerData& data, bool skip_special, std::vector<std::int32_t>& out)
      : data_(data), skip_special_(skip_special), out_(out) {}

  // `first`: it begins the whole.
  void text(std::string_view text, bool first = true) {
    std::vector<AddedTokenFinder::Piece> pieces;
    data_.raw_finder.split(text, skip_special_, pieces);
    for (const auto& p : pieces) {
      if (p.id >= 0) out_.push_back(static_cast<std::int32_t>(p.id));
      else segment(text.substr(p.begin, p.end - p.begin), first && p.begin == 0);
    }
  }

 private:
  void segment(std::string_view text, bool at_start) {
    if (data_.normalizer.empty() && data_.normalized_finder.empty()) return words(text, at_start);
    const std::string normalized = data_.normalizer.apply(text);
    std::vector<AddedTokenFinder::Piece> pieces;
    data_.normalized_finder.split(normalized, skip_special_, pieces);
    for (const auto& p : pieces) {
      if (p.id >= 0) out_.push_back(static_cast<std::int32_t>(p.id));
      else
        words(std::string_view(normalized).substr(p.begin, p.end - p.begin),
              at_start && p.begin == 0);
    }
  }

  void words(std::string_view text, bool at_start) {
    data_.pre_tokenizer.apply(text, at_start, words_);
    if (words_.spans.size() < kCacheFrom) {
      for (const Span& s : words_.spans)
        data_.bpe.encode(data_.vocabulary, words_.text.substr(s.begin, s.end - s.begin), out_,
                         bpe_);
      return;
    }
    // Words come back: the ids of one seen before are copied. The table refers to words_ and to
    // out_, so it lives as long as this text.
    cache_.assign(kCacheSize, Known{});
    for (const Span& s : words_.spans) {
      const std::string_view word = words_.text.substr(s.begin, s.end - s.begin);
      const std::uint64_t hash = hash_text(word);
      Known& known = cache_[hash % kCacheSize];
      const std::size_t first = out_.size();
      if (known.word == word) {
        for (std::size_t i = 0; i < known.count; ++i) out_.push_back(out_[known.first + i]);
      } else {
        data_.bpe.encode(data_.vocabulary, word, out_, bpe_);
        known = {word, first, out_.size() - first};
      }
    }
  }

  static constexpr std::size_t kCacheFrom = 64, kCacheSize = 4096;
  struct Known {
    std::string_view word;
    std::size_t first = 0, count = 0;
  };

  const TokenizerData& data_;
  bool skip_special_;
  std::vector<std::int32_t>& out_;
  Words words_;
  Bpe::Scratch bpe_;
  std::vector<Known> cache_;
};

}  // namespace

std::vector<std::int32_t> Tokenizer::encode(std::string_view text, bool add_special) const {
  std::vector<std::int32_t> out;
  if (add_special) out.assign(data_->prefix.begin(), data_->prefix.end());
  std::string storage;
  Encoding(*data_, false, out).text(utf8_lossy(text, storage));
  if (add_special) out.insert(out.end(), data_->suffix.begin(), data_->suffix.end());
  return out;
}

std::vector<std::int32_t> Tokenizer::encode_plain(std::string_view text) const {
  std::vector<std::int32_t> out;
  std::string storage;
  Encoding(*data_, true, out).text(utf8_lossy(text, storage));
  return out;
}

std::vector<std::int32_t> Tokenizer::encode_typed(std::string_view text,
                                                  std::span<const TextRange> typed) const {
  // Made anew each time, since conversations are few beside texts.
  AddedTokenFinder specials;
  std::vector<AddedToken> tokens;
  std::vector<std::string> content;
  for (const AddedToken& token : data_->added) {
    if (!token.special) continue;
    tokens.push_back(token);
    content.push_back(token.content);
  }
  specials.build(tokens, content);
  std::vector<AddedTokenFinder::Piece> pieces;
  specials.split(text, false, pieces, typed);
  std::vector<std::int32_t> out;
  for (const auto& p : pieces) {
    if (p.id >= 0) out.push_back(static_cast<std::int32_t>(p.id));
    else Encoding(*data_, true, out).text(text.substr(p.begin, p.end - p.begin), p.begin == 0);
  }
  return out;
}

std::string Tokenizer::decode(std::span<const std::int32_t> ids, bool skip_special) const {
  StreamDecoder stream(*this, skip_special);
  std::string out;
  for (const std::int32_t id : ids) out += stream.push(id);
  return out += stream.finish();
}

std::size_t Tokenizer::vocab_size() const { return data_->vocabulary.size(); }

std::optional<std::int32_t> Tokenizer::token_to_id(std::string_view token) const {
  const auto id = data_->vocabulary.find(token);
  if (!id) return std::nullopt;
  return static_cast<std::int32_t>(*id);
}

std::string_view Tokenizer::id_to_token(std::int32_t id) const {
  return id < 0 ? std::string_view() : data_->vocabulary.text(static_cast<std::uint32_t>(id));
}

bool Tokenizer::is_special(std::int32_t id) const {
  return id >= 0 &&
         (data_->vocabulary.flags(static_cast<std::uint32_t>(id)) & Vocabulary::kSpecial) != 0;
}

namespace {
std::optional<std::int32_t> as_id(std::optional<std::uint32_t> id) {
  return id ? std::optional(static_cast<std::int32_t>(*id)) : std::nullopt;
}
}  // namespace

std::optional<std::int32_t> Tokenizer::bos() const { return as_id(data_->bos); }
std::optional<std::int32_t> Tokenizer::eos() const { return as_id(data_->eos); }
const std::string& Tokenizer::chat_template() const { return data_->chat_template; }

struct StreamDecoder::State {
  Tokenizer tokenizer;
  bool skip_special;
  Decoder::Run run;
};

StreamDecoder::StreamDecoder(Tokenizer tokenizer, bool skip_special)
    : state_(new State{tokenizer, skip_special, tokenizer.data_->decoder.start()}) {}
StreamDecoder::StreamDecoder(StreamDecoder&&) noexcept = default;
StreamDecoder& StreamDecoder::operator=(StreamDecoder&&) noexcept = default;
StreamDecoder::~StreamDecoder() = default;

std::string StreamDecoder::push(std::int32_t id) {
  std::string out;
  const TokenizerData& data = *state_->tokenizer.data_;
  if (id < 0 || !data.vocabulary.contains(static_cast<std::uint32_t>(id))) return out;
  if (state_->skip_special && state_->tokenizer.is_special(id)) return out;
  data.decoder.push(state_->run, data.decoded_text(static_cast<std::uint32_t>(id)), out);
  return out;
}

std::string StreamDecoder::finish() {
  std::string out;
  const Decoder& decoder = state_->tokenizer.data_->decoder;
  decoder.finish(state_->run, out);
  state_->run = decoder.start();
  return out;
}

}  // namespace loom
