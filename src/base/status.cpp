#include "base/status.h"

#include <new>

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
    case Code::paused: return "paused";
  }
  return "unknown";
}

Status::Status(Code code, const char* message) : Status(code, std::string(message)) {}
Status::Status(Code code, const std::string& message) : Status(code, std::string(message)) {}
Status::Status(const Status& other) {
  if (!other.ok()) *this = Status(other.code(), other.message());
}

// Where there is no memory for an error, that is the error.
Status::Error& Status::no_memory() {
  static Error error{Code::out_of_memory, "out of memory"};
  return error;
}

Status::Status(Code code, std::string&& message) noexcept {
  if (code == Code::ok) return;
  error_ = new (std::nothrow) Error{code, std::move(message)};
  if (!error_) error_ = &no_memory();
}

void Status::destroy() noexcept {
  if (error_ != &no_memory()) delete error_;
}

const std::string& Status::message() const {
  static const std::string none;
  return error_ ? error_->message : none;
}

Status Status::at(std::string_view where) const {
  return ok() ? Status() : Status(code(), std::string(where) + ": " + message());
}

std::string Status::to_string() const {
  if (ok()) return "ok";
  return std::string(code_name(code())) + ": " + message();
}

}  // namespace loom
