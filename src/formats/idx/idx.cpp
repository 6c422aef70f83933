#include "formats/idx/idx.h"

#include <algorithm>
#include <array>

#include "base/files/inflate.h"
#include "formats/npy/npy.h"

namespace loom {
namespace {

constexpr std::size_t kMaxDimensions = 8;

struct IdxType {
  unsigned code;
  StorageType type;
};
constexpr IdxType kTypes[] = {{0x08, StorageType::u8},  {0x09, StorageType::i8},
                              {0x0B, StorageType::i16}, {0x0C, StorageType::i32},
                              {0x0D, StorageType::f32}, {0x0E, StorageType::f64}};

}  // namespace

bool is_idx(std::span<const std::byte> b) {
  return b.size() >= 4 && b[0] == std::byte{0} && b[1] == std::byte{0} &&
         std::any_of(std::begin(kTypes), std::end(kTypes),
                     [&](const IdxType& t) { return t.code == std::to_integer<unsigned>(b[2]); }) &&
         b[3] >= std::byte{1} && std::to_integer<std::size_t>(b[3]) <= kMaxDimensions;
}

namespace {

// The array that a header describes, where its elements begin and how many bytes they take.
Result<TensorInfo> read_header(const ByteSource& source) {
  const std::string& where = source.name();
  std::array<std::byte, 4 + 4 * kMaxDimensions> header{};
  if (source.size() < 4)
    return Status(Code::truncated, where + ": has " + std::to_string(source.size()) +
                                       " bytes, an idx file at least 8");
  LOOM_TRY(source.read(0, std::span(header).first(4)));
  if (header[0] != std::byte{0} || header[1] != std::byte{0})
    return Status(Code::corrupt, where + ": is no idx file: it does not begin with two zeros");
  const unsigned code = std::to_integer<unsigned>(header[2]);
  const auto* type = std::find_if(std::begin(kTypes), std::end(kTypes),
                                  [&](const IdxType& t) { return t.code == code; });
  if (type == std::end(kTypes))
    return Status(Code::unsupported, where + ": idx elements of type " + std::to_string(code) +
                                         ", known are 8, 9, 11, 12, 13 and 14");
  const auto dimensions = std::to_integer<std::size_t>(header[3]);
  if (dimensions < 1 || dimensions > kMaxDimensions)
    return Status(Code::unsupported, where + ": an idx array of " + std::to_string(dimensions) +
                                         " dimensions, read are 1.." +
                                         std::to_string(kMaxDimensions));
  const std::uint64_t begin = 4 + 4 * dimensions;
  if (source.size() < begin)
    return Status(Code::truncated, where + ": has " + std::to_string(source.size()) +
                                       " bytes, its idx header " + std::to_string(begin));
  LOOM_TRY(source.read(4, std::span(header).subspan(4, 4 * dimensions)));
  TensorInfo array;
  array.type = type->type;
  for (std::size_t d = 0; d < dimensions; ++d) {
    std::int64_t n = 0;
    for (std::size_t i = 0; i < 4; ++i)
      n = n << 8 | std::to_integer<std::int64_t>(header[4 + 4 * d + i]);
    array.shape.push_back(n);
  }
  const auto elements = element_count(array.shape);
  const auto bytes = elements ? storage_bytes(array.type, *elements) : std::nullopt;
  if (!bytes || *bytes > UINT64_MAX - begin)
    return Status(Code::corrupt,
                  where + ": the shape " + shape_text(array.shape) + " is too large");
  array.offset = begin;
  array.size = *bytes;
  return array;
}

}  // namespace

Result<TensorInfo> open_idx(SourcePtr source) {
  const std::string where = source->name();
  LOOM_ASSIGN(TensorInfo array, read_header(*source));
  const std::uint64_t begin = array.offset, room = source->size() - begin;
  if (array.size != room)
    return Status(array.size > room ? Code::truncated : Code::corrupt,
                  where + ": expects " + std::to_string(array.size) + " bytes of shape " +
                      shape_text(array.shape) + " at offset " + std::to_string(begin) +
                      ", the file has " + std::to_string(room));
  array.source = source;
  const std::uint32_t width = info(array.type).block_bytes;
  if (width > 1) {
    std::vector<std::byte> turned(static_cast<std::size_t>(array.size));
    LOOM_TRY(source->read(begin, turned));
    for (std::size_t i = 0; i < turned.size(); i += width)
      std::reverse(turned.begin() + static_cast<std::ptrdiff_t>(i),
                   turned.begin() + static_cast<std::ptrdiff_t>(i + width));
    array.offset = 0;
    array.source = source_from_bytes(std::move(turned), where);
  }
  return array;
}

namespace {

// What a .gz with an array holds, decoded no further than the array's header says.
Result<std::vector<std::byte>> unpacked_array(std::span<const std::byte> bytes, std::uint64_t limit,
                                              const std::string& name) {
  LOOM_ASSIGN(std::vector<std::byte> start, gunzip_start(bytes, kNpyStart, name));
  if (is_gzip(start)) return Status(Code::unsupported, name + ": is gzip within gzip");
  const SourcePtr head = source_from_view(start, name);
  std::uint64_t size = 0;
  if (is_idx(start)) {
    LOOM_ASSIGN(const TensorInfo array, read_header(*head));
    size = array.offset + array.size;
  } else {
    LOOM_ASSIGN(size, npy_size(*head));
  }
  if (size > limit)
    return Status(Code::out_of_range, name + ": an array of " + std::to_string(size) +
                                          " bytes, the limit is " + std::to_string(limit));
  auto content = gunzip(bytes, size, name);
  if (content.status().code() != Code::out_of_range) return content;
  return Status(Code::corrupt, name + ": holds more than the " + std::to_string(size) +
                                   " bytes that its header promises");
}

}  // namespace

Result<TensorInfo> open_array(SourcePtr source, std::uint64_t limit) {
  std::array<std::byte, 6> first{};
  const std::size_t n =
      static_cast<std::size_t>(std::min<std::uint64_t>(source->size(), first.size()));
  LOOM_TRY(source->read(0, std::span(first).first(n)));
  if (is_gzip(std::span(first).first(n))) {
    std::vector<std::byte> packed;
    std::span<const std::byte> bytes = source->view();
    if (bytes.empty()) {
      LOOM_ASSIGN(packed, read_all(*source, limit));
      bytes = packed;
    }
    auto content = unpacked_array(bytes, limit, source->name());
    LOOM_TRY(source->intact());
    LOOM_TRY(content.status());
    return open_array(source_from_bytes(std::move(*content), source->name()), limit);
  }
  if (is_idx(std::span(first).first(n))) return open_idx(std::move(source));
  return open_npy(std::move(source));
}

}  // namespace loom
