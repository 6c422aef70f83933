// What a killed writer leaves: its temporary file, "<path>.tmp<n>-<process id>" as AtomicFile names
// it. Internal to this folder.
#pragma once

#include <string>

namespace loom {

// Removes temporary files of `path` whose process is gone. Never an error: the file itself is safe
// whatever happens here. On a folder that several hosts or process namespaces write to at once, a
// writer that looks dead from here loses its temporary file and fails with an i/o error; nothing
// that was saved suffers.
void remove_stale_files(const std::string& path);

}  // namespace loom
