#include "base/files/source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/files/bytes.h"
#include "base/files/mapping.h"
#include "base/files/paths.h"
#include "base/files/stale_files.h"

namespace loom {
namespace {

Status system_error(const std::string& what, const std::string& path) {
  const Code code = errno == ENOENT ? Code::not_found : Code::io;
  return Status(code, path + ": " + what + ": " + std::strerror(errno));
}

// A call of the system, again where a signal interrupted it.
template <class Call>
auto uninterrupted(const Call& call) {
  auto done = call();
  while (done < 0 && errno == EINTR) done = call();
  return done;
}

class ViewSource : public ByteSource {
 public:
  ViewSource(std::span<const std::byte> bytes, std::string name,
             std::shared_ptr<const void> owner = {})
      : bytes_(bytes), owner_(std::move(owner)) {
    name_ = std::move(name);
    size_ = bytes.size();
  }
  std::span<const std::byte> view() const override { return bytes_; }

 protected:
  Status read_some(std::uint64_t offset, std::span<std::byte> out) const override {
    std::memcpy(out.data(), bytes_.data() + offset, out.size());
    return {};
  }
  std::span<const std::byte> bytes_;
  std::shared_ptr<const void> owner_;
};

class OwnedSource : public ViewSource {
 public:
  OwnedSource(std::vector<std::byte> bytes, std::string name)
      : ViewSource({}, std::move(name)), owned_(std::move(bytes)) {
    bytes_ = owned_;
    size_ = owned_.size();
  }

 private:
  std::vector<std::byte> owned_;
};

class CallbackSource : public ByteSource {
 public:
  CallbackSource(std::uint64_t size, ReadCallback read, std::string name) : read_(std::move(read)) {
    name_ = std::move(name);
    size_ = size;
  }

 protected:
  Status read_some(std::uint64_t offset, std::span<std::byte> out) const override {
    return read_(offset, out);
  }

 private:
  ReadCallback read_;
};

// Closes what is not taken.
struct Descriptor {
  int fd = -1;
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
  int take() { return std::exchange(fd, -1); }
};

class FileSource : public ByteSource {
 public:
  FileSource(Descriptor& file, std::uint64_t size, std::string name) {
    name_ = std::move(name);
    size_ = size;
    file_.fd = file.take();
  }

 protected:
  Status read_some(std::uint64_t offset, std::span<std::byte> out) const override {
    while (!out.empty()) {
      const std::size_t want = std::min<std::size_t>(out.size(), std::size_t{1} << 30);
      const ssize_t got = uninterrupted(
          [&] { return ::pread(file_.fd, out.data(), want, static_cast<off_t>(offset)); });
      if (got < 0) return system_error("cannot read", name_);
      if (got == 0)
        return Status(Code::truncated,
                      name_ + ": the file shrank while it was read: nothing at offset " +
                          std::to_string(offset));
      offset += static_cast<std::uint64_t>(got);
      out = out.subspan(static_cast<std::size_t>(got));
    }
    return {};
  }

 private:
  Descriptor file_;
};

class MappedSource : public ViewSource {
 public:
  MappedSource(std::unique_ptr<Mapping> mapping, std::string name)
      : ViewSource(mapping->bytes(), std::move(name)), mapping_(std::move(mapping)) {}
  Status intact() const override { return mapping_->intact(); }

 protected:
  Status read_some(std::uint64_t offset, std::span<std::byte> out) const override {
    LOOM_TRY(ViewSource::read_some(offset, out));
    return intact();
  }

