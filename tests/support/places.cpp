#include "support/places.h"

namespace loom::test {

std::string source_dir() { return LOOM_SOURCE_DIR; }
std::string binary_dir() { return LOOM_BINARY_DIR; }

}  // namespace loom::test
