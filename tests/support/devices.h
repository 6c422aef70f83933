// What tests offer as a place to write to, although nothing should be written there. As root the
// real nodes could be replaced by the very defect that a test is for, so that root gets nodes of
// its own.
#pragma once

#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <filesystem>
#include <string>

namespace loom::test {

// A device that takes nothing; "" where this system makes none for tests.
inline std::string full_device(const std::string& folder) {
  if (::geteuid() != 0) return "/dev/full";
  const std::string path = folder + "/full";
  return ::mknod(path.c_str(), S_IFCHR | 0666, makedev(1, 7)) == 0 ? path : "";
}

// As /dev/stdout is: a link to the open stream.
inline std::string stdout_link(const std::string& folder) {
  const std::string path = folder + "/stdout";
  std::filesystem::create_symlink("/proc/self/fd/1", path);
  return path;
}

}  // namespace loom::test
