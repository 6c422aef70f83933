// Mutations that know a format, so that what lies behind its lengths and checksums is reached.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "base/files/bytes.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max);

// The body of LLVMFuzzerCustomMutator: changes `file`, with `dice`; longer files are cut.
#define FUZZ_MUTATOR(file, dice)                                                       \
  static void fuzz_mutate(std::string& file, loom::fuzz::Dice& dice);                  \
  extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, \
                                                 std::size_t max, unsigned seed) {     \
    std::string bytes(reinterpret_cast<const char*>(data), size);                      \
    loom::fuzz::Dice dice(seed);                                                       \
    if (dice.one_in(6)) loom::fuzz::mutate_part(bytes, 0, bytes.size());               \
    else fuzz_mutate(bytes, dice);                                                     \
    bytes.resize(std::min(bytes.size(), max));                                         \
    std::copy(bytes.begin(), bytes.end(), reinterpret_cast<char*>(data));              \
    return bytes.size();                                                               \
  }                                                                                    \
  static void fuzz_mutate(std::string& file, loom::fuzz::Dice& dice)

namespace loom::fuzz {

class Dice {
 public:
  explicit Dice(unsigned seed) : state_(seed) {}
  std::uint64_t next() {  // SplitMix64
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }
  std::size_t below(std::size_t bound) { return bound ? next() % bound : 0; }
  bool one_in(std::size_t n) { return below(n) == 0; }
  // A number that breaks readers, or a small one.
  std::uint64_t number() {
    static constexpr std::uint64_t kHostile[] = {0,
                                                 1,
                                                 0x7fffffff,
                                                 0x80000000,
                                                 0x80000001,
                                                 0xffffffff,
                                                 0x100000000,
                                                 0x100000001,
                                                 (1ull << 53) - 1,
                                                 (1ull << 53) + 1,
                                                 (1ull << 63) - 1,
                                                 1ull << 63,
                                                 (1ull << 63) + 1,
                                                 ~0ull,
                                                 ~0ull - 31};
    return one_in(2) ? below(70) : kHostile[below(std::size(kHostile))];
  }

 private:
  std::uint64_t state_;
};

// libFuzzer's own mutation of a part, which may grow or shrink by it.
inline void mutate_part(std::string& file, std::size_t begin, std::size_t size) {
  std::string part = file.substr(begin, size);
  const std::size_t room = part.size() + 64;
  part.resize(room);
  part.resize(LLVMFuzzerMutate(reinterpret_cast<std::uint8_t*>(part.data()), size, room));
  file.replace(begin, size, part);
}
// The same without a change of size.
inline void mutate_in_place(std::string& file, std::size_t begin, std::size_t size) {
  if (size == 0) return;
  std::string part = file.substr(begin, size);
  part.resize(LLVMFuzzerMutate(reinterpret_cast<std::uint8_t*>(part.data()), size, size));
  part.resize(size);
  file.replace(begin, size, part);
}

// Runs of digits: where each begins, and its length.
inline std::vector<std::pair<std::size_t, std::size_t>> numbers_in(const std::string& text) {
  const auto digit = [&](std::size_t i) {
    return i < text.size() && text[i] >= '0' && text[i] <= '9';
  };
  std::vector<std::pair<std::size_t, std::size_t>> found;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!digit(i)) continue;
    std::size_t end = i;
    while (digit(end)) ++end;
    found.emplace_back(i, end - i);
    i = end;
  }
  return found;
}

// One number of a text becomes another.
inline void mutate_number(std::string& text, Dice& dice) {
  const auto all = numbers_in(text);
  if (all.empty()) return;
  const auto [at, size] = all[dice.below(all.size())];
  const auto other = all[dice.below(all.size())];
  const std::string number = dice.one_in(3)    ? text.substr(other.first, other.second)
                             : dice.one_in(12) ? "1e400"
                             : dice.one_in(8)  ? "-" + std::to_string(dice.number())
                                               : std::to_string(dice.number());
  text.replace(at, size, number);
}

}  // namespace loom::fuzz
