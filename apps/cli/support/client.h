// The program as a client of the library: its public interface, and how its errors end a command.
#pragma once

#include <loom/loom.hpp>
#include <string>
#include <type_traits>

#include "command.h"
#include "support/json.h"

namespace loom::cli {

// Ends the action that throws it, with a message on stderr and the exit code.
struct Exit {
  std::string message;
  ExitCode code;
};

// An error as stderr gets it; `where` stands before its message.
std::string problem_text(const Error& error, std::string_view where = {});
// An error that the program itself finds; `code`: for example LOOM_INVALID_ARGUMENT.
Exit problem(std::int32_t code, const std::string& message, ExitCode exit);

// body(), whose errors end the action with this code.
template <class F>
auto or_exit(ExitCode code, F body, std::string_view where = {}) -> std::invoke_result_t<F> {
  try {
    return body();
  } catch (const Error& error) {
    throw Exit{problem_text(error, where), code};
  }
}

}  // namespace loom::cli
