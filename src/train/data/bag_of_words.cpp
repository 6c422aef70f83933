#include "train/data/bag_of_words.h"

#include <algorithm>

#include "base/files/sha256.h"
#include "base/math/exact_math.h"

namespace loom {
namespace {

constexpr std::uint64_t kOffset = 14695981039346656037u, kPrime = 1099511628211u;

std::uint64_t add(std::uint64_t h, unsigned char byte) { return (h ^ byte) * kPrime; }

// Bytes of the character at the front that is a word of its own, 0 where it is none: E3 80 80 to E9
// BF BF.
std::size_t alone(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  return text.size() >= 3 && byte(0) >= 0xE3 && byte(0) <= 0xE9 && (byte(1) & 0xC0) == 0x80 &&
                 (byte(2) & 0xC0) == 0x80
             ? 3
             : 0;
}

unsigned char small(char c) {
  return static_cast<unsigned char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}
bool in_word(unsigned char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c >= 128;
}

// Bytes of the word at the front; 0 where there is none.
std::size_t word_at(std::string_view text) {
  if (const std::size_t n = alone(text)) return n;
  std::size_t n = 0;
  while (n < text.size() && in_word(small(text[n])) && !alone(text.substr(n))) ++n;
  return n;
}

}  // namespace

std::vector<WordCount> count_words(std::string_view text) {
  std::vector<std::uint16_t> hashes;
  const auto keep = [&](std::uint64_t h) {
    hashes.push_back(static_cast<std::uint16_t>(h ^ h >> 32));
  };
  if (text.substr(0, 3) == "\xEF\xBB\xBF") text.remove_prefix(3);  // a byte order mark
  std::string_view last;
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view word = text.substr(at, word_at(text.substr(at)));
    at += std::max<std::size_t>(word.size(), 1);
    if (word.empty()) continue;
    std::uint64_t one = kOffset, pair = kOffset;
    for (const char c : last) pair = add(pair, small(c));
    pair = add(pair, ' ');
    for (const char c : word) {
      one = add(one, small(c));
      pair = add(pair, small(c));
    }
    keep(one);
    if (!last.empty()) keep(pair);
    last = word;
  }
  std::sort(hashes.begin(), hashes.end());
  std::vector<WordCount> counts;
  for (const std::uint16_t h : hashes) {
    if (counts.empty() || counts.back().hash != h) counts.push_back({h, 0});
    ++counts.back().count;
  }
  return counts;
}

std::int64_t places_for(const std::vector<std::vector<WordCount>>& texts) {
  std::vector<bool> seen(std::size_t{1} << 16);
  for (const auto& text : texts)
    for (const WordCount& word : text) seen[word.hash] = true;
  const std::int64_t different = std::count(seen.begin(), seen.end(), true);
  std::int64_t places = kMinPlaces;
  while (places < kMaxPlaces && places < different) places *= 2;
  return places;
}

Result<std::unique_ptr<SparseData>> SparseData::create(
    const std::vector<std::vector<WordCount>>& texts, std::int64_t places,
    std::vector<std::int32_t> classes) {
  if (texts.empty()) return Status(Code::invalid_argument, "no text to learn from");
  auto data = std::unique_ptr<SparseData>(new SparseData);
  data->width_ = places;
  std::vector<std::uint64_t> counts(static_cast<std::size_t>(places));
  std::vector<std::uint16_t> used;
  for (const auto& text : texts) {
    used.clear();
    for (const WordCount& word : text) {
      const auto place = static_cast<std::uint16_t>(word.hash & (places - 1));
      if (counts[place] == 0) used.push_back(place);
      counts[place] += word.count;
    }
    std::sort(used.begin(), used.end());
    double squares = 0;
    std::vector<double> values;
    for (const std::uint16_t place : used) {
      values.push_back(1 + exact::log(static_cast<double>(counts[place])));
      squares += values.back() * values.back();
      counts[place] = 0;
    }
    for (std::size_t i = 0; i < used.size(); ++i) {
      data->places_.push_back(used[i]);
      data->values_.push_back(static_cast<float>(values[i] / exact::sqrt(squares)));
    }
    data->ends_.push_back(data->places_.size());
  }
  Sha256 sha;
  sha.update_text("words");
  sha.update_u64(static_cast<std::uint64_t>(places));
  for (const std::uint16_t place : data->places_) sha.update_u64(place);
  sha.update_f32(data->values_);
  for (const std::size_t end : data->ends_) sha.update_u64(end);
  for (const std::int32_t c : classes) {
    sha.update_u64(static_cast<std::uint64_t>(static_cast<std::int64_t>(c)));
    data->limit_ = std::max<std::int64_t>(data->limit_, c + 1);
  }
  data->hash_ = Sha256::hex(sha.finish());
  data->classes_ = std::move(classes);
  return data;
}

void SparseData::append(std::int64_t sample, Batch& batch) const {
  const auto i = static_cast<std::size_t>(sample);
  const std::size_t row = batch.x.size();
  batch.x.resize(row + static_cast<std::size_t>(width_), 0.0f);
  for (std::size_t at = i == 0 ? 0 : ends_[i - 1]; at < ends_[i]; ++at)
    batch.x[row + places_[at]] = values_[at];
  batch.classes.push_back(classes_[i]);
  batch.rows += 1;
}

}  // namespace loom
