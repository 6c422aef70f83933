// Test material beside the checkout (../shared/data): real models, tokenizers and tables that are
// not part of the project. Of the models made for it, tests/data has some. Tests that need what is
// in neither skip with a message.
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

// The path of a file or folder of the test material, beside the checkout or in tests/data; "" where
// it is in neither.
inline std::string data_path(const std::string& relative) {
  const std::string beside = data_dir();
  if (!beside.empty() && std::filesystem::exists(beside + "/" + relative))
    return beside + "/" + relative;
  const std::string in_tree = source_dir() + "/tests/data/" + relative;
  return std::filesystem::exists(in_tree) ? in_tree : std::string();
}

}  // namespace loom::test

// Inside a TEST: `const std::string path = ...` of a file of the test material, or the test is
// skipped saying which one is missing.
#define LOOM_TEST_FILE(variable, relative)                        \
  const std::string variable = ::loom::test::data_path(relative); \
  if (variable.empty())                                           \
  GTEST_SKIP() << "test material is absent: " << (relative) << " (expected in ../shared/data)"
