// Lists of words in one text, as tables write them.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

namespace loom {

// What lies between separators: views of the text.
inline std::vector<std::string_view> split(std::string_view text,
                                           std::string_view separator = " ") {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + separator.size(), text.size()));
  }
  return parts;
}

}  // namespace loom
