#include "formats/torch/archive.h"

#include <algorithm>

#include "base/escape.h"
#include "base/files/bytes.h"
#include "base/message.h"

namespace loom {
namespace {

constexpr std::uint64_t kMaxDirectory = std::uint64_t{64} << 20;  // bytes
constexpr std::uint32_t kOpen = 0xFFFFFFFF;                       // the number is in the zip64 part

Status corrupt(const ByteSource& source, std::string_view what) {
  return Status(Code::corrupt, message(source.name(), ": zip archive: ", what));
}

template <class T>
T at(std::string_view bytes, std::size_t offset) {
  return load_le<T>(bytes.data() + offset);
}

Result<std::string> bytes_of(const ByteSource& source, std::uint64_t offset, std::uint64_t size) {
  if (offset > source.size() || size > source.size() - offset)
    return corrupt(source, "a part of it lies behind the end of the file");
  std::string out(static_cast<std::size_t>(size), '\0');
  LOOM_TRY(source.read(offset, std::as_writable_bytes(std::span(out))));
  return out;
}

struct Directory {
  std::uint64_t offset = 0, size = 0, count = 0;
};

// From the end record, and the zip64 one where that has no room.
Result<Directory> find_directory(const ByteSource& source) {
  constexpr std::uint64_t kEnd = 22, kLocator = 20, kEnd64 = 56;
  const std::uint64_t tail = std::min<std::uint64_t>(source.size(), kEnd + 65535);
  LOOM_ASSIGN(const std::string last, bytes_of(source, source.size() - tail, tail));
  std::size_t i = last.size() < kEnd ? last.npos : last.size() - kEnd;
  while (i != last.npos && (last.compare(i, 4, "PK\x05\x06") != 0 ||
                            at<std::uint16_t>(last, i + 20) != last.size() - i - kEnd))
    i = i == 0 ? last.npos : i - 1;
  if (i == last.npos)
    return Status(Code::truncated,
                  message(source.name(), ": zip archive without its end: the file is cut"));
  Directory d{at<std::uint32_t>(last, i + 16), at<std::uint32_t>(last, i + 12),
              at<std::uint16_t>(last, i + 10)};
  if (at<std::uint16_t>(last, i + 4) != 0)
    return Status(Code::unsupported, message(source.name(), ": a part of a zip archive"));
  if (d.offset != kOpen && d.size != kOpen && d.count != 0xFFFF) return d;
  const std::uint64_t end = source.size() - tail + i;
  if (end < kLocator) return corrupt(source, "its zip64 record is not there");
  LOOM_ASSIGN(const std::string locator, bytes_of(source, end - kLocator, kLocator));
  if (!locator.starts_with("PK\x06\x07")) return corrupt(source, "its zip64 record is not there");
  LOOM_ASSIGN(const std::string end64, bytes_of(source, at<std::uint64_t>(locator, 8), kEnd64));
  if (!end64.starts_with("PK\x06\x06")) return corrupt(source, "its zip64 record is not there");
  return Directory{at<std::uint64_t>(end64, 48), at<std::uint64_t>(end64, 40),
                   at<std::uint64_t>(end64, 32)};
}

// The numbers of 64 bits in an entry's extra fields, for those that are open.
bool widen(std::string_view extra, std::uint64_t* packed, std::uint64_t* size,
           std::uint64_t* header) {
  while (extra.size() >= 4) {
    const std::size_t length = at<std::uint16_t>(extra, 2);
    if (length > extra.size() - 4) return false;
    std::string_view field = extra.substr(4, length);
    if (at<std::uint16_t>(extra, 0) == 1)
      for (std::uint64_t* number : {size, packed, header}) {
        if (*number != kOpen) continue;
        if (field.size() < 8) return false;
        *number = at<std::uint64_t>(field, 0);
        field.remove_prefix(8);
      }
    extra.remove_prefix(4 + length);
  }
  return true;
}

}  // namespace

const ZipRecord* ZipArchive::find(std::string_view name) const {
  const auto r =
      std::lower_bound(records.begin(), records.end(), name,
                       [](const ZipRecord& a, std::string_view n) { return a.name < n; });
  return r != records.end() && r->name == name ? &*r : nullptr;
}

Result<std::uint64_t> ZipArchive::begin(const ByteSource& source, const ZipRecord& record) const {
  constexpr std::uint64_t kHeader = 30;
  if (!record.stored)
    return Status(Code::unsupported, message(source.name(), ": record ", quoted(record.name),
                                             " is compressed, as torch.save writes none"));
  LOOM_ASSIGN(const std::string header, bytes_of(source, record.header, kHeader));
  const std::uint64_t data =
      record.header + kHeader + at<std::uint16_t>(header, 26) + at<std::uint16_t>(header, 28);
  if (!header.starts_with("PK\x03\x04") || data > end || record.size > end - data)
    return corrupt(source, message("record ", quoted(record.name), " lies outside"));
  return data;
}

Result<ZipArchive> open_zip(const ByteSource& source) {
  constexpr std::size_t kEntry = 46;
  LOOM_ASSIGN(const Directory d, find_directory(source));
  if (d.size > kMaxDirectory) return corrupt(source, "its directory takes more than 64 MiB");
  LOOM_ASSIGN(const std::string bytes, bytes_of(source, d.offset, d.size));
  ZipArchive archive;
  archive.end = d.offset;
  std::string_view left = bytes;
  for (std::uint64_t i = 0; i < d.count; ++i) {
    if (left.size() < kEntry || !left.starts_with("PK\x01\x02"))
      return corrupt(source, "its directory is cut");
    const std::size_t name = at<std::uint16_t>(left, 28), extra = at<std::uint16_t>(left, 30),
                      all = kEntry + name + extra + at<std::uint16_t>(left, 32);
    if (all > left.size()) return corrupt(source, "its directory is cut");
    std::uint64_t packed = at<std::uint32_t>(left, 20), size = at<std::uint32_t>(left, 24),
                  header = at<std::uint32_t>(left, 42);
    if (!widen(left.substr(kEntry + name, extra), &packed, &size, &header))
      return corrupt(source, "its directory has a cut field");
    if ((at<std::uint16_t>(left, 8) & 1) != 0)
      return Status(Code::unsupported, message(source.name(), ": an encrypted zip archive"));
    const bool stored = at<std::uint16_t>(left, 10) == 0 && packed == size;
    archive.records.push_back({std::string(left.substr(kEntry, name)), header, size, stored});
    left.remove_prefix(all);
  }
  auto& records = archive.records;
  std::sort(records.begin(), records.end(),
            [](const ZipRecord& a, const ZipRecord& b) { return a.name < b.name; });
  for (std::size_t i = 1; i < records.size(); ++i)
    if (records[i].name == records[i - 1].name)
      return corrupt(source, message("two records are called ", quoted(records[i].name)));
  return archive;
}

}  // namespace loom
