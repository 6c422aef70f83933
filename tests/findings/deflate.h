// Compressed data for the tests: zeros by the thousand, as dense as deflate's fixed codes make them
// (some 160 to 1).
#pragma once

#include <cstdint>
#include <string>

#include "base/files/bytes.h"
#include "base/files/inflate.h"

namespace loom::test {

// One deflate stream: `head` as it is, then `zeros` zeros.
class Deflate {
 public:
  static std::string of(const std::string& head, std::uint64_t zeros) {
    Deflate d;
    d.bits(1, 1);  // the last block
    d.bits(1, 2);  // fixed codes
    for (const char c : head) d.literal(static_cast<unsigned char>(c));
    if (zeros > 0) d.literal(0);
    std::uint64_t n = 1;
    for (; n + 258 <= zeros; n += 258) {
      d.code(0xC5, 8);  // length 258
      d.code(0, 5);     // from one byte before
    }
    for (; n < zeros; ++n) d.literal(0);
    d.code(0, 7);  // end
    d.flush();
    return d.out_;
  }

 private:
  void bits(std::uint32_t value, int n) {
    held_ |= std::uint64_t{value} << count_;
    for (count_ += n; count_ >= 8; count_ -= 8) {
      out_ += static_cast<char>(held_);
      held_ >>= 8;
    }
  }
  // Codes come with their highest bit first.
  void code(std::uint32_t value, int n) {
    std::uint32_t turned = 0;
    for (int i = 0; i < n; ++i) turned |= (value >> i & 1) << (n - 1 - i);
    bits(turned, n);
  }
  void literal(unsigned char c) {
    if (c < 144) code(0x30u + c, 8);
    else code(0x190u + c - 144, 9);
  }
  void flush() {
    if (count_ > 0) out_ += static_cast<char>(held_);
  }
  std::string out_;
  std::uint64_t held_ = 0;
  int count_ = 0;
};

inline std::string big_endian(std::uint32_t v) {
  return {static_cast<char>(v >> 24), static_cast<char>(v >> 16), static_cast<char>(v >> 8),
          static_cast<char>(v)};
}

// A .gz of one member. Its checksum is right for no zeros only.
inline std::string gzip(const std::string& head, std::uint64_t zeros) {
  std::string end(8, '\0');
  store_le<std::uint32_t>(reinterpret_cast<std::byte*>(end.data()), crc32(as_bytes(head)));
  store_le<std::uint32_t>(reinterpret_cast<std::byte*>(end.data()) + 4,
                          static_cast<std::uint32_t>(head.size() + zeros));
  return std::string("\x1f\x8b\x08\0\0\0\0\0\0\xff", 10) + Deflate::of(head, zeros) + end;
}

// A PNG whose data are zeros.
inline std::string png(std::uint32_t width, std::uint32_t height, int depth, int color,
                       bool interlaced, std::uint64_t zeros) {
  const auto chunk = [](const std::string& type, const std::string& data) {
    return big_endian(static_cast<std::uint32_t>(data.size())) + type + data +
           big_endian(crc32(as_bytes(type + data)));
  };
  const std::string header = big_endian(width) + big_endian(height) +
                             std::string{static_cast<char>(depth), static_cast<char>(color), 0, 0,
                                         static_cast<char>(interlaced)};
  // Adler-32 of zeros: the low half stays 1, the high half counts them.
  const std::string data = std::string("\x78\x01", 2) + Deflate::of("", zeros) +
                           big_endian(static_cast<std::uint32_t>(zeros % 65521) << 16 | 1);
  return std::string("\x89PNG\r\n\x1a\n", 8) + chunk("IHDR", header) + chunk("IDAT", data) +
         chunk("IEND", "");
}

}  // namespace loom::test
