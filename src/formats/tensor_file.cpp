#include "formats/tensor_file.h"

#include <algorithm>
#include <array>
#include <bit>

#include "base/files/bytes.h"
#include "base/message.h"
#include "formats/decode.h"
#include "formats/stream.h"

namespace loom {
namespace {

constexpr std::array<StorageTypeInfo, kStorageTypeCount> list_types() {
  std::array<StorageTypeInfo, kStorageTypeCount> all{};
  for (std::size_t i = 0; i < kDTypeCount; ++i) {
    const auto bits = static_cast<std::uint32_t>(kDTypes[i].bits);
    all[i] = {kDTypes[i].name, bits < 8 ? 8 / bits : 1, bits < 8 ? 1 : bits / 8};
  }
  const StorageTypeInfo others[] = {
      {"bool", 1, 1}, {"q4_0", 32, 18}, {"q8_0", 32, 34}, {"q4_k", 256, 144}, {"q6_k", 256, 210}};
  std::copy(std::begin(others), std::end(others), all.begin() + kDTypeCount);
  return all;
}
constexpr auto kTypes = list_types();
constexpr std::size_t kLargestBlock = 256;

template <class T>
Status read_values(const TensorInfo& tensor, std::uint64_t first, std::span<T> out) {
  const StorageTypeInfo& row = info(tensor.type);
  if (!tensor.source)
    return Status(Code::invalid_argument,
                  message("tensor ", quoted(tensor.name), " has no source"));
  const std::uint64_t elements = tensor.elements();
  if (first > elements || out.size() > elements - first) {
    return Status(Code::out_of_range,
                  message(tensor.source->name(), ": tensor ", quoted(tensor.name), ": elements ",
                          first, " to ", first + out.size(), " asked, it has ", elements));
  }
  const std::span<const std::byte> view = tensor.view();
  std::vector<std::byte> buffer;
  while (!out.empty()) {
    const std::uint64_t block = first / row.block;
    const std::size_t skip = static_cast<std::size_t>(first % row.block);
    const bool whole = skip == 0 && out.size() >= row.block;
    std::size_t blocks = whole ? out.size() / row.block : 1;
    const std::byte* from;
    if (!view.empty()) {
      from = view.data() + block * row.block_bytes;
    } else {
      blocks = std::min<std::size_t>(blocks, std::size_t{65536} / row.block_bytes);
      buffer.resize(blocks * row.block_bytes);
      LOOM_TRY(tensor.source->read(tensor.offset + block * row.block_bytes, buffer)
                   .at("tensor " + quoted(tensor.name)));
      from = buffer.data();
    }
    std::size_t done;
    if (whole) {
      decode_blocks(tensor.type, from, blocks, out.data());
      done = blocks * row.block;
    } else {
      T values[kLargestBlock];
      decode_blocks(tensor.type, from, 1, values);
      done = std::min<std::size_t>(out.size(), row.block - skip);
      std::copy_n(values + skip, done, out.data());
    }
    first += done;
    out = out.subspan(done);
  }
  return tensor.source->intact();
}

}  // namespace

const StorageTypeInfo& info(StorageType type) { return kTypes[static_cast<std::size_t>(type)]; }

std::optional<std::uint64_t> storage_bytes(StorageType type, std::uint64_t elements) {
  const StorageTypeInfo& row = info(type);
  if (elements % row.block != 0) return std::nullopt;
  return checked_mul(elements / row.block, row.block_bytes);
}

std::optional<std::uint64_t> element_count(std::span<const std::int64_t> shape) {
  std::optional<std::uint64_t> count = 1;
  for (const std::int64_t dimension : shape) {
    if (dimension < 0) return std::nullopt;
    count = checked_mul(*count, static_cast<std::uint64_t>(dimension));
    if (!count) return std::nullopt;
  }
  return count;
}

std::span<const std::byte> TensorInfo::view() const {
  if (!source) return {};
  const std::span<const std::byte> all = source->view();
  if (offset > all.size() || size > all.size() - offset) return {};
  return all.subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(size));
}

Status read_f32(const TensorInfo& tensor, std::uint64_t first, std::span<float> out) {
  return read_values(tensor, first, out);
}
Status read_f64(const TensorInfo& tensor, std::uint64_t first, std::span<double> out) {
  return read_values(tensor, first, out);
}

TensorInfo tensor_from_f32(std::string name, std::vector<std::int64_t> shape,
                           std::span<const float> values) {
  TensorInfo tensor{name,   StorageType::f32, std::move(shape), 0, values.size() * sizeof(float),
                    nullptr};
  if constexpr (std::endian::native == std::endian::little) {
    tensor.source = source_from_view(std::as_bytes(values), std::move(name));
  } else {
    std::vector<std::byte> bytes(values.size() * sizeof(float));
    for (std::size_t i = 0; i < values.size(); ++i)
      store_le(bytes.data() + i * sizeof(float), values[i]);
    tensor.source = source_from_bytes(std::move(bytes), std::move(name));
  }
  return tensor;
}

std::string shape_text(std::span<const std::int64_t> shape) {
  constexpr std::size_t kShown = 16;
  std::string out = "[";
  for (std::size_t i = 0; i < shape.size() && i < kShown; ++i)
    out += message(i ? ", " : "", shape[i]);
  if (shape.size() > kShown) out += ", ...";
  return out + "]";
}

Status stream_tensor(const TensorInfo& tensor, ByteSink& to) {
  if (const auto view = tensor.view(); !view.empty()) {
    LOOM_TRY(to.write(view));
    return tensor.source->intact();
  }
  const std::uint32_t block = info(tensor.type).block_bytes;
  const std::uint64_t part = (std::uint64_t{1} << 20) / block * block;
  std::vector<std::byte> buffer;
  for (std::uint64_t at = 0; at < tensor.size; at += buffer.size()) {
    buffer.resize(static_cast<std::size_t>(std::min(tensor.size - at, part)));
    LOOM_TRY(tensor.source->read(tensor.offset + at, buffer).at("tensor " + quoted(tensor.name)));
    LOOM_TRY(to.write(buffer));
  }
  return {};
}

}  // namespace loom
