#include "formats/npy/npy.h"

#include <gtest/gtest.h>

#include "base/files/sha256.h"
#include "formats/test_files.h"

namespace loom {
namespace {

using namespace test;

std::string dict(std::string_view descr, std::string_view order, std::string_view shape) {
  return "{'descr': '" + std::string(descr) + "', 'fortran_order': " + std::string(order) +
         ", 'shape': " + std::string(shape) + ", }\n";
}
Result<TensorInfo> open_bytes(std::string_view header, std::string_view data) {
  return open_npy(source_of(npy_bytes(header, data)));
}

// Digests of numpy.save(arange(n, dtype='<f4') / 8 in that shape), NumPy 2.
TEST(Npy, WritesTheBytesOfNumpy) {
  struct Case {
    std::vector<std::int64_t> shape;
    const char* sha256;
  };
  const Case cases[] = {
      {{}, "25b1313316fef127cb527c8ec54f131e92a1d9155913172b1a36d9486e3668a0"},
      {{5}, "78d9a8c4c5a6d239f881e64be77bf64d43290f23cb3d3afa93a8551f36baa156"},
      {{2, 3}, "cfecb344506b741f548cd1e352ba3fb3afb71c735a1e205d11ed4bccde9a953d"},
      {{512, 64}, "91b3fc595aeac6c8b7a8ba3f6d853543f52a95ed635bafde567136e316f0a1ec"},
      {{1, 2, 3, 4, 5, 6, 7}, "8381b03e0d125d6d42760d6933e805aeaaf5f22110f47736d1940d570663e5b3"},
      {{1000000, 0}, "3a2130ab2f7a3005ad5859abbcf11dfdcf9ce7752127efcecaecdb25a035066a"}};
  TempFolder folder;
  for (const Case& c : cases) {
    std::vector<float> values(*element_count(c.shape));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) / 8;
    ASSERT_TRUE(write_npy(folder / "x.npy", c.shape, values).ok());
    const std::string text = file_text(folder / "x.npy");
    EXPECT_EQ(Sha256::hex(Sha256::of(as_bytes(text))), c.sha256) << shape_text(c.shape);
    const auto back = open_npy(*open_source(folder / "x.npy"));
    ASSERT_TRUE(back.ok()) << back.status().to_string();
    EXPECT_EQ(back->shape, c.shape);
    std::vector<float> read(values.size());
    ASSERT_TRUE(read_f32(*back, 0, read).ok());
    EXPECT_EQ(read, values);
  }
  EXPECT_EQ(
      write_npy(folder / "y.npy", std::vector<std::int64_t>{2, 2}, std::vector<float>(3)).code(),
      Code::invalid_argument);
  EXPECT_FALSE(std::filesystem::exists(folder / "y.npy"));
}

TEST(Npy, ReadsTheOtherTypes) {
  const auto one =
      open_bytes(dict("<i2", "False", "(2,)"), le<std::int16_t>(-2) + le<std::int16_t>(300));
  ASSERT_TRUE(one.ok()) << one.status().to_string();
  float two[2];
  ASSERT_TRUE(read_f32(*one, 0, two).ok());
  EXPECT_EQ(two[0], -2);
  EXPECT_EQ(two[1], 300);
  EXPECT_TRUE(
      open_bytes(dict("|b1", "True", "(3,)"), "\1\1\1").ok());  // one dimension has no order
  EXPECT_TRUE(open_bytes("{\"shape\":(),\"fortran_order\":False,\"descr\":\"<f8\"}", le(1.0)).ok());
  std::string v2("\x93NUMPY\x02\0", 8);
  const std::string header = dict("<f4", "False", "(1,)");
  EXPECT_TRUE(
      open_npy(source_of(v2 + le(static_cast<std::uint32_t>(header.size())) + header + le(1.0f)))
          .ok());
}

TEST(Npy, RefusesByName) {
  LOOM_EXPECT_ERROR(open_bytes(dict("|O", "False", "(1,)"), "x"), Code::unsupported,
                    "is an object array, which is a pickle");
  LOOM_EXPECT_ERROR(open_bytes(dict(">f4", "False", "(1,)"), "abcd"), Code::unsupported,
                    "is big-endian ('>f4')");
  LOOM_EXPECT_ERROR(open_bytes(dict("<c8", "False", "(1,)"), "abcdabcd"), Code::unsupported,
                    "has the type '<c8'");
  LOOM_EXPECT_ERROR(open_bytes(dict("<f4", "True", "(1, 1)"), "abcd"), Code::unsupported,
                    "Fortran");
  LOOM_EXPECT_ERROR(
      open_bytes("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }", "abcd"),
      Code::unsupported, "structured");
  LOOM_EXPECT_ERROR(open_bytes(dict("<f4", "False", "(2,)"), "abcd"), Code::truncated,
                    "takes 8 bytes at offset 68, the file has 72");
  LOOM_EXPECT_ERROR(open_bytes(dict("<f4", "False", "(0,)"), "abcd"), Code::corrupt,
                    "takes 0 bytes");
  LOOM_EXPECT_ERROR(open_bytes("{'descr': '<f4', 'descr': '<f4'}", ""), Code::corrupt,
                    "repeated key 'descr'");
  LOOM_EXPECT_ERROR(open_bytes("{'descr': '<f4'}", ""), Code::corrupt, "expected the keys");
  LOOM_EXPECT_ERROR(open_bytes(dict("<f4", "__import__('os')", "(1,)"), "abcd"), Code::corrupt,
                    "expected True or False");
  LOOM_EXPECT_ERROR(open_npy(source_of(std::string("\x93NUMPY\x04\0\1\0 ", 11))), Code::unsupported,
                    "version 4");
  for (const std::string& n : hostile_texts()) {
    const auto file = open_bytes(dict("|u1", "False", "(" + n + ",)"), "abcd");
    ASSERT_FALSE(file.ok()) << n;
    EXPECT_TRUE(file.status().code() == Code::corrupt || file.status().code() == Code::truncated)
        << file.status().to_string();
  }
  LOOM_EXPECT_ERROR(open_bytes(dict("<f8", "False", "(4611686018427387904, 4)"), "abcd"),
                    Code::corrupt, "passes 2^64 bytes");
  LOOM_EXPECT_ERROR(open_npy(source_of(std::string("\x93NUMPY\x02\0", 8) + le(0xffffffffu) + "{")),
                    Code::truncated, "the header ends at byte 4294967307");
}

}  // namespace
}  // namespace loom
