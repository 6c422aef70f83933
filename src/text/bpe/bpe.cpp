#include "text/bpe/bpe.h"

#include <algorithm>
#include <bit>
#include <tuple>

#include "text/unicode/utf8.h"

namespace loom::text {
namespace {

// Words up to this many symbols are merged by scanning for the lowest rank, longer ones with a
// heap.
constexpr std::size_t kShortWord = 48;

std::size_t slot_of(std::uint32_t left, std::uint32_t right, std::size_t mask) {
  std::uint64_t h = (std::uint64_t{left} << 32 | right) * 0x9E3779B97F4A7C15u;
  h ^= h >> 32;
  h *= 0xD6E8FEB86659FD93u;
  return static_cast<std::size_t>(h >> 32) & mask;
}

}  // namespace

std::string byte_token(unsigned byte) {
  constexpr char kHex[] = "0123456789ABCDEF";
  return {'<', '0', 'x', kHex[byte >> 4 & 15], kHex[byte & 15], '>'};
}

std::optional<unsigned char> parse_byte_token(std::string_view text) {
  if (text.size() != 6 || text.substr(0, 3) != "<0x" || text[5] != '>') return std::nullopt;
  const auto digit = [](char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
  };
  const int high = text[3] == '+' ? 0 : digit(text[3]),
            low = digit(text[4]);  // Rust's from_str_radix takes a plus sign
  if (high < 0 || low < 0) return std::nullopt;
  return static_cast<unsigned char>(high * 16 + low);
}

Bpe Bpe::build(const Vocabulary& vocabulary, std::span<const Merge> merges, BpeOptions options) {
  Bpe bpe;
  bpe.options_ = std::move(options);
  bpe.slots_.assign(std::bit_ceil(merges.size() + merges.size() / 2 + 2), Merge{kNoToken, 0, 0, 0});
  const std::size_t mask = bpe.slots_.size() - 1;
  for (const Merge& m : merges) {
    std::size_t at = slot_of(m.left, m.right, mask);
    while (bpe.slots_[at].left != kNoToken &&
           (bpe.slots_[at].left != m.left || bpe.slots_[at].right != m.right))
      at = (at + 1) & mask;
    bpe.slots_[at] = m;
  }
  for (std::size_t i = 0; i < bpe.direct_.size(); ++i) {
    std::string text;
    utf8_append(text, static_cast<char32_t>(i));
    bpe.direct_[i] = vocabulary.find(text, Vocabulary::kModel).value_or(kNoToken);
  }
  for (unsigned b = 0; b < 256; ++b)
    bpe.byte_[b] = vocabulary.find(byte_token(b), Vocabulary::kModel).value_or(kNoToken);
  return bpe;
}

const Merge* Bpe::find(std::uint32_t left, std::uint32_t right) const {
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t at = slot_of(left, right, mask); slots_[at].left != kNoToken;
       at = (at + 1) & mask)
    if (slots_[at].left == left && slots_[at].right == right) return &slots_[at];
  return nullptr;
}

std::vector<Merge> Bpe::merges() const {
  std::vector<Merge> out;
  for (const Merge& m : slots_)
    if (m.left != kNoToken) out.push_back(m);
  std::sort(out.begin(), out.end(), [](const Merge& a, const Merge& b) {
    return std::tie(a.rank, a.left, a.right) < std::tie(b.rank, b.left, b.right);
  });
  return out;
}

void Bpe::split(const Vocabulary& vocabulary, std::string_view word,
                std::vector<std::uint32_t>& symbols) const {
  const bool plain = options_.continuing_prefix.empty() && options_.end_suffix.empty();
  // One unknown token waits here, to be fused with the next. Like the original, it is also
  // overtaken by the bytes of characters that fall back.
  bool waiting = false;
  std::string affixed;
  for (std::size_t at = 0; at < word.size();) {
    const std::size_t begin = at;
    const char32_t c = utf8_next(word, at);
    std::string_view text = word.substr(begin, at - begin);
    std::uint32_t id;
    if (plain && c < direct_.size()) {
      id = direct_[c];
    } else {
      if (!plain) {
        affixed.assign(begin > 0 ? std::string_view(options_.continuing_prefix)
                                 : std::string_view());
        affixed.append(text);
        if (at == word.size()) affixed.append(options_.end_suffix);
        text = affixed;
      }
      id = vocabulary.find(text, Vocabulary::kModel).value_or(kNoToken);
    }
    if (id != kNoToken) {
      if (waiting) symbols.push_back(*options_.unknown);
      waiting = false;
      symbols.push_back(id);
      continue;
    }
    if (options_.byte_fallback && std::all_of(text.begin(), text.end(), [&](char b) {
          return byte_[static_cast<unsigned char>(b)] != kNoToken;
        })) {
      for (const char b : text) symbols.push_back(byte_[static_cast<unsigned char>(b)]);
      continue;
    }
    if (!options_.unknown) continue;
    if (waiting && !options_.fuse_unknown) symbols.push_back(*options_.unknown);
    waiting = true;
  }
  if (waiting) symbols.push_back(*options_.unknown);
}

