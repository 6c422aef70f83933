#include "numeric/dtype.h"

#include <array>

namespace loom {
namespace {

using enum ArithClass;

constexpr std::array<DTypeInfo, kDTypeCount> kInfo{{
    //                name   bits  class    signed float  scaled
    {DType::f64, "f64", 64, real, true, true, false},
    {DType::f32, "f32", 32, single, true, true, false},
    {DType::f16, "f16", 16, single, true, true, false},
    {DType::bf16, "bf16", 16, bfloat, true, true, false},
    {DType::fp8e4m3, "fp8e4m3", 8, bfloat, true, true, true},
    {DType::fp8e5m2, "fp8e5m2", 8, bfloat, true, true, true},
    {DType::i64, "i64", 64, real, true, false, true},
    {DType::i32, "i32", 32, real, true, false, true},
    {DType::i16, "i16", 16, single, true, false, true},
    {DType::i8, "i8", 8, integer, true, false, true},
    {DType::u64, "u64", 64, real, false, false, true},
    {DType::u32, "u32", 32, real, false, false, true},
    {DType::u16, "u16", 16, single, false, false, true},
    {DType::u8, "u8", 8, integer, false, false, true},
    {DType::i4, "i4", 4, integer, true, false, true},
    {DType::u4, "u4", 4, integer, false, false, true},
    {DType::fp4, "fp4", 4, integer, true, true, true},
    {DType::i2, "i2", 2, integer, true, false, true},
    {DType::u2, "u2", 2, integer, false, false, true},
    {DType::ternary, "ternary", 2, integer, true, false, true},
    {DType::binary, "binary", 1, integer, true, false, true},
}};

struct Synonym { std::string_view text; DType dtype; };
constexpr Synonym kSynonyms[] = {
    {"float64", DType::f64}, {"fp64", DType::f64}, {"double", DType::f64}, {"float32", DType::f32}, {"fp32", DType::f32},
    {"float", DType::f32}, {"float16", DType::f16}, {"fp16", DType::f16}, {"half", DType::f16}, {"bfloat16", DType::bf16},
    {"fp8", DType::fp8e4m3}, {"e4m3", DType::fp8e4m3}, {"f8_e4m3", DType::fp8e4m3}, {"float8_e4m3fn", DType::fp8e4m3},
    {"e5m2", DType::fp8e5m2}, {"f8_e5m2", DType::fp8e5m2}, {"float8_e5m2", DType::fp8e5m2}, {"int64", DType::i64},
    {"int32", DType::i32}, {"int16", DType::i16}, {"int8", DType::i8}, {"int4", DType::i4}, {"int2", DType::i2},
    {"uint64", DType::u64}, {"uint32", DType::u32}, {"uint16", DType::u16}, {"uint8", DType::u8}, {"uint4", DType::u4},
    {"uint2", DType::u2}, {"f4", DType::fp4}, {"fp4e2m1", DType::fp4}, {"float4_e2m1fn", DType::fp4}, {"trit", DType::ternary},
    {"bit", DType::binary},
};

}  // namespace

const DTypeInfo& info(DType dtype) { return kInfo[static_cast<std::size_t>(dtype)]; }

Result<DType> dtype_from_id(std::uint32_t id) {
  if (id < kDTypeCount) return static_cast<DType>(id);
  return Status(Code::corrupt, "there is no numeric type " + std::to_string(id) + "; ids are 0 to " + std::to_string(kDTypeCount - 1));
}

Result<DType> parse_dtype(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  for (const DTypeInfo& row : kInfo)
    if (row.name == lower) return row.id;
  for (const Synonym& s : kSynonyms)
    if (s.text == lower) return s.dtype;
  std::string names;
  for (const DTypeInfo& row : kInfo) names += (names.empty() ? "" : ", ") + std::string(row.name);
  return Status(Code::invalid_argument, "'" + std::string(text) + "' is not a numeric type; the types are " + names);
}

}  // namespace loom
