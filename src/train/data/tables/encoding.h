// The text of a table in any supported encoding.
#pragma once

#include <string>

#include "base/status.h"

namespace loom {

// `text` in UTF-8, without a byte order mark. It is UTF-16 where it begins with the mark of that,
// UTF-8 where all of it is, else Windows-1252, of which Latin-1's printable characters are a part;
// then, and of UTF-16, `note` gets a line. Errors name `name` and the line: UTF-32, half a
// character, bytes that Windows-1252 does not have, and text that is UTF-8 in some lines and not in
// others.
Result<std::string> table_text(std::string text, const std::string& name,
                               std::string* note = nullptr);

}  // namespace loom
