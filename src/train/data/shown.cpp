#include "train/data/shown.h"

#include "base/json.h"

namespace loom {

bool is_utf8(std::string_view text) {
  const auto read = Json::parse(Json(text).dump());
  return read.ok() && read->is_string() && read->as_string() == text;
}

std::string shown(std::string_view text) {
  constexpr std::size_t kMost = 80;
  const bool utf8 = is_utf8(text);
  std::string quoted = "'";
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (i >= kMost && (!utf8 || (c & 0xC0) != 0x80)) return quoted + "...'";
    const bool second_controls = utf8 && c == 0xC2 && static_cast<unsigned char>(text[i + 1]) < 0xA0;  // U+0080 to U+009F, of two bytes
    quoted += c < ' ' || c == 127 || (!utf8 && c > 127) || second_controls ? '?' : text[i];
    i += second_controls;
  }
  return quoted + "'";
}

}  // namespace loom
