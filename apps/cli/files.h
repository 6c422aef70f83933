// Files that a command reads whole.
#pragma once

#include <string>

namespace loom::cli {

// A file that is refused ends the action.
std::string read_text(const std::string& path);

}  // namespace loom::cli
