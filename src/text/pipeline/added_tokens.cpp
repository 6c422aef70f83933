#include "text/pipeline/added_tokens.h"

#include <algorithm>

#include "text/unicode/unicode.h"
#include "text/unicode/utf8.h"

namespace loom::text {
namespace {

// Where the character before `at` begins.
std::size_t previous(std::string_view text, std::size_t at) {
  do --at;
  while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80);
  return at;
}
char32_t point_at(std::string_view text, std::size_t at) { return utf8_next(text, at); }
bool touches(std::span<const TextRange> ranges, std::size_t begin, std::size_t end) {
  const auto after = std::partition_point(ranges.begin(), ranges.end(),
                                          [&](const TextRange& r) { return r.end <= begin; });
  return after != ranges.end() && after->begin < end;
}
bool is_word(char32_t point) { return (attributes(point) & kWord) != 0; }

}  // namespace

void AddedTokenFinder::build(const std::vector<AddedToken>& tokens,
                             const std::vector<std::string>& content) {
  for (std::size_t i = 0; i < tokens.size(); ++i)
    if (!content[i].empty()) entries_.push_back({content[i], tokens[i]});
  std::stable_sort(entries_.begin(), entries_.end(),
                   [](const Entry& a, const Entry& b) { return a.content < b.content; });
  std::size_t at = 0;
  for (unsigned byte = 0; byte < 256; ++byte) {
    first_[byte] = static_cast<std::uint32_t>(at);
    while (at < entries_.size() && static_cast<unsigned char>(entries_[at].content[0]) == byte)
      ++at;
  }
  first_[256] = static_cast<std::uint32_t>(at);
}

const AddedTokenFinder::Entry* AddedTokenFinder::longest_at(std::string_view text,
                                                            std::size_t at) const {
  const auto byte = static_cast<unsigned char>(text[at]);
  auto low = entries_.begin() + first_[byte], high = entries_.begin() + first_[byte + 1u];
  const Entry* best = nullptr;
  // [low, high) begins with the `depth` bytes seen so far.
  for (std::size_t depth = 1; low != high; ++depth) {
    if (low->content.size() == depth) {
      best = &*low;
      while (low != high && low->content.size() == depth) ++low;
    }
    if (at + depth >= text.size()) break;
    const auto next = static_cast<unsigned char>(text[at + depth]);
    const auto key = [depth](const Entry& e) {
      return static_cast<unsigned char>(e.content[depth]);
    };
    low = std::partition_point(low, high, [&](const Entry& e) { return key(e) < next; });
    high = std::partition_point(low, high, [&](const Entry& e) { return key(e) == next; });
  }
  return best;
}

void AddedTokenFinder::split(std::string_view text, bool skip_special, std::vector<Piece>& pieces,
                             std::span<const TextRange> typed) const {
  std::size_t open = 0;  // end of the last token
  std::size_t white = 0,
              white_end =
                  0;  // white space that was seen: it is not looked at again for each token in it
  for (std::size_t at = 0; at < text.size();) {
    const auto byte = static_cast<unsigned char>(text[at]);
    const Entry* found = first_[byte] == first_[byte + 1u] ? nullptr : longest_at(text, at);
    if (!found) {
      ++at;
      continue;
    }
    std::size_t begin = at, end = at + found->content.size();
    at = end;  // the search goes on here, also where the token does not count
    if (found->token.special && (skip_special || touches(typed, begin, end))) continue;
    if (found->token.single_word &&
        ((begin > 0 && is_word(point_at(text, previous(text, begin)))) ||
         (end < text.size() && is_word(point_at(text, end)))))
      continue;
    if (found->token.lstrip)
      while (begin > open && is_whitespace(point_at(text, previous(text, begin))))
        begin = previous(text, begin);
    if (found->token.rstrip) {
      if (end < white || end > white_end) {
        white = white_end = end;
        for (std::size_t next = end;
             white_end < text.size() && is_whitespace(utf8_next(text, next)); white_end = next) {
        }
      }
      end = white_end;
    }
    if (open < begin) pieces.push_back({open, begin, -1});
    pieces.push_back({begin, end, found->token.id});
    open = end;
  }
  if (open < text.size()) pieces.push_back({open, text.size(), -1});
}

}  // namespace loom::text
