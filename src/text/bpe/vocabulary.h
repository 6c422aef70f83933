// The tokens of a tokenizer: id -> text and text -> id. Immutable once built; all calls are
// thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace loom::text {

std::uint64_t hash_text(std::string_view text);

class Vocabulary {
 public:
  enum Flag : std::uint8_t {
    kModel = 1,    // the model produces it
    kAdded = 2,    // matched in the text before the model sees it
    kSpecial = 4,  // added, and left out of the text on request
  };
  struct Entry {
    std::string_view text;
    std::uint32_t id;
    std::uint8_t flags;
  };

  // Copies the texts. Refuses an id or a text that stands twice, an id far beyond the number of
  // entries, and text that is no UTF-8.
  static Result<Vocabulary> build(const std::vector<Entry>& entries);

  // One more than the largest id.
  std::size_t size() const { return flags_.size(); }
  // "" where the id does not exist.
  std::string_view text(std::uint32_t id) const {
    if (id >= size()) return {};
    return std::string_view(texts_).substr(starts_[id], starts_[id + 1] - starts_[id]);
  }
  std::uint8_t flags(std::uint32_t id) const { return id < size() ? flags_[id] : 0; }
  bool contains(std::uint32_t id) const { return flags(id) != 0; }

  // Any of the `wanted` flags must be set.
  std::optional<std::uint32_t> find(std::string_view text,
                                    std::uint8_t wanted = kModel | kAdded) const {
    return find(text, wanted, hash_text(text));
  }
  std::optional<std::uint32_t> find(std::string_view text, std::uint8_t wanted,
                                    std::uint64_t hash) const;

 private:
  std::string texts_;
  std::vector<std::uint32_t> starts_;  // size() + 1
  std::vector<std::uint8_t> flags_;
  std::vector<std::uint64_t> slots_;  // open addressing: upper half of the hash, id + 1; 0 is free
};

}  // namespace loom::text
