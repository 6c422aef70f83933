#include "support/client.h"

#include "support/console.h"

namespace loom::cli {
namespace {

std::string named(std::int32_t code, std::string_view where, const std::string& message) {
  const std::string place = where.empty() ? "" : std::string(where) + ": ";
  return std::string(loom_code_name(code)) + ": " + place + message;
}

}  // namespace

std::string problem_text(const Error& error, std::string_view where) {
  return named(error.code(), where, error.what());
}

Exit problem(std::int32_t code, const std::string& message, ExitCode exit) {
  return {named(code, "", message), exit};
}

}  // namespace loom::cli
