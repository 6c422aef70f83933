// Bytes as text in JSON.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace loom {

// RFC 4648, section 4: padded, without line breaks, the bits behind the end 0. `name` is that of
// the text in errors: invalid_argument, by the character.
Result<std::vector<std::byte>> from_base64(std::string_view text, std::string_view name);

std::string to_base64(std::span<const std::byte> bytes);

}  // namespace loom
