#include "formats/onnx/tensor_reader.h"

#include <charconv>

#include "base/files/bytes.h"
#include "base/message.h"

namespace loom::onnx {
namespace {

template <class... Parts>
Status corrupt(const Parts&... what) {
  return Status(Code::corrupt, message(what...));
}

// TensorProto's fields of typed elements.
enum TypedField : std::uint32_t {
  kFloatData = 4,
  kInt32Data = 5,
  kStringData = 6,
  kInt64Data = 7,
  kDoubleData = 10,
  kUint64Data = 11
};

std::string_view field_name(std::uint32_t field) {
  switch (field) {
    case kFloatData: return "float_data";
    case kInt32Data: return "int32_data";
    case kStringData: return "string_data";
    case kInt64Data: return "int64_data";
    case kDoubleData: return "double_data";
    default: return "uint64_data";
  }
}

// The field that holds elements of a type, by onnx.proto3.
std::uint32_t typed_field(Type type) {
  switch (type) {
    case Type::f32:
    case Type::complex64: return kFloatData;
    case Type::f64:
    case Type::complex128: return kDoubleData;
    case Type::i64: return kInt64Data;
    case Type::u32:
    case Type::u64: return kUint64Data;
    case Type::string: return kStringData;
    default: return kInt32Data;
  }
}

struct Range {
  std::int64_t min, max;
};
// What an item of int32_data or uint64_data may be. Types under 8 bits come as whole bytes, which
// some writers sign.
Range item_range(Type type) {
  const std::uint32_t width = bits(type);
  if (type == Type::boolean) return {0, 1};
  if (width < 8) return {-128, 255};
  if (type == Type::i8 || type == Type::i16 || type == Type::i32) {
    const std::int64_t half = std::int64_t{1} << (width - 1);
    return {-half, half - 1};
  }
  if (width == 64) return {INT64_MIN, INT64_MAX};
  return {0, (std::int64_t{1} << width) - 1};
}

Result<std::uint64_t> parse_number(const std::string& key, const std::string& text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    return corrupt("external_data: ", key, " is ", quoted(text), ", expected a number of bytes");
  }
  return value;
}

// Below the model's folder, in words that mean the same on every system.
bool safe_location(std::string_view location) {
  if (location.empty() || location.front() == '/' ||
      location.find_first_of(std::string_view("\\:\0", 3)) != location.npos)
    return false;
  for (std::size_t at = 0; at <= location.size();) {
    const std::size_t end = std::min(location.find('/', at), location.size());
    if (location.substr(at, end - at) == "..") return false;
    at = end + 1;
  }
  return true;
}

}  // namespace

struct TensorReader::Parts {
  std::int64_t type = 0;
  std::int64_t data_location = 0;  // 1: external
  bool has_raw = false;
  Field raw;
  std::vector<Field> typed;  // all of one number
  std::vector<std::pair<std::string, std::string>> external;
};

Status read_entry(const Field& field, std::string_view name,
                  std::pair<std::string, std::string>* out) {
  LOOM_TRY(field.expect(name, Wire::bytes));
  Cursor cursor(field);
  for (Field entry;;) {
    LOOM_ASSIGN(const bool more, cursor.next(&entry));
    if (!more) return {};
    if (entry.number == 1) LOOM_TRY(entry.get("key", &out->first));
    if (entry.number == 2) LOOM_TRY(entry.get("value", &out->second));
  }
}

Status TensorReader::read(Cursor message, Tensor* out) {
  Parts parts;
  Status status = collect(message, out, &parts);
  if (status.ok()) status = place(parts, out);
  return status.ok() ? status : status.at("tensor " + quoted(out->name));
}

Status TensorReader::collect(Cursor message, Tensor* out, Parts* parts) const {
  for (Field field;;) {
    LOOM_ASSIGN(const bool more, message.next(&field));
    if (!more) return {};
    switch (field.number) {
      case 1: LOOM_TRY(field.append("dims", &out->dims)); break;
      case 2: LOOM_TRY(field.get("data_type", &parts->type)); break;
      case 3: return Status(Code::unsupported, "is stored in segments");
      case kFloatData:
      case kInt32Data:
      case kStringData:
      case kInt64Data:
      case kDoubleData:
      case kUint64Data:
        if (!parts->typed.empty() && parts->typed.front().number != field.number) {
          return corrupt("has both ", field_name(parts->typed.front().number), " and ",
                         field_name(field.number));
        }
        parts->typed.push_back(field);
        break;
      case 8: LOOM_TRY(field.get("name", &out->name)); break;
      case 9:
        LOOM_TRY(field.expect("raw_data", Wire::bytes));
        if (parts->has_raw) return corrupt("has raw_data twice");
        parts->has_raw = true;
        parts->raw = field;
        break;
      case 13: LOOM_TRY(read_entry(field, "external_data", &parts->external.emplace_back())); break;
      case 14: LOOM_TRY(field.get("data_location", &parts->data_location)); break;
      default: break;  // doc_string, metadata_props and what is newer than this
    }
  }
}

