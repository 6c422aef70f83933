#include "base/message.h"
#include "checkpoint/checksum.h"
#include "checkpoint/entity.h"
#include "checkpoint/layout.h"

#include "base/files/bytes.h"
#include "base/files/paths.h"
#include "formats/tensor_file.h"

namespace loom {
namespace {

using namespace entity_layout;

EntityWriter::Producer borrowed(std::span<const std::byte> bytes) {
  return [bytes](const EntityWriter::Sink& sink) { return sink(bytes); };
}

}  // namespace

Result<EntityWriter> EntityWriter::create(const Destination& to) {
  LOOM_ASSIGN(std::unique_ptr<ByteSink> file, open_sink(to));
  return EntityWriter(to.path, std::move(file));
}

Status EntityWriter::refuse(const EntityEntry& entry, std::string_view why) const {
  return Status(Code::invalid_argument, message(name_, ": ", describe(entry), ": ", why));
}

Status EntityWriter::add(Pending pending) {
  const EntityEntry& entry = pending.entry;
  if (const std::string_view problem = name_problem(entry.name); !problem.empty())
    return refuse(entry, "the name " + std::string(problem));
  if (!names_.insert({entry.is_tensor, entry.name}).second) return refuse(entry, "stands twice");
  pending_.push_back(std::move(pending));
  return {};
}

Status EntityWriter::section(std::string name, std::span<const std::byte> bytes) {
  EntityEntry entry;
  entry.name = std::move(name);
  entry.size = bytes.size();
  return add({std::move(entry), borrowed(bytes)});
}

Result<EntityEntry> EntityWriter::tensor_entry(std::string name, const TensorType& type,
                                               std::vector<std::int64_t> shape) const {
  EntityEntry entry;
  entry.name = std::move(name);
  entry.is_tensor = true;
  entry.type = type;
  entry.shape = std::move(shape);
  const auto size = tensor_size(type, entry.shape);
  if (!size.ok()) return refuse(entry, size.status().message());
  entry.size = *size;
  return entry;
}

Status EntityWriter::tensor(std::string name, const TensorType& type,
                            std::vector<std::int64_t> shape, std::span<const std::byte> bytes) {
  LOOM_ASSIGN(EntityEntry entry, tensor_entry(std::move(name), type, std::move(shape)));
  if (entry.size != bytes.size())
    return refuse(entry, to_string(type) + " of shape " + shape_text(entry.shape) + " takes " +
                             std::to_string(entry.size) + " bytes, got " +
                             std::to_string(bytes.size()));
  return add({std::move(entry), borrowed(bytes)});
}

Status EntityWriter::tensor(std::string name, const TensorType& type,
                            std::vector<std::int64_t> shape, Producer produce) {
  LOOM_ASSIGN(EntityEntry entry, tensor_entry(std::move(name), type, std::move(shape)));
  return add({std::move(entry), std::move(produce)});
}

Status EntityWriter::finish() {
  // All sizes are known, so the header can say before the first byte of data where everything will
  // end.
  Header header{0, kHeader, sizeof(Sha256::Digest)};
  for (Pending& p : pending_) {
    p.entry.offset = header.toc_offset;
    if (p.entry.size > kMaxFile - header.toc_offset)
      return refuse(p.entry, "the file would pass 2^62 bytes");
    header.toc_offset = align_up(header.toc_offset + p.entry.size, kAlignment);
    header.toc_size += entry_size(p.entry);
  }
  if (header.toc_size > kMaxToc)
    return Status(Code::out_of_range, message(name_, ": the table of contents would take ",
                                              header.toc_size, " bytes, the limit is ", kMaxToc));
  header.file_size = header.toc_offset + header.toc_size;
  LOOM_TRY(file_->write(header_bytes(header)));

  constexpr std::array<std::byte, kAlignment> kZeros{};
  std::vector<const EntityEntry*> entries;
  for (Pending& p : pending_) {
    Xxh64 checksum;
    Sha256 sha;
    std::uint64_t given = 0;
    const auto sink = [&](std::span<const std::byte> bytes) -> Status {
      if (bytes.size() > p.entry.size - given)
        return refuse(p.entry, "more than the " + std::to_string(p.entry.size) +
                                   " bytes of its shape were produced");
      given += bytes.size();
      checksum.update(bytes);
      sha.update(bytes);
      return file_->write(bytes);
    };
    LOOM_TRY(p.produce(sink));
    if (given != p.entry.size)
      return refuse(p.entry, std::to_string(given) + " bytes were produced, its shape takes " +
                                 std::to_string(p.entry.size));
    p.entry.checksum = checksum.finish();
    p.entry.sha256 = sha.finish();
    LOOM_TRY(file_->write(
        std::span(kZeros).first(static_cast<std::size_t>(align_up(given, kAlignment) - given))));
    entries.push_back(&p.entry);
  }
  LOOM_TRY(file_->write(toc_bytes(entries)));
  return file_->commit();
}

}  // namespace loom
