#include "text/bpe/byte_level.h"

#include "text/unicode/utf8.h"

namespace loom::text {

void append_byte_characters(std::string& out, std::string_view bytes) {
  for (const char b : bytes) {
    const unsigned c = kByteCharacters[static_cast<unsigned char>(b)];
    if (c < 0x80) {
      out.push_back(static_cast<char>(c));
    } else {
      out.push_back(static_cast<char>(0xC0 | c >> 6));
      out.push_back(static_cast<char>(0x80 | (c & 63)));
    }
  }
}

namespace {

constexpr std::array<std::int16_t, 512> make_character_bytes() {
  std::array<std::int16_t, 512> out{};
  for (auto& b : out) b = -1;
  for (unsigned b = 0; b < 256; ++b) out[kByteCharacters[b]] = static_cast<std::int16_t>(b);
  return out;
}
constexpr std::array<std::int16_t, 512> kCharacterBytes = make_character_bytes();

}  // namespace

std::optional<std::string> bytes_of_characters(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const char32_t c = utf8_next(text, at);
    if (c >= kCharacterBytes.size() || kCharacterBytes[c] < 0) return std::nullopt;
    out.push_back(static_cast<char>(kCharacterBytes[c]));
  }
  return out;
}

}  // namespace loom::text
