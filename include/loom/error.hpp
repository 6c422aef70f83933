// What loom.hpp throws. A part of it.
#ifndef LOOM_ERROR_HPP
#define LOOM_ERROR_HPP

#include <cstdint>
#include <stdexcept>
#include <string>

#include "loom.h"

namespace loom {
// Loom's own sources have a namespace loom too: these names must not meet those when both are in
// one program.
inline namespace api {

class Error : public std::runtime_error {
 public:
  explicit Error(const loom_error& error) : std::runtime_error(error.message), code_(error.code) {}
  Error(std::int32_t code, const std::string& message) : std::runtime_error(message), code_(code) {}
  std::int32_t code() const { return code_; }  // LOOM_...
  const char* code_name() const { return loom_code_name(code_); }

 private:
  std::int32_t code_;
};

// Calls f(..., &error) and throws what it reports.
template <class F, class... Args>
void check(F f, Args... args) {
  loom_error error;
  if (f(args..., &error) != LOOM_OK) throw Error(error);
}

}  // namespace api
}  // namespace loom

#endif
