#include "base/files/base64.h"

#include <cstdint>
#include <string>

#include "base/escape.h"

namespace loom {
namespace {

int digit_of(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  return c == '+' ? 62 : c == '/' ? 63 : -1;
}

Status bad(std::string_view name, const std::string& what) {
  return Status(Code::invalid_argument, "\"" + std::string(name) + "\" is no base64: " + what);
}

}  // namespace

Result<std::vector<std::byte>> from_base64(std::string_view text, std::string_view name) {
  if (text.size() % 4 != 0) return bad(name, "its length is no multiple of 4");
  const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with("=") ? 1 : 0;
  std::vector<std::byte> bytes;
  bytes.reserve(text.size() / 4 * 3);
  std::uint32_t bits = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool pad = i + padding >= text.size();
    const int digit = pad ? 0 : digit_of(text[i]);
    if (digit < 0)
      return bad(name, "character " + std::to_string(i) + " is " + quoted(text.substr(i, 1)));
    bits = bits << 6 | static_cast<std::uint32_t>(digit);
    if (i % 4 != 3) continue;
    for (int shift = 16; shift >= 0; shift -= 8)
      bytes.push_back(static_cast<std::byte>(bits >> shift & 255));
    bits = 0;
  }
  for (std::size_t i = 0; i < padding; ++i) {
    if (bytes.back() != std::byte{0}) return bad(name, "bits behind its end");
    bytes.pop_back();
  }
  return bytes;
}

std::string to_base64(std::span<const std::byte> bytes) {
  static constexpr char kDigits[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t bits = 0;
    for (std::size_t k = i; k < i + 3; ++k)
      bits = bits << 8 | (k < bytes.size() ? static_cast<std::uint32_t>(bytes[k]) : 0);
    for (int shift = 18; shift >= 0; shift -= 6) text += kDigits[bits >> shift & 63];
  }
  for (std::size_t n = bytes.size() % 3; n != 0 && n < 3; ++n) text[text.size() - 3 + n] = '=';
  return text;
}

}  // namespace loom
