// Byte-pair encoding of one word: its characters become tokens, and the pair of neighbors with the
// lowest rank is merged until no pair of the table is left (Sennrich et al., "Neural machine
// translation of rare words with subword units", 2016). Ties go to the leftmost pair. Ids equal
// those of the BPE model of HuggingFace tokenizers.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "text/bpe/vocabulary.h"

namespace loom::text {

struct BpeOptions {
  std::optional<std::uint32_t>
      unknown;                // for characters that are no token; without it they are dropped
  bool fuse_unknown = false;  // neighbors become one
  bool byte_fallback =
      false;  // characters that are no token become <0x00>...<0xFF>, where all of them exist
  bool ignore_merges = false;     // a word that is a token is that token
  std::string continuing_prefix;  // stands before every character but the first
  std::string end_suffix;         // stands after the last character
};

struct Merge {
  std::uint32_t left, right, rank, merged;
};

class Bpe {
 public:
  struct Scratch {
    std::vector<std::uint32_t> symbols;
    std::vector<std::uint32_t> ranks;
  };

  // Where a pair stands twice, the later one counts. `vocabulary` is only read while building and
  // passed again to encode().
  static Bpe build(const Vocabulary& vocabulary, std::span<const Merge> merges, BpeOptions options);

  // Appends the ids of `word` (valid UTF-8).
  void encode(const Vocabulary& vocabulary, std::string_view word, std::vector<std::int32_t>& out,
              Scratch& scratch) const;

  const BpeOptions& options() const { return options_; }
  // All merges by rank, then by pair.
  std::vector<Merge> merges() const;

 private:
  const Merge* find(std::uint32_t left, std::uint32_t right) const;
  void split(const Vocabulary& vocabulary, std::string_view word,
             std::vector<std::uint32_t>& symbols) const;
  void merge_short(std::vector<std::uint32_t>& symbols, std::vector<std::uint32_t>& ranks) const;
  void merge_long(std::vector<std::uint32_t>& symbols) const;

  BpeOptions options_;
  std::vector<Merge> slots_;                 // open addressing; left kNoToken is free
  std::array<std::uint32_t, 512> direct_{};  // ids of the characters below U+0200
  std::array<std::uint32_t, 256> byte_{};    // ids of <0x00>...<0xFF>
};

constexpr std::uint32_t kNoToken = UINT32_MAX;

// "<0x0A>"
std::string byte_token(unsigned byte);
// The byte that a text of this form stands for.
std::optional<unsigned char> parse_byte_token(std::string_view text);

}  // namespace loom::text
