// The data that a training spec names.
#include <algorithm>
#include <array>

#include "base/files/bytes.h"
#include "base/files/source.h"
#include "base/message.h"
#include "formats/idx/idx.h"
#include "formats/npy/npy.h"
#include "train/data/tables/table.h"
#include "train/data/tensor_data.h"
#include "train/spec/spec.h"

namespace loom {
namespace {

constexpr std::uint64_t kMaxFile = std::uint64_t{1} << 36;

// Ids of a .npy array of integers, or of bare little-endian u16 or u32.
Result<std::vector<std::uint32_t>> read_ids(const SourcePtr& source, const DataSpec& spec) {
  if (source->size() > kMaxFile)
    return Status(Code::out_of_range, message(source->name(), ": has ", source->size(),
                                              " bytes, more than the limit of ", kMaxFile));
  StorageType type = spec.dtype == "u16" ? StorageType::u16 : StorageType::u32;
  std::uint64_t offset = 0, size = source->size();
  std::array<std::byte, 6> magic{};
  if (size >= magic.size()) LOOM_TRY(source->read(0, magic));
  if (as_text(magic) == "\x93NUMPY") {
    LOOM_ASSIGN(const TensorInfo array, open_npy(source));
    if (array.shape.size() != 1)
      return Status(Code::invalid_argument,
                    message(source->name(), ": ids are an array of one dimension, got ",
                            shape_text(array.shape)));
    type = array.type;
    offset = array.offset;
    size = array.size;
  }
  const bool known = type == StorageType::u16 || type == StorageType::u32 ||
                     type == StorageType::i32 || type == StorageType::i64 ||
                     type == StorageType::u64;
  if (!known)
    return Status(
        Code::unsupported,
        message(source->name(), ": ids are stored as u16, u32, i32, u64 or i64, got ", name(type)));
  const std::uint64_t width = info(type).block_bytes;
  if (size % width != 0)
    return Status(Code::corrupt, message(source->name(), ": ", size,
                                         " bytes are no whole number of ", name(type), " ids"));
  std::vector<std::uint32_t> ids;
  ids.reserve(static_cast<std::size_t>(size / width));
  std::vector<std::byte> part;
  for (std::uint64_t at = 0; at < size; at += part.size()) {
    part.resize(
        static_cast<std::size_t>(std::min<std::uint64_t>(size - at, std::uint64_t{1} << 20)));
    LOOM_TRY(source->read(offset + at, part));
    for (std::size_t i = 0; i < part.size(); i += width) {
      std::uint64_t id = 0;
      for (std::uint64_t b = 0; b < width; ++b)
        id |= std::to_integer<std::uint64_t>(part[i + b]) << (8 * b);
      if (id > INT32_MAX)
        return Status(Code::out_of_range, message(source->name(), ": id number ", ids.size(),
                                                  " is outside of 0..2^31-1"));
      ids.push_back(static_cast<std::uint32_t>(id));
    }
  }
  return ids;
}

}  // namespace

Result<std::unique_ptr<DataSource>> open_data(const TrainingSpec& spec, const std::string& file) {
  const DataSpec& d = spec.data;
  const std::string& path = file.empty() ? d.file : file;
  if (d.kind == DataKind::caller)
    return Status(Code::invalid_argument,
                  "training spec: the data type is \"caller\": the program must bring the data");
  if (path.empty()) return Status(Code::invalid_argument, "training spec: data: no file");
  if (d.kind == DataKind::table) {
    LOOM_ASSIGN(const std::string text, read_text_file(path, std::uint64_t{1} << 33));
    return read_table(text, d, path);
  }
  LOOM_ASSIGN(const SourcePtr source, open_source(path));
  if (d.kind == DataKind::arrays) {
    LOOM_ASSIGN(TensorInfo x, open_array(source));
    LOOM_ASSIGN(SourcePtr targets, open_source(d.targets_file));
    LOOM_ASSIGN(const TensorInfo y, open_array(std::move(targets)));
    LOOM_ASSIGN(auto data, TensorData::create(std::move(x), y, takes_classes(spec.loss)));
    return std::unique_ptr<DataSource>(std::move(data));
  }
  if (d.kind == DataKind::text) {
    LOOM_ASSIGN(const std::vector<std::byte> bytes, read_all(*source));
    std::vector<std::uint32_t> ids;
    ids.reserve(bytes.size());
    for (const std::byte b : bytes) ids.push_back(std::to_integer<std::uint32_t>(b));
    auto data = TokenData::create(std::move(ids), {}, d.length);
    if (!data.ok()) return data.status().at(path);
    return std::unique_ptr<DataSource>(std::move(*data));
  }
  LOOM_ASSIGN(std::vector<std::uint32_t> ids, read_ids(source, d));
  std::vector<std::uint64_t> ends;
  if (d.document_end >= 0) ends = document_ends(ids, static_cast<std::uint32_t>(d.document_end));
  auto data = TokenData::create(std::move(ids), ends, d.length);
  if (!data.ok()) return data.status().at(path);
  return std::unique_ptr<DataSource>(std::move(*data));
}

}  // namespace loom
