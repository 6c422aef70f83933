#include "text/unicode/utf8.h"

#include "base/files/bytes.h"

namespace loom::text {

Utf8Step utf8_step(std::string_view text, std::size_t at) {
  const auto first = static_cast<unsigned char>(text[at]);
  if (first < 0x80) return {first, 1, true, false};
  const Utf8Step bad{kReplacementCharacter, 1, false, false};
  if (first < 0xC2 || first > 0xF4) return bad;
  const std::uint32_t size = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  // The second byte's range excludes overlong forms, surrogates and points above U+10FFFF (RFC 3629
  // section 4).
  unsigned char low = 0x80, high = 0xBF;
  if (first == 0xE0) low = 0xA0;
  if (first == 0xED) high = 0x9F;
  if (first == 0xF0) low = 0x90;
  if (first == 0xF4) high = 0x8F;
  char32_t point = first & (0xFFu >> (size + 1));
  for (std::uint32_t i = 1; i < size; ++i) {
    if (at + i >= text.size()) return {kReplacementCharacter, i, false, true};
    const auto next = static_cast<unsigned char>(text[at + i]);
    if (next < low || next > high) return {kReplacementCharacter, i, false, false};
    low = 0x80;
    high = 0xBF;
    point = point << 6 | (next & 63u);
  }
  return {point, size, true, false};
}

void utf8_append(std::string& out, char32_t c) {
  const auto put = [&](char32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (c < 0x80) {
    put(c);
    return;
  }
  if (c < 0x800) {
    put(0xC0 | c >> 6);
  } else if (c < 0x10000) {
    put(0xE0 | c >> 12);
    put(0x80 | (c >> 6 & 63));
  } else {
    put(0xF0 | c >> 18);
    put(0x80 | (c >> 12 & 63));
    put(0x80 | (c >> 6 & 63));
  }
  put(0x80 | (c & 63));
}

namespace {

// Length of the valid beginning of text.
std::size_t valid_prefix(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    if (text.size() - at >= 8 &&
        (load_le<std::uint64_t>(text.data() + at) & 0x8080808080808080u) == 0) {
      at += 8;
      continue;
    }
    const Utf8Step step = utf8_step(text, at);
    if (!step.valid) return at;
    at += step.size;
  }
  return at;
}

}  // namespace

bool utf8_valid(std::string_view text) { return valid_prefix(text) == text.size(); }

std::string_view utf8_lossy(std::string_view text, std::string& storage) {
  std::size_t good = valid_prefix(text);
  if (good == text.size()) return text;
  storage.clear();
  while (!text.empty()) {
    storage.append(text.substr(0, good));
    text.remove_prefix(good);
    if (text.empty()) break;
    utf8_append(storage, kReplacementCharacter);
    text.remove_prefix(utf8_step(text, 0).size);
    good = valid_prefix(text);
  }
  return storage;
}

void Utf8Stream::push(std::string_view bytes, std::string& out) {
  std::string joined;
  if (!held_.empty()) {
    joined = held_.append(bytes);
    held_.clear();
    bytes = joined;
  }
  std::size_t at = 0;
  while (at < bytes.size()) {
    const std::size_t good = valid_prefix(bytes.substr(at));
    out.append(bytes.substr(at, good));
    at += good;
    if (at == bytes.size()) return;
    const Utf8Step step = utf8_step(bytes, at);
    if (step.incomplete) {
      held_.assign(bytes.substr(at));
      return;
    }
    utf8_append(out, kReplacementCharacter);
    at += step.size;
  }
}

void Utf8Stream::finish(std::string& out) {
  if (!held_.empty()) utf8_append(out, kReplacementCharacter);
  held_.clear();
}

}  // namespace loom::text
