// What a tensor in a file is, whatever the format: name, element type, shape, and where its bytes
// lie. Readers fill these in after checking them; `source` is shared, so a TensorInfo stays
// readable after its reader is gone. Immutable data, any thread may read.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/escape.h"  // quoted, for messages
#include "base/files/source.h"
#include "base/status.h"
#include "numeric/dtype.h"

namespace loom {

// How elements are stored in the file: the dtypes, bool, and the q* blocks of ggml
// (docs/reference/formats.md). In memory only, not on disk.
enum class StorageType : std::uint8_t {
#define LOOM_DTYPE(id, name, ...) name = id,
#include "numeric/dtypes.def"
  boolean,
  q4_0,
  q8_0,
  q4_k,
  q6_k,
};
inline constexpr int kStorageTypeCount = kDTypeCount + 5;
constexpr StorageType storage_type(DType dtype) { return static_cast<StorageType>(dtype); }
// Nothing for bool and the blocks.
constexpr std::optional<DType> dtype_of(StorageType type) {
  if (static_cast<int>(type) < kDTypeCount) return static_cast<DType>(type);
  return std::nullopt;
}

struct StorageTypeInfo {
  std::string_view name;      // "f32", "fp8e4m3", "q4_k"
  std::uint32_t block;        // elements per block: 1, 32 or 256; below a byte those in one
  std::uint32_t block_bytes;  // bytes per block
};
const StorageTypeInfo& info(StorageType type);
inline std::string_view name(StorageType type) { return info(type).name; }

// Bytes of n elements; nothing where they do not fill whole blocks or the count overflows.
std::optional<std::uint64_t> storage_bytes(StorageType type, std::uint64_t elements);
// Product of the dimensions (1 for a scalar); nothing on overflow or a negative dimension.
std::optional<std::uint64_t> element_count(std::span<const std::int64_t> shape);

struct TensorInfo {
  std::string name;
  StorageType type = StorageType::f32;
  std::vector<std::int64_t> shape;  // row-major, outermost first; empty for a scalar
  std::uint64_t offset = 0;         // of the first byte in `source`
  std::uint64_t size = 0;           // bytes
  SourcePtr source;

  std::uint64_t elements() const { return size / info(type).block_bytes * info(type).block; }
  // The stored bytes where the source lies in memory (mapping or buffer), else empty. Aligned only
  // as the file is.
  std::span<const std::byte> view() const;
};

// Decodes elements [first, first + out.size()). Exact where the target can hold the value,
// otherwise rounded once to nearest even (f64 and wide integers to f32; q4_k and q6_k to f32, which
// is also what ggml's own f32 arithmetic gives). Errors: out_of_range, truncated, or what the
// source says.
Status read_f32(const TensorInfo& tensor, std::uint64_t first, std::span<float> out);
Status read_f64(const TensorInfo& tensor, std::uint64_t first, std::span<double> out);

// A tensor over values in memory, for writers. Borrows the values on a little-endian host: they
// must outlive it.
TensorInfo tensor_from_f32(std::string name, std::vector<std::int64_t> shape,
                           std::span<const float> values);

// "[2, 3]"
std::string shape_text(std::span<const std::int64_t> shape);

}  // namespace loom
