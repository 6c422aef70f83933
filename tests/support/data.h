// Test material beside the checkout (../shared/data): real models, tokenizers and tables that are
// not part of the project. Tests that need it skip with a message where it is absent.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include "support/places.h"

namespace loom::test {

// Folder of the test material, "" where there is none. LOOM_TEST_DATA overrides the place.
inline std::string data_dir() {
  const char* set = std::getenv("LOOM_TEST_DATA");
  const std::filesystem::path dir =
      set ? std::filesystem::path(set)
          : std::filesystem::path(source_dir()) / ".." / "shared" / "data";
  return std::filesystem::exists(dir) ? dir.lexically_normal().string() : std::string();
}

}  // namespace loom::test

// Inside a TEST: `const std::string path = ...` of a file of the test material, or the test is
// skipped saying which one is missing.
#define LOOM_TEST_FILE(variable, relative)                                    \
  const std::string variable = ::loom::test::data_dir() + "/" + (relative);   \
  if (::loom::test::data_dir().empty() || !std::filesystem::exists(variable)) \
  GTEST_SKIP() << "test material is absent: " << (relative) << " (expected in ../shared/data)"
