// Text from a file, made safe for a terminal and for JSON. No state; any thread.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace loom {

// UTF-8 stays. What a terminal obeys instead of showing becomes \xNN, byte by byte: control
// characters (C0, DEL, C1), line ends, marks that turn the direction of writing; and so does every
// byte that is no UTF-8. A backslash stays one: the result is for people, not for parsers.
std::string escaped(std::string_view text);
// The same into `out`, as far as whole characters fit; returns how many bytes they are. Allocates
// nothing.
std::size_t escape_into(std::string_view text, std::span<char> out);
// That of text for a message: in quotes, cut at 80 bytes.
std::string quoted(std::string_view text, char quote = '\'');
// True for what JSON can hold: no overlong forms, no surrogates.
bool is_utf8(std::string_view text);

}  // namespace loom
