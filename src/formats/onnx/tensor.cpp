// The types of elements and their values.
#include <array>
#include <cmath>

#include "base/files/bytes.h"
#include "base/message.h"
#include "formats/decode.h"
#include "formats/onnx/onnx.h"
#include "numeric/codec.h"

namespace loom::onnx {
namespace {

struct TypeRow {
  std::string_view name;
  std::uint32_t bits = 0;  // of those that are no dtype
};
constexpr std::array<TypeRow, kTypeCount> kTypes = {{
    {"undefined"},
    {"float"},
    {"uint8"},
    {"int8"},
    {"uint16"},
    {"int16"},
    {"int32"},
    {"int64"},
    {"string"},
    {"bool", 8},
    {"float16"},
    {"double"},
    {"uint32"},
    {"uint64"},
    {"complex64", 64},
    {"complex128", 128},
    {"bfloat16"},
    {"float8e4m3fn"},
    {"float8e4m3fnuz", 8},
    {"float8e5m2"},
    {"float8e5m2fnuz", 8},
    {"uint4"},
    {"int4"},
    {"float4e2m1"},
    {"float8e8m0", 8},
    {"uint2"},
    {"int2"},
}};

// The dtype of each number; -1: none.
constexpr std::array<int, kTypeCount> kDtypeOf = [] {
  std::array<int, kTypeCount> all{};
  all.fill(-1);
  for (const DTypeInfo& row : kDTypes)
    if (row.onnx != 0) all[static_cast<std::size_t>(row.onnx)] = static_cast<int>(row.id);
  return all;
}();

// Types below a byte do not fill whole blocks here.
std::optional<StorageType> storage(Type type) {
  if (type == Type::boolean) return StorageType::boolean;
  const auto dtype = dtype_of(type);
  if (!dtype || info(*dtype).bits < 8) return std::nullopt;
  return storage_type(*dtype);
}

Status refuse(const Tensor& tensor, std::string_view wanted) {
  return Status(Code::unsupported, message(tensor.source ? tensor.source->name() + ": " : "",
                                           "tensor ", quoted(tensor.name), ": ", name(tensor.type),
                                           " elements, expected ", wanted));
}

Result<std::vector<std::byte>> raw_bytes(const Tensor& tensor) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(tensor.size));
  LOOM_TRY(tensor.source->read(tensor.offset, bytes).at("tensor " + quoted(tensor.name)));
  return bytes;
}

// Element `i` of a type under 8 bits: the lowest bits come first.
unsigned packed_at(const std::vector<std::byte>& bytes, std::size_t i, std::uint32_t width) {
  const std::size_t bit = i * width;
  return std::to_integer<unsigned>(bytes[bit / 8]) >> bit % 8 & ((1u << width) - 1);
}

// 2^(code - 127), 255 is NaN (OCP microscaling formats). 2^-127 is subnormal as a float.
float e8m0_to_f32(unsigned code) {
  return std::bit_cast<float>(code == 255 ? 0x7fc00000u
                              : code == 0 ? 0x00400000u
                                          : static_cast<std::uint32_t>(code) << 23);
}

// Forms of float8 without infinities and negative zero: what would be that is NaN.
constexpr SmallFloat kFp8e4m3fnuz{4, 3, 8, 0x7F, 0, 0x7F, 0x80},
    kFp8e5m2fnuz{5, 2, 16, 0x7F, 0, 0x7F, 0x80};
float fnuz_to_f32(unsigned code, const SmallFloat& form) {
  return code == 0x80 ? std::bit_cast<float>(0x7fc00000u) : decode_small_float(code, form);
}

// The real number of a code of a small type.
float small_value(Type type, unsigned code) {
  if (const auto dtype = dtype_of(type)) return file_value(info(*dtype), code);
  if (type == Type::f8_e8m0) return e8m0_to_f32(code);
  return fnuz_to_f32(code, type == Type::f8_e4m3fnuz ? kFp8e4m3fnuz : kFp8e5m2fnuz);
}

// The types that tensor_file.h does not have; nothing for those without real values.
template <class T>
Result<std::vector<T>> read_small(const Tensor& tensor) {
  if (!is_small(tensor.type)) return refuse(tensor, "real numbers");
  LOOM_ASSIGN(const std::vector<std::byte> bytes, raw_bytes(tensor));
  std::vector<T> out(static_cast<std::size_t>(tensor.elements()));
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = static_cast<T>(small_value(tensor.type, packed_at(bytes, i, bits(tensor.type))));
  return out;
}

}  // namespace

