// The bytes of header and table of contents. Internal to this module; docs/reference/entity.md
// describes them.
#pragma once

#include <string>
#include <vector>

#include "checkpoint/entity.h"

namespace loom::entity_layout {

inline constexpr std::string_view kMagic = "LOOMENT2";
inline constexpr std::string_view kMagicV1{"ENTITY\0\0", 8};
inline constexpr std::uint32_t kVersion = 2;
inline constexpr std::uint64_t kHeader = 64, kAlignment = 64;
inline constexpr std::uint64_t kMaxToc = std::uint64_t{64} << 20;
inline constexpr std::uint64_t kMaxFile = std::uint64_t{1} << 62;
inline constexpr std::size_t kMaxName = 1024, kMaxRank = 8;

struct Header {
  std::uint64_t file_size = 0, toc_offset = 0, toc_size = 0;
};

std::array<std::byte, kHeader> header_bytes(const Header& header);
// `source_size`: what there is. Everything about the three sizes is checked but what the table
// itself says.
Result<Header> parse_header(std::span<const std::byte, kHeader> bytes, std::uint64_t source_size);

// Bytes of an entry in the table.
std::uint64_t entry_size(const EntityEntry& entry);
// The table: entries, then their SHA-256.
std::vector<std::byte> toc_bytes(std::span<const EntityEntry* const> entries);
// In file order. Offsets follow from the sizes, so nothing overlaps and nothing hides between.
Result<std::vector<EntityEntry>> parse_toc(std::span<const std::byte> bytes, const Header& header);

// Why a name cannot stand in a file, or "".
std::string_view name_problem(std::string_view name);
// "tensor '0.0.0.0:weight'"
std::string describe(const EntityEntry& entry);

}  // namespace loom::entity_layout
