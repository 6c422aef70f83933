#include "base/escape.h"

#include <algorithm>
#include <cstdint>

namespace loom {
namespace {

struct Character {
  std::uint32_t code = 0;
  std::size_t bytes = 0;  // 0: no UTF-8
};

// The shortest form alone is UTF-8, and surrogates are not.
Character first_of(std::string_view text) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = at(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  constexpr std::uint32_t kMin[] = {0, 0, 0x80, 0x800, 0x10000};
  if (lead < 0xC2 || lead > 0xF4 || text.size() < bytes) return {};
  std::uint32_t code = lead & (0x7Fu >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((at(i) & 0xC0) != 0x80) return {};
    code = code << 6 | (at(i) & 0x3F);
  }
  const bool valid = code >= kMin[bytes] && code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF);
  return valid ? Character{code, bytes} : Character{};
}

bool is_shown(std::uint32_t c) {
  if (c < 0x20 || (c >= 0x7F && c < 0xA0)) return false;
  return c != 0x061C && c != 0xFEFF && (c < 0x200E || c > 0x200F) && (c < 0x2028 || c > 0x202E) &&
         (c < 0x2066 || c > 0x2069);
}

}  // namespace

std::size_t escape_into(std::string_view text, std::span<char> out) {
  constexpr char kHex[] = "0123456789abcdef";
  std::size_t size = 0;
  while (!text.empty()) {
    const Character next = first_of(text);
    const bool shown = next.bytes > 0 && is_shown(next.code);
    const std::size_t bytes = next.bytes > 0 ? next.bytes : 1;
    if (out.size() - size < (shown ? bytes : 4 * bytes)) break;
    for (const char byte : text.substr(0, bytes)) {
      if (shown) {
        out[size++] = byte;
        continue;
      }
      const auto value = static_cast<unsigned char>(byte);
      for (const char c : {'\\', 'x', kHex[value >> 4], kHex[value & 15]}) out[size++] = c;
    }
    text.remove_prefix(bytes);
  }
  return size;
}

std::string escaped(std::string_view text) {
  std::string out(4 * text.size(), '\0');
  out.resize(escape_into(text, out));
  return out;
}

std::string quoted(std::string_view text, char quote) {
  constexpr std::size_t kShown = 80;
  std::size_t end = std::min(text.size(), kShown);
  const auto continues = [&](std::size_t i) {
    return i < text.size() && (static_cast<unsigned char>(text[i]) & 0xC0) == 0x80;
  };
  for (int i = 0; i < 3 && continues(end); ++i) --end;  // whole characters
  std::string out = quote + escaped(text.substr(0, end));
  if (text.size() > end) out += "...";
  return out += quote;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t bytes = first_of(text).bytes;
    if (bytes == 0) return false;
    text.remove_prefix(bytes);
  }
  return true;
}

}  // namespace loom
