// Errors are values. A Status says what went wrong, where, and what would be right; a Result<T> is
// a T or a Status. Nothing in src/ throws across a module border, prints, or aborts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace loom {

// Codes are part of the ABI: append, never renumber.
enum class Code : int {
  ok = 0,
  invalid_argument = 1,  // the caller's value is wrong
  not_found = 2,         // a file, tensor, key or cell does not exist
  unsupported = 3,  // well formed, but this build or version cannot do it; the message names it
  corrupt = 4,      // bytes contradict their format or checksum
  truncated = 5,    // fewer bytes than the format promises; the message has both sizes
  io = 6,           // the operating system refused
  out_of_memory = 7,
  out_of_range = 8,     // an index or count beyond its declared limit
  cancelled = 9,        // the caller asked to stop
  internal = 10,        // a broken invariant of ours
  invalid_handle = 11,  // C interface: released, never made, or of another kind
  busy = 12,            // C interface: another thread is inside a call on the object
  paused = 13,          // no error: its time is over, and the same call again continues
};

std::string_view code_name(Code code);

// One pointer, null where all is well: errors are made and passed on in thousands of places, and
// the library should stay small.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Code code, const char* message);
  Status(Code code, std::string&& message) noexcept;
  Status(Code code, const std::string& message);
  Status(Code code, std::nullptr_t) = delete;
  Status(Status&& other) noexcept : error_(std::exchange(other.error_, nullptr)) {}
  Status(const Status& other);
  Status& operator=(Status other) noexcept {
    std::swap(error_, other.error_);
    return *this;
  }
  ~Status() {
    if (error_) destroy();
  }

  bool ok() const { return error_ == nullptr; }
  Code code() const { return error_ ? error_->code : Code::ok; }
  const std::string& message() const;
  // "corrupt: model.safetensors: ..."
  std::string to_string() const;
  // The same error seen from one level up: "where: message".
  Status at(std::string_view where) const;

 private:
  struct Error {
    Code code;
    std::string message;
  };

  static Error& no_memory();
  void destroy() noexcept;

  Error* error_ = nullptr;
};

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}          // NOLINT: a value is a result
  Result(Status status) : status_(std::move(status)) {}  // NOLINT: an error is a result
  Result(Code code, std::string message) : status_(code, std::move(message)) {}

  bool ok() const { return value_.has_value(); }
  const Status& status() const& { return status_; }
  Status&& status() && { return std::move(status_); }
  T& value() { return *value_; }
  const T& value() const { return *value_; }
  T& operator*() { return *value_; }
  const T& operator*() const { return *value_; }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }

 private:
  std::optional<T> value_;
  Status status_;
};

}  // namespace loom

#define LOOM_CONCAT_(a, b) a##b
#define LOOM_CONCAT(a, b) LOOM_CONCAT_(a, b)

// Returns the error of `expr` (a Status) to the caller, if there is one.
#define LOOM_TRY(expr)                                                                 \
  do {                                                                                 \
    if (::loom::Status loom_status_ = (expr); !loom_status_.ok()) return loom_status_; \
  } while (0)

// LOOM_ASSIGN(auto x, f()): x is f()'s value, or its error goes to the caller.
#define LOOM_ASSIGN(decl, expr) LOOM_ASSIGN_(LOOM_CONCAT(loom_result_, __LINE__), decl, expr)
#define LOOM_ASSIGN_(tmp, decl, expr)            \
  auto tmp = (expr);                             \
  if (!tmp.ok()) return std::move(tmp).status(); \
  decl = std::move(*tmp)
