#include "files.h"

#include "client.h"

namespace loom::cli {

std::string read_text(const std::string& path) {
  return or_exit(kRefused, [&] { return Bytes::load(path).text(); });
}

}  // namespace loom::cli
