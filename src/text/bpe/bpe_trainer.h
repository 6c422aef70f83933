// Trains a byte-level BPE tokenizer (Sennrich et al. 2016, in GPT-2's form): words are split by
// GPT-2's pattern, and the most frequent pair of neighbors is merged again and again. The same
// texts give the same tokenizer on every target: counts are integers, and among equal counts the
// pair that comes first in the lexicographic order of its tokens' bytes is merged.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "text/tokenizer.h"

namespace loom {

struct BpeTrainerOptions {
  std::size_t vocab_size = 4096;  // at most; includes special tokens and the 256 bytes
  std::vector<std::string>
      special_tokens;    // get the first ids, in this order; they are not looked for in the texts
  std::string bos, eos;  // of the special tokens; may be empty
  bool add_bos = false;  // encode() begins with bos
  std::uint64_t min_count = 2;  // a rarer pair is not merged
};

// Calls its argument once for every text; stops with the first error that returns.
using TextSource = std::function<Status(const std::function<Status(std::string_view)>&)>;

// Ids: special tokens, then bytes 0-255, then merges in order. The vocabulary is smaller than asked
// where the texts have no more pairs.
Result<Tokenizer> train_bpe(const TextSource& texts, const BpeTrainerOptions& options);
Result<Tokenizer> train_bpe(std::span<const std::string_view> texts,
                            const BpeTrainerOptions& options);

}  // namespace loom
