#include "bridge/checksum.h"

#include <array>
#include <charconv>

namespace loom::bridge {
namespace {

constexpr int kSlices = 16;
using Tables = std::array<std::array<std::uint32_t, 256>, kSlices>;

// tables[k][b]: the CRC of byte b and k zero bytes after it.
constexpr Tables make_tables() {
  Tables tables{};
  for (std::uint32_t b = 0; b < 256; ++b) {
    std::uint32_t crc = b;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xedb88320u : 0u);
    tables[0][b] = crc;
  }
  for (int k = 1; k < kSlices; ++k)
    for (int b = 0; b < 256; ++b) {
      const std::uint32_t before = tables[k - 1][b];
      tables[k][b] = (before >> 8) ^ tables[0][before & 255];
    }
  return tables;
}
constexpr Tables kTables = make_tables();

}  // namespace

std::uint32_t crc32(std::string_view bytes, std::uint32_t crc) {
  crc = ~crc;
  const auto* p = reinterpret_cast<const unsigned char*>(bytes.data());
  std::size_t n = bytes.size();
  for (; n >= kSlices; p += kSlices, n -= kSlices) {
    std::uint32_t next = 0;
    for (int i = 0; i < kSlices; ++i)
      next ^= kTables[kSlices - 1 - i][p[i] ^ (i < 4 ? (crc >> (8 * i)) & 255 : 0)];
    crc = next;
  }
  for (; n > 0; ++p, --n) crc = (crc >> 8) ^ kTables[0][(crc ^ *p) & 255];
  return ~crc;
}

bool parse_crc32(std::string_view hex, std::uint32_t& crc) {
  const auto [end, error] = std::from_chars(hex.data(), hex.data() + hex.size(), crc, 16);
  return hex.size() == 8 && error == std::errc() && end == hex.data() + hex.size();
}

}  // namespace loom::bridge
