// Element decoding against other people's answers: the OCP value tables of gfloat, and the digests
// of tests/parity/models/gguf_blocks.py.
#include <gtest/gtest.h>

#include <bit>
#include <cstdlib>
#include <sstream>

#include "base/files/sha256.h"
#include "formats/tensor_file.h"
#include "formats/test_files.h"
#include "support/data.h"

namespace loom {
namespace {

using namespace test;

// The same bytes as stream() in gguf_blocks.py.
std::string stream(std::size_t count, std::uint64_t seed) {
  std::string out(count, '\0');
  for (char& c : out) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    c = static_cast<char>(seed >> 56);
  }
  return out;
}

std::string digest(std::span<const float> values) {
  Sha256 sha;
  sha.update_f32(values);
  return Sha256::hex(sha.finish());
}

struct BlockCase {
  StorageType type;
  std::vector<std::size_t> scales;  // offsets of f16 fields
  const char* sha256;
};

TEST(Decode, BlocksEqualTheIndependentDecoder) {
  const BlockCase cases[] = {
      {StorageType::q4_0, {0}, "851201e570f2e22fd40f53bd4f4a3d446c2171cf9afd8308c861b0e91e67aac2"},
      {StorageType::q8_0, {0}, "4362524a8b4b0dcf1a791bf42c590ad05cc7168d7b0cd4b617d875f8d69de6d0"},
      {StorageType::q4_k,
       {0, 2},
       "8d914f6c645b0bb498000c3f8aa886e239fcbbfad67016530aa8c64e37798744"},
      {StorageType::q6_k,
       {208},
       "99c1946b2fbdcd63c934efae6433edb6312e34b0096070c2bec7b0098bcac3ec"},
  };
  for (const BlockCase& c : cases) {
    const std::size_t block = info(c.type).block, bytes = info(c.type).block_bytes;
    std::string raw = stream(512 * bytes, bytes);
    for (std::size_t b = 0; b < 512; ++b)
      for (const std::size_t at : c.scales) raw[b * bytes + at + 1] &= static_cast<char>(0xbf);
    TensorInfo tensor{"t", c.type,     {512, static_cast<std::int64_t>(block)},
                      0,   raw.size(), source_of(raw)};
    std::vector<float> values(512 * block);
    ASSERT_TRUE(read_f32(tensor, 0, values).ok());
    EXPECT_EQ(digest(values), c.sha256) << name(c.type);
    // f64 holds every value exactly, f32 is that rounded once.
    std::vector<double> wide(values.size());
    ASSERT_TRUE(read_f64(tensor, 0, wide).ok());
    for (std::size_t i = 0; i < values.size(); ++i)
      ASSERT_EQ(static_cast<float>(wide[i]), values[i]) << name(c.type) << " " << i;
    // Any window, with and without a view, gives the same elements.
    tensor.source = callback_source_of(raw);
    for (std::size_t first = 0; first < values.size(); first += 997) {
      std::vector<float> part(std::min<std::size_t>(first % 700 + 1, values.size() - first));
      ASSERT_TRUE(read_f32(tensor, first, part).ok());
      ASSERT_TRUE(std::equal(part.begin(), part.end(),
                             values.begin() + static_cast<std::ptrdiff_t>(first)));
    }
  }
}

std::vector<float> decode_all(StorageType type, const std::string& codes) {
  TensorInfo tensor{"t", type, {}, 0, codes.size(), source_of(codes)};
  std::vector<float> values(tensor.elements());
  EXPECT_TRUE(read_f32(tensor, 0, values).ok());
  return values;
}

TEST(Decode, F16EqualsNumpyOnEveryCode) {
  std::string codes;
  for (std::uint32_t code = 0; code < 65536; ++code) codes += le(static_cast<std::uint16_t>(code));
  std::vector<float> values = decode_all(StorageType::f16, codes);
  EXPECT_EQ(std::erase_if(values, [](float v) { return v != v; }), 2 * 1023u);
  EXPECT_EQ(digest(values), "680bbc22915f61aa1bbfc7265bc3882a6aa42d299bfd2c571807196e5544de2e");
}

TEST(Decode, SmallFloatsEqualTheOcpTables) {
  LOOM_TEST_FILE(path, "float_formats/gfloat_ocp_value_tables.csv");
  std::string codes(256, '\0');
  for (int i = 0; i < 256; ++i) codes[static_cast<std::size_t>(i)] = static_cast<char>(i);
  const std::vector<float> e4m3 = decode_all(StorageType::fp8e4m3, codes),
                           e5m2 = decode_all(StorageType::fp8e5m2, codes),
                           pairs = decode_all(StorageType::fp4, codes);
  std::istringstream lines(file_text(path));
  int checked = 0;
  for (std::string line; std::getline(lines, line);) {
    std::vector<std::string> cells;
    std::istringstream row(line);
    for (std::string cell; std::getline(row, cell, ',');) cells.push_back(cell);
    if (cells.size() != 5 || (cells[0] != "e4m3" && cells[0] != "e5m2" && cells[0] != "e2m1"))
      continue;
    const std::size_t code = std::stoul(cells[1], nullptr, 16);
    // Byte c of f4 is the pair (c & 15, c >> 4).
    const float got = cells[0] == "e4m3"   ? e4m3[code]
                      : cells[0] == "e5m2" ? e5m2[code]
                                           : pairs[2 * code];
    const float want = std::strtof(cells[4].c_str(), nullptr);
    if (want != want) {
      EXPECT_NE(got, got) << line;
    } else {
      EXPECT_EQ(std::bit_cast<std::uint32_t>(got), std::bit_cast<std::uint32_t>(want)) << line;
    }
    ++checked;
  }
  EXPECT_EQ(checked, 16 + 128 + 128);
}

TEST(Decode, IntegersAndWideFloats) {
  const std::string bytes = le<std::int64_t>(INT64_MIN) + le<std::int64_t>((1ll << 53) + 1) +
                            le<std::int64_t>(-1) + le<std::int64_t>(16777217);
  TensorInfo tensor{"t", StorageType::i64, {4}, 0, 32, source_of(bytes)};
  float f[4];
  double d[4];
  ASSERT_TRUE(read_f32(tensor, 0, f).ok());
  ASSERT_TRUE(read_f64(tensor, 0, d).ok());
  EXPECT_EQ(std::vector<float>(f, f + 4), (std::vector<float>{-0x1p63f, 0x1p53f, -1, 16777216}));
  EXPECT_EQ(std::vector<double>(d, d + 4), (std::vector<double>{-0x1p63, 0x1p53, -1, 16777217}));
  tensor.type = StorageType::u64;
  ASSERT_TRUE(read_f64(tensor, 0, d).ok());
  EXPECT_EQ(d[2], 0x1p64);
  tensor.type = StorageType::u8;
  std::vector<float> u8(32);
  ASSERT_TRUE(read_f32(tensor, 0, u8).ok());
  EXPECT_EQ(u8[7], 128.0f);
  tensor.type = StorageType::i8;
  ASSERT_TRUE(read_f32(tensor, 0, u8).ok());
  EXPECT_EQ(u8[7], -128.0f);
  tensor.type = StorageType::boolean;
  ASSERT_TRUE(read_f32(tensor, 0, u8).ok());
  EXPECT_EQ(u8[7], 1.0f);
  tensor.type = StorageType::bf16;
  tensor.source = source_of(le<std::uint16_t>(0x4049));
  tensor.size = 2;
  ASSERT_TRUE(read_f32(tensor, 0, {f, 1}).ok());
  EXPECT_EQ(f[0], 3.140625f);
  // A TensorInfo that a caller made up is checked as well.
  tensor.size = 4;
  EXPECT_EQ(read_f32(tensor, 0, {f, 2}).code(), Code::truncated);
  tensor.source = nullptr;
  EXPECT_EQ(read_f32(tensor, 0, {f, 1}).code(), Code::invalid_argument);
}

}  // namespace
}  // namespace loom
