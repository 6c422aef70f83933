#include "bridge/pushes/spool.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "base/files/bytes.h"
#include "bridge/pushes/checksum.h"
#include "bridge/pushes/values.h"
#include "bridge/replies/reply.h"

namespace loom::bridge {
namespace {

constexpr std::size_t kPiece = 256 << 10;
constexpr std::size_t kRecord = 12;  // index, CRC of the chunk, CRC of these two

[[noreturn]] void refuse_io(const std::string& path) {
  const int code = errno;
  const bool full = code == ENOSPC || code == EFBIG || code == EDQUOT;
  refuse(full ? 507 : 500, full ? "disk_full" : "io",
         std::filesystem::path(path).filename().string() + ": " +
             std::generic_category().message(code));
}

int open_or_refuse(const std::string& path, int flags) {
  const int file = ::open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) refuse_io(path);
  return file;
}

void write_all(int file, const std::string& path, std::uint64_t offset, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::pwrite(file, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) refuse_io(path);
    bytes.remove_prefix(static_cast<std::size_t>(n));
    offset += static_cast<std::uint64_t>(n);
  }
}

void append_all(int file, const std::string& path, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(file, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) refuse_io(path);
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
}

std::string record_of(std::uint64_t index, std::uint32_t crc) {
  std::string text(kRecord, '\0');
  auto* p = reinterpret_cast<std::uint8_t*>(text.data());
  store_le(p, static_cast<std::uint32_t>(index));
  store_le(p + 4, crc);
  store_le(p + 8, crc32({text.data(), 8}));
  return text;
}

}  // namespace

Spool::Spool(std::string folder, Push push, SpoolLayout layout)
    : folder_(std::move(folder)),
      push_(std::move(push)),
      layout_(std::move(layout)),
      present_(static_cast<std::size_t>(push_.chunks())),
      crcs_(present_.size()),
      hashes_(push_.tensors.size()) {}

Spool::~Spool() {
  if (data_ >= 0) ::close(data_);
  if (journal_ >= 0) ::close(journal_);
}

std::shared_ptr<Spool> Spool::create(const std::string& folder, Push push, SpoolLayout layout) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  std::shared_ptr<Spool> spool(new Spool(folder, std::move(push), std::move(layout)));
  try {
    spool->open_files(true);
    // The last file: a folder without it is no push.
    const std::string begin = folder + "/begin.json", text = push_text(spool->push_);
    const int file = open_or_refuse(begin + ".new", O_WRONLY | O_CREAT | O_TRUNC);
    struct Closer {
      int file;
      ~Closer() { ::close(file); }
    } closer{file};
    write_all(file, begin, 0, text);
    if (::rename((begin + ".new").c_str(), begin.c_str()) != 0) refuse_io(begin);
  } catch (...) {
    spool->remove();
    throw;
  }
  return spool;
}

std::shared_ptr<Spool> Spool::open(const std::string& folder, Push push, SpoolLayout layout) {
  std::shared_ptr<Spool> spool(new Spool(folder, std::move(push), std::move(layout)));
  spool->open_files(false);
  spool->read_journal();
  return spool;
}

void Spool::open_files(bool fresh) {
  const int flags = O_RDWR | O_CREAT | (fresh ? O_TRUNC : 0);
  data_ = open_or_refuse(data_path(), flags);
  journal_ = open_or_refuse(folder_ + "/journal", flags | O_APPEND);
  if (!fresh) return;
  // The space is taken now, so that a full disk is found before anything was sent.
  const auto size = static_cast<off_t>(layout_.size);
  int code = 0;
#ifdef __linux__
  code = ::fallocate(data_, 0, 0, size) == 0 ? 0 : errno;
  if (code == EOPNOTSUPP || code == ENOSYS || code == EINTR) code = 0;
#endif
  if (code == 0 && ::ftruncate(data_, size) != 0) code = errno;
  if (code != 0) {
    errno = code;
    refuse_io(data_path());
  }
}

void Spool::read_journal() {
  struct stat about{};
  if (::fstat(data_, &about) != 0) refuse_io(data_path());
  if (static_cast<std::uint64_t>(about.st_size) != layout_.size) {
    // A server was killed before the data had its size, or after the file was put in its place.
    if (::ftruncate(data_, static_cast<off_t>(layout_.size)) != 0) refuse_io(data_path());
    return rewrite_journal();
  }
  std::string text;
  char piece[kRecord * 1024];
  for (ssize_t n; (n = ::read(journal_, piece, sizeof piece)) > 0;)
    text.append(piece, static_cast<std::size_t>(n));
  for (std::size_t at = 0; at + kRecord <= text.size(); at += kRecord) {
    const auto* p = reinterpret_cast<const std::uint8_t*>(text.data() + at);
    const auto index = load_le<std::uint32_t>(p);
    if (load_le<std::uint32_t>(p + 8) != crc32({text.data() + at, 8}) || index >= present_.size())
      break;  // the end of what a killed server wrote
    present_[index] = true;
    crcs_[index] = load_le<std::uint32_t>(p + 4);
  }
  for (std::size_t i = 0; i < present_.size(); ++i) {
    present_[i] = present_[i] && crc_of(i) == crcs_[i];
    if (present_[i]) received_ += push_.chunk_bytes(i);
  }
  while (ready_ < present_.size() && present_[static_cast<std::size_t>(ready_)]) ++ready_;
  rewrite_journal();
}

