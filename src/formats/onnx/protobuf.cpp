#include "formats/onnx/protobuf.h"

#include <bit>

#include "base/files/bytes.h"
#include "base/message.h"

namespace loom::onnx {
namespace {

constexpr std::string_view wire_name(Wire wire) {
  switch (wire) {
    case Wire::varint: return "a varint";
    case Wire::fixed64: return "8 bytes";
    case Wire::bytes: return "a run of bytes";
    case Wire::fixed32: return "4 bytes";
  }
  return "";
}

constexpr std::size_t width(Wire fixed) { return fixed == Wire::fixed64 ? 8 : 4; }

}  // namespace

Status Cursor::varint(std::uint64_t* out, std::string_view what) {
  const std::size_t start = at_;
  std::uint64_t value = 0;
  for (int shift = 0; shift < 70; shift += 7) {
    if (at_ == bytes_.size()) {
      return Status(Code::truncated, message("offset ", offset_ + start, ": ", what,
                                             " is cut off after ", at_ - start, " bytes"));
    }
    const auto byte = std::to_integer<std::uint64_t>(bytes_[at_++]);
    if (shift == 63 && byte > 1) break;  // the tenth byte holds one bit
    value |= (byte & 0x7f) << shift;
    if (byte < 0x80) {
      *out = value;
      return {};
    }
  }
  return Status(Code::corrupt, message("offset ", offset_ + start, ": ", what,
                                       " is a varint of more than 64 bits"));
}

Status Cursor::fixed(std::size_t size, std::uint64_t* out) {
  if (bytes_.size() - at_ < size) {
    return Status(Code::truncated, message("offset ", at(), ": a value takes ", size,
                                           " bytes, its message has ", bytes_.size() - at_));
  }
  *out = size == 8 ? load_le<std::uint64_t>(bytes_.data() + at_)
                   : load_le<std::uint32_t>(bytes_.data() + at_);
  at_ += size;
  return {};
}

Result<bool> Cursor::next(Field* field) {
  if (at_ == bytes_.size()) return false;
  const std::uint64_t start = at();
  std::uint64_t tag;
  LOOM_TRY(varint(&tag, "a field's tag"));
  const std::uint64_t number = tag >> 3;
  if (number == 0 || number >= (std::uint64_t{1} << 29)) {
    return Status(Code::corrupt,
                  message("offset ", start, ": field number ", number, ", expected 1 to 2^29-1"));
  }
  field->number = static_cast<std::uint32_t>(number);
  field->wire = static_cast<Wire>(tag & 7);
  field->bytes = {};
  field->offset = at();
  switch (field->wire) {
    case Wire::varint: LOOM_TRY(varint(&field->value, "a varint")); break;
    case Wire::fixed32:
    case Wire::fixed64: LOOM_TRY(fixed(width(field->wire), &field->value)); break;
    case Wire::bytes: {
      LOOM_TRY(varint(&field->value, "a length"));
      if (field->value > bytes_.size() - at_) {
        return Status(Code::truncated,
                      message("offset ", start, ": field ", number, " takes ", field->value,
                              " bytes, its message has ", bytes_.size() - at_));
      }
      field->offset = at();
      field->bytes = bytes_.subspan(at_, static_cast<std::size_t>(field->value));
      at_ += field->bytes.size();
      break;
    }
    default:
      return Status(
          Code::corrupt,
          message("offset ", start, ": field ", number, " has wire type ", tag & 7,
                  (tag & 7) == 3 || (tag & 7) == 4 ? " (a group)" : "", ", expected 0, 1, 2 or 5"));
  }
  return true;
}

Status Field::expect(std::string_view name, Wire wanted) const {
  if (wire == wanted) return {};
  return Status(Code::corrupt, message("offset ", offset, ": field '", name, "' is ",
                                       wire_name(wire), ", expected ", wire_name(wanted)));
}

Status Field::get(std::string_view name, std::int64_t* out) const {
  LOOM_TRY(expect(name, Wire::varint));
  *out = static_cast<std::int64_t>(value);
  return {};
}

Status Field::get(std::string_view name, float* out) const {
  LOOM_TRY(expect(name, Wire::fixed32));
  *out = std::bit_cast<float>(static_cast<std::uint32_t>(value));
  return {};
}

Status Field::get(std::string_view name, std::string* out) const {
  LOOM_TRY(expect(name, Wire::bytes));
  *out = as_text(bytes);
  return {};
}

Status Field::append(std::string_view name, std::vector<std::int64_t>* out) const {
  if (wire == Wire::varint) {
    out->push_back(static_cast<std::int64_t>(value));
    return {};
  }
  LOOM_TRY(expect(name, Wire::bytes));
  Cursor packed(*this);
  while (packed.at_ < bytes.size()) {
    std::uint64_t item;
    LOOM_TRY(packed.varint(&item, name));
    out->push_back(static_cast<std::int64_t>(item));
  }
  return {};
}

Status Field::append_fixed(std::string_view name, Wire element, std::vector<std::byte>* out) const {
  if (wire == element) {
    out->resize(out->size() + width(element));
    std::byte* at = out->data() + out->size() - width(element);
    if (element == Wire::fixed64) store_le(at, value);
    else store_le(at, static_cast<std::uint32_t>(value));
    return {};
  }
  LOOM_TRY(expect(name, Wire::bytes));
  if (bytes.size() % width(element) != 0) {
    return Status(Code::corrupt, message("offset ", offset, ": field '", name, "' has ",
                                         bytes.size(), " bytes, no multiple of ", width(element)));
  }
  out->insert(out->end(), bytes.begin(), bytes.end());
  return {};
}

Status Field::append(std::string_view name, std::vector<float>* out) const {
  std::vector<std::byte> raw;
  LOOM_TRY(append_fixed(name, Wire::fixed32, &raw));
  for (std::size_t i = 0; i < raw.size(); i += 4) out->push_back(load_le<float>(raw.data() + i));
  return {};
}

Status Field::append(std::string_view name, std::vector<std::string>* out) const {
  LOOM_TRY(expect(name, Wire::bytes));
  out->emplace_back(as_text(bytes));
  return {};
}

}  // namespace loom::onnx
