// Writes GGUF, version 3: typed metadata, then tensors, each at a multiple of 32 bytes. Knows no
// models: what the keys mean is their giver's affair (llm/export).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/gguf/gguf.h"

namespace loom {

// Entries in the order of these calls.
class GgufMetadata {
 public:
  void u32(std::string_view key, std::uint32_t value);
  void i32(std::string_view key, std::int32_t value);
  void u64(std::string_view key, std::uint64_t value);
  void f32(std::string_view key, float value);
  void f64(std::string_view key, double value);
  void boolean(std::string_view key, bool value);
  void string(std::string_view key, std::string_view value);
  void strings(std::string_view key, std::span<const std::string> values);
  void f32s(std::string_view key, std::span<const float> values);
  void i32s(std::string_view key, std::span<const std::int32_t> values);

  const std::string& bytes() const { return bytes_; }
  std::uint64_t count() const { return count_; }

 private:
  void begin(std::string_view key, Gguf::Type type);
  void begin_array(std::string_view key, Gguf::Type element, std::size_t count);
  template <class T>
  void put(T value);
  void put_text(std::string_view text);

  std::string bytes_;
  std::uint64_t count_ = 0;
};

// Whether GGUF has a type for it.
bool gguf_holds(StorageType type);

// Writes a path atomically, or memory, streaming each tensor from its source, in the order given.
// Tensors of blocks have rows of whole blocks. The result is what Gguf::open takes. Errors:
// unsupported for a type that GGUF does not have, invalid_argument for a name or key twice, a name
// over 63 bytes, a rank over 4, a shape that contradicts the size.
Status write_gguf(const Destination& to, const GgufMetadata& metadata,
                  std::span<const TensorInfo> tensors);

}  // namespace loom
