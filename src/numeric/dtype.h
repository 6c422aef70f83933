// The 21 numeric types: one row each. Ids are on disk and in the ABI: never renumbered.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"

namespace loom {

enum class DType : std::uint8_t {
  f64 = 0, f32, f16, bf16, fp8e4m3, fp8e5m2, i64, i32, i16, i8, u64, u32, u16, u8, i4, u4, fp4, i2, u2, ternary, binary,
};
inline constexpr int kDTypeCount = 21;

// How a dtype multiplies; it decides the bits of every product (docs/reference/numerics.md, rule 0).
enum class ArithClass : std::uint8_t {
  integer,  // I: activations as q15, sums exact in int32, scale after the sum
  bfloat,   // B: activations as bf16 hi + lo, exact products, two chains
  single,   // F: decoded to f32, multiply then add in the canonical order, scale after the sum
  real,     // D: the same in double
};

struct DTypeInfo {
  DType id;
  std::string_view name;  // the one spelling used everywhere: "f32", "fp8e4m3", "i4", "ternary"
  int bits;               // per code; ternary codes are packed five to a byte (1.6 bits)
  ArithClass arith;
  bool is_signed;         // false: codes are unsigned and a zero point keeps negative values
  bool is_float;          // codes carry their own exponent
  bool scaled;            // value = (code - zero) * scale; f64, f32, f16 and bf16 have no scale
};

const DTypeInfo& info(DType dtype);  // dtype: one of the 21; ids from files go through dtype_from_id
inline std::string_view name(DType dtype) { return info(dtype).name; }

// Error: corrupt for an id that no type has.
Result<DType> dtype_from_id(std::uint32_t id);
// Accepts the canonical names and the usual synonyms ("fp32", "float32", "bfloat16", "fp8", "int8"), any case.
Result<DType> parse_dtype(std::string_view text);

}  // namespace loom
