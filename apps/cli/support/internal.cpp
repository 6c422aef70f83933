#include "support/internal.h"

#include "support/console.h"

namespace loom::cli {

int fail(const Status& status, ExitCode code) {
  say("loom: " + escaped(status.to_string()));  // with names from files
  return code;
}

}  // namespace loom::cli
