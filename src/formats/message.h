// Error texts: message("tensor ", quoted(name), " takes ", 12, " bytes"). Internal to this module.
#pragma once

#include <concepts>
#include <string>
#include <string_view>

namespace loom {

inline void append_part(std::string* out, std::string_view text) { *out += text; }
inline void append_part(std::string* out, std::integral auto number) {
  *out += std::to_string(number);
}

template <class... Parts>
std::string message(const Parts&... parts) {
  std::string out;
  (append_part(&out, parts), ...);
  return out;
}

}  // namespace loom
