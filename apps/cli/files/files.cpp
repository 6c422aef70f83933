#include "files/files.h"

#include <algorithm>

#include "support/client.h"
#include "support/console.h"

namespace loom::cli {

std::string read_text(const std::string& path) {
  return or_exit(kRefused, [&] { return Bytes::load(path).text(); });
}

void write_text(const std::string& path, const std::string& text) {
  const Bytes bytes = Bytes::create(text.size());
  std::copy(text.begin(), text.end(), reinterpret_cast<char*>(bytes.span().data()));
  bytes.save(path);
}

std::string xml_text(const std::string& text) {
  std::string out;
  for (const char c : escaped(text)) {
    if (c == '<') out += "&lt;";
    else if (c == '>') out += "&gt;";
    else if (c == '&') out += "&amp;";
    else if (c == '"') out += "&quot;";
    else out += c;
  }
  return out;
}

}  // namespace loom::cli
