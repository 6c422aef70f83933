// CRC-32 (IEEE 802.3, as zlib and PNG have it): what the chunks of a push are checked by.
#pragma once

#include <cstdint>
#include <string_view>

namespace loom::bridge {

// Of a text that follows on what gave `crc`.
std::uint32_t crc32(std::string_view bytes, std::uint32_t crc = 0);
// Eight hex digits; false where it is none.
bool parse_crc32(std::string_view hex, std::uint32_t& crc);

}  // namespace loom::bridge
