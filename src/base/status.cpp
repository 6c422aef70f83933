#include "base/status.h"

namespace loom {

std::string_view code_name(Code code) {
  switch (code) {
    case Code::ok: return "ok";
    case Code::invalid_argument: return "invalid argument";
    case Code::not_found: return "not found";
    case Code::unsupported: return "unsupported";
    case Code::corrupt: return "corrupt";
    case Code::truncated: return "truncated";
    case Code::io: return "i/o error";
    case Code::out_of_memory: return "out of memory";
    case Code::out_of_range: return "out of range";
    case Code::cancelled: return "cancelled";
    case Code::internal: return "internal error";
    case Code::invalid_handle: return "invalid handle";
    case Code::busy: return "busy";
  }
  return "unknown";
}

Status::Status(Code code, const char* message) : code_(code), message_(message) {}
Status::Status(Code code, std::string&& message) noexcept
    : code_(code), message_(std::move(message)) {}
Status::Status(Code code, const std::string& message) : code_(code), message_(message) {}

Status Status::at(std::string_view where) const {
  return ok() ? Status() : Status(code_, std::string(where) + ": " + message_);
}

std::string Status::to_string() const {
  if (ok()) return "ok";
  return std::string(code_name(code_)) + ": " + message_;
}

}  // namespace loom