void Spool::rewrite_journal() {
  std::string text;
  for (std::size_t i = 0; i < present_.size(); ++i)
    if (present_[i]) text += record_of(i, crcs_[i]);
  if (::ftruncate(journal_, 0) != 0) refuse_io(folder_ + "/journal");
  append_all(journal_, folder_ + "/journal", text);
}

std::size_t Spool::tensor_at(std::uint64_t stream_offset) const {
  const auto after =
      std::upper_bound(push_.tensors.begin(), push_.tensors.end(), stream_offset,
                       [](std::uint64_t offset, const PushTensor& t) { return offset < t.begin; });
  return static_cast<std::size_t>(after - push_.tensors.begin()) - 1;
}

template <class F>
void Spool::each_extent(std::uint64_t begin, std::uint64_t bytes, F f) const {
  for (std::size_t i = tensor_at(begin); bytes > 0; ++i) {
    const PushTensor& t = push_.tensors[i];
    const std::uint64_t inside = begin - t.begin, n = std::min(bytes, t.bytes - inside);
    f(layout_.offsets[i] + inside, n);
    begin += n;
    bytes -= n;
  }
}

void Spool::read_at(std::uint64_t offset, char* bytes, std::size_t size) const {
  while (size > 0) {
    const ssize_t n = ::pread(data_, bytes, size, static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n == 0) errno = EIO;
    if (n <= 0) refuse_io(data_path());
    bytes += n;
    size -= static_cast<std::size_t>(n);
    offset += static_cast<std::uint64_t>(n);
  }
}

std::uint32_t Spool::crc_of(std::uint64_t index) const {
  std::string piece(kPiece, '\0');
  std::uint32_t crc = 0;
  each_extent(index * kChunk, push_.chunk_bytes(index), [&](std::uint64_t offset, std::uint64_t n) {
    for (std::uint64_t at = 0; at < n; at += kPiece) {
      const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(kPiece, n - at));
      read_at(offset + at, piece.data(), size);
      crc = crc32({piece.data(), size}, crc);
    }
  });
  return crc;
}

Spool::Claim Spool::claim(std::uint64_t index) {
  const std::lock_guard lock(mutex_);
  if (present_[static_cast<std::size_t>(index)]) return Claim::present;
  if (closed_ || !claimed_.insert(index).second) return Claim::busy;
  return Claim::taken;
}

void Spool::write(std::uint64_t stream_offset, std::string_view bytes) {
  each_extent(stream_offset, bytes.size(), [&](std::uint64_t offset, std::uint64_t n) {
    write_at(offset, bytes.substr(0, static_cast<std::size_t>(n)));
    bytes.remove_prefix(static_cast<std::size_t>(n));
  });
}

void Spool::write_at(std::uint64_t offset, std::string_view bytes) {
  write_all(data_, data_path(), offset, bytes);
}

void Spool::commit(std::uint64_t index, std::uint32_t crc) {
  const std::lock_guard lock(mutex_);
  append_all(journal_, folder_ + "/journal", record_of(index, crc));
  const auto i = static_cast<std::size_t>(index);
  present_[i] = true;
  crcs_[i] = crc;
  received_ += push_.chunk_bytes(index);
  while (ready_ < present_.size() && present_[static_cast<std::size_t>(ready_)]) ++ready_;
}

void Spool::send_to_disk([[maybe_unused]] std::uint64_t index) const {
#ifdef __linux__
  each_extent(index * kChunk, push_.chunk_bytes(index), [&](std::uint64_t offset, std::uint64_t n) {
    ::sync_file_range(data_, static_cast<off_t>(offset), static_cast<off_t>(n),
                      SYNC_FILE_RANGE_WRITE);
  });
#endif
}

void Spool::release(std::uint64_t index) {
  const std::lock_guard lock(mutex_);
  claimed_.erase(index);
}

