#include "support/places.h"

#include <cstdlib>

namespace loom::test {

// Programs of a campaign run where the tree lies elsewhere: LOOM_SOURCE_DIR says where.
std::string source_dir() {
  const char* const moved = std::getenv("LOOM_SOURCE_DIR");
  return moved ? moved : LOOM_SOURCE_DIR;
}
std::string binary_dir() { return LOOM_BINARY_DIR; }

}  // namespace loom::test
