#include "train/data/tables/encoding.h"

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "base/escape.h"
#include "base/message.h"

namespace loom {
namespace {

// Of the bytes 0x80 to 0x9F; 0: none. All others are the character of their number.
constexpr char16_t kWindows1252[32] = {
    0x20AC, 0,      0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021,  //
    0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0,      0x017D, 0,       //
    0,      0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014,  //
    0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0,      0x017E, 0x0178};

void append_point(std::string& out, std::uint32_t point) {
  const auto byte = [&](std::uint32_t v) { out += static_cast<char>(v); };
  if (point < 0x80) return byte(point);
  if (point < 0x800) {
    byte(0xC0 | point >> 6);
  } else {
    if (point < 0x10000) {
      byte(0xE0 | point >> 12);
    } else {
      byte(0xF0 | point >> 18);
      byte(0x80 | (point >> 12 & 0x3F));
    }
    byte(0x80 | (point >> 6 & 0x3F));
  }
  byte(0x80 | (point & 0x3F));
}

Status bad(const std::string& name, const std::string& what) {
  return Status(Code::invalid_argument, message(name, ": ", what));
}

std::string line_of(std::string_view text, std::size_t at) {
  const std::string_view before = text.substr(0, at);
  return "line " + std::to_string(1 + std::count(before.begin(), before.end(), '\n'));
}

Result<std::string> from_utf16(std::string_view text, bool big_endian, const std::string& name) {
  std::string out;
  const auto unit = [&](std::size_t i) {
    const auto a = static_cast<std::uint8_t>(text[i]), b = static_cast<std::uint8_t>(text[i + 1]);
    return static_cast<std::uint32_t>(big_endian ? a << 8 | b : b << 8 | a);
  };
  for (std::size_t i = 2; i < text.size(); i += 2) {
    std::uint32_t point = text.size() - i < 2 ? 0xDC00 : unit(i);
    if (point >= 0xD800 && point < 0xDC00 && text.size() - i >= 4) {
      const std::uint32_t low = unit(i + 2);
      if (low >= 0xDC00 && low < 0xE000) {
        point = 0x10000 + ((point - 0xD800) << 10) + (low - 0xDC00);
        i += 2;
      }
    }
    if (point >= 0xD800 && point < 0xE000)
      return bad(name, line_of(out, out.size()) + ": holds half a character of UTF-16");
    append_point(out, point);
  }
  return out;
}

struct Places {
  std::size_t utf8 = std::string::npos, other = std::string::npos;
};

// The first character of several bytes in UTF-8, and the first byte that is none.
Places first_places(std::string_view text) {
  Places first;
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<std::uint8_t>(text[i]);
    const std::size_t n = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    const bool valid = n == 1 || is_utf8(text.substr(i, n));
    if (n > 1) {
      std::size_t& place = valid ? first.utf8 : first.other;
      place = std::min(place, i);
    }
    i += valid ? n : 1;
  }
  return first;
}

Result<std::string> from_windows_1252(std::string_view text, const std::string& name) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<std::uint8_t>(text[i]);
    const bool special = byte >= 0x80 && byte < 0xA0;
    const std::uint32_t point = special ? kWindows1252[byte - 0x80] : byte;
    if (special && point == 0)
      return bad(name, line_of(text, i) + ": the byte " + std::to_string(byte) +
                           " is neither UTF-8 nor Windows-1252: save the table as UTF-8");
    append_point(out, point);
  }
  return out;
}

}  // namespace

Result<std::string> table_text(std::string text, const std::string& name, std::string* note) {
  using namespace std::string_view_literals;
  const auto say = [&](const std::string& line) {
    if (note) *note = line;
  };
  const std::string_view view = text;
  if (view.starts_with("\xEF\xBB\xBF")) text.erase(0, 3);
  else if (view.starts_with("\xFF\xFE\0\0"sv) || view.starts_with("\0\0\xFE\xFF"sv))
    return bad(name, "is UTF-32: save the table as UTF-8");
  else if (view.starts_with("\xFF\xFE") || view.starts_with("\xFE\xFF")) {
    say("encoding: UTF-16, by its byte order mark");
    return from_utf16(view, view[0] == '\xFE', name);
  }
  if (is_utf8(text)) return text;
  const Places first = first_places(text);
  if (first.utf8 != std::string::npos)
    return bad(name, line_of(text, first.other) + ": is no UTF-8, while " +
                         line_of(text, first.utf8) +
                         " is: save the whole table in one encoding, UTF-8");
  say("encoding: no UTF-8 from " + line_of(text, first.other) + " on, read as Windows-1252");
  return from_windows_1252(text, name);
}

}  // namespace loom
