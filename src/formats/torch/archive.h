// The records of a zip archive that lie in it as they are. Internal to this module.
#pragma once

#include <string>
#include <vector>

#include "base/files/source.h"

namespace loom {

struct ZipRecord {
  std::string name;
  std::uint64_t header = 0, size = 0;  // where its own header lies, and how many bytes it has
  bool stored = true;
};

struct ZipArchive {
  std::vector<ZipRecord> records;  // sorted by name
  std::uint64_t end = 0;           // of all records: where the directory begins

  const ZipRecord* find(std::string_view name) const;
  // Where the bytes of a record begin. Errors: unsupported where they are packed, corrupt.
  Result<std::uint64_t> begin(const ByteSource& source, const ZipRecord& record) const;
};

// Errors: corrupt, truncated; unsupported for parts of an archive and for encrypted ones.
Result<ZipArchive> open_zip(const ByteSource& source);

}  // namespace loom
