// Where a reader's bytes come from: a path (memory-mapped where the platform can), bytes in memory,
// or a read callback. Immutable after opening; all calls are thread-safe if the callback is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"

namespace loom {

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  // What error messages call it: the path, or the name given.
  const std::string& name() const { return name_; }
  std::uint64_t size() const { return size_; }
  // All bytes at once where they already lie in memory (mapping or buffer); empty otherwise.
  virtual std::span<const std::byte> view() const { return {}; }
  // Fills `out` from `offset`; `truncated` with both sizes where the source is shorter.
  Status read(std::uint64_t offset, std::span<std::byte> out) const;
  // For users of view(), after they have read: whether what they saw is what the file held. Another
  // program may have cut a mapped file.
  virtual Status intact() const { return {}; }

 protected:
  virtual Status read_some(std::uint64_t offset, std::span<std::byte> out) const = 0;
  std::string name_;
  std::uint64_t size_ = 0;
};

using SourcePtr = std::shared_ptr<const ByteSource>;
// Reads out.size() bytes at offset; the range is always inside the size given.
using ReadCallback = std::function<Status(std::uint64_t offset, std::span<std::byte> out)>;

enum class MapMode { map_if_possible, read };

// Regular files only: a directory, FIFO or device is refused by name.
Result<SourcePtr> open_source(const std::string& path, MapMode mode = MapMode::map_if_possible);
// Owns the bytes.
SourcePtr source_from_bytes(std::vector<std::byte> bytes, std::string name);
// Borrows the bytes: they must outlive the source, or `owner` keeps them.
SourcePtr source_from_view(std::span<const std::byte> bytes, std::string name,
                           std::shared_ptr<const void> owner = {});
SourcePtr source_from_callback(std::uint64_t size, ReadCallback read, std::string name);

// The whole source as bytes or text; refuses more than `limit` bytes.
Result<std::vector<std::byte>> read_all(const ByteSource& source,
                                        std::uint64_t limit = std::uint64_t{1} << 32);
Result<std::string> read_text_file(const std::string& path,
                                   std::uint64_t limit = std::uint64_t{1} << 30);

// Where a writer's bytes go. What was written counts once commit() succeeds.
class ByteSink {
 public:
  virtual ~ByteSink() = default;
  virtual Status write(std::span<const std::byte> data) = 0;
  virtual Status commit() = 0;
};

// A folder at `path`, which may be one already; durable, as files in it are.
Status make_folder(const std::string& path);

// Writes a file so that readers see the old content or the new, never a part: temporary file beside
// it, fsync, rename, fsync of the folder. A failed or abandoned writer leaves nothing behind. Only
// a regular file is replaced (base/files/paths.h, find_output, says what else is refused): links
// are followed and stay, and so does the mode of the file, and its owner where this user may give
// it.
class AtomicFile final : public ByteSink {
 public:
  static Result<AtomicFile> create(const std::string& path);
  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&& other) noexcept;
  ~AtomicFile() override;
  Status write(std::span<const std::byte> data) override;
  std::uint64_t written() const { return written_; }
  // Makes it durable and visible under `path`. The error of the folder's fsync alone comes with the
  // file in its place; its message says so.
  Status commit() override;

 private:
  AtomicFile() = default;
  void abandon();
  std::string path_, target_, temp_;  // target_: path_ with links followed
  int fd_ = -1;
  std::uint64_t written_ = 0;
};

Status write_file(const std::string& path, std::span<const std::byte> data);

// A path, or memory: what save functions take.
struct Destination {
  Destination(std::string file) : path(std::move(file)) {}  // NOLINT: a path is a destination
  Destination(const char* file) : path(file) {}             // NOLINT
  Destination(std::vector<std::byte>* memory)
      : path("(memory)"), bytes(memory) {}  // NOLINT: replaced on commit; must outlive the writer
  std::string path;                         // its name in messages
  std::vector<std::byte>* bytes = nullptr;
};
Result<std::unique_ptr<ByteSink>> open_sink(const Destination& to);

}  // namespace loom
