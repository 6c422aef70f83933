#include "base/files/stale_files.h"

#if !defined(__wasm__)
#include <dirent.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <memory>
#include <string_view>
#include <vector>

namespace loom {
namespace {

// The process in "<digits>-<process id>", 0 for any other text.
pid_t writer_of(std::string_view text) {
  const char* const end = text.data() + text.size();
  unsigned attempt = 0;
  pid_t pid = 0;
  const auto first = std::from_chars(text.data(), end, attempt);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != '-') return 0;
  const auto second = std::from_chars(first.ptr + 1, end, pid);
  return second.ec == std::errc() && second.ptr == end && pid > 0 ? pid : 0;
}

}  // namespace

void remove_stale_files(const std::string& path) {
  const std::size_t slash = path.find_last_of('/');
  const std::string folder = slash == std::string::npos ? "./" : path.substr(0, slash + 1);
  const std::string prefix = path.substr(slash == std::string::npos ? 0 : slash + 1) + ".tmp";
  const std::unique_ptr<DIR, int (*)(DIR*)> dir(::opendir(folder.c_str()), &::closedir);
  if (!dir) return;
  std::vector<std::string> stale;
  while (const dirent* entry = ::readdir(dir.get())) {
    const std::string_view file = entry->d_name;
    if (!file.starts_with(prefix)) continue;
    const pid_t writer = writer_of(file.substr(prefix.size()));
    if (writer > 0 && ::kill(writer, 0) != 0 && errno == ESRCH) stale.emplace_back(file);
  }
  for (const std::string& file : stale) (void)::unlink((folder + file).c_str());
}

}  // namespace loom

#else

namespace loom {

void remove_stale_files(const std::string&) {
}  // no processes there, and AtomicFile reuses the name

}  // namespace loom

#endif