void Bpe::merge_short(std::vector<std::uint32_t>& symbols,
                      std::vector<std::uint32_t>& ranks) const {
  const auto rank = [&](std::size_t i) {
    const Merge* m = find(symbols[i], symbols[i + 1]);
    return m ? m->rank : UINT32_MAX;
  };
  ranks.clear();
  for (std::size_t i = 0; i + 1 < symbols.size(); ++i) ranks.push_back(rank(i));
  while (!ranks.empty()) {
    const auto best = std::min_element(ranks.begin(), ranks.end());  // the leftmost of the lowest
    if (*best == UINT32_MAX) return;
    const auto i = static_cast<std::size_t>(best - ranks.begin());
    symbols[i] = find(symbols[i], symbols[i + 1])->merged;
    symbols.erase(symbols.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    ranks.erase(best);
    if (i < ranks.size()) ranks[i] = rank(i);
    if (i > 0) ranks[i - 1] = rank(i - 1);
  }
}

void Bpe::merge_long(std::vector<std::uint32_t>& symbols) const {
  constexpr std::uint32_t kEnd = UINT32_MAX;
  struct Link {
    std::uint32_t previous, next;
  };
  struct Candidate {
    std::uint32_t rank, at, left, right;
    bool operator>(const Candidate& o) const { return rank != o.rank ? rank > o.rank : at > o.at; }
  };
  const auto count = static_cast<std::uint32_t>(symbols.size());
  std::vector<Link> links(count);
  for (std::uint32_t i = 0; i < count; ++i)
    links[i] = {i == 0 ? kEnd : i - 1, i + 1 == count ? kEnd : i + 1};
  std::vector<Candidate> heap;
  const auto offer = [&](std::uint32_t at) {
    if (const Merge* m = find(symbols[at], symbols[links[at].next])) {
      heap.push_back({m->rank, at, symbols[at], symbols[links[at].next]});
      return true;
    }
    return false;
  };
  const auto push = [&](std::uint32_t at) {
    if (offer(at)) std::push_heap(heap.begin(), heap.end(), std::greater<>());
  };
  for (std::uint32_t i = 0; i + 1 < count; ++i) offer(i);
  std::make_heap(heap.begin(), heap.end(), std::greater<>());
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end(), std::greater<>());
    const Candidate c = heap.back();
    heap.pop_back();
    const std::uint32_t next = links[c.at].next;
    if (symbols[c.at] != c.left || next == kEnd || symbols[next] != c.right)
      continue;  // merged with something else since
    symbols[c.at] = find(c.left, c.right)->merged;
    symbols[next] = kNoToken;
    links[c.at].next = links[next].next;
    if (links[c.at].next != kEnd) links[links[c.at].next].previous = c.at;
    if (links[c.at].previous != kEnd) push(links[c.at].previous);
    if (links[c.at].next != kEnd) push(c.at);
  }
  symbols.erase(std::remove(symbols.begin(), symbols.end(), kNoToken), symbols.end());
}

void Bpe::encode(const Vocabulary& vocabulary, std::string_view word,
                 std::vector<std::int32_t>& out, Scratch& scratch) const {
  if (options_.ignore_merges) {
    if (const auto id = vocabulary.find(word, Vocabulary::kModel)) {
      out.push_back(static_cast<std::int32_t>(*id));
      return;
    }
  }
  scratch.symbols.clear();
  split(vocabulary, word, scratch.symbols);
  if (scratch.symbols.size() <= kShortWord) merge_short(scratch.symbols, scratch.ranks);
  else merge_long(scratch.symbols);
  out.insert(out.end(), scratch.symbols.begin(), scratch.symbols.end());
}

}  // namespace loom::text
