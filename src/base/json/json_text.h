// Text of a file for a JSON string: as it is, escaped where it is no UTF-8.
#pragma once

#include <string>

#include "base/escape.h"

namespace loom {

inline std::string json_text(const std::string& text) {
  return is_utf8(text) ? text : escaped(text);
}

}  // namespace loom
