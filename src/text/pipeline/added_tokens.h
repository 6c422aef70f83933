// Tokens that are found in the text itself before the model sees it, such as "<|im_start|>".
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace loom::text {

struct TextRange {
  std::size_t begin, end;
};

struct AddedToken {
  std::uint32_t id = 0;
  std::string content;
  bool special = false;      // a control token: decoding can leave it out
  bool single_word = false;  // only where no word character stands next to it
  bool lstrip = false;       // swallows white space before it
  bool rstrip = false;       // and after it
  bool normalized = false;   // looked for in the normalized text
};

// Finds the leftmost, then longest of the tokens, without overlaps. Immutable, thread-safe.
class AddedTokenFinder {
 public:
  struct Piece {
    std::size_t begin, end;
    std::int64_t id;  // -1: text between tokens
  };

  // `content[i]` is what is looked for in place of tokens[i]. Empty ones are never found.
  void build(const std::vector<AddedToken>& tokens, const std::vector<std::string>& content);
  // Appends the pieces that make up `text`. `skip_special`: special tokens are text; they are, too,
  // where they touch one of the `typed` ranges, which go up.
  void split(std::string_view text, bool skip_special, std::vector<Piece>& pieces,
             std::span<const TextRange> typed = {}) const;
  bool empty() const { return entries_.empty(); }

 private:
  struct Entry {
    std::string content;
    AddedToken token;
  };
  const Entry* longest_at(std::string_view text, std::size_t at) const;
  std::vector<Entry> entries_;              // sorted by content
  std::array<std::uint32_t, 257> first_{};  // entries by their first byte
};

}  // namespace loom::text