Status TensorReader::place(const Parts& parts, Tensor* out) {
  if (parts.type < 1 || parts.type >= kTypeCount) {
    const Code code = parts.type < kTypeCount ? Code::corrupt : Code::unsupported;
    return Status(code, message("data_type is ", parts.type, ", expected 1 to ", kTypeCount - 1));
  }
  out->type = static_cast<Type>(parts.type);
  for (std::size_t i = 0; i < out->dims.size(); ++i) {
    if (out->dims[i] < 0) return corrupt("dims[", i, "] is ", out->dims[i], ", expected 0 or more");
  }
  const auto elements = element_count(out->dims);
  const auto all_bits =
      elements ? checked_mul(*elements, std::max(bits(out->type), 1u)) : std::nullopt;
  const auto rounded = all_bits ? checked_add(*all_bits, 7) : std::nullopt;
  if (!rounded)
    return corrupt("shape ", shape_text(out->dims), " of ", name(out->type), " passes 2^64 bits");
  out->size = out->type == Type::string ? 0 : *rounded / 8;

  if (parts.data_location == 1) return place_external(parts, out);
  if (parts.has_raw && !parts.typed.empty()) {
    return corrupt("has both raw_data and ", field_name(parts.typed.front().number));
  }
  if (!parts.has_raw) return place_typed(parts, *elements, out);
  if (out->type == Type::string) return corrupt("has strings in raw_data, expected string_data");
  if (parts.raw.bytes.size() != out->size) {
    return corrupt("raw_data at offset ", parts.raw.offset, " has ", parts.raw.bytes.size(),
                   " bytes, ", name(out->type), shape_text(out->dims), " takes ", out->size);
  }
  out->source = source_;
  out->offset = parts.raw.offset;
  return {};
}

Status TensorReader::place_typed(const Parts& parts, std::uint64_t elements, Tensor* out) const {
  const std::uint32_t field = typed_field(out->type);
  if (!parts.typed.empty() && parts.typed.front().number != field) {
    return corrupt("has ", name(out->type), " elements in ", field_name(parts.typed.front().number),
                   ", expected ", field_name(field));
  }
  const auto miscounted = [&](std::uint64_t found, std::uint64_t wanted) {
    return corrupt(field_name(field), " has ", found, " items, ", name(out->type),
                   shape_text(out->dims), " takes ", wanted);
  };
  if (field == kStringData) {
    for (const Field& item : parts.typed) LOOM_TRY(item.append("string_data", &out->strings));
    return out->strings.size() == elements ? Status() : miscounted(out->strings.size(), elements);
  }
  std::vector<std::byte> bytes;
  if (field == kFloatData || field == kDoubleData) {
    const Wire wire = field == kFloatData ? Wire::fixed32 : Wire::fixed64;
    const std::uint64_t width = field == kFloatData ? 4 : 8;
    for (const Field& run : parts.typed)
      LOOM_TRY(run.append_fixed(field_name(field), wire, &bytes));
    if (bytes.size() != out->size) return miscounted(bytes.size() / width, out->size / width);
  } else {
    std::vector<std::int64_t> items;
    for (const Field& run : parts.typed) LOOM_TRY(run.append(field_name(field), &items));
    const std::uint32_t width = std::max(bits(out->type), 8u) / 8;
    if (items.size() != out->size / width) return miscounted(items.size(), out->size / width);
    const Range range = item_range(out->type);
    bytes.resize(items.size() * width);
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (items[i] < range.min || items[i] > range.max) {
        return corrupt(field_name(field), "[", i, "] is ", items[i], ", expected ", range.min,
                       " to ", range.max, " for ", name(out->type));
      }
      const std::uint64_t little = std::endian::native == std::endian::little
                                       ? static_cast<std::uint64_t>(items[i])
                                       : byte_swap(static_cast<std::uint64_t>(items[i]));
      std::memcpy(bytes.data() + i * width, &little, width);
    }
  }
  out->source = source_from_bytes(std::move(bytes), source_->name());
  return {};
}

Status TensorReader::place_external(const Parts& parts, Tensor* out) {
  if (parts.has_raw || !parts.typed.empty())
    return corrupt("has external data and data of its own");
  if (out->type == Type::string) return corrupt("has strings as external data");
  std::string location;
  std::optional<std::uint64_t> length;
  for (const auto& [key, value] : parts.external) {
    if (key == "location") location = value;
    if (key == "offset") {
      LOOM_ASSIGN(out->offset, parse_number(key, value));
    }
    if (key == "length") {
      LOOM_ASSIGN(length, parse_number(key, value));
    }
  }
  if (!safe_location(location)) {
    return corrupt("external_data: location is ", quoted(location),
                   ", expected a path relative to the model's folder, without '..'");
  }
  if (length && *length != out->size) {
    return corrupt("external_data: length is ", *length, ", ", name(out->type),
                   shape_text(out->dims), " takes ", out->size);
  }
  SourcePtr& file = opened_[location];
  if (!file) {
    if (!external_) {
      return Status(Code::unsupported, message("has its data in the file ", quoted(location),
                                               ": open the model by its path"));
    }
    LOOM_ASSIGN(file, external_(location));
  }
  const auto end = checked_add(out->offset, out->size);
  if (!end || *end > file->size()) {
    return Status(Code::truncated, message("takes ", out->size, " bytes at offset ", out->offset,
                                           " of ", quoted(location), ", which has ", file->size()));
  }
  out->source = file;
  return {};
}

}  // namespace loom::onnx
