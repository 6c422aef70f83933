// Numbers for people.
#pragma once

#include <cstdio>
#include <string>

namespace loom {

inline std::string fixed(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}
// Six digits.
inline std::string significant(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

}  // namespace loom
