// Counts and seeds from the environment, and folders in memory: thousands of files need no disk.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>

namespace loom::test {

inline std::uint64_t number_of(const char* name, std::uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

// Of this process; does not exist yet.
inline std::string scratch_folder(const std::string& name) {
  const bool memory = ::access("/dev/shm", W_OK) == 0;
  const auto root =
      memory ? std::filesystem::path("/dev/shm") : std::filesystem::temp_directory_path();
  return (root / ("loom_" + name + "_" + std::to_string(::getpid()))).string();
}

}  // namespace loom::test
