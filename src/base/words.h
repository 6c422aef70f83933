// Lists of words in one text, as tables write them.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

namespace loom {

// What lies between single spaces: views of the text.
inline std::vector<std::string_view> words(std::string_view text) {
  std::vector<std::string_view> out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    out.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

}  // namespace loom