std::string_view name(Type type) { return kTypes[static_cast<std::size_t>(type)].name; }
std::optional<DType> dtype_of(Type type) {
  const int id = kDtypeOf[static_cast<std::size_t>(type)];
  if (id < 0) return std::nullopt;
  return static_cast<DType>(id);
}
std::uint32_t bits(Type type) {
  const auto dtype = dtype_of(type);
  if (dtype) return static_cast<std::uint32_t>(info(*dtype).bits);
  return kTypes[static_cast<std::size_t>(type)].bits;
}

bool is_integer(Type type) {
  const auto dtype = dtype_of(type);
  return dtype && !info(*dtype).is_float;
}

bool is_small(Type type) { return type >= Type::f8_e4m3fn && type <= Type::i2; }

std::optional<unsigned> small_code(Type type, double value) {
  for (unsigned code = 0; code < 1u << bits(type); ++code) {
    const double v = static_cast<double>(small_value(type, code));
    if ((v == value && std::signbit(v) == std::signbit(value)) || (v != v && value != value))
      return code;
  }
  return std::nullopt;
}

bool is_float(Type type) {
  const auto dtype = dtype_of(type);
  if (dtype) return info(*dtype).is_float;
  return type == Type::f8_e4m3fnuz || type == Type::f8_e5m2fnuz || type == Type::f8_e8m0;
}

std::uint64_t Tensor::elements() const { return element_count(dims).value_or(0); }

std::span<const std::byte> Tensor::view() const {
  return TensorInfo{"", StorageType::u8, {}, offset, size, source}.view();
}

Result<TensorInfo> tensor_info(const Tensor& tensor) {
  const auto type = storage(tensor.type);
  if (!type) return refuse(tensor, "a float of 8 to 64 bits, an integer of 8 to 64 bits or bool");
  return TensorInfo{tensor.name, *type, tensor.dims, tensor.offset, tensor.size, tensor.source};
}

Result<std::vector<float>> read_f32(const Tensor& tensor) {
  if (!storage(tensor.type)) return read_small<float>(tensor);
  LOOM_ASSIGN(const TensorInfo info, tensor_info(tensor));
  std::vector<float> out(static_cast<std::size_t>(info.elements()));
  LOOM_TRY(loom::read_f32(info, 0, out));
  return out;
}

Result<std::vector<double>> read_f64(const Tensor& tensor) {
  if (!storage(tensor.type)) return read_small<double>(tensor);
  LOOM_ASSIGN(const TensorInfo info, tensor_info(tensor));
  std::vector<double> out(static_cast<std::size_t>(info.elements()));
  LOOM_TRY(loom::read_f64(info, 0, out));
  return out;
}

Result<std::vector<std::int64_t>> read_i64(const Tensor& tensor) {
  if (!is_integer(tensor.type) && tensor.type != Type::boolean) return refuse(tensor, "integers");
  if (bits(tensor.type) < 8) return read_small<std::int64_t>(tensor);
  LOOM_ASSIGN(const std::vector<std::byte> bytes, raw_bytes(tensor));
  std::vector<std::int64_t> out(static_cast<std::size_t>(tensor.elements()));
  const auto convert = [&]<class Stored>(Stored) {
    for (std::size_t i = 0; i < out.size(); ++i)
      out[i] = static_cast<std::int64_t>(load_le<Stored>(bytes.data() + i * sizeof(Stored)));
  };
  switch (tensor.type) {
    case Type::u8: convert(std::uint8_t{}); break;
    case Type::i8: convert(std::int8_t{}); break;
    case Type::u16: convert(std::uint16_t{}); break;
    case Type::i16: convert(std::int16_t{}); break;
    case Type::u32: convert(std::uint32_t{}); break;
    case Type::i32: convert(std::int32_t{}); break;
    case Type::boolean:
      for (std::size_t i = 0; i < out.size(); ++i) out[i] = bytes[i] != std::byte{0};
      break;
    default: convert(std::int64_t{}); break;
  }
  if (tensor.type == Type::u64) {
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (out[i] < 0) {
        return Status(Code::out_of_range,
                      message(tensor.source->name(), ": tensor ", quoted(tensor.name), ": element ",
                              i, " is ", static_cast<std::uint64_t>(out[i]), ", more than 2^63-1"));
      }
    }
  }
  return out;
}

}  // namespace loom::onnx
