// Texts as rows of numbers for a dense network: how often each word and each pair of neighbours
// occurs, by hash, in a fixed number of places. Nothing depends on a language or on a list of
// words, and the same text gives the same bits everywhere.
//
// Words: runs of ASCII letters, digits and bytes above 127 (UTF-8 as it is), with ASCII letters
// made small; a character of three bytes from U+3000 to U+9FFF (kana, Han), which stands without
// blanks, is a word of its own. A pair is two words with a blank between them. Place: h = FNV-1a of
// 64 bits over the bytes of the word or pair (offset 14695981039346656037, prime 1099511628211); (h
// ^ h >> 32) modulo the places. Value: 1 + ln(count), divided by the root of the sum of the squares
// of all values of the text.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "train/data/data.h"

namespace loom {

inline constexpr std::int64_t kMinPlaces = 1 << 12, kMaxPlaces = 1 << 14;

// How often words and pairs of a text occur, by the low 16 bits of h ^ h >> 32, ascending.
struct WordCount {
  std::uint16_t hash;
  std::uint32_t count;
};
std::vector<WordCount> count_words(std::string_view text);

// Places for texts: the power of two from kMinPlaces to kMaxPlaces that is not below the number
// of different hashes, where there is one.
std::int64_t places_for(const std::vector<std::vector<WordCount>>& texts);

// Rows of few values that are not 0, in memory as those alone.
class SparseData : public DataSource {
 public:
  // One class per text. Preconditions: as many of both; places is a power of two up to 2^16.
  // Errors: no text.
  static Result<std::unique_ptr<SparseData>> create(
      const std::vector<std::vector<WordCount>>& texts, std::int64_t places,
      std::vector<std::int32_t> classes);

  std::int64_t samples() const override { return static_cast<std::int64_t>(classes_.size()); }
  Form form() const override { return {.width = width_, .classes = limit_}; }
  void append(std::int64_t sample, Batch& batch) const override;
  bool all_finite() const override { return true; }

 private:
  std::vector<std::uint16_t> places_;
  std::vector<float> values_;
  std::vector<std::size_t> ends_;  // of each sample's values
  std::vector<std::int32_t> classes_;
  std::int64_t width_ = 1, limit_ = 0;
};

}  // namespace loom
