// The wire format of protobuf, read strictly and in place: fields one after another, each checked
// against the bytes of its message. Internal to this folder. Borrows the bytes; offsets in errors
// count from the file's first byte. (protobuf.dev/programming-guides/encoding)
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace loom::onnx {

enum class Wire : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

struct Field {
  std::uint32_t number = 0;
  Wire wire = Wire::varint;
  std::uint64_t value = 0;           // of varint, fixed64 and fixed32
  std::span<const std::byte> bytes;  // of Wire::bytes
  std::uint64_t offset = 0;          // of the value; of the first byte behind the length

  // The value as the field's declared type; `name` is the field's in errors. A field of another
  // wire type is corrupt.
  Status get(std::string_view name, std::int64_t* out) const;  // int64, int32 and enums
  Status get(std::string_view name, float* out) const;
  Status get(std::string_view name, std::string* out) const;  // any bytes
  // A repeated field: one more value, or a packed run of them.
  Status append(std::string_view name, std::vector<std::int64_t>* out) const;
  Status append(std::string_view name, std::vector<float>* out) const;
  Status append(std::string_view name, std::vector<std::string>* out) const;
  // Little-endian elements of 4 or 8 bytes, as they lie: float, double.
  Status append_fixed(std::string_view name, Wire element, std::vector<std::byte>* out) const;

  Status expect(std::string_view name, Wire wanted) const;
};

// Walks the fields of one message. Groups, field number 0 and varints of more than 64 bits are
// corrupt.
class Cursor {
 public:
  Cursor(std::span<const std::byte> message, std::uint64_t offset)
      : bytes_(message), offset_(offset) {}
  explicit Cursor(const Field& field) : Cursor(field.bytes, field.offset) {}

  // False at the end of the message.
  Result<bool> next(Field* field);

 private:
  friend struct Field;
  Status varint(std::uint64_t* out, std::string_view what);
  Status fixed(std::size_t size, std::uint64_t* out);
  std::uint64_t at() const { return offset_ + at_; }

  std::span<const std::byte> bytes_;
  std::uint64_t offset_;
  std::size_t at_ = 0;
};

}  // namespace loom::onnx
