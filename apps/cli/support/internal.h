// For commands that look inside the library (internals.txt): its errors, which end an action.
#pragma once

#include "base/status.h"
#include "command.h"

namespace loom::cli {

// Says what went wrong on stderr and returns the code.
int fail(const Status& status, ExitCode code);

}  // namespace loom::cli

// Inside an action: `x` is the value of a Result, or the action ends with `code`.
#define LOOM_OR_EXIT(decl, expr, code) \
  LOOM_OR_EXIT_(LOOM_CONCAT(loom_result_, __LINE__), decl, expr, code)
#define LOOM_OR_EXIT_(tmp, decl, expr, code)                     \
  auto tmp = (expr);                                             \
  if (!tmp.ok()) return ::loom::cli::fail(tmp.status(), (code)); \
  decl = std::move(*tmp)