std::vector<std::pair<std::uint64_t, std::uint64_t>> Spool::missing(std::size_t max_ranges) const {
  const std::lock_guard lock(mutex_);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;
  for (std::size_t i = 0; i < present_.size(); ++i) {
    if (present_[i]) continue;
    const std::uint64_t begin = i * kChunk, end = begin + push_.chunk_bytes(i);
    if (!ranges.empty() && ranges.back().second == begin) ranges.back().second = end;
    else if (ranges.size() < max_ranges) ranges.emplace_back(begin, end);
    else break;
  }
  return ranges;
}

std::uint64_t Spool::received() const {
  const std::lock_guard lock(mutex_);
  return received_;
}

bool Spool::close_to_chunks() {
  const std::lock_guard lock(mutex_);
  if (closed_ || !claimed_.empty()) return false;
  closed_ = true;
  return true;
}

void Spool::reopen() {
  const std::lock_guard lock(mutex_);
  closed_ = false;
}

std::uint64_t Spool::ready_end() const {
  const std::lock_guard lock(mutex_);
  return std::min(ready_ * kChunk, push_.bytes);
}

void Spool::hash_some() {
  const std::lock_guard lock(hash_mutex_);
  std::string piece(kPiece, '\0');
  for (std::uint64_t end = ready_end(); hashed_ < end; end = ready_end()) {
    const std::size_t i = tensor_at(hashed_);
    const PushTensor& t = push_.tensors[i];
    const std::uint64_t inside = hashed_ - t.begin;
    const auto n = static_cast<std::size_t>(
        std::min({std::uint64_t{kPiece}, t.bytes - inside, end - hashed_}));
    const std::uint64_t offset = layout_.offsets[i] + inside;
    read_at(offset, piece.data(), n);
    const auto bytes = std::as_bytes(std::span(piece)).first(n);
    sha_.update(bytes);
    xxh_.update(bytes);
    hashed_ += n;
    if (inside + n < t.bytes) continue;
    hashes_[i] = {sha_.finish(), xxh_.finish()};
    sha_ = {};
    xxh_ = {};
  }
}

std::vector<TensorHash> Spool::checked_hashes(const Json& late) {
  hash_some();
  const std::lock_guard lock(hash_mutex_);
  for (std::size_t i = 0; i < push_.tensors.size(); ++i) {
    const PushTensor& t = push_.tensors[i];
    const Json* named = late.find(t.parameter);
    if (t.sha256.empty() && !named) continue;  // its chunks were held against theirs
    const std::string announced = t.sha256.empty() ? cli::text_in(late, t.parameter) : t.sha256;
    if (!is_sha256(announced))
      refuse(400, "invalid_argument",
             "sha256: that of '" + t.parameter + "' must be 64 hex digits in lower case");
    const std::string found = Sha256::hex(hashes_[i].sha256);
    if (found == announced) continue;
    forget_from(i);
    refuse(422, "checksum",
           "the bytes of '" + t.parameter + "' have the SHA-256 " + found + ", announced was " +
               announced + ": they must be sent again");
  }
  return hashes_;
}

void Spool::forget_from(std::size_t tensor) {
  const PushTensor& t = push_.tensors[tensor];
  const std::uint64_t first = t.begin / kChunk, last = (t.begin + t.bytes - 1) / kChunk;
  {
    const std::lock_guard lock(mutex_);
    for (std::uint64_t i = first; i <= last; ++i) {
      if (present_[static_cast<std::size_t>(i)]) received_ -= push_.chunk_bytes(i);
      present_[static_cast<std::size_t>(i)] = false;
    }
    ready_ = std::min(ready_, first);
    rewrite_journal();
  }
  // Hashes of tensors before it stay; those that share its first chunk are made again.
  const std::size_t from = tensor_at(first * kChunk);
  hashed_ = push_.tensors[from].begin;
  sha_ = {};
  xxh_ = {};
}

template <class T>
void Spool::read_values(std::size_t tensor, std::vector<T>& values) const {
  const PushTensor& t = push_.tensors[tensor];
  values.resize(static_cast<std::size_t>(t.values));
  const std::uint64_t item = t.bytes / t.values;
  std::string piece(kPiece, '\0');
  for (std::uint64_t at = 0; at < t.bytes; at += kPiece) {
    const auto n = static_cast<std::size_t>(std::min<std::uint64_t>(kPiece, t.bytes - at));
    read_at(layout_.offsets[tensor] + at, piece.data(), n);
    decode({piece.data(), n}, t.dtype, values.data() + at / item);
  }
}
void Spool::read(std::size_t tensor, std::vector<float>& values) const {
  read_values(tensor, values);
}
void Spool::read(std::size_t tensor, std::vector<double>& values) const {
  read_values(tensor, values);
}

void Spool::flush() {
#ifdef __linux__
  const int failed = ::fdatasync(data_);
#else
  const int failed = ::fsync(data_);
#endif
  if (failed != 0) refuse_io(data_path());
}

void Spool::remove() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

}  // namespace loom::bridge
