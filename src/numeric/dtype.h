// The numeric types: what each row of dtypes.def says. Ids are on disk and in the ABI: never
// renumbered.
#pragma once

#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>

#include "base/status.h"

namespace loom {

enum class DType : std::uint8_t {
#define LOOM_DTYPE(id, name, ...) name = id,
#include "numeric/dtypes.def"
};

// How a dtype multiplies: it decides the bits of products (docs/reference/numerics.md, rule 5).
enum class ArithClass : std::uint8_t {
  integer,  // I: activations as q15, sums exact in int32, scale after the sum
  bfloat,   // B: activations as bf16 hi + lo, exact products, two chains
  single,   // F: decoded to f32, multiply then add in the canonical order, scale after the sum
  real,     // D: the same in double
};

// What a small float type looks like. Codes are sign | exponent | mantissa, subnormals included.
struct SmallFloat {
  int exponent_bits, mantissa_bits, bias;
  std::uint32_t max_code;       // of the largest finite value
  std::uint32_t infinity_code;  // 0: the type has none
  std::uint32_t over_code;      // what overflow and infinities become
  std::uint32_t nan_code;       // what NaN becomes
  constexpr int bits() const { return 1 + exponent_bits + mantissa_bits; }
};

// The range of integer codes around zero, and what is added when they are stored.
struct IntegerCodes {
  double low, high;
  std::uint64_t bias;
};

// How codes and values become each other.
enum class CodecFamily : std::uint8_t { ieee, small_float, integer, sign };

struct Codec {
  CodecFamily family;
  SmallFloat small_float;  // of its family; else zeros
  IntegerCodes integer;
};

// How the scale of a group is chosen (packed/quantize.h).
enum class ScaleRule : std::uint8_t { none, largest, power_of_two, min_error, mean };

struct DTypeInfo {
  DType id;
  std::string_view name;  // the one spelling used everywhere: "f32", "fp8e4m3", "i4", "ternary"
  int bits;               // per code; ternary codes are packed five to a byte (1.6 bits)
  ArithClass arith;
  Codec codec;
  ScaleRule scale;
  double floor;                    // magnitudes below become 0 when packed
  char safetensors[12], numpy[4];  // names in files; empty: none
  int safetensors_rank, onnx;      // TensorProto.DataType; 0: none
  const char* synonyms;            // between spaces
  bool is_signed;  // false: codes are unsigned and a zero point keeps negative values
  bool is_float;   // codes carry their own exponent
  bool scaled;     // value = (code - zero) * scale; f64, f32, f16 and bf16 have no scale
};

namespace detail {

// The codec column of dtypes.def.
constexpr Codec ieee() { return {CodecFamily::ieee, {}, {}}; }
constexpr Codec sign() { return {CodecFamily::sign, {}, {}}; }
constexpr Codec integer(double low, double high, std::uint64_t bias) {
  return {CodecFamily::integer, {}, {low, high, bias}};
}
constexpr Codec small_float(int exponent_bits, int mantissa_bits, int bias, std::uint32_t max_code,
                            std::uint32_t infinity_code, std::uint32_t over_code,
                            std::uint32_t nan_code) {
  return {CodecFamily::small_float,
          {exponent_bits, mantissa_bits, bias, max_code, infinity_code, over_code, nan_code},
          {}};
}

constexpr bool is_signed(const Codec& c) {
  return c.family != CodecFamily::integer || c.integer.low < 0;
}
constexpr bool is_float(const Codec& c) {
  return c.family == CodecFamily::ieee || c.family == CodecFamily::small_float;
}

}  // namespace detail

inline constexpr DTypeInfo kDTypes[] = {
#define LOOM_DTYPE(id, name, Name, bits, arith, codec, scale, floor, safetensors, rank, numpy, \
                   onnx, synonyms)                                                             \
  {DType::name,                                                                                \
   #name,                                                                                      \
   bits,                                                                                       \
   ArithClass::arith,                                                                          \
   detail::codec,                                                                              \
   ScaleRule::scale,                                                                           \
   floor,                                                                                      \
   safetensors,                                                                                \
   numpy,                                                                                      \
   rank,                                                                                       \
   onnx,                                                                                       \
   synonyms,                                                                                   \
   detail::is_signed(detail::codec),                                                           \
   detail::is_float(detail::codec),                                                            \
   ScaleRule::scale != ScaleRule::none},
#include "numeric/dtypes.def"
};
inline constexpr int kDTypeCount = static_cast<int>(std::size(kDTypes));

// dtype: a row's; ids from files go through dtype_from_id.
constexpr const DTypeInfo& info(DType dtype) { return kDTypes[static_cast<std::size_t>(dtype)]; }
constexpr std::string_view name(DType dtype) { return info(dtype).name; }

// Error: corrupt for an id that no type has.
Result<DType> dtype_from_id(std::uint32_t id);
// Accepts canonical names and usual synonyms ("fp32", "float32", "bfloat16", "fp8", "int8") in
// any case.
Result<DType> parse_dtype(std::string_view text);

}  // namespace loom
