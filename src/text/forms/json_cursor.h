// Walks over JSON text without building a tree, for the two large members of tokenizer.json. What
// it hands out raw goes through Json::parse, which checks it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/json/json.h"
#include "base/status.h"

namespace loom::text {

class JsonCursor {
 public:
  explicit JsonCursor(std::string_view text) : text_(text) { space(); }

  bool at_end() const { return at_ >= text_.size(); }
  bool peek(char c) const { return !at_end() && text_[at_] == c; }
  bool take(char c) {
    if (!peek(c)) return false;
    ++at_;
    space();
    return true;
  }
  Status expect(char c) { return take(c) ? Status() : error(std::string("expected '") + c + "'"); }

  // Calls item() for every element between `open` and `close`; item() consumes it and returns a
  // Status.
  template <class Item>
  Status list(char open, char close, Item item) {
    LOOM_TRY(expect(open));
    if (take(close)) return {};
    do LOOM_TRY(item());
    while (take(','));
    return expect(close);
  }

  // A string's content: a view of the text, or of `storage` where it has escapes.
  Result<std::string_view> string(std::string& storage) {
    const std::size_t begin = at_;
    bool escaped = false;
    LOOM_TRY(skip_string(&escaped));
    const std::string_view raw = text_.substr(begin, at_ - begin);
    space();
    if (!escaped) return raw.substr(1, raw.size() - 2);
    auto parsed = Json::parse(raw);
    if (!parsed.ok()) return parsed.status().at("offset " + std::to_string(begin));
    storage = parsed->as_string();
    return std::string_view(storage);
  }

  // A number from 0 to 2^32 - 1.
  Result<std::uint32_t> id() {
    std::uint64_t value = 0;
    const std::size_t begin = at_;
    for (; !at_end() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_) {
      value = value * 10 + static_cast<std::uint64_t>(text_[at_] - '0');
      if (value > UINT32_MAX) return error("an id above 4294967295");
    }
    if (begin == at_) return error("expected an id");
    space();
    return static_cast<std::uint32_t>(value);
  }

  // The text of the next value, of any type.
  Result<std::string_view> raw_value() {
    const std::size_t begin = at_;
    std::size_t depth = 0;
    do {
      if (at_end()) return error("unexpected end");
      const char c = text_[at_];
      if (c == '"') {
        LOOM_TRY(skip_string(nullptr));
        continue;
      }
      if (depth == 0 && (c == ',' || c == '}' || c == ']')) return error("expected a value");
      ++at_;
      if (c == '{' || c == '[') ++depth;
      else if (c == '}' || c == ']') --depth;
      else if (depth == 0)
        while (!at_end() && text_[at_] != ',' && text_[at_] != '}' && text_[at_] != ']') ++at_;
    } while (depth > 0);
    const std::string_view raw = text_.substr(begin, at_ - begin);
    space();
    return raw;
  }

  Status error(std::string_view what) const {
    return Status(Code::corrupt, "JSON offset " + std::to_string(at_) + ": " + std::string(what));
  }

 private:
  void space() {
    while (!at_end() &&
           (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\r' || text_[at_] == '\t'))
      ++at_;
  }

  Status skip_string(bool* escaped) {
    if (!peek('"')) return error("expected a string");
    for (++at_; !at_end() && text_[at_] != '"'; ++at_) {
      if (static_cast<unsigned char>(text_[at_]) < 0x20)
        return error("a control character in a string: escape it");
      if (text_[at_] != '\\') continue;
      if (escaped) *escaped = true;
      ++at_;
    }
    if (at_end()) return error("a string without an end");
    ++at_;
    return {};
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace loom::text
