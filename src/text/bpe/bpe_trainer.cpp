#include "text/bpe/bpe_trainer.h"

#include <algorithm>
#include <deque>
#include <queue>
#include <unordered_map>

#include "text/bpe/byte_level.h"
#include "text/tokenizer_data.h"
#include "text/unicode/utf8.h"

namespace loom {

using namespace text;

namespace {

using Pair = std::uint64_t;  // left token << 32 | right token
constexpr Pair make_pair_key(std::uint32_t left, std::uint32_t right) {
  return std::uint64_t{left} << 32 | right;
}

class Trainer {
 public:
  Trainer(std::deque<std::string>& tokens, std::uint64_t min_count)
      : tokens_(tokens), min_count_(min_count) {
    for (std::uint32_t id = 0; id < tokens_.size(); ++id) ids_.emplace(tokens_[id], id);
  }

  // `words`: the bytes of each distinct word and how often it stands in the texts; `byte_ids`:
  // token of each byte.
  void load(const std::vector<std::pair<std::string, std::uint64_t>>& words,
            std::uint32_t first_byte) {
    for (const auto& [bytes, count] : words) {
      Word& word = words_.emplace_back();
      word.count = count;
      for (const char b : bytes) word.tokens.push_back(first_byte + static_cast<unsigned char>(b));
      for (std::size_t i = 0; i + 1 < word.tokens.size(); ++i)
        count_pair(word.tokens[i], word.tokens[i + 1], words_.size() - 1);
    }
    for (const auto& [pair, info] : pairs_)
      offer(pair, info.count);  // the queue orders them completely
  }

  // Merges until there are `size` tokens or no pair is frequent enough.
  std::vector<Merge> run(std::size_t size, std::size_t special_count) {
    std::vector<Merge> merges;
    while (tokens_.size() < size && !queue_.empty()) {
      const Candidate top = queue_.top();
      queue_.pop();
      const auto found = pairs_.find(top.pair);
      if (found == pairs_.end()) continue;
      if (found->second.count != top.count) {  // counts only fall for pairs in the queue, so this
                                               // one may still be next later
        offer(top.pair, found->second.count);
        continue;
      }
      const auto left = static_cast<std::uint32_t>(top.pair >> 32),
                 right = static_cast<std::uint32_t>(top.pair);
      std::string joined = tokens_[left] + tokens_[right];
      auto [known, fresh] = ids_.try_emplace(joined, static_cast<std::uint32_t>(tokens_.size()));
      const std::uint32_t merged = known->second;
      const std::vector<std::size_t> places = std::move(found->second.words);
      pairs_.erase(found);
      if (merged < special_count) continue;  // would be spelled like a special token
      if (fresh) tokens_.push_back(std::move(joined));
      merges.push_back({left, right, static_cast<std::uint32_t>(merges.size()), merged});
      merge(left, right, merged, places);
    }
    return merges;
  }

 private:
  struct Word {
    std::vector<std::uint32_t> tokens;
    std::uint64_t count = 0;
  };
  struct PairInfo {
    std::uint64_t count = 0;
    std::vector<std::size_t> words;  // where it stands, or stood
  };
  struct Candidate {
    std::uint64_t count;
    Pair pair;
    const std::string *left, *right;
    bool operator<(const Candidate& o) const {  // priority_queue: the greatest is first
      if (count != o.count) return count < o.count;
      if (const int order = left->compare(*o.left)) return order > 0;
      if (const int order = right->compare(*o.right)) return order > 0;
      return pair > o.pair;
    }
  };

  void offer(Pair pair, std::uint64_t count) {
    if (count >= min_count_ && count > 0)
      queue_.push({count, pair, &tokens_[pair >> 32], &tokens_[pair & UINT32_MAX]});
  }

  void count_pair(std::uint32_t left, std::uint32_t right, std::size_t word) {
    PairInfo& info = pairs_[make_pair_key(left, right)];
    info.count += words_[word].count;
    if (info.words.empty() || info.words.back() != word) info.words.push_back(word);
  }
  void uncount_pair(std::uint32_t left, std::uint32_t right, std::size_t word) {
    const auto found = pairs_.find(make_pair_key(left, right));
    if (found == pairs_.end()) return;  // the pair that is being merged
    found->second.count -= words_[word].count;
    if (found->second.count == 0) pairs_.erase(found);
  }

  void merge(std::uint32_t left, std::uint32_t right, std::uint32_t merged,
             const std::vector<std::size_t>& places) {
    std::vector<Pair> touched;
    for (const std::size_t index : places) {
      std::vector<std::uint32_t>& t = words_[index].tokens;
      std::size_t out = 0;
      for (std::size_t i = 0; i < t.size(); ++i) {
        if (i + 1 < t.size() && t[i] == left && t[i + 1] == right) {
          if (out > 0) {
            uncount_pair(t[out - 1], left, index);
            count_pair(t[out - 1], merged, index);
            touched.push_back(make_pair_key(t[out - 1], merged));
          }
          if (i + 2 < t.size()) {
            uncount_pair(right, t[i + 2], index);
            count_pair(merged, t[i + 2], index);
            touched.push_back(make_pair_key(merged, t[i + 2]));
          }
          t[out++] = merged;
          ++i;
        } else {
          t[out++] = t[i];
        }
      }
      t.resize(out);
    }
    std::sort(touched.begin(), touched.end());
    touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
    for (const Pair pair : touched)
      if (const auto found = pairs_.find(pair); found != pairs_.end())
        offer(pair, found->second.count);
  }

