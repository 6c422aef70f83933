// The map of GPT-2 between bytes and printable characters: bytes 33-126, 161-172 and 174-255 stand
// for themselves, the others for U+0100 and up in order.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace loom::text {

constexpr std::array<char16_t, 256> make_byte_characters() {
  std::array<char16_t, 256> out{};
  char16_t next = 256;
  for (unsigned b = 0; b < 256; ++b) {
    const bool printable = (b >= 33 && b <= 126) || (b >= 161 && b != 173);
    out[b] = printable ? static_cast<char16_t>(b) : next++;
  }
  return out;
}
inline constexpr std::array<char16_t, 256> kByteCharacters = make_byte_characters();

// Appends the characters of the bytes; all of them are below U+0800.
void append_byte_characters(std::string& out, std::string_view bytes);
// The bytes of a text made of such characters only.
std::optional<std::string> bytes_of_characters(std::string_view text);

}  // namespace loom::text
