// GGUF, versions 2 and 3, reading (gguf_writer.h writes): typed metadata and tensors
// (docs/reference/formats.md has the layout). Opening walks the whole header once and checks it;
// values of the metadata stay in the file and are decoded when asked for, so a vocabulary costs no
// memory until someone wants it. Immutable after opening; any thread may read.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/tensor_file.h"

namespace loom {

// What becomes of matrices in blocks (q4_0, q8_0, q4_k, q6_k) where no format is asked for.
enum class GgufBlocks : std::uint8_t { decode, keep };

class Gguf {
 public:
  // Value types by their number in the file.
  enum class Type : std::uint8_t {
    u8,
    i8,
    u16,
    i16,
    u32,
    i32,
    f32,
    boolean,
    string,
    array,
    u64,
    i64,
    f64
  };

  struct Entry {
    std::string key;
    Type type;
    Type element;          // of an array's items; `type` itself for a single value
    std::uint64_t count;   // 1 for a single value
    std::uint64_t offset;  // of the first value in the file: behind an array's type and count, at a
                           // string's length
  };

  // All or nothing. Errors: truncated, corrupt, or unsupported for another version, byte order, a
  // nested array, a tensor type that is not read (named) and a file that is one part of several.
  static Result<Gguf> open(SourcePtr source);

  std::uint32_t version() const { return version_; }
  std::uint64_t alignment() const { return alignment_; }
  const std::vector<Entry>& metadata() const { return metadata_; }  // sorted by key
  const Entry* find_key(std::string_view key) const;                // nullptr where absent
  const std::vector<TensorInfo>& tensors() const {
    return tensors_;
  }  // sorted by name; shapes outermost first, unlike in the file
  const TensorInfo* find(std::string_view name) const;  // nullptr where absent

  // A key that is absent gives `fallback`, or not_found where there is none. Integers are read from
  // any integer type that holds a value in range, floats from f32 and f64; another type is
  // invalid_argument naming both.
  Result<std::uint32_t> get_u32(std::string_view key,
                                std::optional<std::uint32_t> fallback = {}) const;
  Result<std::uint64_t> get_u64(std::string_view key,
                                std::optional<std::uint64_t> fallback = {}) const;
  Result<float> get_f32(std::string_view key, std::optional<float> fallback = {}) const;
  Result<double> get_f64(std::string_view key, std::optional<double> fallback = {}) const;
  Result<bool> get_bool(std::string_view key, std::optional<bool> fallback = {}) const;
  Result<std::string> get_string(std::string_view key,
                                 std::optional<std::string> fallback = {}) const;
  // Arrays; not_found where absent.
  Result<std::vector<std::string>> get_strings(std::string_view key) const;
  Result<std::vector<std::int64_t>> get_integers(std::string_view key) const;
  Result<std::vector<float>> get_floats(std::string_view key) const;

  // For people: 32, 1e-05, true, "llama", [512 x string]. Long text is cut.
  Result<std::string> describe(const Entry& entry) const;

 private:
  Result<const Entry*> require(std::string_view key, bool array, std::string_view wanted) const;
  Status wrong_type(const Entry& entry, std::string_view wanted) const;

  SourcePtr source_;
  std::uint32_t version_ = 0;
  std::uint64_t alignment_ = 32;
  std::vector<Entry> metadata_;
  std::vector<TensorInfo> tensors_;
};

std::string_view name(Gguf::Type type);

}  // namespace loom
