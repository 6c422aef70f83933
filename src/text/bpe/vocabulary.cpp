#include "text/bpe/vocabulary.h"

#include <algorithm>
#include <bit>

#include "base/files/bytes.h"
#include "text/unicode/utf8.h"

namespace loom::text {

std::uint64_t hash_text(std::string_view text) {
  std::uint64_t h = 0x9E3779B97F4A7C15u ^ text.size();
  const auto mix = [&](std::uint64_t word) {
    h = (h ^ word) * 0xD6E8FEB86659FD93u;
    h ^= h >> 32;
  };
  std::size_t at = 0;
  for (; text.size() - at >= 8; at += 8) mix(load_le<std::uint64_t>(text.data() + at));
  std::uint64_t tail = 0;
  for (std::size_t i = at; i < text.size(); ++i)
    tail = tail << 8 | static_cast<unsigned char>(text[i]);
  mix(tail);
  mix(h >> 29);
  return h;
}

namespace {
constexpr std::uint64_t kHashBits = 0xFFFFFFFF00000000u;
Status not_utf8(std::uint32_t id) {
  return Status(Code::corrupt, "vocabulary: token " + std::to_string(id) + " is not valid UTF-8");
}
}  // namespace

Result<Vocabulary> Vocabulary::build(const std::vector<Entry>& entries) {
  std::uint64_t bytes = 0, end = 0;
  for (const Entry& e : entries) {
    bytes += e.text.size();
    end = std::max<std::uint64_t>(end, std::uint64_t{e.id} + 1);
  }
  if (end > 4 * std::uint64_t{entries.size()} + 65536)
    return Status(Code::out_of_range, "vocabulary: id " + std::to_string(end - 1) + " among only " +
                                          std::to_string(entries.size()) + " tokens");
  if (bytes > UINT32_MAX) return Status(Code::out_of_range, "vocabulary: more than 4 GiB of text");

  Vocabulary v;
  v.flags_.assign(end, 0);
  std::vector<std::uint32_t> entry_of(end, 0);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const Entry& e = entries[i];
    if (v.flags_[e.id] != 0)
      return Status(Code::corrupt,
                    "vocabulary: id " + std::to_string(e.id) + " stands for two tokens");
    v.flags_[e.id] = e.flags;
    entry_of[e.id] = static_cast<std::uint32_t>(i);
  }
  v.texts_.reserve(bytes);
  v.starts_.assign(end + 1, 0);
  v.slots_.assign(std::bit_ceil(entries.size() * 2 + 1), 0);
  const std::size_t mask = v.slots_.size() - 1;
  for (std::uint32_t id = 0; id < end; ++id) {
    v.starts_[id + 1] = v.starts_[id];
    if (v.flags_[id] == 0) continue;
    const std::string_view text = entries[entry_of[id]].text;
    if (!text.empty() && (static_cast<unsigned char>(text[0]) & 0xC0) == 0x80) return not_utf8(id);
    const std::uint64_t hash = hash_text(text);
    std::size_t at = hash & mask;
    for (; v.slots_[at] != 0; at = (at + 1) & mask)
      if ((v.slots_[at] & kHashBits) == (hash & kHashBits) &&
          v.text(static_cast<std::uint32_t>(v.slots_[at]) - 1) == text)
        return Status(Code::corrupt,
                      "vocabulary: the token \"" + std::string(text) + "\" stands twice");
    v.slots_[at] = (hash & kHashBits) | (id + 1);
    v.texts_.append(text);
    v.starts_[id + 1] = static_cast<std::uint32_t>(v.texts_.size());
  }
  // All texts in one: no token begins inside a character, so each is valid if the whole is.
  if (!utf8_valid(v.texts_)) {
    for (std::uint32_t id = 0; id < end; ++id)
      if (!utf8_valid(v.text(id))) return not_utf8(id);
  }
  return v;
}

std::optional<std::uint32_t> Vocabulary::find(std::string_view text, std::uint8_t wanted,
                                              std::uint64_t hash) const {
  if (slots_.empty()) return std::nullopt;
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t at = hash & mask; slots_[at] != 0; at = (at + 1) & mask) {
    if ((slots_[at] & kHashBits) != (hash & kHashBits)) continue;
    const auto id = static_cast<std::uint32_t>(slots_[at]) - 1;
    if (this->text(id) == text)
      return (flags_[id] & wanted) != 0 ? std::optional(id) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace loom::text
