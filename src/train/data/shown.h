// What data calls things, in messages.
#pragma once

#include <string>
#include <string_view>

namespace loom {

// True for what JSON, and with it every file that names classes or columns, can hold.
bool is_utf8(std::string_view text);
// The first 80 bytes in quotes: UTF-8 as it is, without what a terminal should not see.
std::string shown(std::string_view text);

}  // namespace loom
