// Paths as the system sees them: where links lead, where a file can be written, and which files a
// model's folder may open. No state; any thread. In WebAssembly no link is seen: its host has them.
#pragma once

#include <string>

#include "base/files/source.h"
#include "base/status.h"

namespace loom {

// True if anything has this name, also a link that leads nowhere. Error: io, where the system
// cannot say; what is not known to be missing is not left out.
Result<bool> anything_at(const std::string& path);
// What a name leads to; nothing also where a link leads nowhere. Errors as above.
enum class PathKind { nothing, file, folder, other };
Result<PathKind> kind_at(const std::string& path);
// True if both names lead to one file or folder: the same device and inode.
bool same_file(const std::string& a, const std::string& b);

// `path` with every link followed: absolute, without "." and "..". Its last part may be missing.
// Errors: not_found names the missing folder, io a circle of links or what the system refuses,
// unsupported a link to an open stream (/dev/stdout), which has no place in any folder.
Result<std::string> resolve_links(const std::string& path);

// What a write to a path replaces.
struct OutputPlace {
  std::string path;       // with links followed; a new file lies here
  bool replaces = false;  // a regular file is here, and its owner and mode stay:
  unsigned mode = 0, owner = 0, group = 0;
};
// Refuses what no file can replace (a folder, FIFO, device or socket), what is read-only by its
// mode or for this user, and a folder that does not exist. The error names `path` and the reason.
Result<OutputPlace> find_output(const std::string& path);
// The error that a save to `path` would end with before its first byte: find_output, and that the
// folder takes a new file. For callers whose work comes before their save.
Status check_output(const std::string& path);

// Opens a file of a model's folder: `name` is relative, without "..". A link is followed where the
// file that it ends at lies in the folder, or, in a HuggingFace cache (models--*/snapshots/*), in
// that model's part of the cache. Otherwise unsupported, naming the path and the target.
// docs/decisions/0014-links-in-folders.md has the reasons.
Result<SourcePtr> open_within(const std::string& folder, const std::string& name,
                              MapMode mode = MapMode::map_if_possible);
Result<std::string> read_text_within(const std::string& folder, const std::string& name,
                                     std::uint64_t limit = std::uint64_t{1} << 30);

}  // namespace loom