  std::deque<std::string>& tokens_;  // bytes; a deque keeps the addresses that the queue holds
  std::uint64_t min_count_;
  std::unordered_map<std::string, std::uint32_t> ids_;
  std::vector<Word> words_;
  std::unordered_map<Pair, PairInfo> pairs_;
  std::priority_queue<Candidate> queue_;
};

Status check(const BpeTrainerOptions& options) {
  const std::size_t min = options.special_tokens.size() + 256;
  if (options.vocab_size < min || options.vocab_size > (1u << 24))
    return Status(Code::invalid_argument, "vocab_size: " + std::to_string(options.vocab_size) +
                                              ", expected from " + std::to_string(min) +
                                              " (special tokens and bytes) to 16777216");
  const auto known = [&](const std::string& name) {
    return name.empty() || std::find(options.special_tokens.begin(), options.special_tokens.end(),
                                     name) != options.special_tokens.end();
  };
  if (!known(options.bos) || !known(options.eos))
    return Status(Code::invalid_argument, "bos and eos must be special tokens");
  for (const std::string& name : options.special_tokens)
    if (name.empty() || !utf8_valid(name))
      return Status(Code::invalid_argument, "a special token must be text in UTF-8");
  return {};
}

}  // namespace

Result<Tokenizer> train_bpe(const TextSource& texts, const BpeTrainerOptions& options) {
  LOOM_TRY(check(options));
  LOOM_ASSIGN(const Matcher pattern, Matcher::compile_pattern(kGpt2Pattern));
  std::unordered_map<std::string, std::uint64_t> counts;
  std::string storage, word;
  std::vector<Span> spans;
  Pattern::Scratch scratch;
  LOOM_TRY(texts([&](std::string_view raw) -> Status {
    const std::string_view text = utf8_lossy(raw, storage);
    spans.clear();
    pattern.find_all(text, spans, scratch);  // GPT-2's pattern leaves nothing between its matches
    for (const Span& s : spans) {
      word.assign(text.substr(s.begin, s.end - s.begin));
      ++counts[word];
    }
    return {};
  }));
  std::vector<std::pair<std::string, std::uint64_t>> words(counts.begin(), counts.end());
  std::sort(words.begin(), words.end());

  // While training, special tokens and byte tokens are spelled in bytes; a byte above 127 alone is
  // no text, which does no harm here.
  const auto special_count = static_cast<std::uint32_t>(options.special_tokens.size());
  std::deque<std::string> tokens(options.special_tokens.begin(), options.special_tokens.end());
  for (unsigned b = 0; b < 256; ++b) tokens.emplace_back(1, static_cast<char>(b));
  Trainer trainer(tokens, options.min_count);
  trainer.load(words, special_count);

  TokenizerParts parts;
  parts.merges = trainer.run(options.vocab_size, special_count);
  std::vector<Vocabulary::Entry> entries;
  for (std::uint32_t id = 0; id < tokens.size(); ++id) {
    const bool special = id < special_count;
    if (special) {
      parts.added.push_back({.id = id, .content = tokens[id], .special = true});
    } else {
      std::string spelled;
      append_byte_characters(spelled, tokens[id]);
      tokens[id] = std::move(spelled);
    }
    const std::uint8_t flags =
        special ? Vocabulary::kAdded | Vocabulary::kSpecial : Vocabulary::kModel;
    entries.push_back({tokens[id], id, flags});
  }
  LOOM_ASSIGN(parts.vocabulary, Vocabulary::build(entries));
  const auto id_of = [&](const std::string& name) -> std::optional<std::uint32_t> {
    if (name.empty()) return std::nullopt;
    const auto found =
        std::find(options.special_tokens.begin(), options.special_tokens.end(), name);
    return static_cast<std::uint32_t>(found - options.special_tokens.begin());
  };
  parts.bos = id_of(options.bos);
  parts.eos = id_of(options.eos);
  if (options.add_bos && parts.bos) parts.prefix = {*parts.bos};
  parts.pre_tokenizer = {{.kind = StepKind::byte_level, .flags = Step::kRegex}};
  parts.decoder = {{.kind = StepKind::decode_byte_level}};
  return Tokenizer::build(std::move(parts));
}

Result<Tokenizer> train_bpe(std::span<const std::string_view> texts,
                            const BpeTrainerOptions& options) {
  return train_bpe(
      [&](const std::function<Status(std::string_view)>& take) -> Status {
        for (const std::string_view text : texts) LOOM_TRY(take(text));
        return {};
      },
      options);
}

}  // namespace loom
