// Error texts: message("tensor ", quoted(name), " takes ", 12, " bytes"). The parts are joined by
// one function, which keeps the code of a call as short as its list.
#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace loom {

// A piece of text that the caller keeps, or an integer.
struct MessagePart {
  MessagePart(std::string_view t) : data(t.data()), size(t.size()) {}    // NOLINT
  MessagePart(const std::string& t) : data(t.data()), size(t.size()) {}  // NOLINT
  MessagePart(const char* t) : MessagePart(std::string_view(t)) {}       // NOLINT
  MessagePart(char) = delete;
  template <std::integral T>
  MessagePart(T number)  // NOLINT
      : data(std::signed_integral<T> ? &kSigned : &kUnsigned),
        size(static_cast<std::uint64_t>(number)) {}

  // Where data is the address of one of these, size is the number.
  static const char kSigned, kUnsigned;
  const char* data;
  std::uint64_t size;
};

std::string join_message(std::span<const MessagePart> parts);

template <class... Parts>
std::string message(const Parts&... parts) {
  const MessagePart list[] = {parts...};
  return join_message(list);
}

}  // namespace loom
