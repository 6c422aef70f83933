// Files that a command reads whole.
#pragma once

#include <string>

namespace loom::cli {

// A file that is refused ends the action.
std::string read_text(const std::string& path);
// The path has the old content or the new, never a part.
void write_text(const std::string& path, const std::string& text);
// A text as XML has it, between tags or in an attribute.
std::string xml_text(const std::string& text);

}  // namespace loom::cli
