// UTF-8 (RFC 3629): strict decoding, and the lossy form in which every maximal invalid part becomes
// one U+FFFD (Unicode 16.0, section 3.9, "substitution of maximal subparts"; what Rust's
// from_utf8_lossy and Python's "replace" do).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace loom::text {

constexpr char32_t kReplacementCharacter = 0xFFFD;

struct Utf8Step {
  char32_t point;      // kReplacementCharacter where the bytes are invalid
  std::uint32_t size;  // bytes consumed, at least 1 where there are any
  bool valid;
  bool incomplete;  // invalid only because the text ends inside a character
};

// The character that starts at `at` (< text.size()).
Utf8Step utf8_step(std::string_view text, std::size_t at);

// The same for text known to be valid: no checks.
inline char32_t utf8_next(std::string_view text, std::size_t& at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[at + i]); };
  const char32_t first = byte(0);
  if (first < 0x80) {
    at += 1;
    return first;
  }
  if (first < 0xE0) {
    const char32_t c = (first & 31) << 6 | (byte(1) & 63);
    at += 2;
    return c;
  }
  if (first < 0xF0) {
    const char32_t c = (first & 15) << 12 | (byte(1) & 63u) << 6 | (byte(2) & 63);
    at += 3;
    return c;
  }
  const char32_t c =
      (first & 7) << 18 | (byte(1) & 63u) << 12 | (byte(2) & 63u) << 6 | (byte(3) & 63);
  at += 4;
  return c;
}

void utf8_append(std::string& out, char32_t point);
bool utf8_valid(std::string_view text);
// `text` itself where it is valid; otherwise the lossy form, kept in `storage`.
std::string_view utf8_lossy(std::string_view text, std::string& storage);

// Turns bytes that arrive in parts into valid text, holding back only a character that is not
// complete yet.
class Utf8Stream {
 public:
  void push(std::string_view bytes, std::string& out);
  void finish(std::string& out);

 private:
  std::string held_;  // at most 3 bytes
};

}  // namespace loom::text
