// Images in the formats that people keep them in, written here; a JPEG and a GIF that were made
// once are kept as bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace loom::test {

struct Pixels {
  int width, height;
  std::vector<std::uint8_t> rgb;
  Pixels(int w, int h) : width(w), height(h), rgb(static_cast<std::size_t>(w * h * 3)) {}
  void set(int x, int y, int r, int g, int b) {
    std::uint8_t* at = &rgb[static_cast<std::size_t>((y * width + x) * 3)];
    at[0] = static_cast<std::uint8_t>(r), at[1] = static_cast<std::uint8_t>(g),
    at[2] = static_cast<std::uint8_t>(b);
  }
};

// Red on the left, blue on the right: what the JPEG (16 x 12) and the GIF (8 x 8) show.
inline Pixels halves(int width, int height) {
  Pixels p(width, height);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      x < width / 2 ? p.set(x, y, 200, 40, 20) : p.set(x, y, 30, 40, 180);
  return p;
}

inline std::string ppm(const Pixels& p) {
  return "P6\n" + std::to_string(p.width) + " " + std::to_string(p.height) + "\n255\n" +
         std::string(p.rgb.begin(), p.rgb.end());
}

inline std::string number(std::uint32_t v, int bytes, bool big) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(v >> 8 * (big ? bytes - 1 - i : i));
  return text;
}

// Three channels, or four with all of it opaque; stored, not compressed (RFC 1950, 1951; PNG, third
// edition). Fewer than 65536 bytes.
inline std::string png(const Pixels& p, int channels) {
  std::string raw;
  for (int y = 0; y < p.height; ++y) {
    raw += '\0';
    for (int x = 0; x < p.width; ++x) {
      for (int c = 0; c < 3; ++c)
        raw += static_cast<char>(p.rgb[static_cast<std::size_t>((y * p.width + x) * 3 + c)]);
      if (channels == 4) raw += '\xFF';
    }
  }
  std::uint32_t a = 1, b = 0;
  for (const char c : raw) a = (a + static_cast<unsigned char>(c)) % 65521, b = (b + a) % 65521;
  const auto size = static_cast<std::uint32_t>(raw.size());
  const std::string data = std::string("\x78\x01\x01", 3) + number(size, 2, false) +
                           number(~size & 0xFFFF, 2, false) + raw + number(b << 16 | a, 4, true);
  const auto chunk = [](const std::string& type, const std::string& bytes) {
    std::uint32_t crc = ~0u;
    for (const char c : type + bytes) {
      crc ^= static_cast<unsigned char>(c);
      for (int i = 0; i < 8; ++i) crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320u : 0u);
    }
    return number(static_cast<std::uint32_t>(bytes.size()), 4, true) + type + bytes +
           number(~crc, 4, true);
  };
  return "\x89PNG\r\n\x1A\n" +
         chunk("IHDR", number(static_cast<std::uint32_t>(p.width), 4, true) +
                           number(static_cast<std::uint32_t>(p.height), 4, true) +
                           std::string("\x08", 1) + (channels == 4 ? "\x06" : "\x02") +
                           std::string(3, '\0')) +
         chunk("IDAT", data) + chunk("IEND", "");
}

// 24 bits, rows from the bottom.
inline std::string bmp(const Pixels& p) {
  const int stride = (p.width * 3 + 3) / 4 * 4;
  std::string rows;
  for (int y = p.height - 1; y >= 0; --y) {
    std::string row;
    for (int x = 0; x < p.width; ++x)
      for (int c = 2; c >= 0; --c)
        row += static_cast<char>(p.rgb[static_cast<std::size_t>((y * p.width + x) * 3 + c)]);
    row.resize(static_cast<std::size_t>(stride));
    rows += row;
  }
  const auto size = static_cast<std::uint32_t>(rows.size());
  return "BM" + number(54 + size, 4, false) + number(0, 4, false) + number(54, 4, false) +
         number(40, 4, false) + number(static_cast<std::uint32_t>(p.width), 4, false) +
         number(static_cast<std::uint32_t>(p.height), 4, false) + number(1, 2, false) +
         number(24, 2, false) + number(0, 4, false) + number(size, 4, false) +
         std::string(16, '\0') + rows;
}

inline std::string from_base64(std::string_view text) {
  std::string bytes;
  std::uint32_t bits = 0;
  int have = 0;
  for (const char c : text) {
    const std::size_t v =
        std::string_view("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
            .find(c);
    if (v == std::string_view::npos) break;
    bits = bits << 6 | static_cast<std::uint32_t>(v);
    if ((have += 6) >= 8) bytes += static_cast<char>(bits >> (have -= 8));
  }
  return bytes;
}

// Of quality 90.
inline std::string jpeg() {
  return from_base64(
      "/9j/4AAQSkZJRgABAQAAAQABAAD/"
      "2wCEAAMCAgMCAgMDAwMEAwMEBQgFBQQEBQoHBwYIDAoMDAsKCwsNDhIQDQ4RDgsLEBYQERMUFRUVDA8XGBYUGBIUFRQB"
      "AwQEBQQFCQUFCRQNCw0UFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFP/"
      "AABEIAAwAEAMBIgACEQEDEQH/xAGiAAAB"
      "BQEBAQEBAQAAAAAAAAAAAQIDBAUGBwgJCgsQAAIBAwMCBAMFBQQEAAABfQECAwAEEQUSITFBBhNRYQcicRQygZGhCCNC"
      "scEVUtHwJDNicoIJChYXGBkaJSYn"
      "KCkqNDU2Nzg5OkNERUZHSElKU1RVVldYWVpjZGVmZ2hpanN0dXZ3eHl6g4SFhoeIiYqSk5SVlpeYmZqio6Slpqeoqaqy"
      "s7S1tre4ubrCw8TFxsfIycrS09TV"
      "1tfY2drh4uPk5ebn6Onq8fLz9PX29/"
      "j5+gEAAwEBAQEBAQEBAQAAAAAAAAECAwQFBgcICQoLEQACAQIEBAMEBwUEBAABAncAAQIDEQQFITEGEkFRB2FxEyIy"
      "gQgUQpGhscEJIzNS8BVictEKFiQ04SXxFxgZGiYnKCkqNTY3ODk6Q0RFRkdISUpTVFVWV1hZWmNkZWZnaGlqc3R1dnd4"
      "eXqCg4SFhoeIiYqSk5SVlpeYmZqi"
      "o6Slpqeoqaqys7S1tre4ubrCw8TFxsfIycrS09TV1tfY2dri4+Tl5ufo6ery8/T19vf4+fr/2gAMAwEAAhEDEQA/"
      "APDq8or1evKK+u8Hf+Y//uF/7kP1fxZ/"
      "5gf+4n/uM//Z");
}

inline std::string gif() {
  return from_base64(
      "R0lGODlhCAAIAJEAAMgoFB4otAAAAP///"
      "ywAAAAACAAIAAACJQQIMGFCgAATJgQIMGFCgAATJgQIMGFCgAATJgQIMGFCgAATJgUAOw==");
}

}  // namespace loom::test
