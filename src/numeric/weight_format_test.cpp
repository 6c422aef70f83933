#include "numeric/weight_format.h"

#include <gtest/gtest.h>

#include <set>

namespace loom {
namespace {

// Ids and bits of the older engine's table (they are in its files).
TEST(DType, IdsBitsAndClassesAreTheTable) {
  const struct {
    const char* name;
    int bits;
    char arith;
  } rows[] = {{"f64", 64, 'D'},    {"f32", 32, 'F'},    {"f16", 16, 'F'}, {"bf16", 16, 'B'},
              {"fp8e4m3", 8, 'B'}, {"fp8e5m2", 8, 'B'}, {"i64", 64, 'D'}, {"i32", 32, 'D'},
              {"i16", 16, 'F'},    {"i8", 8, 'I'},      {"u64", 64, 'D'}, {"u32", 32, 'D'},
              {"u16", 16, 'F'},    {"u8", 8, 'I'},      {"i4", 4, 'I'},   {"u4", 4, 'I'},
              {"fp4", 4, 'I'},     {"i2", 2, 'I'},      {"u2", 2, 'I'},   {"ternary", 2, 'I'},
              {"binary", 1, 'I'}};
  static_assert(sizeof rows / sizeof rows[0] == kDTypeCount);
  for (int i = 0; i < kDTypeCount; ++i) {
    const DTypeInfo& type = info(static_cast<DType>(i));
    EXPECT_EQ(static_cast<int>(type.id), i);
    EXPECT_EQ(type.name, rows[i].name);
    EXPECT_EQ(type.bits, rows[i].bits) << type.name;
    EXPECT_EQ("IBFD"[static_cast<int>(type.arith)], rows[i].arith) << type.name;
    EXPECT_EQ(parse_dtype(type.name).value(), type.id);
    EXPECT_EQ(dtype_from_id(static_cast<std::uint32_t>(i)).value(), type.id);
  }
}

TEST(DType, SynonymsAndRefusals) {
  EXPECT_EQ(parse_dtype("FP32").value(), DType::f32);
  EXPECT_EQ(parse_dtype("BFloat16").value(), DType::bf16);
  EXPECT_EQ(parse_dtype("F8_E4M3").value(), DType::fp8e4m3);
  EXPECT_EQ(parse_dtype("Int8").value(), DType::i8);
  const auto refused = parse_dtype("i5");
  EXPECT_EQ(refused.status().code(), Code::invalid_argument);
  EXPECT_NE(refused.status().message().find("'i5'"), std::string::npos);
  EXPECT_NE(refused.status().message().find("fp8e4m3"), std::string::npos);
}

TEST(WeightFormat, TextRoundTripsForEveryFormat) {
  std::set<std::string> names;
  for (const WeightFormat& f : all_weight_formats()) {
    const std::string text = to_string(f);
    EXPECT_TRUE(names.insert(text).second) << text;
    const auto back = parse_weight_format(text);
    ASSERT_TRUE(back.ok()) << text;
    EXPECT_EQ(*back, f) << text;
    const auto from_file = weight_format_from_ids(static_cast<std::uint32_t>(f.dtype),
                                                  static_cast<std::uint32_t>(f.layout),
                                                  static_cast<std::uint32_t>(f.scale), f.block);
    EXPECT_EQ(from_file.value(), f) << text;
  }
  EXPECT_EQ(names.size(), 4u + 17u * 4u + 6u);
}

TEST(WeightFormat, Defaults) {
  EXPECT_EQ(parse_weight_format("i4")->layout, Layout::a4);
  EXPECT_EQ(*parse_weight_format("int4:A4"), default_format(DType::i4));
  EXPECT_EQ(parse_weight_format("i8")->scale, ScaleKind::row);
  EXPECT_EQ(to_string(*parse_weight_format("i8:row")), "i8");
  EXPECT_EQ(to_string(*parse_weight_format("i4:row")), "i4:row");
  EXPECT_EQ(to_string(*parse_weight_format("Q4_K")), "q4_k");
  EXPECT_EQ(default_format(DType::bf16).scale, ScaleKind::none);
  EXPECT_EQ(dtype_from_id(21).status().code(), Code::corrupt);
  EXPECT_EQ(weight_format_from_ids(9, 0, 3, 17).status().code(), Code::corrupt);
  EXPECT_EQ(weight_format_from_ids(265, 0, 2, 0).status().code(), Code::corrupt);
  for (const char* bad : {"", ":", "i8:", "i8:s4", "i8:block8", "f32:row", "q5_0", "i4:a4:row"})
    EXPECT_EQ(parse_weight_format(bad).status().code(), Code::invalid_argument) << bad;
}

}  // namespace
}  // namespace loom
