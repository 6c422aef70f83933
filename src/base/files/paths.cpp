#include "base/files/paths.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "base/files/bytes.h"

namespace loom {
namespace {

std::string joined(const std::string& folder, const std::string& name) {
  return folder.empty() ? name : folder.ends_with('/') ? folder + name : folder + "/" + name;
}

Status refused(const std::string& path, const std::string& why,
               Code code = Code::invalid_argument) {
  return Status(code, path + ": cannot be written: " + why);
}

const char* kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a FIFO";
  if (S_ISCHR(mode) || S_ISBLK(mode)) return "a device";
  return S_ISSOCK(mode) ? "a socket" : "not a regular file";
}

#if !defined(__wasm__)
Result<std::string> link_target(const std::string& link) {
  char target[PATH_MAX];
  const ssize_t size = ::readlink(link.c_str(), target, sizeof target);
  if (size < 0) return Status(Code::io, link + ": cannot read the link: " + std::strerror(errno));
  return std::string(target, static_cast<std::size_t>(size));
}

// The folder that no link in `folder` may leave; both without links. In a HuggingFace cache the
// files of models--ORG--NAME/snapshots/REVISION are links to models--ORG--NAME/blobs.
std::string root_of(const std::string& folder) {
  constexpr std::string_view kModel = "/models--", kSnapshots = "/snapshots/";
  for (std::size_t at = folder.rfind(kModel); at != std::string::npos;
       at = at == 0 ? std::string::npos : folder.rfind(kModel, at - 1)) {
    const std::size_t end = folder.find('/', at + 1);
    if (end != std::string::npos && folder.compare(end, kSnapshots.size(), kSnapshots) == 0)
      return folder.substr(0, end);
  }
  return folder;
}

bool lies_in(const std::string& path, const std::string& folder) {
  return folder == "/" || path == folder ||
         (path.starts_with(folder) && path[folder.size()] == '/');
}

Status check_within(const std::string& folder, const std::string& name) {
  const std::string path = joined(folder, name);
  const auto base = resolve_links(folder.empty() ? "." : folder), target = resolve_links(path);
  if (!base.ok()) return base.status();
  if (!target.ok()) return target.status();
  const std::string root = root_of(*base);
  if (lies_in(*target, root)) return {};
  return Status(Code::unsupported, path + ": leads to " + *target + ", outside of " + root +
                                       ": what a model names must lie in its own folder");
}
#endif

// After a look that failed: ok where nothing has the name, or can have it.
Status nothing_there(const std::string& path) {
  if (errno == ENOENT || errno == ENOTDIR || errno == ENAMETOOLONG || errno == ELOOP) return {};
  return Status(Code::io, path + ": cannot look at it: " + std::strerror(errno));
}

}  // namespace

Result<bool> anything_at(const std::string& path) {
  struct stat info{};
  if (::lstat(path.c_str(), &info) == 0) return true;
  LOOM_TRY(nothing_there(path));
  return false;
}

Result<PathKind> kind_at(const std::string& path) {
  struct stat info{};
  if (::stat(path.c_str(), &info) == 0)
    return S_ISDIR(info.st_mode)   ? PathKind::folder
           : S_ISREG(info.st_mode) ? PathKind::file
                                   : PathKind::other;
  LOOM_TRY(nothing_there(path));
  return PathKind::nothing;
}

bool same_file(const std::string& a, const std::string& b) {
  struct stat first{}, second{};
  return ::stat(a.c_str(), &first) == 0 && ::stat(b.c_str(), &second) == 0 &&
         first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

#if defined(__wasm__)

Result<std::string> resolve_links(const std::string& path) { return path; }

#else

Result<std::string> resolve_links(const std::string& path) {
  constexpr int kMaxLinks = 40;  // as Linux has it
  if (path.empty()) return Status(Code::invalid_argument, "the path is empty");
  std::string done, rest = path;  // done: without links, and without the slash at its end
  if (path[0] != '/') {
    char here[PATH_MAX];
    if (!::getcwd(here, sizeof here))
      return Status(Code::io, path + ": the current folder is unknown: " + std::strerror(errno));
    if (here[1] != '\0') done = here;
  }
  for (int links = 0; !rest.empty();) {
    const std::size_t end = std::min(rest.find('/'), rest.size());
    const std::string part = rest.substr(0, end);
    rest.erase(0, std::min(end + 1, rest.size()));
    if (part.empty() || part == ".") continue;
    if (part == "..") {
      done.erase(std::min(done.rfind('/'), done.size()));
      continue;
    }
    const std::string next = done + "/" + part;
    struct stat info{};
    if (::lstat(next.c_str(), &info) != 0) {
      if (errno == ENOENT && rest.empty()) return next;
      if (errno == ENOENT)
        return Status(Code::not_found, path + ": the folder " + next + " does not exist");
      if (errno == ENOTDIR) return Status(Code::io, path + ": " + done + " is not a folder");
      return Status(Code::io, path + ": " + next + ": " + std::strerror(errno));
    }
    if (!S_ISLNK(info.st_mode)) {
      done = next;
      continue;
    }
    if (++links > kMaxLinks) return Status(Code::io, path + ": leads through more than 40 links");
    // What such a link says is no path: "pipe:[7]", or the name that a deleted file had.
    if (done.starts_with("/proc/") && done.ends_with("/fd"))
      return Status(Code::unsupported, path + ": is an open stream of a process (" + next +
                                           "), expected the name of a file in a folder");
    LOOM_ASSIGN(const std::string target, link_target(next));
    if (target.starts_with('/')) done.clear();
    rest = rest.empty() ? target : target + "/" + rest;
  }
  return done.empty() ? "/" : done;
}

#endif

Result<OutputPlace> find_output(const std::string& path) {
  if (path.ends_with('/')) return refused(path, "it names a folder, expected the name of a file");
  OutputPlace place;
  LOOM_ASSIGN(place.path, resolve_links(path));
  struct stat info{};
  if (::stat(place.path.c_str(), &info) != 0) {
    if (errno != ENOENT && errno != ENOTDIR) return refused(path, std::strerror(errno), Code::io);
    return place;
  }
  if (!S_ISREG(info.st_mode))
    return refused(path, std::string("it is ") + kind_of(info.st_mode) + ", expected a file");
  place.replaces = true;
#if !defined(__wasm__)
  place.mode = info.st_mode & 07777;
  place.owner = info.st_uid;
  place.group = info.st_gid;
  // A rename asks for no right to the file that it replaces; a person who took it away does.
  if ((place.mode & 0222) == 0) {
    char mode[16];
    std::snprintf(mode, sizeof mode, "%04o", place.mode);
    return refused(path, std::string("the file is read-only (mode ") + mode + ")", Code::io);
  }
  if (::access(place.path.c_str(), W_OK) != 0) return refused(path, std::strerror(errno), Code::io);
#endif
  return place;
}

Status check_output(const std::string& path) { return AtomicFile::create(path).status(); }

Result<SourcePtr> open_within(const std::string& folder, const std::string& name, MapMode mode) {
#if !defined(__wasm__)
  // A missing file has open_source's message.
  if (const Status within = check_within(folder, name);
      !within.ok() && within.code() != Code::not_found)
    return within;
#endif
  return open_source(joined(folder, name), mode);
}

Result<std::string> read_text_within(const std::string& folder, const std::string& name,
                                     std::uint64_t limit) {
  LOOM_ASSIGN(SourcePtr source, open_within(folder, name, MapMode::read));
  LOOM_ASSIGN(std::vector<std::byte> bytes, read_all(*source, limit));
  return std::string(as_text(bytes));
}

}  // namespace loom
