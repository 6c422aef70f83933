#include "numeric/codec.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "base/random.h"
#include "support/data.h"

namespace loom {
namespace {

struct Case {
  const char* name;
  SmallFloat format;
};
const Case kAll[] = {
    {"f16", kF16}, {"bf16", kBf16}, {"fp8e4m3", kFp8e4m3}, {"fp8e5m2", kFp8e5m2}, {"fp4", kFp4}};

// The value of a code by the definition of the format, in double: sign * (m or 1 + m) * 2^(e -
// bias).
double value_of(std::uint32_t code, const SmallFloat& f) {
  const int sign = (code >> (f.bits() - 1)) != 0 ? -1 : 1;
  const int e = static_cast<int>(code >> f.mantissa_bits) & ((1 << f.exponent_bits) - 1);
  const double m =
      static_cast<double>(code & ((1u << f.mantissa_bits) - 1)) / (1 << f.mantissa_bits);
  return e == 0 ? sign * std::ldexp(m, 1 - f.bias) : sign * std::ldexp(1 + m, e - f.bias);
}

// Rounding by the definition: the nearest of the type's values, ties to the even code, found with
// libm in double.
std::uint32_t nearest(double x, const SmallFloat& f) {
  const std::uint32_t sign = std::signbit(x) ? 1u << (f.bits() - 1) : 0;
  const double a = std::fabs(x);
  int e;
  std::frexp(a, &e);
  const int unit = std::max(e - 1, 1 - f.bias) - f.mantissa_bits;
  const double rounded = std::ldexp(std::nearbyint(std::ldexp(a, -unit)), unit);
  if (rounded > value_of(f.max_code, f)) return sign | f.over_code;
  if (rounded == 0) return sign;
  std::frexp(rounded, &e);
  if (e - 1 < 1 - f.bias)
    return sign | static_cast<std::uint32_t>(std::ldexp(rounded, f.bias - 1 + f.mantissa_bits));
  const double fraction = std::ldexp(rounded, 1 - e) - 1;
  const std::uint32_t exponent = static_cast<std::uint32_t>(e - 1 + f.bias);
  return sign | exponent << f.mantissa_bits |
         static_cast<std::uint32_t>(std::ldexp(fraction, f.mantissa_bits));
}

TEST(Codec, EveryCodeDecodesToItsDefinition) {
  for (const Case& c : kAll) {
    for (std::uint32_t code = 0; code < 1u << c.format.bits(); ++code) {
      const std::uint32_t magnitude = code & ((1u << (c.format.bits() - 1)) - 1);
      const float got = decode_small_float(code, c.format);
      if (magnitude <= c.format.max_code) {
        const double want = value_of(code, c.format);
        ASSERT_EQ(static_cast<double>(got), want) << c.name << " code " << code;
        ASSERT_EQ(std::signbit(got), std::signbit(want)) << c.name << " code " << code;
        // And back, from both sources.
        ASSERT_EQ(encode_small_float(got, c.format), code) << c.name;
        ASSERT_EQ(encode_small_float(want, c.format), code) << c.name;
      } else if (c.format.infinity_code != 0 && magnitude == c.format.infinity_code) {
        ASSERT_TRUE(std::isinf(got)) << c.name << " code " << code;
      } else {
        ASSERT_EQ(std::bit_cast<std::uint32_t>(got), 0x7FC00000u) << c.name << " code " << code;
      }
    }
  }
}

// Tables rendered by another library (gfloat): all of e2m1, parts of e4m3 and e5m2.
TEST(Codec, CodesEqualTheOcpTablesOfGfloat) {
  LOOM_TEST_FILE(path, "float_formats/gfloat_ocp_value_tables.csv");
  const std::map<std::string, SmallFloat> formats{
      {"e2m1", kFp4}, {"e4m3", kFp8e4m3}, {"e5m2", kFp8e5m2}};
  std::ifstream in(path);
  std::string line;
  int compared = 0;
  while (std::getline(in, line)) {
    std::vector<std::string> cells;
    std::stringstream cut(line);
    for (std::string cell; std::getline(cut, cell, ',');) cells.push_back(cell);
    const auto f = cells.size() >= 5 ? formats.find(cells[0]) : formats.end();
    if (f == formats.end()) continue;
    const std::uint32_t code = static_cast<std::uint32_t>(std::stoul(cells[1], nullptr, 16));
    const float got = decode_small_float(code, f->second);
    const std::string& value = cells.back();
    if (value == "nan") EXPECT_TRUE(std::isnan(got)) << line;
    else if (value == "inf" || value == "-inf")
      EXPECT_TRUE(std::isinf(got) && (got < 0) == (value[0] == '-')) << line;
    else EXPECT_EQ(static_cast<double>(got), std::stod(value)) << line;
    ++compared;
  }
  EXPECT_GT(compared, 100);
}

TEST(Codec, RoundsToNearestEvenAtEveryBoundary) {
  for (const Case& c : kAll) {
    for (std::uint32_t code = 0; code < c.format.max_code; ++code) {
      const double low = value_of(code, c.format), high = value_of(code + 1, c.format),
                   middle = (low + high) / 2;
      for (const double x :
           {low, std::nextafter(middle, 0.0), middle, std::nextafter(middle, 1e300), high}) {
        ASSERT_EQ(encode_small_float(x, c.format), nearest(x, c.format)) << c.name << " " << x;
        ASSERT_EQ(encode_small_float(-x, c.format), nearest(-x, c.format)) << c.name << " " << -x;
        const float f = static_cast<float>(x);
        for (const float y : {std::nextafter(f, 0.0f), f, std::nextafter(f, 1e38f)})
          ASSERT_EQ(encode_small_float(y, c.format), nearest(y, c.format)) << c.name << " " << y;
      }
    }
  }
}

TEST(Codec, AMillionRandomFloatsRoundAsTheReferenceDoes) {
  const RandomStream random(1, 2);
  for (std::uint64_t i = 0; i < 1000000; ++i) {
    const float x = std::bit_cast<float>(random.bits(i));
    if (std::isnan(x) || std::isinf(x)) continue;
    const Case& c = kAll[i % 5];
    // Half of them where the small types live.
    const float y = i % 2 == 0 ? x : (random.uniform(i) - 0.5f) * 8.0f;
    ASSERT_EQ(encode_small_float(y, c.format), nearest(y, c.format)) << c.name << " " << y;
  }
}

TEST(Codec, SaturationAndNan) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::bit_cast<float>(0xFFC12345u);
  EXPECT_EQ(f32_to_f16(65519.996f), 0x7BFF);
  EXPECT_EQ(f32_to_f16(65520.0f), 0x7C00);  // the tie goes to the even neighbor, which is infinity
  EXPECT_EQ(f32_to_f16(-inf), 0xFC00);
  EXPECT_EQ(f32_to_f16(nan), 0x7E00);
  EXPECT_EQ(f32_to_bf16(3.4e38f), 0x7F80);
  EXPECT_EQ(f32_to_bf16(nan), 0x7FC0);
  EXPECT_EQ(f32_to_fp8e4m3(448.0f), 0x7E);
  EXPECT_EQ(f32_to_fp8e4m3(1e9f), 0x7E);
  EXPECT_EQ(f32_to_fp8e4m3(-inf), 0xFE);
  EXPECT_EQ(f32_to_fp8e4m3(nan), 0x7F);
  EXPECT_EQ(f32_to_fp8e5m2(1e9f), 0x7B);
  EXPECT_EQ(f32_to_fp8e5m2(inf), 0x7B);
  EXPECT_EQ(f32_to_fp8e5m2(nan), 0x7E);
  EXPECT_EQ(f32_to_fp4(100.0f), 0x7);
  EXPECT_EQ(f32_to_fp4(-100.0f), 0xF);
  EXPECT_EQ(f32_to_fp4(2.5f), 0x4);  // halfway between 2 and 3: even mantissa
  EXPECT_EQ(f32_to_fp4(5.0f), 0x6);
  EXPECT_EQ(f32_to_fp4(0.25f), 0x0);
  const int twice[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};
  EXPECT_EQ(integer_factor(kFp4), 2);
  for (int code = 0; code < 16; ++code)
    EXPECT_EQ(twice[code], 2 * fp4_to_f32(static_cast<std::uint8_t>(code)));
  for (std::uint32_t code = 0; code < 65536; ++code)
    EXPECT_EQ(std::bit_cast<std::uint32_t>(bf16_to_f32(static_cast<std::uint16_t>(code))),
              std::bit_cast<std::uint32_t>(decode_small_float(code, kBf16)));
}

TEST(Codec, RoundEven) {
  for (int i = -1000; i <= 1000; ++i) {
    const double x = i * 0.25;
    EXPECT_EQ(round_even(x), std::nearbyint(x));
    EXPECT_EQ(round_even(static_cast<float>(x)), std::nearbyintf(static_cast<float>(x)));
  }
}

}  // namespace
}  // namespace loom