 private:
  std::unique_ptr<Mapping> mapping_;
};

Status write_all(int fd, std::span<const std::byte> data, const std::string& path) {
  while (!data.empty()) {
    const std::size_t part = std::min<std::size_t>(data.size(), std::size_t{1} << 30);
    const ssize_t put = uninterrupted([&] { return ::write(fd, data.data(), part); });
    if (put == 0) errno = EIO;  // no file says so; a loop that waits for it would not end
    if (put <= 0) return system_error("cannot write", path);
    data = data.subspan(static_cast<std::size_t>(put));
  }
  return {};
}

}  // namespace

Status ByteSource::read(std::uint64_t offset, std::span<std::byte> out) const {
  const auto end = checked_add(offset, out.size());
  if (!end || *end > size_) {
    return Status(Code::truncated, name_ + ": needs " + std::to_string(out.size()) +
                                       " bytes at offset " + std::to_string(offset) +
                                       ", the file has " + std::to_string(size_));
  }
  if (out.empty()) return {};
  return read_some(offset, out);
}

Result<SourcePtr> open_source(const std::string& path, MapMode mode) {
  // O_NONBLOCK: opening a FIFO must refuse, not wait for a writer.
  Descriptor file{
      uninterrupted([&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK); })};
  if (file.fd < 0 && errno == ENOTDIR)
    return Status(Code::not_found,
                  path + ": cannot open: " + std::strerror(errno));  // nothing can lie there
  if (file.fd < 0) return system_error("cannot open", path);
  struct stat info{};
  if (::fstat(file.fd, &info) != 0) return system_error("cannot stat", path);
  if (!S_ISREG(info.st_mode)) {
    return Status(Code::invalid_argument,
                  path + ": is " + (S_ISDIR(info.st_mode) ? "a folder" : "not a regular file") +
                      ", expected a file");
  }
  const auto size = static_cast<std::uint64_t>(info.st_size);
  if (mode == MapMode::map_if_possible && size <= SIZE_MAX) {
    if (auto mapping = map_file(file.fd, static_cast<std::size_t>(size), path)) {
      file.take();
      return SourcePtr(std::make_shared<MappedSource>(std::move(mapping), path));
    }
  }
  return SourcePtr(std::make_shared<FileSource>(file, size, path));
}

SourcePtr source_from_bytes(std::vector<std::byte> bytes, std::string name) {
  return std::make_shared<OwnedSource>(std::move(bytes), std::move(name));
}
SourcePtr source_from_view(std::span<const std::byte> bytes, std::string name,
                           std::shared_ptr<const void> owner) {
  return std::make_shared<ViewSource>(bytes, std::move(name), std::move(owner));
}
SourcePtr source_from_callback(std::uint64_t size, ReadCallback read, std::string name) {
  return std::make_shared<CallbackSource>(size, std::move(read), std::move(name));
}

Result<std::vector<std::byte>> read_all(const ByteSource& source, std::uint64_t limit) {
  if (source.size() > limit) {
    return Status(Code::out_of_range, source.name() + ": has " + std::to_string(source.size()) +
                                          " bytes, more than the limit of " +
                                          std::to_string(limit));
  }
  std::vector<std::byte> bytes(static_cast<std::size_t>(source.size()));
  LOOM_TRY(source.read(0, bytes));
  return bytes;
}

Result<std::string> read_text_file(const std::string& path, std::uint64_t limit) {
  LOOM_ASSIGN(SourcePtr source, open_source(path, MapMode::read));
  LOOM_ASSIGN(std::vector<std::byte> bytes, read_all(*source, limit));
  return std::string(as_text(bytes));
}

namespace {

#if !defined(__wasm__)
// The new file is whose the old one was, and open to the same people.
Status take_over(int fd, const OutputPlace& place, const std::string& path) {
  const bool own = ::fchown(fd, place.owner, place.group) == 0;
  // Without the owner, what runs with an owner's rights must not.
  if (::fchmod(fd, place.mode & (own ? 07777 : 0777)) == 0) return {};
  return system_error("cannot give the new file the mode of the old one", path);
}

// The rename is durable once the folder is.
Status flush_folder(const std::string& path, const std::string& target) {
  const std::string folder = target.substr(0, target.find_last_of('/') + 1);
  const int fd = uninterrupted(
      [&] { return ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_CLOEXEC); });
  if (fd < 0 && errno == EACCES) return {};  // a folder that takes files and shows none
  const int error = fd < 0 || uninterrupted([&] { return ::fsync(fd); }) != 0 ? errno : 0;
  if (fd >= 0) ::close(fd);
  // EINVAL: this file system has no such flush.
  if (error == 0 || error == EINVAL) return {};
  return Status(Code::io,
                path + ": is written, but its folder cannot be flushed: " + std::strerror(error) +
                    ": a power failure now may bring the old file back");
}
#endif

}  // namespace

