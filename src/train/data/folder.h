// Folders of files as people keep them: FOLDER/CLASS/file, or FOLDER/train/CLASS/file beside
// FOLDER/test or FOLDER/val. A pure function of the folder's content: names in byte-wise order, not
// in that of the file system. Links are followed; nothing is read deeper than a class, so that a
// link to a folder above it is no endless way. Names that begin with a dot are not there. Plain
// data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace loom {

enum class SampleKind : std::uint8_t { images, texts };
// "image", "text", and their endings for messages.
std::string_view name(SampleKind kind);
std::string_view endings(SampleKind kind);
// What a file is by the end of its name, in upper case or lower.
std::optional<SampleKind> kind_of(std::string_view file_name);

struct FolderNames {
  std::vector<std::string> folders, files;  // sorted
};
// Errors: no folder, one that may not be read, a name that leads nowhere (a broken link, a circle
// of links).
Result<FolderNames> read_names(const std::string& folder);
Result<bool> is_a_folder(const std::string& path);  // errors: of kind_at

// Where the samples lie: the folder itself, or its train and its test (or else val), in upper case
// or lower.
struct FolderParts {
  std::string learned, test;           // paths; test: "" where there is none
  std::vector<std::string> decisions;  // what is left out
};
Result<FolderParts> parts_of(const std::string& folder);

// The files of one kind in a folder of classes.
struct ClassFiles {
  SampleKind kind = SampleKind::images;
  struct Class {
    std::string name;
    std::vector<std::string> files;  // paths, at least one
  };
  std::vector<Class> classes;
  std::vector<std::string> files;      // paths of those that lie in the folder itself, in no class
  std::vector<std::string> decisions;  // what is left out, and why
  std::int64_t count() const;          // of files in classes
};
// `wanted`: of this kind; without it, of the kind that more files are of, images where as many.
// nullopt: the folder and those in it hold neither. Errors: as read_names; more files than a
// million; a class whose name is no UTF-8.
Result<std::optional<ClassFiles>> read_classes(const std::string& folder,
                                               std::optional<SampleKind> wanted = {});

}  // namespace loom
