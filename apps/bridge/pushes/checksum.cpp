#include "bridge/pushes/checksum.h"

#include <array>
#include <charconv>

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define LOOM_BRIDGE_PCLMUL 1
#endif

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

std::uint32_t by_tables(const unsigned char* p, std::size_t n, std::uint32_t crc) {
  for (; n >= kSlices; p += kSlices, n -= kSlices) {
    std::uint32_t next = 0;
    for (int i = 0; i < kSlices; ++i)
      next ^= kTables[kSlices - 1 - i][p[i] ^ (i < 4 ? (crc >> (8 * i)) & 255 : 0)];
    crc = next;
  }
  for (; n > 0; ++p, --n) crc = (crc >> 8) ^ kTables[0][(crc ^ *p) & 255];
  return crc;
}

#ifdef LOOM_BRIDGE_PCLMUL
// x^n mod the polynomial, bits reflected and shifted by one, as the products of two reflected
// halves want them: what a half of a register is multiplied with to stand n bits further on.
constexpr std::uint64_t power(int n) {
  std::uint32_t r = 0x80000000u;  // x^0
  for (int i = 0; i < n; ++i) r = (r >> 1) ^ ((r & 1) != 0 ? 0xedb88320u : 0u);
  return std::uint64_t{r} << 1;
}

constexpr std::size_t kLanes = 64;

// Folds 64 bytes at a time by carry-less products: "Fast CRC Computation for Generic Polynomials
// Using PCLMULQDQ Instruction" (Intel, 2009). What is left, 64 bytes and the rest, goes through the
// tables. At least 64 bytes.
__attribute__((target("pclmul,sse4.1"))) std::uint32_t by_products(const unsigned char* p,
                                                                   std::size_t n,
                                                                   std::uint32_t crc) {
  const auto load = [](const unsigned char* from) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
  };
  __m128i lanes[4];
  for (int i = 0; i < 4; ++i) lanes[i] = load(p + 16 * i);
  lanes[0] = _mm_xor_si128(lanes[0], _mm_cvtsi32_si128(static_cast<int>(crc)));
  constexpr auto low = static_cast<long long>(power(512 + 32)),
                 high = static_cast<long long>(power(512 - 32));
  const __m128i further = _mm_set_epi64x(high, low);
  for (p += kLanes, n -= kLanes; n >= kLanes; p += kLanes, n -= kLanes)
    for (int i = 0; i < 4; ++i)
      lanes[i] = _mm_xor_si128(_mm_xor_si128(_mm_clmulepi64_si128(lanes[i], further, 0x00),
                                             _mm_clmulepi64_si128(lanes[i], further, 0x11)),
                               load(p + 16 * i));
  unsigned char left[kLanes];
  for (int i = 0; i < 4; ++i) _mm_storeu_si128(reinterpret_cast<__m128i*>(left + 16 * i), lanes[i]);
  return by_tables(p, n, by_tables(left, kLanes, 0));
}
#endif

}  // namespace

std::uint32_t crc32(std::string_view bytes, std::uint32_t crc) {
  const auto* p = reinterpret_cast<const unsigned char*>(bytes.data());
#ifdef LOOM_BRIDGE_PCLMUL
  static const bool has = __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("sse4.1");
  if (has && bytes.size() >= kLanes) return ~by_products(p, bytes.size(), ~crc);
#endif
  return ~by_tables(p, bytes.size(), ~crc);
}

bool parse_crc32(std::string_view hex, std::uint32_t& crc) {
  const auto [end, error] = std::from_chars(hex.data(), hex.data() + hex.size(), crc, 16);
  return hex.size() == 8 && error == std::errc() && end == hex.data() + hex.size();
}

}  // namespace loom::bridge