Result<AtomicFile> AtomicFile::create(const std::string& path) {
  LOOM_ASSIGN(const OutputPlace place, find_output(path));
  AtomicFile file;
  file.path_ = path;
  file.target_ = place.path;
  // Before this one takes space, so that they never add up.
  remove_stale_files(file.target_);
  for (int attempt = 0; attempt < 1000; ++attempt) {
    file.temp_ = file.target_ + ".tmp" + std::to_string(attempt);
#if !defined(__wasm__)
    file.temp_ += "-" + std::to_string(::getpid());
#endif
    file.fd_ = uninterrupted(
        [&] { return ::open(file.temp_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644); });
    if (file.fd_ >= 0) break;
    if (errno == EEXIST && attempt < 999) continue;
    const Status error = system_error("cannot create", path);
    file.temp_.clear();
    return error;
  }
#if !defined(__wasm__)
  if (place.replaces) LOOM_TRY(take_over(file.fd_, place, path));
#endif
  return file;
}

Status make_folder(const std::string& path) {
  LOOM_ASSIGN(const std::string place, resolve_links(path));
  if (::mkdir(place.c_str(), 0777) != 0 && errno != EEXIST)
    return system_error("cannot make the folder", path);
#if !defined(__wasm__)
  return flush_folder(path, place);
#else
  return {};
#endif
}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept { *this = std::move(other); }

AtomicFile& AtomicFile::operator=(AtomicFile&& other) noexcept {
  if (this != &other) {
    abandon();
    path_ = std::move(other.path_);
    target_ = std::move(other.target_);
    temp_ = std::exchange(other.temp_, {});
    fd_ = std::exchange(other.fd_, -1);
    written_ = other.written_;
  }
  return *this;
}

AtomicFile::~AtomicFile() { abandon(); }

void AtomicFile::abandon() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
  if (!temp_.empty()) ::unlink(temp_.c_str());
  temp_.clear();
}

Status AtomicFile::write(std::span<const std::byte> data) {
  if (fd_ < 0) return Status(Code::invalid_argument, path_ + ": the file was committed already");
  LOOM_TRY(write_all(fd_, data, path_));
  written_ += data.size();
  return {};
}

Status AtomicFile::commit() {
  if (fd_ < 0) return Status(Code::invalid_argument, path_ + ": the file was committed already");
  if (uninterrupted([&] { return ::fsync(fd_); }) != 0) return system_error("cannot flush", path_);
  if (::close(std::exchange(fd_, -1)) != 0) return system_error("cannot close", path_);
  if (::rename(temp_.c_str(), target_.c_str()) != 0)
    return system_error("cannot rename the temporary file", path_);
  temp_.clear();
#if !defined(__wasm__)
  return flush_folder(path_, target_);
#else
  return {};
#endif
}

namespace {

class MemorySink final : public ByteSink {
 public:
  explicit MemorySink(std::vector<std::byte>* to) : to_(to) {}
  Status write(std::span<const std::byte> data) override {
    bytes_.insert(bytes_.end(), data.begin(), data.end());
    return {};
  }
  Status commit() override {
    *to_ = std::move(bytes_);
    return {};
  }

 private:
  std::vector<std::byte>* to_;
  std::vector<std::byte> bytes_;
};

}  // namespace

Result<std::unique_ptr<ByteSink>> open_sink(const Destination& to) {
  if (to.bytes) return std::unique_ptr<ByteSink>(std::make_unique<MemorySink>(to.bytes));
  LOOM_ASSIGN(AtomicFile file, AtomicFile::create(to.path));
  return std::unique_ptr<ByteSink>(std::make_unique<AtomicFile>(std::move(file)));
}

Status write_file(const std::string& path, std::span<const std::byte> data) {
  LOOM_ASSIGN(AtomicFile file, AtomicFile::create(path));
  LOOM_TRY(file.write(data));
  return file.commit();
}

}  // namespace loom
