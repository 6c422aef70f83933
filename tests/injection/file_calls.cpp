#include "injection/file_calls.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <limits>
#include <map>

namespace {

using namespace loom::test;

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
std::atomic<std::int64_t> g_count{0}, g_first{kNever};
std::atomic<bool> g_following{false};
FileFailure g_kind = FileFailure::io;

// Of the one thread that saves while they are written down.
std::vector<FileChange>* g_changes = nullptr;
std::map<int, std::pair<std::string, int>> g_open;  // path and file of a descriptor; -1: a folder
std::map<std::string, int> g_files;                 // by path
int g_made = 0;

// What a call can suffer.
enum Risk { takes_space, interruptible };

// The errno that this call ends with; 0: it is made, `less` of it where that is wanted; kNothing: a
// write that takes nothing.
constexpr int kNothing = -1;
int failure(unsigned risks, bool* less = nullptr) {
  const std::int64_t n = g_count.fetch_add(1), first = g_first;
  if (n < first || (n > first && !g_following)) return 0;
  switch (g_kind) {
    case FileFailure::io: return EIO;
    case FileFailure::full:
      // A disk that fills takes what there is room for.
      if (less && n == first && g_following) return *less = true, 0;
      return risks & 1u << takes_space ? ENOSPC : EIO;
    case FileFailure::interrupted: return risks & 1u << interruptible ? EINTR : 0;
    case FileFailure::brief:
      if (less) *less = true;
      return 0;
    case FileFailure::nothing: return less && (risks & 1u << takes_space) ? kNothing : 0;
  }
  return 0;
}
bool fails(unsigned risks = 0) {
  const int error = failure(risks);
  if (error) errno = error;
  return error != 0;
}

void note(FileChange change) {
  if (g_changes) g_changes->push_back(std::move(change));
}
void note_open(int fd, const char* path, int flags) {
  if (!g_changes || fd < 0) return;
  struct stat info{};
  const bool folder = fstatat(fd, "", &info, AT_EMPTY_PATH) == 0 && S_ISDIR(info.st_mode);
  if (!folder && (flags & O_CREAT)) {
    g_files[path] = g_made;
    note({FileChange::create, path, "", g_made++, ""});
  }
  std::string name = path;
  while (name.size() > 1 && name.back() == '/') name.pop_back();
  g_open[fd] = {name, folder || !g_files.contains(name) ? -1 : g_files[name]};
}

}  // namespace

namespace loom::test {

void fail_file_calls(FileFailure kind, std::int64_t first, bool following) {
  g_kind = kind;
  g_following = following;
  g_count = 0;
  g_first = first;
}
std::int64_t allow_file_calls() {
  g_first = kNever;
  return g_count;
}
void record_file_calls(std::vector<FileChange>* into) {
  g_changes = into;
  g_open.clear();
}

}  // namespace loom::test

// Made through calls of the C library that are not replaced here.
extern "C" {

int open(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = flags & O_CREAT ? va_arg(more, mode_t) : 0;
  va_end(more);
  if (fails((flags & O_CREAT ? 1u << takes_space : 0) | 1u << interruptible)) return -1;
  const int fd = openat(AT_FDCWD, path, flags, mode);
  note_open(fd, path, flags);
  return fd;
}
int close(int fd) {
  const int error = failure(1u << takes_space);
  if (g_changes) g_open.erase(fd);
  // A descriptor is gone even where its close fails.
  if (syscall(SYS_close, fd) != 0) return -1;
  if (error == 0) return 0;
  errno = error;
  return -1;
}
ssize_t pread(int fd, void* to, size_t n, off_t at) {
  bool less = false;
  if (const int error = failure(1u << interruptible, &less)) return errno = error, -1;
  const iovec part{to, less && n > 1 ? (n + 1) / 2 : n};
  return preadv(fd, &part, 1, at);
}
ssize_t write(int fd, const void* data, size_t n) {
  bool less = false;
  const int error = failure(1u << takes_space | 1u << interruptible, &less);
  if (error == kNothing) return 0;
  if (error != 0) return errno = error, -1;
  const iovec part{const_cast<void*>(data), less && n > 1 ? (n + 1) / 2 : n};
  const ssize_t put = writev(fd, &part, 1);
  if (const auto place = g_open.find(fd); g_changes && put > 0 && place != g_open.end())
    note({FileChange::write, place->second.first, "", place->second.second,
          std::string(static_cast<const char*>(data), static_cast<size_t>(put))});
  return put;
}
int fsync(int fd) {
  if (fails(1u << takes_space | 1u << interruptible)) return -1;
  if (const auto place = g_open.find(fd); place != g_open.end())
    note({place->second.second < 0 ? FileChange::flush_folder : FileChange::flush,
          place->second.first, "", place->second.second, ""});
  return 0;  // nothing here depends on the machine's own disk
}
int rename(const char* from, const char* to) noexcept {
  if (fails(1u << takes_space)) return -1;
  const int done = renameat(AT_FDCWD, from, AT_FDCWD, to);
  if (done == 0 && g_changes) {
    note({FileChange::rename, from, to, g_files[from], ""});
    g_files[to] = g_files[from];
  }
  return done;
}
// A file that cannot be removed is nobody's fault: it never fails.
int unlink(const char* path) noexcept {
  const int done = unlinkat(AT_FDCWD, path, 0);
  if (done == 0) note({FileChange::unlink, path, "", -1, ""});
  return done;
}
int mkdir(const char* path, mode_t mode) noexcept {
  if (fails(1u << takes_space)) return -1;
  const int done = mkdirat(AT_FDCWD, path, mode);
  if (done == 0) note({FileChange::mkdir, path, "", -1, ""});
  return done;
}
int stat(const char* path, struct stat* info) noexcept {
  return fails() ? -1 : fstatat(AT_FDCWD, path, info, 0);
}
int lstat(const char* path, struct stat* info) noexcept {
  return fails() ? -1 : fstatat(AT_FDCWD, path, info, AT_SYMLINK_NOFOLLOW);
}
int fstat(int fd, struct stat* info) noexcept {
  return fails() ? -1 : fstatat(fd, "", info, AT_EMPTY_PATH);
}
int access(const char* path, int mode) noexcept {
  return fails() ? -1 : faccessat(AT_FDCWD, path, mode, 0);
}
ssize_t readlink(const char* path, char* to, size_t n) noexcept {
  return fails() ? -1 : readlinkat(AT_FDCWD, path, to, n);
}
int fchmod(int fd, mode_t mode) noexcept {
  return fails() ? -1 : static_cast<int>(syscall(SYS_fchmod, fd, mode));
}
int fchown(int fd, uid_t owner, gid_t group) noexcept {
  return fails() ? -1 : static_cast<int>(syscall(SYS_fchown, fd, owner, group));
}
void* mmap(void* at, size_t n, int rights, int flags, int fd, off_t offset) noexcept {
  if (fd >= 0 && fails()) return MAP_FAILED;
  return reinterpret_cast<void*>(syscall(SYS_mmap, at, n, rights, flags, fd, offset));
}
DIR* opendir(const char* path) {
  if (fails()) return nullptr;
  const int fd = openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  return fd < 0 ? nullptr : fdopendir(fd);
}
dirent* readdir(DIR* dir) {
  static const auto next = reinterpret_cast<dirent* (*)(DIR*)>(dlsym(RTLD_NEXT, "readdir"));
  return fails() ? nullptr : next(dir);
}
}
